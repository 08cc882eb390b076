# H4: the watchdog of a dead daemon leaves another keychain's mount alone, although the kernel has given it the old
# one's device number.
# users: root
. "${0%/*}/lib.sh"
OTHER="$CASE_DIR/other"; mkdir "$OTHER"
create_keychain; create_keychain --keychain "$CASE_DIR/second"
number() { awk -v at="$1" '$5 == at { print $1 }' /proc/self/mountinfo; }
mount_keychain; first=$(number "$MNT"); dead=$(daemon)
# The daemon is stopped, its mount is detached, and another keychain's mount gets the number.
stop_process "$dead"; fusermount3 -uz "$MNT"
"$KEYCHAINFS" mount --keychain "$CASE_DIR/second" "$OTHER"
second=$(number "$OTHER"); mkdir "$OTHER/generic-passwords/s"
kill -9 "$dead"
sleep 2; echo "numbers $first $second"
printf alive > "$OTHER/generic-passwords/s/a" || fail "the other mount is gone (numbers $first, $second)"
expect alive "$(cat "$OTHER/generic-passwords/s/a")" "the other mount (numbers $first, $second)"
"$KEYCHAINFS" unmount "$OTHER"
