# F1, F2, F3, F10, H1: libaio and io_uring next to changes by others: what they read while stat shows a shorter value, after a change by
# the API, the commits that they cause, no pages in the kernel's cache, and no wait for another item's disk.
# users: user
# needs: PosixProbe
# needs: SlowDisk
# seconds: 6
. "${0%/*}/lib.sh"
slow_disk
create_keychain; mount_slow
mkdir "$MNT/generic-passwords/s"
PYTHONPATH="$CASE_DIR/PosixProbe" python3 -B - "$MNT/generic-passwords/s" "$MNT" "$CASE_DIR" "$SLOW_DISK" <<'PY'
import ctypes, json, os, sys, time
directory, mount, case, flag = sys.argv[1:]
sys.path.append(case)
import asynchronous, rpc
from asynchronous import AIO_PREAD, URING_ASYNC, URING_READ, URING_WRITE, Ring
from ways import Memory, Ways, reading_ways
from common import get, libc, put

memory, path = Memory(8192), directory + "/a"
ways = Ways(memory)
CACHED = ("sendfile", "splice", "io_uring splice", "mapping")
reading = {name: way for name, way in reading_ways(ways) if name not in CACHED}
asynchronous_names = {name for name in reading if name.startswith("io_")}
assert len(asynchronous_names) > 10 and len(reading) > len(asynchronous_names) + 5

def expect_reads(what, fd, value, hidden=None):
    """Every way gives `value`; those that are asynchronous none of it at or beyond the size `hidden`."""
    for name, way in reading.items():
        for offset in (0, 1, 3, 4, 10, 20):
            memory.prepare(8192)
            count = way(fd, memory.address, 8192, offset)
            wanted = value[offset:]
            if hidden is not None and name in asynchronous_names and offset >= hidden: wanted = b""
            assert memory.map[0:count] == wanted, f"{what}: {name} at {offset} gave {memory.map[0:count]!r}"

def cached(fd):
    """Pages of the file in the page cache: cachestat(2)."""
    where, answer = (ctypes.c_uint64 * 2)(0, 0), (ctypes.c_uint64 * 5)()
    assert libc.syscall(451, fd, where, answer, 0) == 0
    return answer[0]

# A change by the API: a later open shows it, regardless of the size that the kernel knew; an earlier descriptor does not.
put(path, b""); assert os.stat(path).st_size == 0
client = rpc.Client(mount)
update = lambda value: client.ask("update", {"svce": "s", "acct": "a"}, {}, value)
for value in (b"0123456789", b"abc", b"ABCDEFGHIJKLMNO", b"", b"short", b"longer" * 1000):
    assert update(value) == (0, None)
    fd = os.open(path, os.O_RDONLY)
    expect_reads("after the API", fd, value)
    assert cached(fd) == 0
    os.close(fd)
put(path, b"0123456789")
old = os.open(path, os.O_RDONLY)
assert update(b"ABCDEFGHIJKLMNO") == (0, None)
assert os.fstat(old).st_size == 15
expect_reads("the value of the open, shorter than stat shows", old, b"0123456789")
assert update(b"abc") == (0, None)
assert os.fstat(old).st_size == 3
expect_reads("the value of the open, longer than stat shows", old, b"0123456789", hidden=3)
os.close(old)

# While a shorter value is staged, stat shows its size (F2), and the kernel sends no asynchronous read beyond it.
put(path, b"0123456789")
old = os.open(path, os.O_RDONLY)
writer = os.open(path, os.O_WRONLY | os.O_TRUNC)
expect_reads("an empty staged value", old, b"0123456789", hidden=0)
os.write(writer, b"wxyz")
expect_reads("a shorter staged value", old, b"0123456789", hidden=4)
other = os.open(path, os.O_RDONLY)
expect_reads("an open next to a shorter staged value", other, b"0123456789", hidden=4)
os.close(writer); os.close(other); os.close(old)
fd = os.open(path, os.O_RDONLY); expect_reads("after the commit", fd, b"wxyz"); os.close(fd)

# A write with O_DSYNC or RWF_DSYNC is committed when it completes.
def commits():
    with open(mount + "/.keychainfs/status") as status: return json.load(status)["commits"]
for options, rw_flags in ((os.O_DSYNC, 0), (0, 2)):
    fd = os.open(path, os.O_RDWR | options)
    for offset in (0, 2, 9):
        before = commits()
        assert ways.ring.run(URING_WRITE, fd, memory.address, 3, offset, rw_flags=rw_flags) == 3
        assert commits() == before + 1, (options, rw_flags, offset)
    os.close(fd)

# Asynchronous writes that wait for the disk keep no other item waiting.
big, small = directory + "/big", directory + "/small"
put(big, bytes(1000)); put(small, b"other"); put(directory + "/third", b"third")
writer, reader = os.open(big, os.O_RDWR | os.O_SYNC), os.open(small, os.O_RDONLY)
assert os.pread(reader, 9, 0) == b"other"
second, buffer = Ring(), Memory(100)
with open(flag, "w") as delay: delay.write("60000")
begin = time.monotonic()
for index in range(100): ways.ring.submit(URING_WRITE, writer, memory.address, 1, index, flags=URING_ASYNC * (index % 2), tag=index)
assert second.run(URING_READ, reader, buffer.address, 100, 0) == 5
assert ways.aio.run(AIO_PREAD, reader, buffer.address, 100, 0) == 5
assert second.run(URING_READ, reader, buffer.address, 100, 0, flags=URING_ASYNC) == 5
assert get(directory + "/third") == b"third"
fd = os.open(directory + "/third", os.O_RDONLY)
ends = os.pipe(); assert os.sendfile(ends[1], fd, 0, 100) == 5
os.close(fd)
# The kernel sends the end of an open file in the background, too: it removes the pages.
deadline = time.monotonic() + 20
third = os.open(directory + "/third", os.O_RDONLY)
while cached(third) > 0: assert time.monotonic() < deadline, "a closed file waits"; time.sleep(0.02)
assert time.monotonic() < begin + 50, "other items waited for the disk"
os.unlink(flag)
assert sorted(ways.ring.wait() for _ in range(100)) == [(index, 1) for index in range(100)]
ways.close()
PY
unmount_keychain
