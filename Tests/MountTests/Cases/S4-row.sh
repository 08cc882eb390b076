# S4: a damaged row is never reported as absent: the indexes, which still find it, are not rebuilt from it. check names it, and
# a repair saves the other rows.
# users: both
# seconds: 15
. "${0%/*}/lib.sh"
P="$MNT/generic-passwords"
integrity() { status integrity; }
is() { [ "$(integrity)" = "$1" ]; }
is_log_empty() { [ ! -s "$KEYCHAIN-wal" ]; }

# damage WHAT ROW...: changes bytes of the rows of items in the file, and of nothing else.
damage() {
    /usr/bin/python3 -I - "$KEYCHAIN" "$@" <<'PY' || fail "the row cannot be damaged"
import os, sqlite3, sys
path, what, rows = sys.argv[1], sys.argv[2], sys.argv[3:]
db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
found = [db.execute("SELECT tag, metadata_seal FROM item WHERE id = ?", (row,)).fetchone() for row in rows]
db.close()
with open(path, "r+b") as file:
    data = file.read()
    for tag, seal in found:
        assert data.count(seal) == 1
        at = data.rindex(tag, 0, data.index(seal))   # the row; the index has the tag, too
        # In a new row the bytes before the tag are the directory and the protection class.
        first, count = {"tag": (at, 10), "directory": (at - 2, 1), "start": (at - 2, 10)}[what]
        os.pwrite(file.fileno(), bytes(b ^ 0x2A for b in data[first:first + count]), first)
PY
}
# lists NAMES DIR: the listing has these names and fails.
lists() {
    if LC_ALL=C ls "$2" > "$CASE_DIR/out" 2> "$CASE_DIR/err"; then fail "a listing without the damaged item succeeds"; fi
    grep -q 'Bad message' "$CASE_DIR/err" || fail "$(cat "$CASE_DIR/err")"
    expect "$1" "$(grep -v alice "$CASE_DIR/out" | tr '\n' ' ')" "the rest of the listing"
}

create_keychain; mount_keychain; mkdir "$P/mail" "$P/empty"
for name in alice bob carol; do printf '%s' "secret of $name" > "$P/mail/$name"; done
ROW=$(stat -c %i "$P/mail/alice"); unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/whole"; NUMBER=$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*); cp "$NUMBER" "$CASE_DIR/number"

for what in tag directory start; do
    cp "$CASE_DIR/whole" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"; damage "$what" "$ROW"
    "$KEYCHAINFS" mount --foreground "$MNT" 2> "$CASE_DIR/log" & DAEMON=$!
    wait_until 20 is_mounted
    expect_errno EBADMSG cat "$P/mail/alice"
    wait_until 30 is damaged
    # The state is known before the last line of the log is written.
    wait_until 10 grep -q 'indexes are not rebuilt' "$CASE_DIR/log"
    expect_errno EBADMSG cat "$P/mail/alice"; expect_errno EBADMSG stat "$P/mail/alice"
    expect_errno EBADMSG cp "$PASSPHRASE" "$P/mail/alice"
    lists "bob carol " "$P/mail"
    # Nothing is taken for absent.
    expect_errno EBADMSG cat "$P/mail/never"; expect_errno EBADMSG cp "$PASSPHRASE" "$P/mail/dora"
    expect_errno EBADMSG mkdir "$P/other"
    # What is found is read, changed and removed.
    printf changed > "$P/mail/bob"; expect changed "$(cat "$P/mail/bob")" "an intact item"
    rm "$P/mail/carol"
    if rmdir "$P/mail" 2> "$CASE_DIR/err"; then fail "a directory was removed with its damaged item"; fi
    "$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT"; wait_until 30 is damaged
    expect_errno EBADMSG cat "$P/mail/alice"
    expect_code 21 "$KEYCHAINFS" check > "$CASE_DIR/said"
    grep -q "item (row $ROW)" "$CASE_DIR/said" || fail "$what: check: $(cat "$CASE_DIR/said")"
    expect damaged "$(integrity)" "directly after check"
    expect_code 21 "$KEYCHAINFS" backup "$CASE_DIR/copy-$what" > /dev/null
    unmount_keychain; wait "$DAEMON" || fail "the daemon failed"
    expect_code 21 "$KEYCHAINFS" backup --verify "$CASE_DIR/copy-$what" > "$CASE_DIR/said"
    grep -q "item (row $ROW)" "$CASE_DIR/said" || fail "$what: the backup: $(cat "$CASE_DIR/said")"
    expect_code 21 "$KEYCHAINFS" check > "$CASE_DIR/said"
    grep -q "Damaged items (rows): $ROW\$" "$CASE_DIR/said" || fail "$what: check: $(cat "$CASE_DIR/said")"
    "$KEYCHAINFS" check --repair --yes > "$CASE_DIR/said" || fail "$what: repair: $(cat "$CASE_DIR/said")"
    grep -q "Items that do not verify (rows): $ROW\$" "$CASE_DIR/said" || fail "$what: repair: $(cat "$CASE_DIR/said")"
    mount_keychain; wait_until 30 is verified
    expect "bob" "$(ls "$P/mail")" "$what: after the repair"; expect_errno ENOENT cat "$P/mail/alice"
    printf again > "$P/mail/alice"; unmount_keychain
    rm -f "$KEYCHAIN".damaged-*
done

# Rows that are damaged while a listing reads them.
cp "$CASE_DIR/whole" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"; mount_keychain
for i in $(seq -w 1 120); do printf '%s' "value $i" > "$P/empty/item-$i"; done
ROWS=$(cd "$P/empty" && stat -c %i item-0[5-9]? item-1??)
unmount_keychain; mount_keychain; wait_until 30 is verified; wait_until 10 is_log_empty
mkfifo "$CASE_DIR/go" "$CASE_DIR/begun"
/usr/bin/python3 -I - "$P/empty" "$CASE_DIR/begun" "$CASE_DIR/go" > "$CASE_DIR/names" <<'PY' & READER=$!
import ctypes, errno, os, struct, sys
libc, buffer = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(512)
fd, pieces = os.open(sys.argv[1], os.O_RDONLY), 0
while True:
    count = libc.syscall(217 if os.uname().machine == "x86_64" else 61, fd, buffer, 512)   # getdents64
    if count < 0:
        assert ctypes.get_errno() == errno.EBADMSG, ctypes.get_errno()
        print("EBADMSG")
    if count <= 0: break
    at, pieces = 0, pieces + 1
    while at < count:
        size, = struct.unpack_from("H", buffer.raw, at + 16)
        print(buffer.raw[at + 19:at + size].split(b"\0")[0].decode())
        at += size
    if pieces == 1:
        open(sys.argv[2], "w").close()
        open(sys.argv[3]).close()
PY
cat "$CASE_DIR/begun"
damage start $ROWS
cat /dev/null > "$CASE_DIR/go"; wait "$READER" || fail "the listing"
[ "$(grep -c item- "$CASE_DIR/names")" = 120 ] || grep -q EBADMSG "$CASE_DIR/names" || fail "a listing lacks items: $(cat "$CASE_DIR/names")"
expect_code 21 "$KEYCHAINFS" check > /dev/null
wait_until 30 is damaged
for i in $(seq -w 1 120); do
    [ "$i" -ge 050 ] || { expect "value $i" "$(cat "$P/empty/item-$i")" "an intact item"; continue; }
    expect_errno EBADMSG cat "$P/empty/item-$i"
done
expect_code 1 rmdir "$P/empty" > /dev/null
unmount_keychain
