# Section 8: the exit codes of docs/exit-codes.md, each from every command that can return it. A failing command prints
# one message on standard error that begins with the program's name. Usage errors are 64. The help names every option.
# seconds: 76
. "${0%/*}/lib.sh"
export KEYCHAINFS_MOUNT="$CASE_DIR/nowhere"    # where no argument names another place
OUT="$CASE_DIR/out" ERR="$CASE_DIR/err"
# code N COMMAND…: a failing command prints nothing on standard output and one message on standard error.
code() {
    local wanted=$1 got=0; shift
    "$KEYCHAINFS" "$@" > "$OUT" 2> "$ERR" < /dev/null || got=$?
    expect "$wanted" "$got" "exit code of '$*' ($(cat "$ERR"))"; require_documented "$got"
    [ "$wanted" != 0 ] || return 0
    [ ! -s "$OUT" ] || fail "'$*' failed and wrote to standard output: $(cat "$OUT")"
    head -1 "$ERR" | grep -q '^keychainfs: [-A-Za-z0-9/'"'"']' || fail "'$*' said: $(cat "$ERR")"
    ! grep -q -e 'Fatal error' -e 'StoreOpenError' -e 'KeychainError' -e 'KeychainFault' -e 'Optional(' "$ERR" || fail "'$*': $(cat "$ERR")"
}
# found N COMMAND…: a result on standard output despite the exit code N.
found() {
    local wanted=$1 got=0; shift
    "$KEYCHAINFS" "$@" > "$OUT" 2> "$ERR" < /dev/null || got=$?
    expect "$wanted" "$got" "exit code of '$*' ($(cat "$ERR"))"
    [ -s "$OUT" ] && grep -q '^keychainfs: ' "$ERR" || fail "'$*': a result and a message"
}
private() { install -m 600 /dev/null "$1"; cat > "$1"; }
printf 'wrong' | private "$CASE_DIR/wrong"; printf 'new one' | private "$CASE_DIR/new"
head -c 64 /dev/urandom | private "$CASE_DIR/keyfile"
W=(--passphrase-file "$CASE_DIR/wrong")
K=$KEYCHAIN; SECOND="$CASE_DIR/second"; mkdir "$SECOND"

# 64: usage errors.
code 64 nonsense; code 64 --nonsense
for command in create mount unmount lock unlock status add edit generate get otp run copy tree why show search config check backup restore "slot list" "slot add" "slot change" \
    "slot remove" rekey "helper askpass" "helper docker-credential" "helper git-credential" doctor; do
    code 64 $command --nonsense
    [[ $command =~ ^(search|run)$ ]] || code 64 $command one two three
done
code 64 show; code 64 get; code 64 add; code 64 get --wait=soon s/a; code 64 add --attribute x s/a; code 64 backup; code 64 restore
code 64 copy; code 64 edit; code 64 why; code 64 helper nonsense; code 64 helper askpass; code 64 helper docker-credential; code 64 helper git-credential; code 64 copy --clear-after 45 s/a; code 64 run; code 64 run --env A; code 126 run /; code 127 run nosuchprogram/x; code 64 slot change; code 64 slot remove; code 64 slot remove one
code 64 mount ""; code 64 status ""; code 64 backup ""; code 64 create --keychain ""; code 64 create --kdf cheap
code 64 mount -o nonsense "$MNT"; code 64 mount --locked "${W[@]}" "$MNT"; code 64 mount --locked --accept-rollback "$MNT"
code 64 unlock --key-file a --recovery; code 64 mount --lock-after never "$MNT"; code 64 mount --lock-on moon "$MNT"
code 64 slot list --keychain a b; code 64 slot add --kind stone; code 64 search --json -0; code 64 backup --verify --keychain a b
code 64 search ""; code 64 search color=blue

# 11: no keychain; 17: no mount; 18: no passphrase.
for command in "mount $MNT" check "backup $CASE_DIR/b" "slot list" "slot add" "slot remove 1" "slot change 1"; do code 11 $command; done
code 11 backup --verify "$CASE_DIR/none"; code 11 restore "$CASE_DIR/none"
for command in unmount lock unlock status rekey "slot list" "slot add"; do code 17 $command "$MNT"; done
code 17 search --mount "$MNT"
for path in "$CASE_DIR" "$MNT" "$MNT/x" "$CASE_DIR/none/x" /proc/version; do code 17 show "$path"; done
export -n KEYCHAINFS_PASSPHRASE_FILE
setsid "$KEYCHAINFS" create --kdf test > "$OUT" 2> "$ERR" < /dev/null && fail "create without a passphrase" || expect 18 $? "create without a terminal"
export KEYCHAINFS_PASSPHRASE_FILE
code 18 create --kdf test --passphrase-file "$CASE_DIR/none"; code 18 create --kdf test --passphrase-file /dev/null
[ ! -e "$K" ] || fail "a keychain was made"
code 0 create --kdf test; code 20 create --kdf test
code 0 --version; grep -q '^[0-9]*\.[0-9]*\.[0-9]*$' "$OUT" || fail "--version: $(cat "$OUT")"
N="$CASE_DIR/none"
code 18 mount --passphrase-file "$N" "$MNT"; code 18 mount --key-file "$N" "$MNT"; code 18 check --passphrase-file "$N"
code 18 backup --key-file "$N" "$CASE_DIR/b"; code 18 slot add --passphrase-file "$N"
code 18 slot add --new-passphrase-file /dev/null; code 18 slot change 1 --new-passphrase-file "$N"; code 18 slot remove 1 --key-file "$N"

# 10: the secret opens no slot. 15: the path cannot be a mount point.
for command in "mount $MNT" check "backup $CASE_DIR/b" "slot add --new-passphrase-file $CASE_DIR/new" \
    "slot change 1 --new-passphrase-file $CASE_DIR/new"; do code 10 $command "${W[@]}"; done
code 10 mount --key-file "$CASE_DIR/keyfile" "$MNT"; code 10 check --recovery "${W[@]}"
code 15 mount "$CASE_DIR/none"; code 15 mount "$PASSPHRASE"; code 15 mount "$CASE_DIR"
code 0 backup "$CASE_DIR/backup"; code 20 backup "$CASE_DIR/backup"; code 20 restore "$CASE_DIR/backup"
code 10 backup --verify "$CASE_DIR/backup" "${W[@]}"; code 10 restore --replace "$CASE_DIR/backup" "${W[@]}"

# 25: slots.
code 25 slot remove 1; code 25 slot remove 99; code 25 slot change 99 --new-passphrase-file "$CASE_DIR/new"

# 16: fusermount3 does not mount; root does not need it.
if [ "$(id -u)" != 0 ]; then
    got=0; env PATH=/nonexistent "$KEYCHAINFS" mount "$MNT" 2> "$ERR" < /dev/null || got=$?
    expect 16 "$got" "without fusermount3 ($(cat "$ERR"))"
fi

# Mounted. 14: the keychain is in use; 15: the mount point is in use; 23: locked.
code 0 mount "$MNT"
code 17 status; KEYCHAINFS_MOUNT="$MNT" code 0 status; KEYCHAINFS_MOUNT="$MNT" code 17 status "$CASE_DIR"
code 14 mount "$SECOND"; code 14 restore --replace "$CASE_DIR/backup"
code 15 mount --keychain "$CASE_DIR/third" --create "$MNT"; [ ! -e "$CASE_DIR/third" ] || fail "a keychain was made"
mkdir "$MNT/generic-passwords/s"; printf x > "$MNT/generic-passwords/s/a"
code 26 search label=none --mount "$MNT"; code 0 search --mount "$MNT"; code 0 show "$MNT/generic-passwords/s/a"
for path in s/none none none/a; do code 26 show "$MNT/generic-passwords/$path"; code 26 show --json "$MNT/generic-passwords/$path"; done
code 29 show "$MNT/generic-passwords/s/a/x"; code 29 get "$MNT/generic-passwords/s"; code 18 add "$MNT/generic-passwords/s/new"
code 20 add "$MNT/generic-passwords/s/a"; code 26 get "$MNT/generic-passwords/s/none"; code 0 get "$MNT/generic-passwords/s/a"
for path in "" /generic-passwords /.keychainfs/status; do code 1 show "$MNT$path"; done
(cd "$MNT/generic-passwords/s"; code 0 show a; code 26 show b)
code 10 unlock "${W[@]}" "$MNT"; code 10 rekey "${W[@]}" "$MNT"; code 10 slot add "${W[@]}" --new-passphrase-file "$CASE_DIR/new" "$MNT"
code 25 slot remove 1 "$MNT"; code 25 slot change 7 --new-passphrase-file "$CASE_DIR/new" "$MNT"
code 18 unlock --passphrase-file "$N" "$MNT"; code 18 rekey --key-file "$N" "$MNT"
code 0 check; code 0 rekey "$MNT"; code 0 slot list "$MNT"; code 0 doctor "$MNT"
(cd "$MNT"; code 14 unmount "$MNT"; grep -q "in use by .*bash (process $BASHPID)" "$ERR" || fail "busy: $(cat "$ERR")")
for command in "status $MNT" "search --mount $MNT" "slot list $MNT" check; do
    got=0; "$KEYCHAINFS" $command > /dev/full 2> "$ERR" || got=$?; expect 1 "$got" "'$command' to a full device"
done
code 0 lock "$MNT"; code 0 lock "$MNT"
code 23 show "$MNT/generic-passwords/s/a"; code 23 search --mount "$MNT"; code 23 rekey "$MNT"
code 0 unlock "$MNT"; code 0 unmount "$MNT"; code 17 unmount "$MNT"
# Before the first unlock.
code 0 mount --locked "$MNT"
found 23 check; code 23 backup "$CASE_DIR/b"; code 23 rekey "$MNT"; code 23 search --mount "$MNT"
code 23 slot add --new-passphrase-file "$CASE_DIR/new" "$MNT"; code 0 slot list "$MNT"; code 0 unmount "$MNT"
# 22: read-only.
code 0 mount -o ro "$MNT"
code 22 rekey "$MNT"; code 22 slot add --new-passphrase-file "$CASE_DIR/new" "$MNT"
code 22 slot change 1 --new-passphrase-file "$CASE_DIR/new" "$MNT"; code 0 check; code 0 unmount "$MNT"

# 24: an older copy of the keychain.
cp "$K" "$CASE_DIR/old"; code 0 mount "$MNT"; for i in 1 2 3; do printf "$i" > "$MNT/generic-passwords/s/b$i"; done; code 0 unmount "$MNT"
cp "$K" "$CASE_DIR/newest"; cp "$CASE_DIR/old" "$K"
code 24 mount "$MNT"; code 24 check; code 24 backup "$CASE_DIR/b"; code 24 slot add --new-passphrase-file "$CASE_DIR/new"
code 0 mount --locked "$MNT"; code 24 unlock "$MNT"; code 0 unlock --accept-rollback "$MNT"; code 0 unmount "$MNT"
# The acceptance has made the newest copy an older one.
cp "$CASE_DIR/newest" "$K"; code 24 check; code 0 mount --accept-rollback "$MNT"; code 0 unmount "$MNT"; cp "$K" "$CASE_DIR/newest"

# 21: damage. 12: not a keychain. 13: an unknown format.
damage() { python3 -I -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()' "$K" "$1"; }
damage "DELETE FROM item WHERE id = (SELECT max(id) FROM item)"
found 21 check; found 21 check --json; found 21 backup "$CASE_DIR/b"; found 21 backup --verify "$CASE_DIR/b"
cp "$CASE_DIR/newest" "$K"; damage "PRAGMA user_version = 99"
for command in "mount $MNT" check "backup $CASE_DIR/c" "slot list" "backup --verify $K"; do code 13 $command; done
code 13 restore --keychain "$CASE_DIR/restored" "$K"
for what in text nothing part directory; do
    rm -rf "$K"
    case $what in
    text) head -c 10000 /dev/zero > "$K" ;; nothing) : > "$K" ;; part) head -c 5000 "$CASE_DIR/newest" > "$K" ;; directory) mkdir "$K" ;;
    esac
    for command in "mount $MNT" check "backup $CASE_DIR/c" "slot list" "backup --verify $K"; do code 12 $command; done
    code 12 restore --keychain "$CASE_DIR/restored" "$K"
done
rm -rf "$K"; [ ! -e "$CASE_DIR/c" ] && [ ! -e "$CASE_DIR/restored" ] || fail "something was made of it"
code 0 restore "$CASE_DIR/backup"; code 0 check

# 30: a daemon that does not respond (L4-stuck tests the other commands). 130: ^C interrupts a command.
code 0 mount "$MNT"; mkdir -p "$MNT/generic-passwords/s"; head -c 200 /dev/zero > "$MNT/generic-passwords/s/a"
pid=$(daemon); stop_process "$pid"; trap 'code=$?; kill -CONT "$pid" 2> /dev/null || true; cleanup $code' EXIT
for command in "status $MNT" "rekey $MNT" "search --mount $MNT" "show $MNT/generic-passwords/s/a" "backup $CASE_DIR/late" \
    "slot add --new-passphrase-file $CASE_DIR/new $MNT"; do
    (got=0; timeout -s KILL 60 "$KEYCHAINFS" $command > "$OUT.${command%% *}" 2>&1 < /dev/null || got=$?
        expect 30 "$got" "'$command' of a daemon that is stopped ($(cat "$OUT.${command%% *}"))") & jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job" || fail "30"; done
kill -CONT "$pid"
for i in $(seq 300); do printf "$i" > "$MNT/generic-passwords/s/r$i"; done
got=0; env --default-signal setsid "$KEYCHAINFS" rekey "$MNT" > "$OUT" 2> "$ERR" < /dev/null & job=$!
wait_until 30 grep -q rekey "$ERR"; kill -INT "$job"; wait "$job" || got=$?
[ "$got" = 130 ] || [ "$got" = 0 ] || fail "^C of a rekey: $got"
wait_until 60 eval '"$KEYCHAINFS" status --json "$MNT" | grep -q "\"state\" : \"finished\""'
code 0 unmount "$MNT"

# No option disappears: each one is in its command's help, and the help is on standard output.
help() {
    local command=$1 option; shift
    code 0 $command --help; [ ! -s "$ERR" ] && grep -q '^USAGE: keychainfs '"$command" "$OUT" || fail "$command --help"
    for option in "$@"; do grep -qE "^  (-[a-z0-9], )?$option([ ,]|\$)" "$OUT" || fail "$command --help has no $option"; done
    # The help also contains every option of the parser that is not hidden.
    "$KEYCHAINFS" $command --experimental-dump-help > "$CASE_DIR/dump"
    python3 -I - "$CASE_DIR/dump" "$OUT" <<'PY' || fail "$command --help leaves an option out"
import json, sys
text = open(sys.argv[2]).read()
for argument in json.load(open(sys.argv[1]))["command"].get("arguments", []):
    if argument.get("kind") == "positional" or not argument.get("shouldDisplay", True): continue
    for name in argument["names"]:
        spelled = ("--" if name["kind"] == "long" else "-") + name["name"]
        assert spelled in text, spelled
    assert argument.get("abstract"), f"{spelled} has no explanation"
PY
}
U=(--passphrase-file --key-file --recovery)
help create --keychain --passphrase-file --kdf
help mount --keychain "${U[@]}" --foreground --create --locked --accept-rollback --lock-after --lock-at-most --lock-on -o
help unmount; help lock --all; help show --json; help add --label --accessible --attribute --replace --no-newline --owner
help get --wait; help copy --all --clear-after; help tree --json; help why; help "helper askpass"; help "helper git-credential"; help "helper docker-credential"; help config --json; help edit --owner; help run --env --env-folder --env-file; help unlock "${U[@]}" --owner --accept-rollback; help status --json --quiet
help search --mount --class --ignore-case --json --null; help check --keychain "${U[@]}" --json
help backup --keychain "${U[@]}" --verify --json; help restore --keychain "${U[@]}" --replace
help "slot list" --keychain --json
help "slot add" --keychain --owner "${U[@]}" --kind --new-passphrase-file --new-key-file --weak-key-file
help "slot change" --keychain --owner "${U[@]}" --kind --new-passphrase-file --new-key-file --weak-key-file --kdf --yes
help "slot remove" --keychain --owner "${U[@]}" --yes; help rekey "${U[@]}" --owner --json; help doctor --keychain --json
code 0 --help; for command in create mount unmount lock unlock status add edit generate get otp run copy tree why helper show search config check backup restore slot rekey doctor; do
    grep -q "^  $command " "$OUT" || fail "--help does not name $command"
done
# Every code of the table was tested here, in C-codes-root or in L4-stuck, and there are no others.
