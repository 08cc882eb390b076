# H4, F1: a connection that is aborted (fusectl) ends the daemon and leaves no dead mount; acknowledged changes are
# kept.
# users: root
. "${0%/*}/lib.sh"
mountpoint -q /sys/fs/fuse/connections || mount -t fusectl none /sys/fs/fuse/connections
create_keychain
for round in 1 2 3; do
    mount_keychain; pid=$(daemon); D="$MNT/generic-passwords/s"; mkdir -p "$D"
    minor=$(awk -v at="$MNT" '$5 == at { split($3, part, ":"); print part[2] }' /proc/self/mountinfo)
    # An external program, because bash's own printf ignores the error of close.
    (for i in $(seq 100000); do env printf '%s' "$i" > "$D/a" && printf '%s' "$i" > "$CASE_DIR/acknowledged" || break; done) 2> /dev/null & writer=$!
    wait_until 30 test -s "$CASE_DIR/acknowledged"; sleep "0.$round"
    echo 1 > "/sys/fs/fuse/connections/$minor/abort"
    wait "$writer" || true
    ended() { [ ! -e "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status"; }
    wait_until 15 ended
    wait_until 15 eval '! is_mounted'
    mount_keychain
    found=$(cat "$D/a") acknowledged=$(cat "$CASE_DIR/acknowledged")
    [ "$found" -ge "$acknowledged" ] || fail "$acknowledged was acknowledged, $found is there"
    unmount_keychain; rm "$CASE_DIR/acknowledged"
done
expect_code 0 "$KEYCHAINFS" check > /dev/null
