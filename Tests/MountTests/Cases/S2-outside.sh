# S2: a row that another program puts back while the keychain is mounted is reported, and 'verified' is withdrawn.
. "${0%/*}/lib.sh"
integrity() { status integrity; }
is() { [ "$(integrity)" = "$1" ]; }
create_keychain
"$KEYCHAINFS" mount --foreground "$MNT" 2> "$CASE_DIR/log" & daemon=$!
wait_until 30 is_mounted; wait_until 30 is verified
S="$MNT/generic-passwords/mail"; mkdir "$S"
printf old-password > "$S/alice"; "$KEYCHAINFS" lock "$MNT"; wait_until 10 test ! -s "$KEYCHAIN-wal"
cp "$KEYCHAIN" "$CASE_DIR/old"
"$KEYCHAINFS" unlock "$MNT"; printf new-password > "$S/alice"; printf x > "$S/bob"
"$KEYCHAINFS" lock "$MNT"; wait_until 10 test ! -s "$KEYCHAIN-wal"; "$KEYCHAINFS" unlock "$MNT"
wait_until 30 is verified
! grep -q "another program" "$CASE_DIR/log" || fail "a change by the daemon itself was reported: $(cat "$CASE_DIR/log")"
sleep 0.05
python3 - "$CASE_DIR/old" "$KEYCHAIN" <<'PY'
import sqlite3, sys
old, new = sys.argv[1:]
tag = sqlite3.connect(f"file:{old}?mode=ro&immutable=1", uri=True).execute("SELECT tag FROM item ORDER BY id DESC LIMIT 1").fetchone()[0]
with open(old, "rb") as a, open(new, "r+b") as b:
    pages = 0
    while page := a.read(4096):
        place = a.tell() - 4096
        b.seek(place)
        # A leaf page of a table.
        if page[0] == 13 and tag in page and b.read(4096) != page:
            b.seek(place); b.write(page); pages += 1
sys.exit(0 if pages == 1 else f"{pages} pages written")
PY
printf y > "$S/carol"
wait_until 10 is damaged
wait_until 10 grep -q "another program has changed" "$CASE_DIR/log"
wait_until 30 grep -qE "rows are (missing|older)" "$CASE_DIR/log"
expect damaged "$(integrity)" "after the verification"
expect_code 21 "$KEYCHAINFS" check > /dev/null
# Data that is written afterwards is not lost. The index, which still has an entry of the missing row, is not rebuilt.
expect y "$(cat "$S/carol")" "an item that was written after the change"; printf z > "$S/carol"; expect z "$(cat "$S/carol")" "a new value"
expect_errno EBADMSG cat "$S/bob"; expect_errno EBADMSG cp "$PASSPHRASE" "$S/dave"
unmount_keychain; wait "$daemon" || fail "the daemon failed"
"$KEYCHAINFS" check --repair --yes > "$CASE_DIR/said" || fail "no repair: $(cat "$CASE_DIR/said")"
mount_keychain; expect "alice carol" "$(echo $(ls "$S"))" "after the repair"
printf a > "$S/dave"; expect "a z" "$(cat "$S/dave") $(cat "$S/carol")" "after the repair"
unmount_keychain
