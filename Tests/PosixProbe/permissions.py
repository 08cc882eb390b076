"""Permissions of the owner, a member of the group, another user and root. Run by root, on a mount with allow_other."""

import fcntl
import itertools
import os

from common import A, B, clear, put, say, state, told

# Numbers that need no account; the last has the file's group among its further ones.
OWNER, GROUP, OTHER = 2001, 2002, 2003
CALLERS = {
    "root": (0, 0, ()),
    "owner": (OWNER, OWNER, ()),
    "group": (GROUP, OWNER, ()),
    "further group": (OTHER, OTHER, (OWNER,)),
    "other": (OTHER, OTHER, ()),
}


def as_caller(caller, call):
    """The answer of a child with that caller's numbers."""
    user, group, further = CALLERS[caller]
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgroups(further)
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
        os.write(write, str(told(call)).encode())
        os._exit(0)
    os.close(write)
    answer = os.read(read, 1000).decode()
    os.close(read)
    os.waitpid(pid, 0)
    return answer


def opened(path, flags):
    os.close(os.open(path, flags, 0o600))
    return "ok"


def written(path):
    fd = os.open(path, os.O_WRONLY)
    os.write(fd, b"w")
    os.close(fd)
    return "ok"


def prepared(file_mode, directory_mode=0o777, owner=OWNER, directory_owner=OWNER):
    clear()
    path = A + "/f"
    put(path, b"0123456789")
    os.setxattr(path, "user.x", b"x")
    os.chown(path, owner, owner)
    os.chmod(path, file_mode)
    os.chown(A, directory_owner, directory_owner)
    os.chmod(A, directory_mode)
    os.chmod(B, 0o777)
    return path


ON_FILES = {
    "read": lambda p: opened(p, os.O_RDONLY),
    "write": lambda p: opened(p, os.O_WRONLY),
    "both": lambda p: opened(p, os.O_RDWR),
    "O_TRUNC": lambda p: opened(p, os.O_WRONLY | os.O_TRUNC),
    "O_RDONLY|O_TRUNC": lambda p: opened(p, os.O_RDONLY | os.O_TRUNC),
    "O_NOATIME": lambda p: opened(p, os.O_NOATIME),
    "O_CREAT": lambda p: opened(p, os.O_RDONLY | os.O_CREAT),
    "truncate": lambda p: os.truncate(p, 1),
    "getxattr": lambda p: os.getxattr(p, "user.x"),
    "setxattr": lambda p: os.setxattr(p, "user.x", b"y"),
    "removexattr": lambda p: os.removexattr(p, "user.x"),
    "listxattr": os.listxattr,
    "utime": lambda p: os.utime(p, (1, 2)),
    "utime now": os.utime,
    "access": lambda p: [os.access(p, bit) for bit in range(8)],
    "stat": lambda p: os.stat(p).st_size,
}
ON_OWNERS = {
    "chmod": lambda p: os.chmod(p, 0o640),
    "chmod sgid": lambda p: os.chmod(p, 0o2755),
    "chmod suid": lambda p: os.chmod(p, 0o4755),
    "chown to other": lambda p: os.chown(p, OTHER, -1),
    "chown to owner": lambda p: os.chown(p, OWNER, -1),
    "chgrp to owner's": lambda p: os.chown(p, -1, OWNER),
    "chgrp to other's": lambda p: os.chown(p, -1, OTHER),
    "chown of nothing": lambda p: os.chown(p, -1, -1),
    "written": written,
    "truncate": lambda p: os.truncate(p, 1),
    "O_TRUNC": lambda p: opened(p, os.O_WRONLY | os.O_TRUNC),
}
IN_DIRECTORIES = {
    "list": lambda p: os.listdir(A),
    "stat": lambda p: os.stat(p).st_size,
    "create": lambda p: opened(A + "/new", os.O_CREAT | os.O_WRONLY),
    "unlink": os.unlink,
    "rename within": lambda p: os.rename(p, A + "/new"),
    "rename away": lambda p: os.rename(p, B + "/new"),
    "rename over": lambda p: os.rename(B + "/g", p),
    "chdir": lambda p: os.chdir(A),
    "chmod": lambda p: os.chmod(A, 0o755),
    "utime": lambda p: os.utime(A),
    "mknod": lambda p: os.mknod(A + "/new", 0o100600),
    "fsync": lambda p: opened(A, os.O_RDONLY),
}


def file_permissions():
    for caller, (name, call), bits, place in itertools.product(CALLERS, ON_FILES.items(), range(8), range(3)):
        path = prepared(bits << 3 * place)
        say("%s by %s of %o" % (name, caller, bits << 3 * place), as_caller(caller, lambda: call(path)), state(path))


def owner_permissions():
    for caller, (name, call), mode in itertools.product(
        CALLERS, ON_OWNERS.items(), (0o666, 0o6777, 0o2777, 0o2767, 0o4711, 0o1777)
    ):
        path = prepared(mode)
        say(
            "%s by %s of %o" % (name, caller, mode),
            as_caller(caller, lambda: call(path)),
            state(path),
            os.stat(path).st_uid,
            os.stat(path).st_gid,
        )
    for caller, mode in itertools.product(CALLERS, (0o777, 0o2777)):
        prepared(0o666, mode)
        as_caller(caller, lambda: opened(A + "/new", os.O_CREAT | os.O_WRONLY))
        say("owner of what %s makes in %o" % (caller, mode), os.stat(A + "/new").st_uid, os.stat(A + "/new").st_gid)
    fd = os.open(prepared(0o600), os.O_RDWR)
    os.fchmod(fd, 0)
    say(
        "a descriptor outlives its right",
        as_caller("other", lambda: os.pread(fd, 4, 0)),
        as_caller("other", lambda: os.pwrite(fd, b"w", 0)),
        as_caller("other", lambda: fcntl.flock(fd, fcntl.LOCK_SH)),
    )
    os.close(fd)


def directory_permissions():
    for caller, (name, call), bits, place in itertools.product(CALLERS, IN_DIRECTORIES.items(), range(8), range(3)):
        path = prepared(0o666, bits << 3 * place)
        put(B + "/g", b"g", 0o666)
        say(
            "%s by %s in %o" % (name, caller, bits << 3 * place),
            as_caller(caller, lambda: call(path)),
            state(path),
            state(A + "/new"),
        )
    for caller, (name, call), owner, directory_owner in itertools.product(
        CALLERS, IN_DIRECTORIES.items(), (OWNER, OTHER), (OWNER, GROUP)
    ):
        path = prepared(0o666, 0o1777, owner, directory_owner)
        put(B + "/g", b"g", 0o666)
        say(
            "%s by %s of %d's in the sticky directory of %d" % (name, caller, owner, directory_owner),
            as_caller(caller, lambda: call(path)),
            state(path),
        )
