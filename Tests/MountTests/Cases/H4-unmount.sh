# H4: unmounting a keychain succeeds although another one is mounted at that time: the kernel gives the device number of
# an ended mount to the next one, which is not another view of it.
# users: root
. "${0%/*}/lib.sh"
OTHER="$CASE_DIR/other"; mkdir "$OTHER"
create_keychain; create_keychain --keychain "$CASE_DIR/second"
device() { awk -v at="$1" '$5 == at { print $3 }' /proc/self/mountinfo; }
is_same=0
for round in 1 2 3; do
    mount_keychain; first=$(device "$MNT")
    # umount2(2) ends the mount before it returns.
    code=0
    strace -f -qq -o /dev/null -e trace=umount2 -e inject=umount2:delay_exit=1500000 "$KEYCHAINFS" unmount "$MNT" & job=$!
    wait_until 20 eval '! is_mounted'
    "$KEYCHAINFS" mount --keychain "$CASE_DIR/second" "$OTHER"
    [ "$first" != "$(device "$OTHER")" ] || is_same=$((is_same + 1))
    wait "$job" || code=$?
    expect 0 "$code" "exit code of the unmount"
    "$KEYCHAINFS" unmount "$OTHER"
done
echo "the second keychain got the device number of the first in $is_same of 3 rounds"
