# H4, L2: a daemon whose mount is removed locks and ends, regardless of the way, although another mount namespace has the file
# system: unused, with open files, with values that are being written, and with a close that waits for the disk. The keychain can
# be mounted again. The process ends within 5 s next to such a close, and if the log of the last change cannot be erased.
# users: root
# needs: SlowDisk
# seconds: 20
. "${0%/*}/lib.sh"
private_mounts
slow_disk
create_keychain
D="$MNT/generic-passwords/s"
cat > "$CASE_DIR/holder.py" <<'PY'
# Keeps the mount in another namespace. Prints `ready`; after a line on standard input, the errors of each call.
import errno, mmap, os, sys, threading, time
directory, work = sys.argv[1:]
def attempt(call, *arguments):
    try: return call(*arguments)
    except OSError as error: return errno.errorcode[error.errno]
items = ("when", "after", "always")
readers = [os.open(f"{directory}/{item}", os.O_RDONLY) for item in items] if work not in ("idle", "logged") else []
writers = [os.open(f"{directory}/{item}", os.O_RDWR) for item in items] if work == "writing" else []
for writer in writers: os.pwrite(writer, b"half", 0)
maps = [mmap.mmap(reader, 3, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE) for reader in readers] if work == "open" else []
closer = None
closed, refused = [], []
if work == "closing":
    file = os.open(f"{directory}/new", os.O_RDWR); os.pwrite(file, b"next", 0)
    closer = threading.Thread(target=lambda: closed.append(attempt(os.close, file)), daemon=True); closer.start()
    def refusal():
        while attempt(os.pread, readers[0], 3, 0) == b"old": time.sleep(0.005)
        refused.append(attempt(os.pread, readers[0], 3, 0))
    threading.Thread(target=refusal, daemon=True).start()
print("ready", flush=True); sys.stdin.readline()
results = [attempt(os.pread, reader, 4, 0) for reader in readers] + [attempt(os.stat, f"{directory}/{item}") for item in items]
results += [attempt(os.pwrite, writer, b"more", 4) for writer in writers] + [attempt(os.listdir, directory)]
assert all(result in ("ENOTCONN", "ENODEV") for result in results), results
# With a lock, the value of a class that became unavailable is refused earlier.
results = [attempt(os.close, writer) for writer in writers]
assert all(result in ("ENOTCONN", "ENOKEY", "EIO") for result in results), results
if closer:
    closer.join(10); assert not closer.is_alive(), "the close does not return"
    # The keys are wiped first, then the connection ends.
    assert refused == ["ENOKEY"], refused
print("closed", closed[0] if closed else "none", flush=True)
PY
remove() {
    case $1 in
    command) expect_code 0 "$KEYCHAINFS" unmount "$MNT" > /dev/null ;;
    umount) umount "$MNT" ;;
    lazy) umount -l "$MNT" ;;
    fusermount) fusermount3 -uz "$MNT" ;;
    signal) kill -TERM "$pid" ;;
    esac
}
gone() { [ ! -e "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status"; }
for work in idle open writing closing logged; do
    for way in command umount lazy fusermount signal; do
        # Each takes as long as a daemon waits for its disk.
        case $work-$way in closing-lazy | closing-signal | logged-command) ;; closing-* | logged-*) continue ;; esac
        mount_slow; pid=$(daemon)
        mkdir -p "$D"
        for item in when after always new; do printf old > "$D/$item"; done
        setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock "$D/after"; setfattr -n user.kSecAttrAccessible -v Always "$D/always"
        coproc HOLDER { exec unshare --mount --propagation private python3 -I "$CASE_DIR/holder.py" "$D" "$work"; }
        holder=$HOLDER_PID
        # At the end the daemon erases the log of the last change.
        [ $work != logged ] || printf next > "$D/new"
        case $work in closing | logged) echo 15000 > "$SLOW_DISK" ;; esac
        read -r -t 20 line <&"${HOLDER[0]}"; expect ready "$line" "$work: the holder"
        [ $work != closing ] || sleep 0.5
        start=$(date +%s%N); remove $way; ended=$(( ($(date +%s%N) - start) / 1000000 ))
        limit=2000; case $work in closing | logged) limit=6000 ;; esac
        # Measured: 0.1 s, and 4.6 s with the slow disk. The rest is for a machine under load.
        [ $way != command ] || [ "$ended" -lt $((limit + 2000)) ] || fail "$work: unmount took $ended ms"
        wait_until 8 gone
        ! is_mounted || fail "$work, $way: still mounted"
        echo >&"${HOLDER[1]}"
        read -r -t 20 line <&"${HOLDER[0]}" || fail "$work, $way: the holder"
        wait "$holder" || fail "$work, $way: the holder"
        rm -f "$SLOW_DISK"
        mount_keychain
        for item in when after always; do expect old "$(cat "$D/$item")" "$work, $way: $item"; done
        case $line in
        "closed None") expect next "$(cat "$D/new")" "$work, $way: an acknowledged close" ;;
        "closed none") [ $work != logged ] || { expect next "$(cat "$D/new")" "$way: the last change"; printf old > "$D/new"; }
            expect old "$(cat "$D/new")" "$work, $way" ;;
        *) case $(cat "$D/new") in old | next) ;; *) fail "$work, $way: half of a value" ;; esac ;;
        esac
        unmount_keychain
    done
done
expect_code 0 "$KEYCHAINFS" check > /dev/null
