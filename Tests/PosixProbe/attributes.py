"""Attributes: which operation marks which time, utimensat(2), modes and operations that clear mode bits, extended
attributes."""

import ctypes
import itertools
import os
import stat
import time

from common import A, B, TOP, checked, clear, get, hash_of, kinds, libc, prepared, put, say, state, told

from names import EXCHANGE, NOREPLACE, renameat2

OMIT, NOW = (0, (1 << 30) - 2), (0, (1 << 30) - 1)


class Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def utimensat(path, access, modification):
    times = (Timespec * 2)(Timespec(*access), Timespec(*modification))
    checked(libc.utimensat(-100, os.fsencode(path), times, 0))


def times_of(status):
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_atime_ns)


def marked(before, after):
    return "".join(letter for letter, a, b in zip("mca", before, after) if a != b) or "-"


def timestamps():
    def on(name, call, file="f", after=None):
        clear()
        put(A + "/f", b"0123456789")
        put(A + "/g", b"g")
        fd = os.open(A + "/f", os.O_RDWR)
        gfd = os.open(A + "/g", os.O_RDWR)
        old = [times_of(os.stat(p)) for p in (A + "/f", A, B, TOP)] + [times_of(os.fstat(gfd))]
        time.sleep(0.012)
        result = told(lambda: call(fd))
        new = (
            [told(lambda: times_of(os.fstat(fd)))]
            + [times_of(os.stat(p)) for p in (A, B, TOP)]
            + [told(lambda: times_of(os.fstat(gfd)))]
        )
        back = any(isinstance(n, tuple) and n[1] < o[1] for o, n in zip(old, new))
        say(
            "times of " + name,
            result if not isinstance(result, int) else "int",
            *[
                "%s=%s" % (what, marked(o, n) if isinstance(n, tuple) else n)
                for what, o, n in zip(("file", "dir", "other", "top", "g"), old, new)
            ],
            "ctime went back" if back else ""
        )
        for open_file in (fd, gfd):
            told(lambda: os.close(open_file))

    f, g = A + "/f", A + "/g"
    on("read", lambda fd: os.read(fd, 4))
    on("write", lambda fd: os.write(fd, b"w"))
    on("write of nothing", lambda fd: os.write(fd, b""))
    on("ftruncate shorter", lambda fd: os.ftruncate(fd, 3))
    on("ftruncate same", lambda fd: os.ftruncate(fd, 10))
    on("truncate shorter", lambda fd: os.truncate(f, 3))
    on("truncate same", lambda fd: os.truncate(f, 10))
    on("open O_TRUNC", lambda fd: os.close(os.open(f, os.O_WRONLY | os.O_TRUNC)))
    on("open O_TRUNC of empty", lambda fd: (os.close(os.open(g, os.O_WRONLY | os.O_TRUNC)), None)[1])
    on("open", lambda fd: os.close(os.open(f, os.O_RDWR)))
    on("chmod", lambda fd: os.chmod(f, 0o640))
    on("chmod to the same", lambda fd: os.chmod(f, 0o600))
    on("chmod directory", lambda fd: os.chmod(A, 0o750))
    on("chmod directory to the same", lambda fd: os.chmod(A, 0o700))
    on("fchmod", lambda fd: os.fchmod(fd, 0o640))
    on("chown same", lambda fd: os.chown(f, os.geteuid(), os.getegid()))
    on("chown -1 -1", lambda fd: os.chown(f, -1, -1))
    on("utime", lambda fd: os.utime(f, (1, 2)))
    on("utime now", lambda fd: os.utime(f))
    on("utime to the same", lambda fd: os.utime(f, ns=(os.stat(f).st_atime_ns, os.stat(f).st_mtime_ns)))
    on("utime omit both", lambda fd: utimensat(f, OMIT, OMIT))
    on("utime omit mtime", lambda fd: utimensat(f, (5, 5), OMIT))
    on("utime omit atime", lambda fd: utimensat(f, OMIT, (5, 5)))
    on("utime now omit", lambda fd: utimensat(f, NOW, OMIT))
    on("setxattr", lambda fd: os.setxattr(f, "user.x", b"1"))
    on("setxattr same", lambda fd: (os.setxattr(f, "user.x", b"1"), os.setxattr(f, "user.x", b"1"), None)[2])
    on("removexattr", lambda fd: (os.setxattr(f, "user.x", b"1"), os.removexattr(f, "user.x"), None)[2])
    on("rename", lambda fd: os.rename(f, A + "/new"))
    on("rename over", lambda fd: os.rename(f, g))
    on("rename over from", lambda fd: os.rename(g, f))
    on("rename to other", lambda fd: os.rename(f, B + "/new"))
    on("rename exchange", lambda fd: renameat2(f, g, EXCHANGE))
    on("rename to itself", lambda fd: os.rename(f, f))
    on("rename failed", lambda fd: renameat2(f, g, NOREPLACE))
    on("unlink", lambda fd: os.unlink(f))
    on("unlink failed", lambda fd: os.unlink(A + "/none"))
    on("creat", lambda fd: os.close(os.open(A + "/new", os.O_CREAT | os.O_WRONLY)))
    on("creat, open", lambda fd: os.open(A + "/new", os.O_CREAT | os.O_WRONLY))
    on("creat existing", lambda fd: os.close(os.open(f, os.O_CREAT | os.O_WRONLY)))
    on("mknod", lambda fd: os.mknod(A + "/new", stat.S_IFREG | 0o600))
    on("mkdir", lambda fd: os.mkdir(TOP + "/probe-new"))
    on("mkdir rmdir", lambda fd: (os.mkdir(TOP + "/probe-new"), os.rmdir(TOP + "/probe-new"), None)[2])
    on(
        "rename dir",
        lambda fd: (os.mkdir(TOP + "/probe-new"), os.rename(TOP + "/probe-new", TOP + "/probe-n2"), None)[2],
    )
    on("readdir", lambda fd: len(os.listdir(A)))
    on("pwrite then fsync", lambda fd: (os.pwrite(fd, b"x", 1), os.fsync(fd), None)[2])
    on("fsync", lambda fd: os.fsync(fd))
    on("copy_file_range", lambda fd: os.copy_file_range(gfd_of(g), fd, 1))


def gfd_of(path):
    return os.open(path, os.O_RDONLY)


def utimes():
    clear()
    path = A + "/f"
    put(path)
    seconds = (0, 1, -1, -2, 1 << 31, (1 << 32) - 1, 1 << 33, -(1 << 31), 1700000000)
    for when, part in itertools.product(seconds, (0, 1, 999999999, 500000000, 1000000000, -1)):
        say(
            "utimensat %d.%d" % (when, part),
            told(lambda: utimensat(path, (when, part), (when + 1, part))),
            *times_of(os.stat(path))[::2]
        )
    for file in (A,):
        say("utimensat of a directory", told(lambda: utimensat(file, (1, 2), (3, 4))), *times_of(os.stat(file))[::2])
    say("utimensat of nothing", told(lambda: utimensat(A + "/no", OMIT, OMIT)))
    clear()


def modes():
    clear()
    path = A + "/f"
    put(path, b"x")
    for mode in list(range(0, 0o10000, 0o111)) + [0o4755, 0o2755, 0o1755, 0o7777, 0o6777, 0]:
        say("chmod %o" % mode, told(lambda: os.chmod(path, mode)), oct(os.stat(path).st_mode))
        say("chmod dir %o" % mode, told(lambda: os.chmod(A, mode | 0o700)), oct(os.stat(A).st_mode))
    os.chmod(A, 0o700)
    for mode in (0o4755, 0o2755, 0o6777, 0o2745, 0o6644):
        for name, call in (
            ("write", lambda fd: os.write(fd, b"x")),
            ("ftruncate", lambda fd: os.ftruncate(fd, 3)),
            ("truncate", lambda fd: os.truncate(path, 2)),
            ("write of nothing", lambda fd: os.write(fd, b"")),
            ("chown", lambda fd: os.chown(path, os.geteuid(), os.getegid())),
            ("chown -1", lambda fd: os.chown(path, -1, -1)),
            ("chgrp", lambda fd: os.chown(path, -1, os.getegid())),
            ("utime", lambda fd: os.utime(path)),
            ("open O_TRUNC", lambda fd: os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))),
            ("setxattr", lambda fd: os.setxattr(path, "user.x", b"y")),
            ("rename", lambda fd: (os.rename(path, A + "/g"), os.rename(A + "/g", path), None)[2]),
            ("copy_file_range", lambda fd: os.copy_file_range(gfd_of(path), fd, 1, 0, 5)),
        ):
            put(path, b"0123456789")
            os.chmod(path, mode)
            fd = os.open(path, os.O_RDWR)
            told(lambda: call(fd))
            os.close(fd)
            say("mode %o after %s" % (mode, name), oct(os.stat(path).st_mode))
    for mask in (0, 0o022, 0o077, 0o777):
        old = os.umask(mask)
        for mode in (0o666, 0o600, 0o777, 0o400, 0o000, 0o200, 0o7777):
            clear()
            fd = told(lambda: os.open(path, os.O_CREAT | os.O_RDWR, mode))
            say(
                "creation mode %o umask %o" % (mode, mask),
                "ok" if isinstance(fd, int) else fd,
                oct(os.stat(path).st_mode & 0o700),
            )
            if isinstance(fd, int):
                os.close(fd)
        os.umask(old)
    clear()
    for mode in range(8):
        put(path, b"x")
        os.chmod(path, mode << 6)
        say(
            "own file %o" % mode,
            *[
                told(lambda: (os.close(os.open(path, flag)), "ok")[1])
                for flag in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC)
            ],
            *[told(lambda: os.access(path, bit)) for bit in (1, 2, 4)],
            told(lambda: os.getxattr(path, "user.x")),
            told(lambda: os.setxattr(path, "user.y", b"1")),
            told(lambda: os.utime(path))
        )
        os.chmod(path, 0o600)
        os.chmod(A, mode << 6)
        say(
            "own directory %o" % mode,
            told(lambda: os.listdir(A)),
            told(lambda: os.stat(path).st_size),
            told(lambda: get(path)),
            told(lambda: put(A + "/new")),
            told(lambda: os.rename(path, path + "2")),
            told(lambda: os.unlink(path + "2")),
            told(lambda: os.stat(A).st_mode & 0o777),
        )
        clear()


def xattrs():
    clear()
    path = A + "/x"
    put(path)
    names = [
        "user.x",
        "user." + "n" * 250,
        "user." + "n" * 251,
        "user.",
        "user",
        "",
        "x",
        "foo.bar",
        "security.x",
        "trusted.x",
        "system.posix_acl_access",
        "system.x",
        "user.é",
        "user.a b",
        "user.x.y",
    ]
    for name, value, flags in itertools.product(
        names, (b"", b"v", b"\0\xff", b"l" * 4000), (0, os.XATTR_CREATE, os.XATTR_REPLACE, 3, 4)
    ):
        for there in (False, True):
            told(lambda: os.removexattr(path, name))
            if there:
                told(lambda: os.setxattr(path, name, b"old"))
            shown = name if len(name) < 20 else name[:5] + "…%d" % len(name)
            say(
                "setxattr %s %d bytes flags %d%s" % (shown, len(value), flags, " again" if there else ""),
                told(lambda: os.setxattr(path, name, value, flags)),
                hash_of(repr(told(lambda: os.getxattr(path, name))).encode()),
                name in os.listxattr(path),
            )
        told(lambda: os.removexattr(path, name))
    put(path)
    for name in names:
        shown = name if len(name) < 20 else name[:5] + "…%d" % len(name)
        say("getxattr %s" % shown, told(lambda: os.getxattr(path, name)), told(lambda: os.removexattr(path, name)))
    os.setxattr(path, "user.x", b"0123456789")
    for size in (0, 1, 9, 10, 11, 100):
        buffer = ctypes.create_string_buffer(200)
        say(
            "getxattr size %d" % size,
            told(lambda: checked(libc.getxattr(os.fsencode(path), b"user.x", buffer, size))),
            told(lambda: checked(libc.listxattr(os.fsencode(path), buffer, size))),
        )
    say(
        "setxattr 64K",
        told(lambda: os.setxattr(path, "user.x", b"x" * 65536) and "ok"),
        told(lambda: os.setxattr(path, "user.x", b"x" * 65537)),
    )
    fd = os.open(path, os.O_PATH)
    say(
        "fxattr on O_PATH",
        told(lambda: os.getxattr(fd, "user.x")),
        told(lambda: os.setxattr(fd, "user.x", b"")),
        told(lambda: sorted(os.listxattr(fd))),
        told(lambda: os.removexattr(fd, "user.x")),
    )
    os.close(fd)
    fd = os.open(path, os.O_RDONLY)
    say(
        "fxattr read-only",
        told(lambda: os.setxattr(fd, "user.r", b"1")),
        told(lambda: os.getxattr(fd, "user.r")),
        told(lambda: sorted(os.listxattr(fd))),
        told(lambda: os.removexattr(fd, "user.r")),
    )
    os.unlink(path)
    say(
        "fxattr unlinked",
        told(lambda: os.setxattr(fd, "user.u", b"1")),
        told(lambda: os.getxattr(fd, "user.u")),
        told(lambda: sorted(os.listxattr(fd))),
        told(lambda: os.removexattr(fd, "user.u")),
    )
    os.close(fd)
