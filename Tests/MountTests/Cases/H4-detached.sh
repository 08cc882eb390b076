# H4, L2: after a lazy unmount, a signal or the end of the daemon's session, open descriptors of items of every class fail: no read,
# no page of the kernel's cache, and no mapping shows a secret. A value that is being written is discarded, the old one stays.
# users: both
# seconds: 5
. "${0%/*}/lib.sh"
create_keychain
D="$MNT/generic-passwords/s"
cat > "$CASE_DIR/descriptors.py" <<'PY'
import errno, mmap, os, signal, subprocess, sys, time
directory, way, pid, mount = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
names = ("when", "after", "always")
readers = {name: os.open(f"{directory}/{name}", os.O_RDONLY) for name in names}
pipe = os.pipe()
def sent(file): return os.sendfile(pipe[1], file, 0, 3)
def attempt(call, *arguments):
    try: return call(*arguments)
    except OSError as error: return errno.errorcode[error.errno]
maps = {}
for name, file in readers.items():
    assert os.pread(file, 3, 0) == b"old" and sent(file) == 3, name
    maps[name] = mmap.mmap(file, 3, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
    assert maps[name][:3] == b"old"
writers = {name: os.open(f"{directory}/{name}", os.O_RDWR) for name in names}
for file in writers.values(): os.pwrite(file, b"half", 0)
folder = os.open(directory, os.O_RDONLY)
{"lazy": lambda: subprocess.run(["fusermount3", "-uz", mount], check=True), "signal": lambda: os.kill(pid, signal.SIGTERM)}[way]()
deadline = time.monotonic() + 10
def state():
    try: return open(f"/proc/{pid}/stat").read().rsplit(")")[1].split()[0]
    except OSError: return "ended"
while state() not in ("Z", "ended"):
    assert time.monotonic() < deadline, "the daemon has not ended"
    time.sleep(0.01)
for name, file in readers.items():
    for call in (
        lambda: os.pread(file, 3, 0), lambda: sent(file), lambda: os.fstat(file), lambda: os.getxattr(file, "user.kSecAttrAccessible"),
        lambda: os.stat(name, dir_fd=folder), lambda: os.open(name, os.O_RDONLY, dir_fd=folder), lambda: os.listdir(folder),
    ):
        assert attempt(call) in ("ENOTCONN", "ECONNABORTED"), (name, attempt(call))
    child = os.fork()
    if child == 0:
        os._exit(0 if maps[name][:3] == b"old" else 1)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGBUS, (name, "a mapping is readable")
for file in writers.values():
    assert attempt(os.pwrite, file, b"more", 4) in ("ENOTCONN", "ECONNABORTED")
    assert attempt(os.close, file) in ("ENOTCONN", "ECONNABORTED", "ENOKEY", "EIO"), "a close was acknowledged"
PY
for way in lazy signal; do
    mount_keychain; mkdir -p "$D"
    for item in when after always; do printf old > "$D/$item"; done
    setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock "$D/after"; setfattr -n user.kSecAttrAccessible -v Always "$D/always"
    python3 -I "$CASE_DIR/descriptors.py" "$D" "$way" "$(daemon)" "$MNT" || fail "$way"
    ! is_mounted || fail "$way: still mounted"
    mount_keychain
    for item in when after always; do expect old "$(cat "$D/$item")" "$item after $way"; done
    # Locked: the items that are readable then are not afterwards.
    "$KEYCHAINFS" lock "$MNT"; pid=$(daemon); exec 5< "$D/after"
    if [ $way = lazy ]; then fusermount3 -uz "$MNT"; else kill -TERM "$pid"; fi
    wait_until 10 eval '[ ! -e "/proc/$pid" ] || grep -q "^State:.*Z" "/proc/$pid/status"'
    [[ $(cat <&5 2>&1) == *"not connected"* ]] || fail "$way while locked: an item is readable"
    exec 5<&-
done
expect_code 0 "$KEYCHAINFS" check > /dev/null
