# F1, F9: a full disk is ENOSPC, and the old value stays.
# users: root
. "${0%/*}/lib.sh"
mkdir "$CASE_DIR/small"; mount -t tmpfs -o size=3m tmpfs "$CASE_DIR/small"
small_cleanup() { local code=$?; (exit $code) || true; is_mounted && "$KEYCHAINFS" unmount "$MNT"; umount "$CASE_DIR/small"; exit $code; }
trap small_cleanup EXIT
K="$CASE_DIR/small/k"
create_keychain --keychain "$K"; mount_keychain --keychain "$K"
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
printf precious > a; head -c 200000 /dev/zero > b
head -c 3000000 /dev/zero > "$CASE_DIR/small/filler" 2>/dev/null || true
expect_errno ENOSPC bash -c 'head -c 100000 /dev/zero > a'
expect precious "$(cat a)" "the old value"
if bash -c 'printf x > new' 2>/dev/null; then fail "a new item on a full disk"; fi
[ ! -e new ] || fail "a new name on a full disk"
expect_errno ENOSPC python3 -c '
import os
fd = os.open("b", os.O_WRONLY | os.O_TRUNC); os.write(fd, b"x" * 900000); os.fsync(fd)'
expect 200000 "$(stat -c %s b)" "the other old value"
rm "$CASE_DIR/small/filler"; printf better > a; expect better "$(cat a)" "after room was made"
cd /
