# L6: no thread of the daemon gains privileges by starting a program, and a signal still unmounts: the watchdog does it.
# users: user root
# seconds: 8
. "${0%/*}/lib.sh"
create_keychain
privileges() { cat /proc/"$1"/task/*/status | sed -n 's/^NoNewPrivs:\t//p' | sort -u | tr -d '\n'; }
mount_it() {
    mount_keychain; pid=$(daemon); guard=$(pgrep -P "$pid" -f ' guard ')
    expect 1 "$(privileges "$pid")" "threads of the daemon"; expect 0 "$(privileges "$guard")" "the guard"
    "$KEYCHAINFS" status "$MNT" | grep -q 'no new privileges' || fail "status"
}
ended() { ! kill -0 "$pid" 2> /dev/null && ! kill -0 "$guard" 2> /dev/null; }
mount_it
mkdir "$MNT/generic-passwords/s"
for i in $(seq 60); do printf x > "$MNT/generic-passwords/s/$i" & done; wait
expect 1 "$(privileges "$pid")" "threads that have started since"
kill -TERM "$pid"; wait_until 5 ended; ! is_mounted || fail "SIGTERM"
# With an open file: detached immediately.
mount_it; exec 5< "$MNT/generic-passwords/s/1"; kill -TERM "$pid"; wait_until 15 ended; ! is_mounted || fail "SIGTERM with an open file"; exec 5<&-
# Unmounted by the command.
mount_it; unmount_keychain; ended || wait_until 5 ended; ! is_mounted || fail "unmount"
# Killed: the watchdog cleans up.
mount_it; kill -KILL "$pid"; wait_until 5 ended; wait_until 5 eval '! is_mounted'
# The watchdog is killed: the mount remains usable and is unmounted by 'unmount'.
mount_it; kill -KILL "$guard"; cat "$MNT/generic-passwords/s/1" > /dev/null; unmount_keychain; ! is_mounted || fail "unmount without a guard"
# The watchdog is stopped: it continues to unmount.
mount_it; kill -STOP "$guard"; kill -TERM "$pid"; wait_until 5 ended; wait_until 5 eval '! is_mounted'
# The watchdog is killed, and then the daemon ends by a signal: an ordinary user's mount is dead, and the next mount
# replaces it.
mount_it; kill -KILL "$guard"; kill -TERM "$pid"; wait_until 5 ended
mount_keychain; expect x "$(cat "$MNT/generic-passwords/s/60")" "the items"; unmount_keychain; ! is_mounted || fail "the last unmount"
