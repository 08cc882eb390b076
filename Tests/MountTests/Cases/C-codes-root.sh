# Section 8: the exit codes whose causes only root can create: 16, the kernel refuses the mount, and 19, the disk is
# full.
# users: root
. "${0%/*}/lib.sh"
create_keychain; "$KEYCHAINFS" backup "$CASE_DIR/backup"
expect_code 16 unshare --mount --propagation private bash -c \
    'mount --bind /dev/null /dev/fuse; exec "$0" mount "$1"' "$KEYCHAINFS" "$MNT" > /dev/null
mkdir "$CASE_DIR/small"; mount -t tmpfs -o size=32k tmpfs "$CASE_DIR/small"
trap 'code=$?; umount "$CASE_DIR/small" || true; cleanup $code' EXIT
expect_code 19 create_keychain --keychain "$CASE_DIR/small/k" > /dev/null
expect_code 19 "$KEYCHAINFS" backup "$CASE_DIR/small/b" > /dev/null
expect_code 19 "$KEYCHAINFS" restore --keychain "$CASE_DIR/small/r" "$CASE_DIR/backup" > /dev/null
expect "" "$(ls -A "$CASE_DIR/small")" "what is left on a full disk"
