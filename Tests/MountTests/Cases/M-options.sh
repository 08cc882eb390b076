# Section 8: mount options of an ordinary user, which the background process applies; the refused options and their
# messages.
. "${0%/*}/lib.sh"
create_keychain
mount_keychain -o ro -o "rw,noexec,nosuid,nodev,default_permissions,x-gvfs-hide,noatime" -o "fsname=a\\,b\\\\c d,subtype=keychainfs"
line=$(grep " $MNT " /proc/self/mountinfo)
for word in nosuid nodev noexec default_permissions fuse.keychainfs 'a,b\\134c\\040d'; do
    [[ $line == *"${word//\\\\/\\}"* ]] || fail "no '$word' in: $line"
done
[[ $line != *allow_other* ]] || fail "allow_other by itself"
mkdir "$MNT/generic-passwords/s" || fail "rw after ro"
"$KEYCHAINFS" unmount "$MNT"
said() { expect_code "$@" > "$CASE_DIR/said"; cat "$CASE_DIR/said"; }
for option in nonsense nonempty max_read=1 fd=3 user_id=0 ro=1 allow_other=1 fsname "fsname=" subtype=vault "subtype=" passphrase_file=p; do
    text=$(said 64 "$KEYCHAINFS" mount "$MNT" -o "$option")
    [[ $text == *"${option%%=*}"* ]] || fail "'$option' is not named: $text"
done
text=$(said 64 "$KEYCHAINFS" mount "$MNT" -o "fsname=$(printf 'a\nb')"); [[ $text == *fsname* ]] || fail "newline"
if is_mounted; then fail "mounted"; fi
"$KEYCHAINFS" mount --help | grep -q allow_other || fail "help"
