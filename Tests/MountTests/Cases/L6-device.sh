# L6: a keychain that is opened without the device key with which it was written.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D" "$MNT/generic-passwords/bound"
printf common > "$D/common"
for class in WhenUnlocked AfterFirstUnlock Always; do
    printf x > "$D/$class"; setfattr -n user.kSecAttrAccessible -v ${class}ThisDeviceOnly "$D/$class"
done
printf x > "$MNT/generic-passwords/bound/only"
setfattr -n user.kSecAttrAccessible -v WhenUnlockedThisDeviceOnly "$MNT/generic-passwords/bound/only"
device() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['device']['$1'])"; }
expect False "$(device isNew)" "the device that made it"; expect 0 "$(device foreignItems)" "items of others"
unmount_keychain; mount_keychain; expect False "$(device isNew)" "known again"; unmount_keychain
KEY="$XDG_STATE_HOME/keychainfs/device.key"; mv "$KEY" "$CASE_DIR/key"

# Commands that only read create no key; a lost key is never replaced without a message.
"$KEYCHAINFS" check > "$CASE_DIR/said"; [ ! -e "$KEY" ] || fail "check has made a device key"
grep -q '4 items can be opened by another device only' "$CASE_DIR/said" || fail "check: $(cat "$CASE_DIR/said")"
mount_keychain -o ro; [ ! -e "$KEY" ] || fail "a read-only mount has made a device key"
expect 4 "$(device foreignItems)" "items of others, read-only"; unmount_keychain
mount_keychain 2> "$CASE_DIR/said"; grep -q "no device key at $KEY" "$CASE_DIR/said" || fail "not told: $(cat "$CASE_DIR/said")"
expect 600 "$(stat -c %a "$KEY")" "mode of the new key"; ! cmp -s "$KEY" "$CASE_DIR/key" || fail "the same key"
expect True "$(device isNew)" "the new device"; expect 4 "$(device foreignItems)" "items of others"; expect 5 "$(status items)" "all items"
"$KEYCHAINFS" status "$MNT" | grep -q '4 items that only another device can open' || fail "status for people"

# Listings without them end without an error.
expect common "$(ls "$D")" "a listing"; expect "" "$(ls "$MNT/generic-passwords/bound")" "a listing of nothing else"
expect 2 "$(find "$MNT/generic-passwords" -mindepth 1 -type d | wc -l)" "directories"
ls -lR "$MNT" > /dev/null; tar -cf /dev/null -C "$MNT" generic-passwords

# By name ENOKEY.
for f in WhenUnlocked AfterFirstUnlock Always; do
    expect_errno ENOKEY cat "$D/$f"; expect_errno ENOKEY stat "$D/$f"; expect_errno ENOKEY touch "$D/$f"
    expect_errno ENOKEY getfattr -n user.kSecAttrLabel "$D/$f"; expect_errno ENOKEY chmod 600 "$D/$f"
    expect_errno ENOKEY setfattr -n user.kSecAttrLabel -v x "$D/$f"
    expect_errno ENOKEY bash -c "printf x > '$D/$f'"
    expect_errno ENOKEY python3 -c 'import os, sys; os.rename(sys.argv[1], sys.argv[2])' "$D/$f" "$D/other"
    expect_errno ENOKEY python3 -c 'import os, sys; os.rename(sys.argv[1], sys.argv[2])' "$D/common" "$D/$f"
    expect_errno ENOKEY python3 -c 'import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)' "$D/$f"
    expect_errno ENOKEY python3 -c 'import os, sys; os.open(sys.argv[1], os.O_RDONLY)' "$D/$f"
done
expect_errno ENOENT cat "$D/none"; expect common "$(cat "$D/common")" "what goes to other devices"
expect_errno ENOKEY rmdir "$MNT/generic-passwords/bound"
expect_errno ENOKEY mv "$MNT/generic-passwords/bound" "$MNT/generic-passwords/elsewhere"
# A directory with no other items looks empty but is not: rm -r reports why it stays, and deletes nothing invisible.
expect_errno ENOKEY rm -r "$MNT/generic-passwords/bound"
expect_errno ENOKEY rm -rf "$MNT/generic-passwords/bound"
expect 4 "$(device foreignItems)" "items of others after rm -r"

# unlink deletes them; an item that gets the name is bound to this device.
rm "$D/Always"; expect_errno ENOENT stat "$D/Always"; expect 3 "$(device foreignItems)" "after rm"
python3 -c 'import os, sys; os.unlink(sys.argv[1])' "$MNT/generic-passwords/bound/only"; rmdir "$MNT/generic-passwords/bound"
printf mine > "$D/Always"; setfattr -n user.kSecAttrAccessible -v AlwaysThisDeviceOnly "$D/Always"
expect mine "$(cat "$D/Always")" "bound to this device"; expect 2 "$(device foreignItems)" "items of others"
unmount_keychain; "$KEYCHAINFS" check > /dev/null; mount_keychain
expect False "$(device isNew)" "known now"; expect mine "$(cat "$D/Always")" "bound to this device, later"
unmount_keychain

# On the original device again: its own items are available, those of the other device are foreign.
mv "$KEY" "$CASE_DIR/key2"; mv "$CASE_DIR/key" "$KEY"
mount_keychain; expect False "$(device isNew)" "back again"; expect x "$(cat "$D/WhenUnlocked")" "its own"
expect_errno ENOKEY cat "$D/Always"; expect 1 "$(device foreignItems)" "the other one's"
unmount_keychain
# A damaged key is reported, not replaced.
head -c 10 "$CASE_DIR/key2" > "$KEY"; expect_code 1 "$KEYCHAINFS" mount "$MNT" | grep -q 'is damaged' || fail "a damaged key"
expect 10 "$(stat -c %s "$KEY")" "the damaged key"
