"""Every way to read and to write: each gives the same bytes, once, with buffers of any size.

Buffers are shorter than the file, as long and longer, at offsets before, at and after its end."""

import ctypes
import errno
import itertools
import mmap
import os
import random

import asynchronous
from asynchronous import AIO_PREAD, AIO_PREADV, AIO_PWRITE, AIO_PWRITEV, CURRENT_POSITION, SETUP_SQPOLL, LinuxAIO, Ring
from common import A, B, checked, clear, get, hash_of, libc, put, say, told

PAGE = mmap.PAGESIZE
UNTOUCHED = 0xA5
libc.mmap.restype = ctypes.c_void_p

# preadv2(2): flags that a file system may decline.
FLAGS = {"HIPRI": 1, "DSYNC": 2, "SYNC": 4, "APPEND": 16}
DECLINABLE_FLAGS = {"NOWAIT": 8, "DONTCACHE": 128}


class Memory:
    """A page-aligned buffer that shows which bytes a call has changed."""

    def __init__(self, size):
        self.map = mmap.mmap(-1, size + PAGE)
        self.size = size
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))

    def prepare(self, length):
        self.map[0 : length + PAGE] = bytes([UNTOUCHED]) * (length + PAGE)

    def taken(self, count, length):
        """The hash of `count` bytes; the number of changed bytes behind the buffer."""
        behind = self.map[length : length + PAGE]
        return hash_of(self.map[0:count]), PAGE - behind.count(UNTOUCHED)


class Ways:
    """Functions of (descriptor, address, length, offset) that return the number of bytes, by name."""

    def __init__(self, memory):
        self.aio = LinuxAIO()
        self.ring = Ring()
        self.polled = Ring(SETUP_SQPOLL)
        for ring in (self.ring, self.polled):
            ring.register(memory.address, memory.size)

    def vectored(self, address, length):
        """Two pieces; the array has to live as long as the call."""
        half = length // 2
        return asynchronous.vector([(address, half), (address + half, length - half)])

    def flagged(self, function, flag):
        def way(fd, address, length, offset):
            pieces = self.vectored(address, length)
            return checked(function(fd, pieces, 2, ctypes.c_long(offset), ctypes.c_long(0), flag))

        return way

    def submitted(self, operation, vectored=False):
        def way(fd, address, length, offset):
            if not vectored:
                return self.aio.run(operation, fd, address, length, offset)
            pieces = self.vectored(address, length)
            return self.aio.run(operation, fd, ctypes.addressof(pieces), 2, offset)

        return way

    def queued(self, operation, ring=None, vectored=False, flags=0, rw_flags=0, fixed_file=False, moves=False):
        ring = ring or self.ring

        def way(fd, address, length, offset):
            pieces = self.vectored(address, length)
            where, count = (ctypes.addressof(pieces), 2) if vectored else (address, length)
            if moves:
                os.lseek(fd, offset, os.SEEK_SET)
                offset = CURRENT_POSITION
            if not fixed_file:
                return ring.run(operation, fd, where, count, offset, flags, rw_flags)
            ring.register_file(fd)
            try:
                return ring.run(operation, 0, where, count, offset, flags | asynchronous.URING_FIXED_FILE, rw_flags)
            finally:
                ring.unregister_file()

        return way

    def of_ring(self, plain, vectored, fixed):
        """Every way to give one operation to io_uring."""
        for name, flags in ("", 0), (" ASYNC", asynchronous.URING_ASYNC):
            yield "io_uring" + name, self.queued(plain, flags=flags)
            yield "io_uring vector" + name, self.queued(vectored, vectored=True, flags=flags)
            yield "io_uring fixed buffer" + name, self.queued(fixed, flags=flags)
            yield "io_uring fixed file" + name, self.queued(plain, flags=flags, fixed_file=True)
            yield "io_uring position" + name, self.queued(plain, flags=flags, moves=True)
        for name, flag in FLAGS.items():
            if name != "HIPRI":
                yield "io_uring " + name, self.queued(plain, rw_flags=flag)
        yield "io_uring SQPOLL", self.queued(plain, ring=self.polled)
        yield "io_uring SQPOLL fixed buffer", self.queued(fixed, ring=self.polled)

    def close(self):
        self.aio.close()
        os.close(self.ring.fd)
        os.close(self.polled.fd)


def at_position(function):
    def way(fd, address, length, offset):
        os.lseek(fd, offset, os.SEEK_SET)
        return checked(function(fd, ctypes.c_void_p(address), ctypes.c_size_t(length)))

    return way


def at_offset(function):
    return lambda fd, address, length, offset: checked(
        function(fd, ctypes.c_void_p(address), ctypes.c_size_t(length), ctypes.c_long(offset))
    )


def moved_through_pipe(move):
    """Reads what a call has put into a pipe."""

    def way(fd, address, length, offset):
        ends = os.pipe()
        count = 0
        try:
            while count < length:
                moved = move(fd, ends[1], min(length - count, 65536), offset + count)
                if moved == 0:
                    break
                ctypes.memmove(address + count, os.read(ends[0], moved), moved)
                count += moved
            return count
        finally:
            os.close(ends[0]), os.close(ends[1])

    return way


def mapped(fd, address, length, offset):
    """Within the pages of the file: an access behind them fails (SIGBUS)."""
    size = os.fstat(fd).st_size
    length = max(0, min(length, -(-size // PAGE) * PAGE - offset))
    if length == 0:
        return 0
    start = libc.mmap(None, ctypes.c_size_t(offset + length), mmap.PROT_READ, mmap.MAP_PRIVATE, fd, ctypes.c_long(0))
    if start == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    ctypes.memmove(address, start + offset, length)
    checked(libc.munmap(ctypes.c_void_p(start), ctypes.c_size_t(offset + length)))
    return length


def reading_ways(ways):
    yield "read", at_position(libc.read)
    yield "pread", at_offset(libc.pread)
    yield "preadv2", ways.flagged(libc.preadv2, 0)
    for name, flag in FLAGS.items():
        yield "preadv2 " + name, ways.flagged(libc.preadv2, flag)
    yield "io_submit", ways.submitted(AIO_PREAD)
    yield "io_submit vector", ways.submitted(AIO_PREADV, vectored=True)
    yield from ways.of_ring(asynchronous.URING_READ, asynchronous.URING_READV, asynchronous.URING_READ_FIXED)
    yield "sendfile", moved_through_pipe(lambda fd, pipe, count, offset: os.sendfile(pipe, fd, offset, count))
    yield "splice", moved_through_pipe(lambda fd, pipe, count, offset: os.splice(fd, pipe, count, offset))
    yield "io_uring splice", moved_through_pipe(
        lambda fd, pipe, count, offset: ways.ring.run(
            asynchronous.URING_SPLICE, pipe, offset, count, CURRENT_POSITION, in_fd=fd
        )
    )
    yield "mapping", mapped


def spans(size):
    """Lengths and offsets around a file's size."""
    lengths = sorted({1, 7, max(size - 1, 1), max(size, 1), size + 1, 8192, size + 5000})
    return itertools.product(lengths, sorted({0, size // 2, max(size - 1, 0), size, size + 1, size + 8192}))


def reads():
    clear()
    path = A + "/f"
    memory = Memory(400_000)
    ways = Ways(memory)
    for size in (0, 10, 4096, 5000, 300_000):
        value = random.Random(size).randbytes(size)
        put(path, value)
        for name, flags in ("", os.O_RDONLY), (" O_DIRECT", os.O_RDWR | os.O_DIRECT):
            fd = os.open(path, flags)
            for way, read in reading_ways(ways):
                for length, offset in spans(size):
                    memory.prepare(length)
                    count = told(lambda: read(fd, memory.address, length, offset))
                    taken = memory.taken(count, length) if isinstance(count, int) else ()
                    say("%s%s of %d, %d at %d" % (way, name, size, length, offset), count, *taken)
            declinable_reads(ways, memory, fd, name, value)
            at_once(ways.ring, memory, fd, name, value)
            os.close(fd)
    ways.close()
    clear()


def declinable_reads(ways, memory, fd, name, value):
    for flag, (length, offset) in itertools.product(DECLINABLE_FLAGS, spans(len(value))):
        memory.prepare(length)
        try:
            count = ways.flagged(libc.preadv2, DECLINABLE_FLAGS[flag])(fd, memory.address, length, offset)
        except OSError as error:
            right = error.errno in (errno.EAGAIN, errno.EOPNOTSUPP)
        else:
            right = memory.map[0:count] == value[offset : offset + length]
        say("preadv2 %s%s of %d, %d at %d" % (flag, name, len(value), length, offset), right)


def at_once(ring, memory, fd, name, value):
    """Reads of parts that are all in progress at the same time."""
    part = max(len(value) // 200, 1)
    count = min(200, len(value))
    memory.prepare(count * part)
    for index in range(count):
        place = index * part
        ring.submit(asynchronous.URING_READ, fd, memory.address + place, part, place, tag=index)
    results = sorted(ring.wait() for _ in range(count))
    right = results == [(index, part) for index in range(count)]
    say("io_uring at once%s of %d" % (name, len(value)), right, *memory.taken(count * part, count * part))


def from_pipe(move):
    """Writes at most what a pipe holds."""

    def way(fd, address, length, offset):
        ends = os.pipe()
        try:
            os.write(ends[1], ctypes.string_at(address, min(length, 65536)))
            return move(ends[0], fd, min(length, 65536), offset)
        finally:
            os.close(ends[0]), os.close(ends[1])

    return way


def writing_ways(ways):
    yield "write", at_position(libc.write)
    yield "pwrite", at_offset(libc.pwrite)
    yield "pwritev2", ways.flagged(libc.pwritev2, 0)
    for name, flag in FLAGS.items():
        yield "pwritev2 " + name, ways.flagged(libc.pwritev2, flag)
    yield "io_submit write", ways.submitted(AIO_PWRITE)
    yield "io_submit write vector", ways.submitted(AIO_PWRITEV, vectored=True)
    writes = ways.of_ring(asynchronous.URING_WRITE, asynchronous.URING_WRITEV, asynchronous.URING_WRITE_FIXED)
    yield from (("write " + name, way) for name, way in writes)
    yield "splice to", from_pipe(lambda pipe, fd, count, offset: os.splice(pipe, fd, count, None, offset))
    yield "io_uring splice to", from_pipe(
        lambda pipe, fd, count, offset: ways.ring.run(
            asynchronous.URING_SPLICE, fd, CURRENT_POSITION, count, offset, in_fd=pipe
        )
    )


def writes():
    clear()
    path = A + "/f"
    memory = Memory(400_000)
    memory.map[0:300_000] = random.Random(1).randbytes(300_000)
    ways = Ways(memory)
    for name, flags in ("", 0), (" O_APPEND", os.O_APPEND), (" O_SYNC", os.O_SYNC):
        for way, write in writing_ways(ways):
            for size, (length, offset) in itertools.product((0, 10), ((10, 0), (10, 5), (10, 6000), (40_000, 5))):
                # Not put(), whose chmod(2) is another commit.
                with open(path, "wb", buffering=0) as file:
                    file.write(random.Random(size).randbytes(size))
                fd = os.open(path, os.O_RDWR | flags)
                count = told(lambda: write(fd, memory.address, length, offset))
                answer = os.fstat(fd).st_size, hash_of(os.pread(fd, 400_000, 0))
                os.close(fd)
                say("%s%s to %d, %d at %d" % (way, name, size, length, offset), count, answer, hash_of(get(path)))
        if flags != os.O_APPEND:
            writes_at_once(ways.ring, memory, path, name, flags)
    ways.close()
    clear()


def writes_at_once(ring, memory, path, name, flags):
    """Writes of parts that are all in progress at the same time, in an empty file and in a longer one."""
    part, count = 1500, 200
    for size in (0, 310_000):
        put(path, bytes(size))
        fd = os.open(path, os.O_RDWR | flags)
        for index in range(count):
            place = index * part
            ring.submit(asynchronous.URING_WRITE, fd, memory.address + place, part, place, tag=index)
        results = sorted(ring.wait() for _ in range(count))
        os.close(fd)
        right = results == [(index, part) for index in range(count)]
        say("io_uring writes at once%s to %d" % (name, size), right, hash_of(get(path)))
