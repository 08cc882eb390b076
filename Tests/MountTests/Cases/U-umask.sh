# H3: an ordinary user's mount is inaccessible to other users, including root's sudo.
# users: user
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
mkdir "$MNT/generic-passwords/s"; printf x > "$MNT/generic-passwords/s/a"
expect "$(id -u)" "$(stat -c %u "$MNT")" "owner of the mount"
grep " $MNT fuse.keychainfs " /proc/self/mounts | grep -q default_permissions || fail "default_permissions is not on"
! grep " $MNT fuse.keychainfs " /proc/self/mounts | grep -q allow_other || fail "allow_other is on"
(cd "$MNT" && if "$KEYCHAINFS" unmount "$MNT" 2>"$CASE_DIR/said"; then fail "a busy mount went away"; fi)
grep -qi 'busy\|in use' "$CASE_DIR/said" || fail "busy is not told: $(cat "$CASE_DIR/said")"
expect x "$(cat "$MNT/generic-passwords/s/a")" "after a refused unmount"
