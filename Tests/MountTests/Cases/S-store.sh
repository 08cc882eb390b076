# All data survives another mount, and the keychain file reveals nothing (S1, S2, H1).
# seconds: 13
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
mkdir "$MNT/generic-passwords/CANARYSERVICE" "$MNT/internet-passwords/canaryserver.example,port=8443"
printf CANARYSECRET > "$MNT/generic-passwords/CANARYSERVICE/CANARYACCOUNT"
setfattr -n user.kSecAttrLabel -v CANARYLABEL "$MNT/generic-passwords/CANARYSERVICE/CANARYACCOUNT"
printf CANARYPASSWORD > "$MNT/internet-passwords/canaryserver.example,port=8443/CANARYUSER"
for file in "$KEYCHAIN"*; do
    ! grep -aiq canary "$file" || fail "$file holds a name or a secret"
    ! grep -aq 'correct horse' "$file" || fail "$file holds the passphrase"
    expect 600 "$(stat -c %a "$file")" "mode of $file"
done
expect 600 "$(stat -c %a "$XDG_STATE_HOME/keychainfs/device.key")" "mode of the device key"
pid=$(daemon)
expect keychainfs "$(cat "/proc/$pid/comm")" "the daemon's name"
mkdir "$MNT.second"; expect_code 14 "$KEYCHAINFS" mount "$MNT.second" > "$CASE_DIR/said"
grep -q "$pid" "$CASE_DIR/said" && grep -q "$MNT" "$CASE_DIR/said" || fail "S1: does not say who holds it: $(cat "$CASE_DIR/said")"
python3 -c "
import os, json
s = json.load(open('$MNT/.keychainfs/status'))
assert {'pid', 'state', 'keychain', 'mountpoint', 'items', 'hardening'} <= set(s), s
assert s['items'] == 2 and s['hardening']['undumpable'] and s['hardening']['coreDumpsDisabled'], s
if s['hardening']['memoryLocked']:
    locked = [l for l in open('/proc/$pid/status') if l.startswith('VmLck')] if os.getuid() == 0 else ['VmLck: 1 kB']
    assert int(locked[0].split()[1]) > 0, locked
"
expect_code 0 "$KEYCHAINFS" check | grep -q 'is intact' || fail "check through the daemon"
if [ "$(id -u)" != 0 ]; then ! cat "/proc/$pid/environ" > /dev/null 2>&1 || fail "H1: the daemon can be looked into"; fi
unmount_keychain; expect_code 17 "$KEYCHAINFS" status "$MNT" > /dev/null
# A zombie has ended: its parent has not waited for it yet.
[ ! -e "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status" || fail "unmount did not wait for the daemon"
mount_keychain
expect CANARYSECRET "$(cat "$MNT/generic-passwords/CANARYSERVICE/CANARYACCOUNT")" "the secret"
expect CANARYLABEL "$(getfattr --only-values -n user.kSecAttrLabel "$MNT/generic-passwords/CANARYSERVICE/CANARYACCOUNT")" "the label"
expect 'canaryserver.example,port=8443' "$(ls "$MNT/internet-passwords")" "the directory"
touch "$MNT/generic-passwords/CANARYSERVICE/.x.swp"
unmount_keychain
expect_code 0 "$KEYCHAINFS" check | grep -q '\.x\.swp' || fail "check lists left-over editor files"
# A read-only mount refuses changes.
mount_keychain -o ro
expect CANARYSECRET "$(cat "$MNT/generic-passwords/CANARYSERVICE/CANARYACCOUNT")" "read-only mount"
expect_errno EROFS touch "$MNT/generic-passwords/CANARYSERVICE/new"
expect_errno EROFS rm "$MNT/generic-passwords/CANARYSERVICE/CANARYACCOUNT"
expect_errno EROFS chmod 640 "$MNT/generic-passwords/CANARYSERVICE/CANARYACCOUNT"
expect_errno EROFS mkdir "$MNT/generic-passwords/new"
"$KEYCHAINFS" lock "$MNT"; expect_errno ENOKEY cat "$MNT/generic-passwords/CANARYSERVICE/CANARYACCOUNT"
"$KEYCHAINFS" unlock "$MNT"; expect_code 0 "$KEYCHAINFS" check > /dev/null
unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/sound"
# S4: a damaged item is reported, the others stay usable.
python3 - "$KEYCHAIN" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
row, blob = db.execute("SELECT id, metadata FROM item ORDER BY id LIMIT 1").fetchone()
db.execute("UPDATE item SET metadata = ? WHERE id = ?", (bytes([blob[0] ^ 1]) + blob[1:], row)); db.commit()
PY
expect_code 21 "$KEYCHAINFS" check > /dev/null
mount_keychain
expect_errno EBADMSG cat "$MNT/generic-passwords/CANARYSERVICE/CANARYACCOUNT"
expect CANARYPASSWORD "$(cat "$MNT/internet-passwords/canaryserver.example,port=8443/CANARYUSER")" "another item"
expect_errno EBADMSG ls "$MNT/generic-passwords/CANARYSERVICE"
expect .x.swp "$(ls -A "$MNT/generic-passwords/CANARYSERVICE" 2>/dev/null)" "the rest of the listing"
unmount_keychain
# Any data in the readable columns: check reports it, nothing traps, the other items stay usable.
damage() {
    cp "$CASE_DIR/sound" "$KEYCHAIN"
    python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()' "$KEYCHAIN" "$1"
}
first="(SELECT min(id) FROM item)"
for sql in "protection = 99" "secret_seals = x'0102'" "metadata = x''" "directory = 4242" "generation = 77"; do
    damage "UPDATE item SET $sql WHERE id = $first"
    expect_code 21 "$KEYCHAINFS" check > /dev/null
    mount_keychain
    expect CANARYPASSWORD "$(cat "$MNT/internet-passwords/canaryserver.example,port=8443/CANARYUSER")" "another item ($sql)"
    if [ "$sql" != "directory = 4242" ]; then
        expect .x.swp "$(ls -A "$MNT/generic-passwords/CANARYSERVICE" 2>/dev/null)" "the rest of the listing ($sql)"
    fi
    unmount_keychain
done
damage "UPDATE directory SET parent = id WHERE parent <> 0"; expect_code 21 "$KEYCHAINFS" check > /dev/null
# The columns of the store are part of the header: changed ones refuse the unlock.
damage "UPDATE store SET reader_mask = 0, writer_mask = 9223372036854775807"
expect_code 21 "$KEYCHAINFS" check > /dev/null; expect_code 12 "$KEYCHAINFS" mount "$MNT" > /dev/null
cp "$CASE_DIR/sound" "$KEYCHAIN"
# A file that is moved while the daemon has it open accepts no more changes, and its log is not given to another
# keychain.
mount_keychain; printf x > "$MNT/generic-passwords/CANARYSERVICE/y"; mv "$KEYCHAIN" "$KEYCHAIN.moved"
expect_errno ENODEV python3 -c '
import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT); os.write(fd, b"lost"); os.close(fd)' "$MNT/generic-passwords/CANARYSERVICE/z"
# A shell, which ignores the error of its close, gets the error at the open; status reports it too.
for name in y z; do
    if (printf lost > "$MNT/generic-passwords/CANARYSERVICE/$name") 2> /dev/null; then fail "a shell's write to $name is lost unseen"; fi
done
expect x "$(cat "$MNT/generic-passwords/CANARYSERVICE/y")" "what was there"
"$KEYCHAINFS" status "$MNT" | grep -q 'has been moved' || fail "status does not tell"
expect_code 20 "$KEYCHAINFS" create --kdf test > /dev/null
mv "$KEYCHAIN.moved" "$KEYCHAIN"; printf kept > "$MNT/generic-passwords/CANARYSERVICE/z"
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null

# A damaged item can be removed; a repair then makes the keychain intact again: rows once differed from the committed ones.
mount_keychain; D="$MNT/generic-passwords/removable"; mkdir "$D"; printf x > "$D/damaged"; printf y > "$D/other"
id=$(stat -c %i "$D/damaged"); unmount_keychain
python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("UPDATE item SET metadata = zeroblob(length(metadata)) WHERE id = ?", (sys.argv[2],)); db.commit()' "$KEYCHAIN" "$id"
mount_keychain; expect_code 21 "$KEYCHAINFS" check > /dev/null
expect_errno EBADMSG stat "$D/damaged"; expect_errno EBADMSG sh -c 'printf z > "$0"' "$D/damaged"
rm "$D/damaged"; expect other "$(ls "$D")" "a listing without the damaged item"
expect_code 21 "$KEYCHAINFS" check > /dev/null
unmount_keychain
expect_code 0 "$KEYCHAINFS" check --repair --yes > /dev/null; expect_code 0 "$KEYCHAINFS" check > /dev/null; rm "$KEYCHAIN".damaged-*
