# L5: a slot of a passphrase and a key file opens only with both, through a mount and in the file, and counts as a passphrase
# slot for WhenPasscodeSetThisDeviceOnly.
# needs: StoreFormat
. "${0%/*}/lib.sh"
cd "$CASE_DIR"
slot() { timeout 60 "$KEYCHAINFS" slot "$@"; }
(umask 077; printf 'a second one\n' > second; head -c 64 /dev/urandom > other)
both=(--key-file key --with-passphrase --passphrase-file second)
create_keychain; mount_keychain; mkdir "$MNT/generic-passwords/s"; printf x > "$MNT/generic-passwords/s/x"
printf secret > "$MNT/generic-passwords/s/p"
setfattr -n user.kSecAttrAccessible -v WhenPasscodeSetThisDeviceOnly "$MNT/generic-passwords/s/p"
expect_code 64 slot add --kind passphrase-and-keyfile --new-passphrase-file second "$MNT" | grep -q -- '--new-key-file' || fail "no key file is named"
slot add --kind passphrase-and-keyfile --new-passphrase-file second --new-key-file key "$MNT" 2> said
grep -q 'created the key file' said && grep -q 'slot 2 (passphrase-and-keyfile)' said || fail "$(cat said)"
expect "600 64" "$(stat -c '%a %s' key)" "the key file that was created"
slot list "$MNT" | grep -q passphrase-and-keyfile || fail "slot list"
# Neither of the two alone, and no other of them.
for wrong in "--key-file key" "--passphrase-file second" "--key-file other --with-passphrase --passphrase-file second" \
    "--key-file key --with-passphrase --passphrase-file $PASSPHRASE"; do
    "$KEYCHAINFS" lock "$MNT"
    # shellcheck disable=SC2086
    expect_code 10 timeout 60 "$KEYCHAINFS" unlock $wrong "$MNT" > /dev/null
done
"$KEYCHAINFS" unlock "${both[@]}" "$MNT"; expect x "$(cat "$MNT/generic-passwords/s/x")" "unlocked with both"
expect_code 64 "$KEYCHAINFS" unlock --with-passphrase "$MNT" > /dev/null
expect_code 64 "$KEYCHAINFS" unlock --key-file key --passphrase-file second "$MNT" | grep -q -- '--with-passphrase' || fail "no advice"
# The key file of both must not become a slot that opens without the passphrase, nor the slot one that needs less.
expect_code 64 slot add --kind keyfile "${both[@]}" "$MNT" | grep -q -- '--new-key-file' || fail "the key file of both was taken for a new one"
for part in "--new-passphrase-file second" "--new-key-file plain"; do
    # shellcheck disable=SC2086
    expect_code 64 slot change 2 "${both[@]}" $part "$MNT" | grep -q 'needs a passphrase and a key file' || fail "$part"
done
[ ! -e plain ] || fail "a key file of no slot"
# The passphrase alone is removed: items of WhenPasscodeSetThisDeviceOnly stay.
slot remove 1 "${both[@]}" "$MNT"
expect secret "$(cat "$MNT/generic-passwords/s/p")" "an item of WhenPasscodeSetThisDeviceOnly"
unmount_keychain; expect_code 10 "$KEYCHAINFS" check > /dev/null
mount_keychain "${both[@]}"; expect secret "$(cat "$MNT/generic-passwords/s/p")" "mounted with both"
"$KEYCHAINFS" rekey "${both[@]}" "$MNT" > /dev/null 2>&1; expect x "$(cat "$MNT/generic-passwords/s/x")" "after a rekey"; unmount_keychain
"$KEYCHAINFS" check "${both[@]}" > /dev/null; "$KEYCHAINFS" backup "${both[@]}" copy > /dev/null
"$KEYCHAINFS" backup --verify "${both[@]}" copy > /dev/null
/usr/bin/python3 -I "${0%/*}/StoreFormat/read-store" "$KEYCHAIN" --cheap --key-file key --passphrase-file second \
    --device-key "$XDG_STATE_HOME/keychainfs/device.key" --verify || fail "read-store"
# In the file: another key file and another passphrase; then the last slot with a passphrase goes, and the items with it.
(umask 077; echo third > third)
slot change 2 "${both[@]}" --new-passphrase-file third --new-key-file other 2> /dev/null
expect_code 10 "$KEYCHAINFS" check "${both[@]}" > /dev/null
both=(--key-file other --with-passphrase --passphrase-file third); "$KEYCHAINFS" check "${both[@]}" > /dev/null
slot change 2 "${both[@]}" --kdf moderate 2> /dev/null; "$KEYCHAINFS" check "${both[@]}" > /dev/null
KEYCHAINFS_PASSPHRASE_FILE=$PWD/third "$KEYCHAINFS" check --key-file other --with-passphrase > /dev/null
expect_code 25 slot change 2 "${both[@]}" --kind keyfile --new-key-file plain < /dev/null > /dev/null; [ ! -e plain ] || fail "a key file of no slot"
slot change 2 "${both[@]}" --kind keyfile --new-key-file plain --yes 2> /dev/null; "$KEYCHAINFS" check --key-file plain > /dev/null
mount_keychain --key-file plain; [ ! -e "$MNT/generic-passwords/s/p" ] || fail "the item was to be deleted"
expect x "$(cat "$MNT/generic-passwords/s/x")" "another item"; unmount_keychain
