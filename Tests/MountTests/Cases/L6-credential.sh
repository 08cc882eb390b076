# L6: a device key that systemd passes as a credential ($CREDENTIALS_DIRECTORY) is the device key, read and never written.
. "${0%/*}/lib.sh"
export CREDENTIALS_DIRECTORY="$CASE_DIR/credentials"; mkdir "$CREDENTIALS_DIRECTORY"
CREDENTIAL="$CREDENTIALS_DIRECTORY/keychainfs.device-key"
KEY="$XDG_STATE_HOME/keychainfs/device.key"
head -c 32 /dev/urandom > "$CREDENTIAL"; chmod 400 "$CREDENTIAL"; sum=$(sha256sum < "$CREDENTIAL")
cp "$PASSPHRASE" "$CREDENTIALS_DIRECTORY/passphrase"
create_keychain; mount_keychain --passphrase-file "$CREDENTIALS_DIRECTORY/passphrase"
D="$MNT/generic-passwords/s"; mkdir "$D"; printf bound > "$D/a"
setfattr -n user.kSecAttrAccessible -v WhenUnlockedThisDeviceOnly "$D/a"
unmount_keychain
[ ! -e "$KEY" ] || fail "a device key was made beside the credential"
ls "$XDG_STATE_HOME/keychainfs/" | grep -q '^commit-number' || fail "the commit number is kept elsewhere"
expect "$sum" "$(sha256sum < "$CREDENTIAL")" "the credential"
[[ "$("$KEYCHAINFS" doctor "$MNT")" == *"systemd credential"* ]] || fail "doctor"
mount_keychain; expect bound "$(cat "$D/a")" "with the credential"; unmount_keychain
# Without it this is another device; with another key too.
CREDENTIALS_DIRECTORY= mount_keychain 2> /dev/null; expect_errno ENOKEY cat "$D/a"; unmount_keychain; rm "$KEY"
chmod 600 "$CREDENTIAL"; cp "$CREDENTIAL" "$CASE_DIR/kept"
head -c 32 /dev/urandom > "$CREDENTIAL"; mount_keychain; expect_errno ENOKEY cat "$D/a"; unmount_keychain
# An invalid key is refused and not modified.
for size in 0 31 33 4096; do
    head -c "$size" /dev/zero > "$CREDENTIAL"
    expect_code 1 "$KEYCHAINFS" mount "$MNT" | grep -q 'exactly 32 bytes' || fail "a credential of $size bytes"
    expect "$size" "$(stat -c %s "$CREDENTIAL")" "the credential"
done
cp "$CASE_DIR/kept" "$CREDENTIAL"; mount_keychain; expect bound "$(cat "$D/a")" "the first credential again"
[ ! -e "$KEY" ] || fail "a device key was made"
