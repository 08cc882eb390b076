# T6: seekdir, rewinddir and tiny getdents buffers, with entries created and removed in the meantime.
# seconds: 27
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/access-groups/team/synchronizable/generic-passwords/many"
mkdir "$MNT/access-groups/team"; mkdir "$D"; cd "$D"
python3 - <<'PY'
import ctypes, errno, os, struct, threading
libc = ctypes.CDLL(None, use_errno=True)
N = 600
names = ["name-%04d-%s" % (i, "x" * (i % 200)) for i in range(N)]
for n in names: os.close(os.open(n, os.O_CREAT | os.O_WRONLY))
stop = threading.Event()
def churn():
    i = 0
    while not stop.is_set():
        n = "churn-%d" % (i % 50); i += 1
        os.close(os.open(n, os.O_CREAT | os.O_WRONLY)); os.unlink(n)
threads = [threading.Thread(target=churn)]
for t in threads: t.start()
kept = lambda seen: [n for n in seen if n.startswith("name-")]
# getdents64 with space for one or two entries at a time; a buffer that is too small for any entry gives EINVAL.
def getdents(size):
    fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY); buffer = ctypes.create_string_buffer(size); seen = []
    while True:
        count = libc.syscall(217 if os.uname().machine == "x86_64" else 61, fd, buffer, size)
        if count < 0: os.close(fd); raise OSError(ctypes.get_errno(), "getdents64")
        if count == 0: os.close(fd); return seen
        at = 0
        while at < count:
            inode, offset, length, kind = struct.unpack_from("=QqHB", buffer, at)
            name = buffer.raw[at + 19:at + length].split(b"\0")[0].decode()
            assert kind == (4 if name in (".", "..") else 8), name
            seen.append(name); at += length
for size in (280, 400, 4096, 1 << 20):
    seen = getdents(size)
    assert kept(seen) == names, size
    assert len(seen) == len(set(seen)), "repeated"
try: getdents(24); raise SystemExit("a buffer for nothing was taken")
except OSError as e: assert e.errno == errno.EINVAL, e
# telldir, seekdir, rewinddir.
libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
for f in (libc.readdir, libc.telldir, libc.rewinddir, libc.closedir): f.argtypes = [ctypes.c_void_p]
libc.telldir.restype = ctypes.c_long; libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]
def read(d):
    e = libc.readdir(d)
    return e and ctypes.string_at(e + 19).decode()
d = libc.opendir(b".")
places = {}
while True:
    at = libc.telldir(d); n = read(d)
    if not n: break
    if n.startswith("name-"): places[n] = at
assert len(places) == N
os.unlink(names[10])
for n in names[500:9:-49] + names[11:500:97]:
    if n == names[10]: continue
    libc.seekdir(d, places[n]); assert read(d) == n, n
# The position of a removed entry is that of its successor.
libc.seekdir(d, places[names[10]]); assert read(d) == names[11]
libc.rewinddir(d)
again = []
while True:
    n = read(d)
    if not n: break
    again.append(n)
assert kept(again) == names[:10] + names[11:]
stop.set()
for t in threads: t.join()
libc.closedir(d)
PY
expect 599 "$(ls | grep -c '^name-')" "all others are there"
# No read transaction stays open between the calls of a listing: the log can be truncated during a listing.
python3 - "$KEYCHAINFS" "$MNT" "$KEYCHAIN-wal" <<'PY'
import os, subprocess, sys, time
program, mount, log = sys.argv[1:]
listing = os.scandir("."); seen = [next(listing).name]
groups = os.open(mount + "/access-groups", os.O_RDONLY | os.O_DIRECTORY)
for i in range(20):
    with open("written-%d" % i, "w") as f: f.write("x" * 5000)
assert os.path.getsize(log) > 0
for command in "lock", "unlock": subprocess.run([program, command, mount], check=True)
deadline = time.monotonic() + 5
while os.path.getsize(log) > 0:
    assert time.monotonic() < deadline, "the log is kept: %d bytes" % os.path.getsize(log)
    time.sleep(0.05)
seen += [entry.name for entry in listing]
assert len(seen) == len(set(seen)) and sum(n.startswith("name-") for n in seen) == 599, len(seen)
os.close(groups)
PY
