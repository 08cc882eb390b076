"""Events for which programs wait: inotify(7), and locks held by another process."""

import fcntl
import os
import signal
import struct

from common import A, B, clear, libc, put, say, told
from names import EXCHANGE, renameat2

NAMES = {
    0x1: "ACCESS",
    0x2: "MODIFY",
    0x4: "ATTRIB",
    0x8: "CLOSE_WRITE",
    0x10: "CLOSE_NOWRITE",
    0x20: "OPEN",
    0x40: "MOVED_FROM",
    0x80: "MOVED_TO",
    0x100: "CREATE",
    0x200: "DELETE",
    0x400: "DELETE_SELF",
    0x800: "MOVE_SELF",
}


def watching(path, call):
    """The events that a call causes for a watched path."""
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    libc.inotify_add_watch(fd, os.fsencode(path), 0xFFF)
    result = told(call)
    try:
        events = os.read(fd, 65536)
    except BlockingIOError:
        events = b""
    os.close(fd)
    position, seen = 0, []
    while position < len(events):
        _, mask, _, length = struct.unpack_from("iIII", events, position)
        name = events[position + 16 : position + 16 + length].rstrip(b"\0").decode()
        bits = "|".join(text for bit, text in NAMES.items() if mask & bit) or hex(mask)
        seen.append(bits + (":" + name if name else ""))
        position += 16 + length
    return result if isinstance(result, str) else "-", seen


def use(path, flags, *calls):
    fd = os.open(path, flags, 0o600)
    for call in calls:
        call(fd)
    os.close(fd)


def events():
    f, g = A + "/f", A + "/g"
    calls = {
        "read": lambda: use(f, os.O_RDONLY, lambda fd: os.read(fd, 4)),
        "write": lambda: use(f, os.O_WRONLY, lambda fd: os.write(fd, b"w")),
        "write and fsync": lambda: use(f, os.O_WRONLY, lambda fd: os.write(fd, b"w"), os.fsync),
        "O_TRUNC": lambda: use(f, os.O_WRONLY | os.O_TRUNC),
        "ftruncate": lambda: use(f, os.O_WRONLY, lambda fd: os.ftruncate(fd, 3)),
        "truncate": lambda: os.truncate(f, 3),
        "creat": lambda: use(A + "/new", os.O_CREAT | os.O_WRONLY),
        "mknod": lambda: os.mknod(A + "/new", 0o100600),
        "chmod": lambda: os.chmod(f, 0o640),
        "utime": lambda: os.utime(f, (1, 2)),
        "setxattr": lambda: os.setxattr(f, "user.x", b"1"),
        "unlink": lambda: os.unlink(f),
        "rename": lambda: os.rename(f, A + "/new"),
        "rename over": lambda: os.rename(f, g),
        "rename away": lambda: os.rename(f, B + "/new"),
        "exchange": lambda: renameat2(f, g, EXCHANGE),
        "list": lambda: os.listdir(A),
        "stat": lambda: os.stat(f).st_size,
        "copy": lambda: use(
            g, os.O_RDONLY, lambda source: use(f, os.O_WRONLY, lambda fd: os.copy_file_range(source, fd, 1))
        ),
    }
    for name, call in calls.items():
        for what, path in (("directory", A), ("file", f)):
            clear()
            put(f, b"0123456789")
            put(g, b"g")
            say("events of %s in the %s" % (name, what), *watching(path, call))
    waits()


def interrupted(call):
    """The result of a call that a signal interrupts after a short time."""
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(InterruptedError(4, "signal")))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    answer = told(call)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return answer


def waits():
    """Blocking locks: they wait, a signal ends the wait, and they come when they are free."""
    clear()
    path = A + "/f"
    put(path, b"x")
    whole = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    ways = {
        "flock": (lambda fd: fcntl.flock(fd, fcntl.LOCK_EX), lambda fd: fcntl.flock(fd, fcntl.LOCK_UN)),
        "OFD lock": (
            lambda fd: fcntl.fcntl(fd, 38, whole) and None,
            lambda fd: fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_UNLCK, 0, 0, 0, 0)),
        ),
    }
    for name, (lock, unlock) in ways.items():
        first, second = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
        lock(first)
        say("%s that is taken" % name, interrupted(lambda: lock(second)))
        unlock(first)
        say("%s that is free again" % name, told(lambda: lock(second)))
        os.close(first), os.close(second)
    ready, done = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        fd = os.open(path, os.O_RDWR)
        fcntl.lockf(fd, fcntl.LOCK_EX)
        os.write(ready[1], b"x")
        os.read(done[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    fd = os.open(path, os.O_RDWR)
    say("fcntl lock of another process", interrupted(lambda: fcntl.lockf(fd, fcntl.LOCK_EX)))
    os.write(done[1], b"x")
    say("fcntl lock when its process has ended", told(lambda: fcntl.lockf(fd, fcntl.LOCK_EX)))
    os.waitpid(pid, 0)
    for open_file in (fd, *ready, *done):
        os.close(open_file)
