# S4: files next to the keychain are not trusted. 'check', 'backup' and 'slot list' never change a byte of a keychain or of its
# neighbors; a log, journal or special file that does not belong to the keychain is refused by name, and nothing is changed.
# needs: StoreFormat
# users: both
# seconds: 20
. "${0%/*}/lib.sh"
create_keychain; D=$(dirname "$KEYCHAIN"); N=$(basename "$KEYCHAIN")
STATE="$XDG_STATE_HOME/keychainfs"

# forget: the device has seen no state of the keychain but the first one.
NUMBER=$(ls "$STATE"/commit-number.*); cp "$NUMBER" "$CASE_DIR/number"
forget() { cp "$CASE_DIR/number" "$NUMBER"; }
# crash KEYCHAIN_FILE NAME VALUE...: adds items with the daemon of that file, which is killed then: a log is left.
crash() {
    local file=$1 pid; shift
    "$KEYCHAINFS" mount --keychain "$file" "$MNT"; pid=$(daemon)
    mkdir -p "$MNT/generic-passwords/s"
    while [ $# -gt 0 ]; do printf '%s' "$2" > "$MNT/generic-passwords/s/$1"; shift 2; done
    stop_process "$pid"; cp "$file" "$CASE_DIR/crash.file"; cp "$file-wal" "$CASE_DIR/crash.log"
    kill -KILL "$pid"; wait_until 30 eval '! is_mounted'; wait_until 10 no_daemons
    cmp -s "$file-wal" "$CASE_DIR/crash.log" && [ -s "$file-wal" ] || fail "no log is left"
}
# keep NAME: saves the files of the crash under that name.
keep() { mv "$CASE_DIR/crash.file" "$CASE_DIR/$1.file"; mv "$CASE_DIR/crash.log" "$CASE_DIR/$1.log"; }
# place FILE [LOG]: makes the keychain a copy of FILE, with LOG next to it, on a device that has seen no later state.
place() {
    rm -rf "$D"; mkdir "$D"; cp "$CASE_DIR/$1" "$KEYCHAIN"
    [ -z "${2:-}" ] || cp "$CASE_DIR/$2" "$KEYCHAIN-wal"
    forget
}
sums() { (cd "$D"; for f in $(ls -A); do [ -f "$f" ] && echo "$f $(sha256sum < "$f")" || echo "$f $(stat -c %F "$f")"; done); }

# The file's own log in two states, that of another keychain, of an older and a newer copy and of a fork.
crash "$KEYCHAIN" one 1; keep first
"$KEYCHAINFS" mount "$MNT"; "$KEYCHAINFS" backup "$CASE_DIR/backup" > /dev/null; "$KEYCHAINFS" unmount "$MNT"
cp "$KEYCHAIN" "$CASE_DIR/closed.file"; cp "$KEYCHAIN" "$CASE_DIR/fork"
crash "$KEYCHAIN" two 2; keep second
"$KEYCHAINFS" mount "$MNT"; "$KEYCHAINFS" unmount "$MNT"; crash "$KEYCHAIN" three 3; keep third
"$KEYCHAINFS" mount "$MNT"; "$KEYCHAINFS" unmount "$MNT"; cp "$KEYCHAIN" "$CASE_DIR/newer.file"
forget; crash "$CASE_DIR/fork" two other
"$KEYCHAINFS" mount --keychain "$CASE_DIR/fork" "$MNT"; "$KEYCHAINFS" unmount "$MNT"
crash "$CASE_DIR/fork" three other; keep fork
"$KEYCHAINFS" create --kdf test --keychain "$CASE_DIR/other"; crash "$CASE_DIR/other" one other; keep other
(cat "$CASE_DIR/second.log"; head -c 300000 /dev/zero) > "$CASE_DIR/padded.log"
head -c $(($(stat -c %s "$CASE_DIR/second.log") / 4)) "$CASE_DIR/second.log" > "$CASE_DIR/torn.log"
head -c 9000 /dev/zero > "$CASE_DIR/zeros.log"; : > "$CASE_DIR/empty.log"

# unchanged CODE COMMAND...: the command ends with that code and changes no file next to the keychain.
unchanged() {
    local code=$1 before; shift
    before=$(sums)
    expect_code "$code" timeout 60 "$KEYCHAINFS" "$@" > "$CASE_DIR/said"
    expect "$before" "$(sums)" "the files after $* with $what"
}
# reader CODE: the second implementation of the format agrees about the log.
reader() {
    local code=0
    /usr/bin/python3 -I "$CASE_DIR/StoreFormat/read-store" "$KEYCHAIN" --passphrase-file "$PASSPHRASE" \
        --device-key "$STATE/device.key" --cheap --verify > "$CASE_DIR/said" 2>&1 || code=$?
    expect "$1" "$code" "the other reader with $what: $(cat "$CASE_DIR/said")"
}
looks() {  # looks CODE: the commands that read.
    unchanged "$1" check; unchanged "$1" slot list
    rm -f "$CASE_DIR/taken"; unchanged "$1" backup "$CASE_DIR/taken"
}
for log in second padded torn zeros empty; do
    what="the log $log"; place closed.file "$log.log"; reader 0; looks 0
    # The transactions of the log are in the backup.
    case $log in second | padded) items=2 ;; *) items= ;; esac
    [ -z "$items" ] || grep -q "^$items items" "$CASE_DIR/said" || fail "$what: $(cat "$CASE_DIR/said")"
    mount_keychain; expect 1 "$(cat "$MNT/generic-passwords/s/one")" "$what"
    [ -z "$items" ] || expect 2 "$(cat "$MNT/generic-passwords/s/two")" "$what"
    printf new > "$MNT/generic-passwords/s/new"; unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null
done
# A restore that was killed when it had moved the log: the commands read it there, and the next mount moves it back.
what="an interrupted restore"; place closed.file; old="$KEYCHAIN.replaced-20261125T000000Z"
ln "$KEYCHAIN" "$old"; cp "$CASE_DIR/second.log" "$old-wal"; looks 0
grep -q "^2 items" "$CASE_DIR/said" || fail "$what: $(cat "$CASE_DIR/said")"
cp "$CASE_DIR/other.log" "$old-wal"; looks 12; grep -qF "$old-wal" "$CASE_DIR/said" || fail "$what: $(cat "$CASE_DIR/said")"
cp "$CASE_DIR/second.log" "$old-wal"
mount_keychain; expect 2 "$(cat "$MNT/generic-passwords/s/two")" "$what"; unmount_keychain; [ ! -e "$old" ] || fail "$what is not undone"

for pair in closed.file/other.log closed.file/third.log newer.file/second.log third.file/fork.log fork.file/third.log; do
    what="the pair $pair"; place "${pair%/*}" "${pair#*/}"
    reader 2; grep -q R60 "$CASE_DIR/said" || fail "$what: $(cat "$CASE_DIR/said")"
    looks 12; unchanged 12 mount "$MNT"; unchanged 12 mount -o ro "$MNT"; unchanged 12 check --repair --yes
    unchanged 12 mount --locked "$MNT"
    grep -qF "$KEYCHAIN-wal" "$CASE_DIR/said" || fail "the message does not name the log: $(cat "$CASE_DIR/said")"
    # A restore sets both files aside, as they are.
    cp "$KEYCHAIN" "$CASE_DIR/file.before"; cp "$KEYCHAIN-wal" "$CASE_DIR/log.before"
    expect_code 0 "$KEYCHAINFS" restore --replace "$CASE_DIR/backup" > /dev/null
    kept=$(ls "$D"/*.replaced-* | grep -v -e '-wal$')
    cmp "$CASE_DIR/file.before" "$kept"; cmp "$CASE_DIR/log.before" "$kept-wal"
    mount_keychain; expect 1 "$(cat "$MNT/generic-passwords/s/one")" "what was restored"; unmount_keychain
done

# A rollback journal of another database, and special files, at both names.
cat > "$CASE_DIR/journal.py" <<'PY'
import os, sqlite3, sys
path = sys.argv[1]
db = sqlite3.connect(path, isolation_level=None)
for s in ("PRAGMA page_size = 4096", "CREATE TABLE t (x)", "INSERT INTO t VALUES (randomblob(200000))"): db.execute(s)
db.execute("PRAGMA cache_size = 1"); db.execute("BEGIN"); db.execute("UPDATE t SET x = randomblob(200000)")
db.execute("INSERT INTO t SELECT randomblob(500000)")
os._exit(0)
PY
python3 "$CASE_DIR/journal.py" "$CASE_DIR/foreign"; [ -s "$CASE_DIR/foreign-journal" ] || fail "no journal"
special() {  # special KIND PATH
    case $1 in
    fifo) mkfifo "$2" ;;
    directory) mkdir "$2" ;;
    socket) python3 -c 'import os, socket, sys; os.chdir(os.path.dirname(sys.argv[1])); socket.socket(socket.AF_UNIX).bind(os.path.basename(sys.argv[1]))' "$2" ;;
    link) ln -s "$CASE_DIR/closed.file" "$2" ;;
    dangling) ln -s nowhere "$2" ;;
    journal) cp "$CASE_DIR/foreign-journal" "$2" ;;
    esac
}
for suffix in wal journal; do
    for kind in fifo directory socket link dangling journal; do
        [ "$kind-$suffix" != journal-wal ] || continue
        what="$kind at $suffix"; place closed.file; special "$kind" "$KEYCHAIN-$suffix"
        SECONDS=0
        looks 12; unchanged 12 mount "$MNT"; unchanged 12 restore --replace "$CASE_DIR/backup"; unchanged 12 check --repair --yes
        [ "$SECONDS" -lt 20 ] || fail "$what: $SECONDS s"
        grep -qF "$KEYCHAIN-$suffix" "$CASE_DIR/said" || fail "$what: the message does not name it: $(cat "$CASE_DIR/said")"
        rm -r "$KEYCHAIN-$suffix"; expect_code 0 "$KEYCHAINFS" check > /dev/null
    done
done
# A new keychain, or a restored one, does not adopt a log or journal of its name.
rm "$KEYCHAIN"
for suffix in wal journal; do
    what="create next to a $suffix"; cp "$CASE_DIR/other.log" "$KEYCHAIN-$suffix"
    unchanged 20 create --kdf test; unchanged 20 restore "$CASE_DIR/backup"
    grep -qF "$KEYCHAIN-$suffix" "$CASE_DIR/said" || fail "$what: $(cat "$CASE_DIR/said")"; rm "$KEYCHAIN-$suffix"
done
# While it is mounted: a FIFO at the name of the journal stops nothing.
place closed.file; mount_keychain; mkfifo "$KEYCHAIN-journal"
(for i in $(seq 20); do printf "$i" > "$MNT/generic-passwords/s/busy$i"; done) &
for i in $(seq 20); do cat "$MNT/generic-passwords/s/one" > /dev/null; done; wait
unmount_keychain; rm "$KEYCHAIN-journal"; expect_code 0 "$KEYCHAINFS" check > /dev/null

# Directories that cannot be created: one message, no crash, and nothing is installed.
mkdir "$CASE_DIR/hole"; ln -s "$CASE_DIR/nowhere" "$CASE_DIR/hole/.local"
for home in "$CASE_DIR/hole" /proc; do
    for command in create "restore $CASE_DIR/backup" "mount --create $MNT"; do
        code=0; said=$(env -u XDG_DATA_HOME -u XDG_STATE_HOME HOME="$home" timeout 60 "$KEYCHAINFS" $command 2>&1 < /dev/null) || code=$?
        [ "$code" != 0 ] && [ "$code" -lt 124 ] && [ -n "$said" ] || fail "$command with HOME=$home: $code: $said"
        [[ $said != *"without a word"* ]] || fail "$command with HOME=$home: $said"
    done
done
# The state directory comes first: no keychain is installed without it.
rm -rf "$D"; : > "$CASE_DIR/file"
code=0; said=$(XDG_STATE_HOME="$CASE_DIR/file" "$KEYCHAINFS" restore "$CASE_DIR/backup" 2>&1) || code=$?
[ "$code" != 0 ] && [ ! -e "$KEYCHAIN" ] || fail "restore without a state directory: $code: $said"
