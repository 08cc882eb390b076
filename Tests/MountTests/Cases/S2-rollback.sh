# S2: an older copy of the complete file is reported at the first unlock, and used only if that is accepted.
# seconds: 12
. "${0%/*}/lib.sh"
device() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['device']['$1'])"; }
create_keychain; mount_keychain
(umask 077; echo wrong > "$CASE_DIR/wrong")
D="$MNT/generic-passwords/s"; mkdir "$D"; printf old > "$D/a"
expect first "$(device rollback)" "nothing was kept before"
unmount_keychain
NUMBER=$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*)
expect 600 "$(stat -c %a "$NUMBER")" "mode of the number file"
expect 1 "$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.* | wc -l)" "one file per store"
cp "$KEYCHAIN" "$CASE_DIR/older"
mount_keychain; expect passed "$(device rollback)" "the same store"; printf new > "$D/a"; unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/newest"; cp "$NUMBER" "$CASE_DIR/number"

# The older copy: every first unlock refuses it, unless accepted; a refusal changes nothing.
cp "$CASE_DIR/older" "$KEYCHAIN"
for try in 1 2; do
    expect_code 24 "$KEYCHAINFS" mount "$MNT" > "$CASE_DIR/said"
    grep -q OLDER "$CASE_DIR/said" && grep -q -- --accept-rollback "$CASE_DIR/said" || fail "not told: $(cat "$CASE_DIR/said")"
    ! is_mounted || fail "an older copy was mounted"
done
expect_code 24 "$KEYCHAINFS" mount -o ro "$MNT" > /dev/null
expect_code 24 "$KEYCHAINFS" check > /dev/null
expect_code 24 "$KEYCHAINFS" backup "$CASE_DIR/b" > /dev/null; [ ! -e "$CASE_DIR/b" ] || fail "a backup of an older copy"
expect_code 10 "$KEYCHAINFS" mount --accept-rollback --passphrase-file "$CASE_DIR/wrong" "$MNT" > /dev/null
cmp "$CASE_DIR/older" "$KEYCHAIN" || fail "who was refused has changed the keychain"
cmp "$CASE_DIR/number" "$NUMBER" || fail "who was refused has changed the number"
# Read-only: compares, can accept, writes nothing.
mount_keychain -o ro --accept-rollback; expect old "$(cat "$D/a")" "the older copy, read-only"; unmount_keychain
cmp "$CASE_DIR/number" "$NUMBER" || fail "a read-only mount has written the number"
mount_keychain --accept-rollback; expect accepted "$(device rollback)" "told in the status"
expect old "$(cat "$D/a")" "the older copy"; "$KEYCHAINFS" status "$MNT" | grep -q 'older copy' || fail "status for people"
unmount_keychain
mount_keychain 2> "$CASE_DIR/said"; expect passed "$(device rollback)" "the next mount is quiet"; unmount_keychain
expect "" "$(cat "$CASE_DIR/said")" "what the next mount says"

# A larger number in the keychain file is normal: the newest copy is put back.
cp "$CASE_DIR/newest" "$KEYCHAIN"; mount_keychain; expect new "$(cat "$D/a")" "the newest"; unmount_keychain

# The number is saved on lock and on unmount: after a kill it is that of the last lock.
mount_keychain; printf locked > "$D/a"; "$KEYCHAINFS" lock "$MNT"; pid=$(daemon); kill -9 "$pid"
wait_until 10 bash -c "! grep -q ' $MNT fuse.keychainfs ' /proc/self/mounts"
cp "$CASE_DIR/newest" "$KEYCHAIN"; rm -f "$KEYCHAIN-wal"
expect_code 24 "$KEYCHAINFS" mount "$MNT" > /dev/null

# The number file: forged, truncated, older, missing.
cp "$NUMBER" "$CASE_DIR/number"
python3 - "$NUMBER" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read()); data[17:25] = (1).to_bytes(8, "little"); open(sys.argv[1], "wb").write(data)
PY
expect_code 24 "$KEYCHAINFS" mount "$MNT" | grep -q 'damaged or forged' || fail "a forged number"
head -c 20 "$CASE_DIR/number" > "$NUMBER"; expect_code 24 "$KEYCHAINFS" mount "$MNT" > /dev/null
: > "$NUMBER"; expect_code 24 "$KEYCHAINFS" mount "$MNT" > /dev/null
mount_keychain --accept-rollback; unmount_keychain; mount_keychain; expect passed "$(device rollback)" "mended"; unmount_keychain
rm "$NUMBER"; mount_keychain; expect first "$(device rollback)" "without a number"; unmount_keychain
[ -s "$NUMBER" ] || fail "no number was kept"

# restore sets it: this device has now seen the older backup last.
mount_keychain; "$KEYCHAINFS" backup "$CASE_DIR/backup" > /dev/null; printf later > "$D/a"; printf x > "$D/b"; unmount_keychain
"$KEYCHAINFS" restore --replace "$CASE_DIR/backup" 2> /dev/null
mount_keychain; expect passed "$(device rollback)" "after restore"; expect new "$(cat "$D/a")" "what was restored"
[ ! -e "$D/b" ] || fail "more than was restored"; unmount_keychain
