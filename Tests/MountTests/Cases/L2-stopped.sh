# L2: a lock that is given while the daemon is stopped takes effect when it continues, also if the command has given up, was killed, or
# its terminal was closed. The message says that. Nothing is written to a file that is not in a mount.
# users: user
# seconds: 28
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
pid=$(daemon)
trap 'code=$?; kill -CONT "$pid" 2> /dev/null || true; cleanup $code' EXIT
for way in gives-up KILL TERM group; do
    kill -STOP "$pid"
    case $way in
    gives-up)
        begin=$SECONDS
        expect_code 30 "$KEYCHAINFS" lock "$MNT" > "$CASE_DIR/message"
        [ $((SECONDS - begin)) -le 25 ] || fail "it has waited for $((SECONDS - begin)) s"
        grep -q "may still be unlocked. It is locked as soon as the daemon continues" "$CASE_DIR/message" || fail "$(cat "$CASE_DIR/message")"
        ;;
    *)
        setsid "$KEYCHAINFS" lock "$MNT" 2> /dev/null & client=$!
        wait_until 10 pgrep -P "$client" -x keychainfs-ask > /dev/null
        if [ "$way" = group ]; then kill -HUP -- "-$client"; else kill "-$way" "$client"; fi
        wait "$client" 2> /dev/null && fail "$way: the command succeeded"
        ;;
    esac
    ! no_helpers || fail "$way: no process waits"
    kill -CONT "$pid"
    wait_until 10 eval '[ "$(status state)" = locked ]'
    wait_until 10 no_helpers
    "$KEYCHAINFS" unlock "$MNT"
done
# A directory with a file of that name.
mkdir -p "$CASE_DIR/plain/.keychainfs"; printf keep > "$CASE_DIR/plain/.keychainfs/lock"
expect_code 17 "$KEYCHAINFS" lock "$CASE_DIR/plain" > /dev/null
expect keep "$(cat "$CASE_DIR/plain/.keychainfs/lock")" "a file that is not in a mount"
unmount_keychain
# The daemon has died: the answer comes immediately, and no process waits.
mount_keychain; pid=$(daemon)
kill -STOP "$pid"
"$KEYCHAINFS" lock "$MNT" 2> /dev/null & client=$!
wait_until 10 pgrep -P "$client" -x keychainfs-ask > /dev/null
kill -KILL "$pid"
wait "$client" 2> /dev/null && fail "the lock of a dead daemon succeeded"
wait_until 10 no_helpers
