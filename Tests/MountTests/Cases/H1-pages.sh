# H1, L2: pages that sendfile, splice and private mappings leave in the page cache are removed when the descriptor is
# closed, at a commit and at a lock; a shared mapping is refused; read and write leave no pages.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
python3 -I - "$D" "$MNT" "$(daemon)" <<'PY'
import ctypes, errno, mmap, os, signal, sys, time
D, MNT, pid = sys.argv[1], sys.argv[2], int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
PAGE = 4096
size = 3 * PAGE + 100
old, new = b"old!" * (size // 4), b"new!" * (size // 4)
path = D + "/a"

def cached(fd):
    """Pages of the file in the page cache: cachestat(2)."""
    where, answer = (ctypes.c_uint64 * 2)(0, 0), (ctypes.c_uint64 * 5)()
    if libc.syscall(451, fd, where, answer, 0) != 0: raise OSError(ctypes.get_errno(), "cachestat")
    return answer[0]
def put(value):
    with open(path, "wb") as f: f.write(value)
def settle(fd, wanted=0):
    """No process waits for a RELEASE: it may come later."""
    deadline = time.time() + 5
    while cached(fd) != wanted and time.time() < deadline: time.sleep(0.02)
    assert cached(fd) == wanted, cached(fd)
def send(fd, count=size):
    ends = os.pipe()
    try:
        taken = b""
        while len(taken) < count:
            n = os.sendfile(ends[1], fd, len(taken), min(16384, count - len(taken)))
            if n == 0: break
            taken += os.read(ends[0], n)
        return taken
    finally:
        for end in ends: os.close(end)
def splice(fd, count=size):
    ends = os.pipe()
    try:
        n = os.splice(fd, ends[1], min(count, 16384), offset_src=0)
        return os.read(ends[0], n)
    finally:
        for end in ends: os.close(end)
def mapped(fd):
    """What a private mapping shows, or the signal that reading it dies of."""
    child = os.fork()
    if child == 0:
        try: data = mmap.mmap(fd, size, mmap.MAP_PRIVATE, mmap.PROT_READ)
        except OSError: os._exit(3)
        os._exit(0 if data[0:4] in (b"old!", b"new!") else 2)
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else -os.WEXITSTATUS(status)

put(old)
watch = os.open(path, os.O_RDONLY)
# read(2) and write(2) leave nothing.
with open(path, "rb") as f: assert f.read() == old
assert cached(watch) == 0
# The pages of a descriptor that was read through the cache are removed when it is closed.
for way in (send, splice, lambda fd: mapped(fd)):
    fd = os.open(path, os.O_RDONLY)
    way(fd)
    assert cached(watch) > 0, "nothing was cached: this test shows nothing"
    os.close(fd)
    settle(watch)
# A commit removes the pages of the old value; later opens get the new one.
fd = os.open(path, os.O_RDONLY)
assert send(fd) == old and cached(watch) > 0
put(new)
settle(watch)
other = os.open(path, os.O_RDONLY)
assert send(other) == new
assert os.pread(fd, 4, 0) == b"old!", "F3"
os.close(fd); os.close(other); settle(watch)
# Every way to change an item removes them: a synchronous write, truncate(2), fsync, a rename over it, copy_file_range.
def synchronous():
    w = os.open(path, os.O_WRONLY | os.O_SYNC); os.write(w, b"sync"); os.close(w)
def fsynced():
    w = os.open(path, os.O_WRONLY); os.write(w, b"fsyn"); os.fsync(w); assert cached(watch) == 0; os.close(w)
def copied():
    w = os.open(path, os.O_WRONLY); r = os.open(D + "/source", os.O_RDONLY)
    os.copy_file_range(r, w, 4, 0, 0); os.close(w); os.close(r)
with open(D + "/source", "wb") as f: f.write(b"copy")
for change in (synchronous, fsynced, copied, lambda: os.truncate(path, size - 1)):
    fd = os.open(path, os.O_RDONLY)
    send(fd); assert cached(watch) > 0
    change()
    assert cached(watch) == 0, change
    os.close(fd)
# Pages that an older descriptor adds after the last write are removed by the commit: by close, by fsync, by a rename.
def commit_after_pages(change):
    put(old)
    fd = os.open(path, os.O_RDONLY); w = os.open(path, os.O_WRONLY)
    os.write(w, new)
    assert send(fd) == old and cached(watch) > 0, "nothing was cached: this test shows nothing"
    change(w)
    assert cached(watch) == 0, "pages of the old value outlive a commit"
    os.close(fd)
def renamed(w):
    os.rename(path, D + "/b"); assert cached(watch) == 0; os.rename(D + "/b", path); os.close(w)
for change in (os.close, lambda w: (os.fsync(w), cached(watch) and sys.exit("pages outlive fsync"), os.close(w)), renamed):
    commit_after_pages(change)
# Shared mappings are refused: their pages could not be revoked.
for protection in (mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE):
    fd = os.open(path, os.O_RDWR)
    try: mmap.mmap(fd, PAGE, mmap.MAP_SHARED, protection)
    except OSError as error: assert error.errno == errno.ENODEV, error
    else: raise AssertionError("a shared mapping")
    os.close(fd)

# A lock, with a reader that has used all of these and still has a mapping; then the daemon is stopped: any data can
# only come from the kernel's caches.
put(old)
fd = os.open(path, os.O_RDONLY)
assert send(fd) == old and splice(fd) and mapped(fd) == 0
private = mmap.mmap(fd, size, mmap.MAP_PRIVATE, mmap.PROT_READ)
assert private[0:4] == b"old!" and private[2 * PAGE:2 * PAGE + 4] == b"old!"
assert cached(fd) > 0
control = os.open(MNT + "/.keychainfs/control", os.O_RDWR)
os.write(control, b"lock\n"); os.close(control)
assert cached(fd) == 0, "pages outlive the lock"
os.kill(pid, signal.SIGSTOP)
def stopped(task):
    with open(f"/proc/{pid}/task/{task}/stat") as file: return file.read().rsplit(")", 1)[1].split()[0] == "T"
# Until every thread has stopped, one of them may receive a request, and a process that waits for its reply cannot be killed.
deadline = time.time() + 10
while not all(stopped(task) for task in os.listdir(f"/proc/{pid}/task")):
    assert time.time() < deadline, "the daemon does not stop"
    time.sleep(0.005)
try:
    def within(seconds, body):
        """The result of `body` in a separate process; None if it blocks, as it must while the daemon is stopped."""
        ends = os.pipe(); child = os.fork()
        if child == 0:
            signal.signal(signal.SIGBUS, signal.SIG_DFL)
            try: os.write(ends[1], body() or b"")
            except OSError: pass
            os._exit(0)
        os.close(ends[1]); deadline = time.time() + seconds; done = 0
        while not done and time.time() < deadline:
            done = os.waitpid(child, os.WNOHANG)[0]; time.sleep(0.02)
        if not done: os.kill(child, signal.SIGKILL); os.waitpid(child, 0)
        os.set_blocking(ends[0], False)
        try: return os.read(ends[0], 1 << 20)
        except BlockingIOError: return None
        finally: os.close(ends[0])
    for what, body in {
        "read": lambda: os.pread(fd, 100, 0), "sendfile": lambda: send(fd, 100), "splice": lambda: splice(fd, 100),
        "mapping": lambda: private[0:4], "later page": lambda: private[2 * PAGE:2 * PAGE + 4],
    }.items():
        got = within(0.7, body)
        assert not got, f"{what} of a locked item gave {got!r} while the daemon was stopped"
finally:
    os.kill(pid, signal.SIGCONT)
# With the daemon running: an error, never a byte.
for body in (lambda: os.pread(fd, 100, 0), lambda: send(fd, 100), lambda: splice(fd, 100)):
    try: got = body()
    except OSError as error: assert error.errno in (errno.ENOKEY, errno.EIO), error
    else: raise AssertionError(f"{got!r} of a locked item")
PY
"$KEYCHAINFS" unlock "$MNT"
[ "$(head -c 4 "$D/a")" = "old!" ] || fail "the item is not what it was"
unmount_keychain
