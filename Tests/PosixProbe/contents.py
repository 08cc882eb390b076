"""Contents: lseek(2), reads and writes, ftruncate(2) up and down, copies, mappings, limits."""

import ctypes
import fcntl
import itertools
import mmap
import os
import resource
import signal
import struct

from common import A, B, TOP, checked, clear, get, hash_of, kinds, libc, prepared, put, say, state, told


def contents():
    clear()
    path = A + "/f"
    put(path, b"0123456789")
    fd = os.open(path, os.O_RDWR)
    for whence, offset in itertools.product(range(0, 6), (-11, -10, -1, 0, 5, 9, 10, 11, 1 << 40, (1 << 63) - 1)):
        os.lseek(fd, 5, os.SEEK_SET)
        say(
            "lseek whence %d %d" % (whence, offset),
            told(lambda: os.lseek(fd, offset, whence)),
            told(lambda: os.lseek(fd, 0, os.SEEK_CUR)),
        )
    for count, offset in itertools.product((0, 1, 10, 100), (-1, 0, 5, 9, 10, 11, 1 << 40)):
        say("pread %d at %d" % (count, offset), told(lambda: os.pread(fd, count, offset)))
    os.close(fd)
    for access, offset, data in itertools.product(
        (os.O_RDWR, os.O_RDWR | os.O_APPEND, os.O_RDONLY, os.O_RDWR | os.O_SYNC),
        (-1, 0, 5, 10, 30, 5000),
        (b"", b"x", b"yz" * 10),
    ):
        put(path, b"0123456789")
        fd = os.open(path, access)
        say(
            "pwrite %o %d at %d" % (access, len(data), offset),
            told(lambda: os.pwrite(fd, data, offset)),
            told(lambda: os.fstat(fd).st_size),
            told(lambda: os.pread(fd, 60, 0)),
            told(lambda: os.close(fd)),
            len(get(path)),
        )
    for sizes in itertools.permutations((0, 3, 10, 5000, 70000), 4):
        put(path, b"0123456789" * 500)
        fd = os.open(path, os.O_RDWR)
        seen = []
        for size in sizes:
            os.ftruncate(fd, size)
            os.pwrite(fd, b"!", size // 2)
            data = os.pread(fd, 100000, 0)
            seen.append((os.fstat(fd).st_size, len(data), data.strip(b"\0").count(b"!"), hash_of(data)))
        os.close(fd)
        say("ftruncate %s" % (sizes,), seen, hash_of(get(path)))
    vectors(path)
    copies(path)
    maps(path)
    limits(path)


def vectors(path):
    flags = {"none": 0, "HIPRI": 1, "DSYNC": 2, "SYNC": 4, "NOWAIT": 8, "APPEND": 16, "unknown": 1 << 20}
    for name, flag in flags.items():
        put(path, b"0123456789")
        fd = os.open(path, os.O_RDWR)
        buffers = [bytearray(3), bytearray(0), bytearray(20)]
        say("preadv2 %s" % name, told(lambda: os.preadv(fd, buffers, 2, flag)) if flag != 8 else "-", bytes(buffers[0]))
        say(
            "pwritev2 %s" % name,
            told(lambda: os.pwritev(fd, [b"ab", b"", b"cde"], 8, flag)) if flag != 8 else "-",
            told(lambda: os.pread(fd, 60, 0)),
        )
        os.close(fd)
    fd = os.open(path, os.O_RDWR)
    say("readv", os.readv(fd, [bytearray(1)] * 5), "writev", os.writev(fd, [b"a"] * 1000), os.fstat(fd).st_size)
    say("readv of none", told(lambda: os.readv(fd, [])), told(lambda: os.writev(fd, [])))
    fault = ctypes.c_void_p(1)
    say("read EFAULT", told(lambda: checked(libc.pread(fd, fault, 10, 0))))
    say("write EFAULT", told(lambda: checked(libc.pwrite(fd, fault, 10, 0))))
    os.close(fd)
    say("read EBADF", told(lambda: os.read(fd, 1)), told(lambda: os.fsync(fd)), told(lambda: os.ftruncate(fd, 1)))


def copies(path):
    other = B + "/g"
    for start, count, target in itertools.product((0, 5, 9999, 10000, 20000), (0, 1, 5000, 20000), (0, 7)):
        data = bytes(i % 251 for i in range(10000))
        put(path, data)
        put(other, b"target")
        a, b = os.open(path, os.O_RDONLY), os.open(other, os.O_RDWR)
        say(
            "copy_file_range %d+%d to %d" % (start, count, target),
            told(lambda: os.copy_file_range(a, b, count, start, target)),
            os.fstat(b).st_size,
        )
        os.close(b)
        say("  then", hash_of(get(other)))
        os.close(a)
    put(path, bytes(i % 251 for i in range(10000)))
    a = os.open(path, os.O_RDWR)
    say(
        "copy_file_range overlapping",
        told(lambda: os.copy_file_range(a, a, 100, 0, 50)),
        told(lambda: os.copy_file_range(a, a, 100, 0, 100)),
        told(lambda: os.copy_file_range(a, a, 100, 9990, 20000)),
    )
    d = os.open(A, os.O_RDONLY)
    say(
        "copy_file_range of a directory",
        told(lambda: os.copy_file_range(d, a, 1)),
        told(lambda: os.copy_file_range(a, d, 1)),
    )
    r = os.open(path, os.O_RDONLY)
    say("copy_file_range to read-only", told(lambda: os.copy_file_range(a, r, 1)))
    p = os.open(path, os.O_RDWR | os.O_APPEND)
    say("copy_file_range to append", told(lambda: os.copy_file_range(r, p, 1)))
    for fd in (a, d, r, p):
        os.close(fd)
    put(path, bytes(i % 251 for i in range(10000)))
    for start, count in itertools.product((0, 5, 9999, 10000), (1, 5000, 20000)):
        a = os.open(path, os.O_RDONLY)
        b = os.open("/dev/null", os.O_WRONLY)
        say("sendfile %d+%d" % (start, count), told(lambda: os.sendfile(b, a, start, count)))
        read, write = os.pipe()
        say(
            "splice out %d+%d" % (start, count),
            told(lambda: os.splice(a, write, min(count, 60000), start)),
            hash_of(os.read(read, 65536)) if start < 10000 else "",
        )
        os.close(a), os.close(b)
        put(other, b"0123456789")
        b = os.open(other, os.O_RDWR)
        os.write(write, b"spliced")
        say("splice in %d" % start, told(lambda: os.splice(read, b, 7, None, start)), os.fstat(b).st_size)
        os.close(b), os.close(read), os.close(write)
        say("  then", hash_of(get(other)))
    a, b = os.open(path, os.O_RDONLY), os.open(other, os.O_RDWR)
    say("FICLONE", told(lambda: fcntl.ioctl(b, 0x40049409, a)))
    say("FIONREAD", told(lambda: struct.unpack("i", fcntl.ioctl(a, 0x541B, b"0000"))))
    say("TCGETS", told(lambda: fcntl.ioctl(a, 0x5401, b"0" * 60)))
    say("FS_IOC_GETFLAGS", told(lambda: fcntl.ioctl(a, 0x80086601, b"0" * 8) and "flags"))
    say(
        "fallocate",
        *[
            told(lambda: checked(libc.fallocate(b, mode, ctypes.c_long(0), ctypes.c_long(20))))
            for mode in (0, 1, 2, 3, 8, 16, 32, 64, 128)
        ]
    )
    say(
        "fallocate arguments",
        told(lambda: os.posix_fallocate(b, 0, 0)),
        told(lambda: os.posix_fallocate(b, -1, 1)),
        told(lambda: os.posix_fallocate(a, 0, 1)),
    )
    say("posix_fallocate", told(lambda: os.posix_fallocate(b, 0, 5000)), os.fstat(b).st_size)
    for advice in range(0, 7):
        say("fadvise %d" % advice, told(lambda: os.posix_fadvise(a, 0, 0, advice)))
    for place in (0, 3, 4999, 5000, 9000):
        say("SEEK_DATA %d" % place, told(lambda: os.lseek(a, place, os.SEEK_DATA)))
        say("SEEK_HOLE %d" % place, told(lambda: os.lseek(a, place, os.SEEK_HOLE)))
    put(other, b"0")
    os.truncate(other, 1 << 19)
    holes = os.open(other, os.O_RDWR)
    say("SEEK_DATA in a hole", told(lambda: os.lseek(holes, 65536, os.SEEK_DATA)))
    say("SEEK_HOLE in a hole", told(lambda: os.lseek(holes, 65536, os.SEEK_HOLE)))
    os.close(holes)
    put(other, b"0123456789")
    appending = os.open(other, os.O_RDWR | os.O_APPEND)
    say("RWF_NOAPPEND", told(lambda: os.pwritev(appending, [b"x"], 2, 0x20)), get(other))
    os.close(appending)
    say("readahead", told(lambda: checked(libc.readahead(a, ctypes.c_long(0), 100))))
    say("sync_file_range", told(lambda: checked(libc.sync_file_range(a, ctypes.c_long(0), ctypes.c_long(0), 7))))
    say("fsync", told(lambda: os.fsync(a)), told(lambda: os.fdatasync(b)), told(lambda: checked(libc.syncfs(a))))
    os.close(a), os.close(b)
    d = os.open(A, os.O_RDONLY)
    say(
        "of a directory",
        told(lambda: os.fsync(d)),
        told(lambda: os.fdatasync(d)),
        told(lambda: os.read(d, 1)),
        told(lambda: os.pread(d, 1, 0)),
        told(lambda: os.ftruncate(d, 0)),
        told(lambda: os.lseek(d, 0, 0)),
        told(lambda: os.write(d, b"x")),
    )
    os.close(d)


def maps(path):
    put(path, b"0123456789" * 1000)
    for access, protection, flags in itertools.product(
        (os.O_RDONLY, os.O_WRONLY, os.O_RDWR),
        (mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE),
        (mmap.MAP_PRIVATE, mmap.MAP_SHARED),
    ):
        fd = os.open(path, access)

        def use():
            with mmap.mmap(fd, 5000, flags, protection) as memory:
                if protection & mmap.PROT_WRITE and flags == mmap.MAP_PRIVATE:
                    memory[0:3] = b"abc"
                return memory[0:5]

        say("mmap %d %d %d" % (access, protection, flags), told(use))
        os.close(fd)


def limits(path):
    put(path)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    fd = os.open(path, os.O_RDWR)
    answers = (
        "RLIMIT_FSIZE",
        told(lambda: os.write(fd, b"x" * 800)),
        told(lambda: os.write(fd, b"x" * 800)),
        told(lambda: os.write(fd, b"x")),
        told(lambda: os.ftruncate(fd, 1001)),
        told(lambda: os.ftruncate(fd, 1000)),
        told(lambda: os.truncate(path, 1001)),
        told(lambda: os.pwrite(fd, b"xx", 999)),
        os.fstat(fd).st_size,
    )
    os.close(fd)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    say(*answers)
    say("  then", len(get(path)))
