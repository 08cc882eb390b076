# H4: the watchdog finds its mount after a directory above it was renamed, and ends a connection that outlives the
# daemon.
# users: both
. "${0%/*}/lib.sh"
create_keychain
mkdir "$CASE_DIR/parent" "$CASE_DIR/parent/mnt"; OLD=$MNT; MNT="$CASE_DIR/parent/mnt"
mount_keychain; mkdir "$MNT/generic-passwords/s"; printf x > "$MNT/generic-passwords/s/a"
pid=$(daemon)
mv "$CASE_DIR/parent" "$CASE_DIR/elsewhere"
MNT="$CASE_DIR/elsewhere/mnt"
is_mounted || fail "the mount did not move along"
kill -9 "$pid"
wait_until 15 eval '! is_mounted'
wait_until 10 eval '! pgrep -f "guard .*$CASE_DIR/parent/mnt" > /dev/null'
ls -A "$MNT" > /dev/null || fail "the mount point is dead"
# A mount that is created at the old path in the meantime is left alone.
mkdir -p "$CASE_DIR/parent/mnt"; MNT="$CASE_DIR/parent/mnt"
mount_keychain; unmount_keychain
MNT=$OLD
