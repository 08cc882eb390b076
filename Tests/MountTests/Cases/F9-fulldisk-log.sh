# F9, S8: a disk that only the keychain fills always has space to truncate the log, and so to delete items.
# users: root
. "${0%/*}/lib.sh"
mkdir "$CASE_DIR/small"; mount -t tmpfs -o size=4m tmpfs "$CASE_DIR/small"
small_cleanup() { local code=$?; (exit $code) || true; cd /; is_mounted && "$KEYCHAINFS" unmount "$MNT"; umount "$CASE_DIR/small"; exit $code; }
trap small_cleanup EXIT
K="$CASE_DIR/small/k"
create_keychain --keychain "$K"; mount_keychain --keychain "$K"
D="$MNT/generic-passwords/s"; mkdir "$D"
log_is_empty() { [ "$(stat -c %s "$K-wal" 2> /dev/null || echo 0)" = 0 ]; }
for size in 150000 40000 3000; do
    count=0
    while head -c $size /dev/zero 2> /dev/null > "$D/f$size.$count"; do count=$((count + 1)); [ $count -lt 1000 ] || fail "no end"; done 2> /dev/null
    [ $count -gt 0 ] || [ $size != 150000 ] || fail "not one value of $size bytes on 4 MiB"
    expect "$count" "$(ls "$D" | grep -c "f$size\\.")" "items of $size bytes"
    wait_until 10 log_is_empty
    for i in $(seq 3); do expect_errno ENOSPC bash -c "head -c 900000 /dev/zero > '$D/big'"; done
    for i in $(seq 40); do setfattr -n user.note -v "$i" "$D/f150000.0" 2> /dev/null || break; done
    "$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT"
    rm "$D/f$size.0"; printf again > "$D/f$size.0"
done
rm "$D"/f150000.*; wait_until 10 log_is_empty
head -c 300000 /dev/zero > "$D/again"; expect 300000 "$(stat -c %s "$D/again")" "with room again"
unmount_keychain; [ ! -s "$K-wal" ] || fail "the log stayed"
expect_code 0 "$KEYCHAINFS" check --keychain "$K" > /dev/null
