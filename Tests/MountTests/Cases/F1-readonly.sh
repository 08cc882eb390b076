# F1, S4: a file system that the kernel makes read-only after an error: changes fail with EROFS, nothing is lost, and
# reading works.
# users: root
. "${0%/*}/lib.sh"
# A copy of the mount in the namespace of another case would keep the file system, which is read-only after the error.
private_mounts
disk="$CASE_DIR/disk"; mkdir "$disk"
truncate -s 16M "$CASE_DIR/image"; mkfs.ext4 -q -F "$CASE_DIR/image"
mount -o loop,errors=remount-ro "$CASE_DIR/image" "$disk"
disk_cleanup() {
    local code=$?; cd /
    ! is_mounted || "$KEYCHAINFS" unmount "$MNT" || fusermount3 -uz "$MNT" || true
    ! mountpoint -q "$disk" || umount "$disk" || umount -l "$disk"
    exit $code
}
trap disk_cleanup EXIT
export XDG_STATE_HOME="$disk/state"
K="$disk/k"
create_keychain --keychain "$K"; mount_keychain --keychain "$K"
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
printf precious > a; printf two > b
device=$(findmnt -n -o SOURCE "$disk")
echo 1 > "/sys/fs/ext4/${device##*/}/trigger_fs_error"
! touch "$disk/x" 2> /dev/null || fail "the medium takes changes still"
expect_errno EROFS python3 -I -c 'import os; f = os.open("a", os.O_WRONLY | os.O_TRUNC); os.write(f, b"lost"); os.fsync(f)'
expect_errno EROFS python3 -I -c 'import os; os.mkdir("../t")'
expect_errno EROFS rm b
expect_errno EROFS mv b c
expect_errno EROFS setfattr -n user.kSecAttrLabel -v x b
expect precious "$(cat a)" "a value on a medium gone read-only"
"$KEYCHAINFS" lock "$MNT"
expect_errno ENOKEY cat a
"$KEYCHAINFS" unlock "$MNT"
expect two "$(cat b)" "after a lock and an unlock"
cd /; unmount_keychain || true
wait_until 20 umount "$disk"
e2fsck -fy "$CASE_DIR/image" > "$CASE_DIR/fsck" || [ $? -le 2 ] || fail "$(cat "$CASE_DIR/fsck")"
mount -o loop "$CASE_DIR/image" "$disk"
"$KEYCHAINFS" check --keychain "$K" > /dev/null
mount_keychain --keychain "$K"
expect "precious two" "$(cat "$D/a") $(cat "$D/b")" "what was acknowledged"
expect "a b" "$(ls "$D" | tr '\n' ' ' | sed 's/ $//')" "the items"
