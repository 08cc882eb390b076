# H4: `unmount` waits for a close that is in progress, as long as a commit may take. A refusal changes nothing, and names what uses
# the mount: never the daemon or the command itself, nor a process that has only the covered directory open, or the mount of another
# namespace.
# users: both
# needs: SlowDisk
# seconds: 19
. "${0%/*}/lib.sh"
[ "$(id -u)" != 0 ] || private_mounts
slow_disk
create_keychain
D="$MNT/generic-passwords/s"
cat > "$CASE_DIR/closing.py" <<'PY'
# Changes an item. Prints `closing` before the close, and its result.
import os, sys
file = os.open(sys.argv[1], os.O_RDWR); os.pwrite(file, b"new", 0)
print("closing", flush=True)
try: os.close(file)
except OSError as error: print(error)
else: print("closed")
PY
holders=()
end_holders() {
    local code=$?
    rm -f "$SLOW_DISK"
    [ ${#holders[@]} = 0 ] || kill "${holders[@]}" 2> /dev/null || true
    cleanup "$code"
}
trap end_holders EXIT

# start_close MILLISECONDS: starts a close that waits for the disk.
start_close() {
    echo "$1" > "$SLOW_DISK"
    coproc CLOSE { exec python3 -I "$CASE_DIR/closing.py" "$D/a"; }
    close=$CLOSE_PID; exec {output}<&"${CLOSE[0]}"
    read -r -t 10 line <&"$output"; expect closing "$line" "the process that closes"
    # The commit has begun.
    wait_until 10 eval '! ls -l "/proc/$close/fd" | grep -qF "$MNT"'
}
end_close() { read -r -t 20 line <&"$output"; expect closed "$line" "the close"; wait "$close"; exec {output}<&-; }

# refused: the message of a refused unmount, which has changed nothing.
refused() {
    local pid; pid=$(daemon)
    said=$(expect_code 14 "$KEYCHAINFS" unmount "$MNT")
    expect "$pid unlocked" "$(daemon) $(status state)" "the daemon after a refused unmount"
    [[ $said == *"is in use"* && $said != *"process $pid"* ]] || fail "a refused unmount: $said"
}

mount_slow; mkdir "$D"; printf old > "$D/a"
start_close 3000
expect_code 0 "$KEYCHAINFS" unmount "$MNT" > /dev/null
end_close; rm "$SLOW_DISK"; mount_slow; expect new "$(cat "$D/a")" "an item whose close was in progress"

printf old > "$D/a"
start_close 60000
refused; [[ $said == *"still in progress"* && $said != *"(process"* ]] || fail "a close: $said"
rm "$SLOW_DISK"; end_close; expect new "$(cat "$D/a")" "the item after a refused unmount"
unmount_keychain

# hold COMMAND...: starts a process that does so and keeps its files; its ID is in `holder`.
hold() {
    local output
    exec {output}< <(exec "$@"); holder=$!; holders+=("$holder")
    read -r -t 10 line <&"$output"; expect ready "$line" "a process that uses the mount"; exec {output}<&-
}
named() { [[ $said == *"(process $1)"* ]]; }
cat > "$CASE_DIR/hold.py" <<'PY'
# Keeps the working directory, or a mapping of a file in it.
import mmap, os, sys, time
if len(sys.argv) > 1:
    file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT); new = os.fstat(file).st_size == 0
    if new: os.ftruncate(file, 3); os.unlink(sys.argv[1])
    mapping = mmap.mmap(file, 3, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ); os.close(file)
    if not new: os.chdir("/")
print("ready", flush=True); time.sleep(600)
PY
chmod 700 "$MNT"; hold env -C "$MNT" python3 -I "$CASE_DIR/hold.py" deleted; below=$holder
mount_keychain
other=
if [ "$(id -u)" = 0 ]; then
    hold unshare --mount --propagation private bash -c 'cd "$0/generic-passwords"; exec 3< s/a; echo ready; exec sleep 600' "$MNT"
    other=$holder
fi
for use in 'exec 3< s/a; cd /; exec sleep 600' 'exec 3> s/new; cd /; exec sleep 600' 'exec python3 -I "$1"' 'exec python3 -I "$1" s/a'; do
    hold bash -c 'cd "$0/generic-passwords"; case $2 in *sleep*) echo ready ;; esac; eval "$2"' "$MNT" "$CASE_DIR/hold.py" "$use"
    begin=${EPOCHREALTIME/./}
    refused; named "$holder" || fail "'$use' is not named: $said"
    # Not the 5 s of a close in progress.
    [ $((${EPOCHREALTIME/./} - begin)) -lt 4000000 ] || fail "a refusal next to a visible process takes too long"
    ! named "$below" || fail "a process with the covered directory is named: $said"
    [ -z "$other" ] || ! named "$other" || fail "a process in another namespace is named: $said"
    kill "$holder"; wait_until 10 eval '! [ -e "/proc/$holder/cwd" ]'
done
if [ "$(id -u)" = 0 ]; then
    mount -t tmpfs none "$D"
    refused; [[ $said == *"another file system is mounted"* ]] || fail "a mount in the mount: $said"
    umount "$D"
fi
# The working directory of the command itself.
expect_code 0 env -C "$MNT/generic-passwords" "$KEYCHAINFS" unmount .. > /dev/null; ! is_mounted || fail "still mounted"
