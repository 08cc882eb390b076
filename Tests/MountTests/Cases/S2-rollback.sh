# S2: an older copy of the complete file is reported at the first unlock, and used only if that is accepted.
# seconds: 25
. "${0%/*}/lib.sh"
device() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['device']['$1'])"; }
create_keychain; mount_keychain
(umask 077; echo wrong > "$CASE_DIR/wrong")
D="$MNT/generic-passwords/s"; mkdir "$D"; printf old > "$D/a"
expect passed "$(device rollback)" "create has stored the state"
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

# The acceptance has made each other copy older: one that appears later is refused.
cp "$KEYCHAIN" "$CASE_DIR/accepted"; cp "$CASE_DIR/newest" "$KEYCHAIN"
expect_code 24 "$KEYCHAINFS" mount "$MNT" | grep -q OLDER || fail "the abandoned copy is not older"
# Another decision, for the newest copy again.
mount_keychain --accept-rollback; expect new "$(cat "$D/a")" "the newest"; unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/newest"; cp "$CASE_DIR/accepted" "$KEYCHAIN"; expect_code 24 "$KEYCHAINFS" check > /dev/null
cp "$CASE_DIR/newest" "$KEYCHAIN"; mount_keychain; expect passed "$(device rollback)" "after both"; unmount_keychain

# A fork: two machines write from the same copy. Here the second machine is the same device, with its state put back.
cp "$KEYCHAIN" "$CASE_DIR/newest"; cp "$NUMBER" "$CASE_DIR/number"
mount_keychain; printf one > "$D/fork"; unmount_keychain; cp "$NUMBER" "$CASE_DIR/seen"
cp "$CASE_DIR/newest" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"
mount_keychain; printf two > "$D/fork"; unmount_keychain; cp "$CASE_DIR/seen" "$NUMBER"
expect_code 24 "$KEYCHAINFS" mount "$MNT" > "$CASE_DIR/said"; grep -q 'ANOTHER COPY' "$CASE_DIR/said" || fail "a fork: $(cat "$CASE_DIR/said")"
mount_keychain --accept-rollback; expect two "$(cat "$D/fork")" "the accepted fork"; printf new > "$D/a"; unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/newest"

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
# Without its file, a device that has used the keychain refuses it.
rm "$NUMBER"; expect_code 24 "$KEYCHAINFS" mount "$MNT" > "$CASE_DIR/said"
grep -q 'is missing' "$CASE_DIR/said" || fail "without a number: $(cat "$CASE_DIR/said")"
expect_code 24 "$KEYCHAINFS" mount -o ro "$MNT" > /dev/null; [ ! -e "$NUMBER" ] || fail "a refusal has stored a number"
mount_keychain --accept-rollback; expect accepted "$(device rollback)" "without a number"; unmount_keychain
[ -s "$NUMBER" ] || fail "no number was kept"
mount_keychain; expect passed "$(device rollback)" "the next mount"; unmount_keychain
# Removed while mounted: stored again.
mount_keychain; rm "$NUMBER"; "$KEYCHAINFS" lock "$MNT"; wait_until 10 test -s "$NUMBER"; rm "$NUMBER"; unmount_keychain
mount_keychain; expect passed "$(device rollback)" "after a removal"; unmount_keychain
# A device that is new to the keychain is accepted, and has a number from then on.
mv "$XDG_STATE_HOME/keychainfs" "$CASE_DIR/state"
mount_keychain 2> /dev/null; expect first "$(device rollback)" "a new device"; unmount_keychain
rm "$NUMBER"; expect_code 24 "$KEYCHAINFS" mount "$MNT" > /dev/null
rm -r "$XDG_STATE_HOME/keychainfs"; mv "$CASE_DIR/state" "$XDG_STATE_HOME/keychainfs"

# restore gives the backup a number above that of the replaced keychain, which is older from then on.
mount_keychain; "$KEYCHAINFS" backup "$CASE_DIR/backup" > /dev/null; printf later > "$D/a"; printf x > "$D/b"; unmount_keychain
"$KEYCHAINFS" restore --replace "$CASE_DIR/backup" 2> /dev/null
mount_keychain; expect passed "$(device rollback)" "after restore"; expect new "$(cat "$D/a")" "what was restored"
[ ! -e "$D/b" ] || fail "more than was restored"; unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/restored"; cp "$KEYCHAIN".replaced-* "$KEYCHAIN"
expect_code 24 "$KEYCHAINFS" mount "$MNT" > /dev/null; cp "$CASE_DIR/restored" "$KEYCHAIN"; rm "$KEYCHAIN".replaced-*
# The same for a keychain that cannot be opened, and without a stored number.
printf damaged > "$KEYCHAIN"; rm "$NUMBER"; "$KEYCHAINFS" restore --replace "$CASE_DIR/backup" 2> /dev/null
mount_keychain; expect passed "$(device rollback)" "after restore of a lost keychain"; unmount_keychain
cp "$CASE_DIR/restored" "$KEYCHAIN"; expect_code 24 "$KEYCHAINFS" mount "$MNT" > /dev/null

# A backup that is older than a change of slots: restore warns.
rm -f "$KEYCHAIN"*; "$KEYCHAINFS" restore "$CASE_DIR/backup" 2> "$CASE_DIR/said"; ! grep -q 'key slots' "$CASE_DIR/said" || fail "no slot was removed"
(umask 077; echo second > "$CASE_DIR/second")
"$KEYCHAINFS" slot add --new-passphrase-file "$CASE_DIR/second" 2> /dev/null; "$KEYCHAINFS" slot remove 2 2> /dev/null
"$KEYCHAINFS" restore --replace "$CASE_DIR/backup" 2> "$CASE_DIR/said"
grep -q 'key slots were removed or changed' "$CASE_DIR/said" || fail "a removed slot: $(cat "$CASE_DIR/said")"
mount_keychain; expect passed "$(device rollback)" "after restore of former slots"; unmount_keychain

# A copy from before a change of slots: the message names the slots, and so does the status after an acceptance.
cp "$KEYCHAIN" "$CASE_DIR/before"
"$KEYCHAINFS" slot add --new-passphrase-file "$CASE_DIR/second" 2> /dev/null; "$KEYCHAINFS" slot remove 2 2> /dev/null
cp "$KEYCHAIN" "$CASE_DIR/newest"; cp "$CASE_DIR/before" "$KEYCHAIN"
expect_code 24 "$KEYCHAINFS" mount "$MNT" | grep -q 'OLDER copy, from before key slots were removed' || fail "a removed slot is not named"
mount_keychain --locked
expect_code 24 "$KEYCHAINFS" unlock "$MNT" | grep -q 'OLDER copy, from before key slots were removed' || fail "unlock names no removed slot"
"$KEYCHAINFS" unlock --accept-rollback "$MNT" 2> "$CASE_DIR/said"
grep -q 'slots open it again' "$CASE_DIR/said" || fail "unlock does not warn: $(cat "$CASE_DIR/said")"
"$KEYCHAINFS" status "$MNT" | grep -q 'slots open it again' || fail "status does not warn"; unmount_keychain
cp "$CASE_DIR/newest" "$KEYCHAIN"; mount_keychain --accept-rollback 2> /dev/null; unmount_keychain
cp "$CASE_DIR/before" "$KEYCHAIN"; expect_code 24 "$KEYCHAINFS" check --repair --yes > /dev/null
expect_code 0 "$KEYCHAINFS" check --repair --yes --accept-rollback | grep -q 'slots open it again' || fail "a repair does not warn"
cp "$CASE_DIR/before" "$KEYCHAIN"; mount_keychain --accept-rollback 2> "$CASE_DIR/said"
grep -q 'slots open it again' "$CASE_DIR/said" || fail "mount does not warn: $(cat "$CASE_DIR/said")"; unmount_keychain
