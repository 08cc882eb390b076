"""Descriptors of deleted or renamed files, reopened through /proc, and locks."""

import ctypes
import fcntl
import itertools
import os
import stat
import struct

from common import A, B, TOP, checked, clear, get, hash_of, kinds, libc, prepared, put, say, state, told


def descriptors():
    clear()
    path = A + "/f"

    def status(fd):
        found = os.fstat(fd)
        return "%o nlink %d size %d" % (found.st_mode, found.st_nlink, found.st_size)

    for name, gone in (
        ("unlinked", lambda: os.unlink(path)),
        ("replaced", lambda: os.rename(A + "/g", path)),
        ("renamed", lambda: os.rename(path, B + "/f")),
    ):
        clear()
        put(path, b"0123456789")
        put(A + "/g", b"g")
        fd, reader = os.open(path, os.O_RDWR), os.open(path, os.O_RDONLY)
        opath = os.open(path, os.O_PATH)
        gone()
        say(
            name,
            status(fd),
            told(lambda: os.pread(reader, 20, 0)),
            told(lambda: os.pwrite(fd, b"AB", 2)),
            told(lambda: os.ftruncate(fd, 5)),
            status(fd),
            told(lambda: os.fchmod(fd, 0o640)),
            told(lambda: os.utime(fd, (1, 2))),
            told(lambda: os.fsync(fd)),
            status(fd),
            told(lambda: os.pread(fd, 20, 0)),
            told(lambda: os.setxattr(fd, "user.a", b"1")),
            told(lambda: os.getxattr(fd, "user.a")),
        )
        say(
            name + " reopened",
            told(lambda: os.read(os.open("/proc/self/fd/%d" % fd, os.O_RDONLY), 20)),
            told(lambda: os.write(os.open("/proc/self/fd/%d" % fd, os.O_RDWR), b"Q")),
            status(fd),
        )
        say(
            name + " reopened O_TRUNC",
            told(lambda: os.close(os.open("/proc/self/fd/%d" % fd, os.O_RDWR | os.O_TRUNC))),
            status(fd),
        )
        say(name + " O_PATH", told(lambda: status(opath)), told(lambda: os.read(opath, 1)))
        for open_file in (fd, reader, opath):
            os.close(open_file)
        say(name + " after", state(path), state(B + "/f"))
    clear()
    os.mkdir(TOP + "/probe-d")
    fd = os.open(TOP + "/probe-d", os.O_RDONLY)
    os.rmdir(TOP + "/probe-d")
    say(
        "removed directory",
        told(lambda: stat.S_ISDIR(os.fstat(fd).st_mode)),
        told(lambda: os.fstat(fd).st_nlink),
        told(lambda: os.listdir(fd)),
        told(lambda: os.open("x", os.O_CREAT | os.O_WRONLY, dir_fd=fd)),
        told(lambda: os.stat("x", dir_fd=fd)),
        told(lambda: os.stat(".", dir_fd=fd).st_nlink),
        told(lambda: os.fchmod(fd, 0o750)),
        told(lambda: os.utime(fd)),
        told(lambda: os.fsync(fd)),
        told(lambda: os.stat("..", dir_fd=fd).st_ino == os.stat(TOP).st_ino),
    )
    os.close(fd)
    os.mkdir(TOP + "/probe-d"), os.mkdir(TOP + "/probe-t")
    fd = os.open(TOP + "/probe-t", os.O_RDONLY)
    os.rename(TOP + "/probe-d", TOP + "/probe-t")
    say("replaced directory", told(lambda: os.fstat(fd).st_nlink), told(lambda: os.listdir(fd)))
    os.close(fd)
    os.mkdir(TOP + "/probe-d")
    os.chdir(TOP + "/probe-d")
    os.rmdir(TOP + "/probe-d")
    say(
        "removed working directory",
        told(lambda: os.stat(".").st_nlink),
        told(lambda: os.listdir(".")),
        told(os.getcwd),
        told(lambda: os.mkdir("x")),
        told(lambda: os.open("x", os.O_CREAT | os.O_WRONLY)),
        told(lambda: os.stat("..").st_mode and 1),
    )
    os.chdir("/")
    clear()
    put(path, b"link")
    fd = os.open(path, os.O_RDONLY)
    say("linkat AT_EMPTY_PATH", told(lambda: checked(libc.linkat(fd, b"", -100, os.fsencode(A + "/l"), 0x1000))))
    say(
        "linkat /proc",
        told(lambda: checked(libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, os.fsencode(A + "/l"), 0x400))),
    )
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + b"\0" * 128, 136)
    mount = ctypes.c_int()
    say(
        "name_to_handle_at",
        told(lambda: checked(libc.name_to_handle_at(-100, os.fsencode(path), handle, ctypes.byref(mount), 0))),
    )
    os.close(fd)
    fd = told(lambda: os.open(A, os.O_TMPFILE | os.O_RDWR, 0o600))
    say("O_TMPFILE", fd if isinstance(fd, str) else "ok")
    locks(path)


def in_child(call):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, str(told(call)).encode())
        os._exit(0)
    os.close(write)
    answer = os.read(read, 1000).decode()
    os.close(read)
    os.waitpid(pid, 0)
    return answer


def locks(path):
    put(path, b"0123456789")
    fd = os.open(path, os.O_RDWR)

    def lock(kind, start=0, length=0, command=fcntl.F_SETLK):
        data = struct.pack("hhqqi4x", kind, 0, start, length, 0)
        own = os.open(path, os.O_RDWR)
        kinds = struct.unpack("hhqqi4x", fcntl.fcntl(own, command, data))
        return "ok" if command != fcntl.F_GETLK else kinds[0:4]

    fcntl.fcntl(fd, fcntl.F_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 2, 3, 0))
    for kind, start, length in itertools.product((fcntl.F_RDLCK, fcntl.F_WRLCK), (0, 1, 2, 4, 5), (0, 1, 2)):
        say(
            "fcntl lock %d %d+%d" % (kind, start, length),
            in_child(lambda: lock(kind, start, length)),
            in_child(lambda: lock(kind, start, length, fcntl.F_GETLK)),
        )
    os.close(os.open(path, os.O_RDWR))
    say("fcntl lock after any close", in_child(lambda: lock(fcntl.F_WRLCK)))
    fcntl.flock(fd, fcntl.LOCK_EX)
    say(
        "flock",
        in_child(lambda: fcntl.flock(os.open(path, os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)),
        in_child(lambda: fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)),
        in_child(lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)),
    )
    fcntl.flock(fd, fcntl.LOCK_UN)
    other = os.open(path, os.O_RDWR)
    say(
        "OFD locks",
        told(lambda: fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)) and "ok"),
        told(lambda: fcntl.fcntl(other, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)) and "ok"),
    )
    os.close(other), os.close(fd)
    say("lease", told(lambda: fcntl.fcntl(os.open(path, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)))
