# L1, S2: mounted without unlocking: only Always items are available, and nothing can be changed; then the first unlock.
. "${0%/*}/lib.sh"
device() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['device']['$1'])"; }
create_keychain; mount_keychain
G="$MNT/generic-passwords"; D="$G/s"; mkdir "$D" "$G/other" "$MNT/internet-passwords/only"
for class in WhenUnlocked AfterFirstUnlock Always AlwaysThisDeviceOnly WhenUnlockedUnlessOpen; do
    printf '%s' "value of $class" > "$D/$class"; setfattr -n user.kSecAttrAccessible -v $class "$D/$class"
done
setfattr -n user.kSecAttrLabel -v cold "$D/Always"; chmod 640 "$D/Always"
printf x > "$G/other/a"; printf x > "$MNT/internet-passwords/only/a"
mkdir -p "$MNT/access-groups/team"; mkdir "$MNT/access-groups/team/generic-passwords/s" "$MNT/access-groups/closed"
printf team > "$MNT/access-groups/team/generic-passwords/s/a"
setfattr -n user.kSecAttrAccessible -v Always "$MNT/access-groups/team/generic-passwords/s/a"
inode=$(stat -c %i "$D/Always"); unmount_keychain; cp "$KEYCHAIN" "$CASE_DIR/older"

# cold: prompts for no passphrase, regardless of the environment.
cold() { env -u KEYCHAINFS_PASSPHRASE_FILE "$KEYCHAINFS" mount --locked "$MNT" "$@" < /dev/null; }
# rename(2) itself: mv(1) examines the target first.
rename() { python3 -c 'import os, sys; os.rename(sys.argv[1], sys.argv[2])' "$@"; }
cold; expect before-first-unlock "$(status state)" "state"; expect not-checked "$(device rollback)" "rollback"
expect 7 "$(( $(status items) - 1 ))" "items are counted"

# Always items are available by name: secret, attributes, mode, size.
for class in Always AlwaysThisDeviceOnly; do
    expect "value of $class" "$(cat "$D/$class")" "$class"; expect "$class" "$(attribute kSecAttrAccessible "$D/$class")" "class"
done
expect cold "$(attribute kSecAttrLabel "$D/Always")" "an attribute"
expect "640 15 $inode" "$(stat -c '%a %s %i' "$D/Always")" "mode, size, number"
"$KEYCHAINFS" show "$D/Always" > "$CASE_DIR/said"; grep -q cold "$CASE_DIR/said" || fail "show: $(cat "$CASE_DIR/said")"
expect team "$(cat "$MNT/access-groups/team/generic-passwords/s/a")" "in a group"

# Every other name, existing or not, is ENOKEY: items, directories, groups.
for name in WhenUnlocked AfterFirstUnlock WhenUnlockedUnlessOpen none; do
    expect_errno ENOKEY cat "$D/$name"; expect_errno ENOKEY stat "$D/$name"
    expect_errno ENOKEY getfattr -n user.kSecAttrLabel "$D/$name"
done
for name in "$G/other" "$G/none" "$MNT/internet-passwords/only" "$MNT/access-groups/closed" "$MNT/access-groups/none"; do
    expect_errno ENOKEY stat "$name"
done

# Listings: the available items, then ENOKEY; with none available opening the directory fails.
listed() { (ls "$1" 2> "$CASE_DIR/said" || true) | xargs; grep -q 'key not available' "$CASE_DIR/said" || fail "a clean end of $1"; }
expect "generic-passwords internet-passwords synchronizable access-groups" "$(ls -U "$MNT" | xargs)" "the root is listed cleanly"
for folder in "$MNT" "$G" "$MNT/internet-passwords" "$MNT/access-groups"; do
    expect "" "$(getfattr -d "$folder" 2>&1)" "the attributes of $folder"
done
expect "Always AlwaysThisDeviceOnly" "$(listed "$D")" "items"; expect s "$(listed "$G")" "directories"
expect team "$(listed "$MNT/access-groups")" "groups"
expect s "$(ls "$MNT/access-groups/team/generic-passwords")" "nothing is left out of this one"
expect_errno ENOKEY python3 -c 'import os, sys; os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)' "$MNT/internet-passwords"
expect_errno ENOKEY find "$MNT" -type f; expect_errno ENOKEY ls -R "$MNT"

# Every change fails with ENOKEY, for an Always item too; none of the commands has written anything.
unchanged() { expect_errno ENOKEY "$@"; }
unchanged bash -c "printf x > '$D/Always'"; unchanged bash -c "printf x >> '$D/Always'"; unchanged bash -c "printf x > '$D/new'"
unchanged truncate -s 1 "$D/Always"; unchanged rm -f "$D/Always"; unchanged rename "$D/Always" "$D/b"
unchanged touch "$D/Always"; unchanged chmod 600 "$D/Always"; unchanged setfattr -n user.kSecAttrLabel -v x "$D/Always"
unchanged setfattr -x user.kSecAttrLabel "$D/Always"; unchanged setfattr -n user.kSecAttrAccessible -v Always "$D"
unchanged mkdir "$G/t"; unchanged rmdir "$D"; unchanged rename "$D" "$G/t"; unchanged mkdir "$MNT/access-groups/t"
unchanged rename "$MNT/access-groups/team" "$MNT/access-groups/t"; unchanged mknod "$D/n" p
unchanged rename "$D/Always" "$D/AlwaysThisDeviceOnly"; unchanged ln "$D/Always" "$D/l"
expect 0 "$(commits)" "commits before the first unlock"
expect_code 23 "$KEYCHAINFS" backup "$CASE_DIR/b" > /dev/null

# A lock changes none of it. The first unlock then makes all items available, also through a descriptor that was opened
# before.
"$KEYCHAINFS" lock "$MNT"; expect before-first-unlock "$(status state)" "a lock before the first unlock"
expect "value of Always" "$(cat "$D/Always")" "Always after that lock"
exec 3< "$D/Always"
(umask 077; echo wrong > "$CASE_DIR/wrong")
expect_code 10 "$KEYCHAINFS" unlock --passphrase-file "$CASE_DIR/wrong" "$MNT" > /dev/null
expect before-first-unlock "$(status state)" "after a wrong passphrase"
"$KEYCHAINFS" unlock "$MNT"; expect unlocked "$(status state)" "the first unlock"; expect passed "$(device rollback)" "rollback"
for class in WhenUnlocked AfterFirstUnlock Always AlwaysThisDeviceOnly WhenUnlockedUnlessOpen; do
    expect "value of $class" "$(cat "$D/$class")" "$class after the unlock"
done
expect "value of Always" "$(cat <&3)" "a descriptor from before"; exec 3<&-
expect "other s" "$(ls "$G" | xargs)" "directories after the unlock"; expect_errno ENOENT stat "$D/none"
find "$MNT" -type f > /dev/null; printf more >> "$D/Always"
# AfterFirstUnlock stays available after a lock, until the daemon ends.
"$KEYCHAINFS" lock "$MNT"; expect "value of AfterFirstUnlock" "$(cat "$D/AfterFirstUnlock")" "AfterFirstUnlock over a lock"
expect_errno ENOENT stat "$D/none"; printf later >> "$D/AfterFirstUnlock"; expect_errno ENOKEY cat "$D/WhenUnlocked"
unmount_keychain; cold; expect_errno ENOKEY cat "$D/AfterFirstUnlock"
expect "value of Alwaysmore" "$(cat "$D/Always")" "what was written"; unmount_keychain

# An older copy: Always items are served unchecked, and the first unlock reports it.
cp "$KEYCHAIN" "$CASE_DIR/newest"; cp "$CASE_DIR/older" "$KEYCHAIN"; cold
expect "value of Always" "$(cat "$D/Always")" "an older copy"
expect_code 24 "$KEYCHAINFS" unlock "$MNT" > /dev/null; expect before-first-unlock "$(status state)" "after a rollback"
expect_errno ENOKEY cat "$D/WhenUnlocked"
"$KEYCHAINFS" unlock --accept-rollback "$MNT"; expect accepted "$(device rollback)" "accepted"
expect "value of WhenUnlocked" "$(cat "$D/WhenUnlocked")" "the older copy"; unmount_keychain
cp "$CASE_DIR/newest" "$KEYCHAIN"; mount_keychain --accept-rollback; unmount_keychain
expect_code 64 "$KEYCHAINFS" mount --locked --accept-rollback "$MNT" > /dev/null

# As an option of mount(8), and read-only; with a passphrase file it is refused.
env -u KEYCHAINFS_PASSPHRASE_FILE "$KEYCHAINFS" mount -o locked,ro "$MNT" < /dev/null
expect "value of Alwaysmore" "$(cat "$D/Always")" "read-only"; expect_errno EROFS touch "$D/Always"; unmount_keychain
expect_code 64 "$KEYCHAINFS" mount -o "locked,passphrase_file=$PASSPHRASE" "$MNT" > /dev/null

# Another device: its Always items are available after its first unlock, and from then on before one too; ThisDeviceOnly
# items never are.
mv "$XDG_STATE_HOME/keychainfs/device.key" "$CASE_DIR/key"; cold
expect_errno ENOKEY cat "$D/Always"; expect_errno ENOKEY ls "$G"; expect_errno ENOKEY cat "$D/AlwaysThisDeviceOnly"
"$KEYCHAINFS" unlock "$MNT"; expect "value of Alwaysmore" "$(cat "$D/Always")" "on another device"; unmount_keychain
cold; expect "value of Alwaysmore" "$(cat "$D/Always")" "cold, known to the keychain"
expect_errno ENOKEY cat "$D/AlwaysThisDeviceOnly"; unmount_keychain
rm "$XDG_STATE_HOME/keychainfs/device.key"; mv "$CASE_DIR/key" "$XDG_STATE_HOME/keychainfs/device.key"
cold; expect "value of AlwaysThisDeviceOnly" "$(cat "$D/AlwaysThisDeviceOnly")" "back on the first device"; unmount_keychain

# An empty keychain hides nothing: its listings end without an error even before the first unlock.
rm "$KEYCHAIN"*; create_keychain; cold; expect "" "$(ls "$G")" "an empty keychain"; find "$MNT" > /dev/null
