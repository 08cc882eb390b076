"""open(2): access modes and flags, on every kind of name."""

import errno
import fcntl
import itertools
import os
import stat

from common import A, B, TOP, checked, clear, get, hash_of, kinds, libc, prepared, put, say, state, told

FLAGS = {
    name: getattr(os, name)
    for name in (
        "O_CREAT",
        "O_EXCL",
        "O_TRUNC",
        "O_APPEND",
        "O_DIRECTORY",
        "O_NOFOLLOW",
        "O_PATH",
        "O_SYNC",
        "O_DSYNC",
        "O_DIRECT",
        "O_NOATIME",
        "O_NONBLOCK",
        "O_CLOEXEC",
        "O_TMPFILE",
        "O_NOCTTY",
    )
}
COMBINATIONS = [
    (),
    ("O_CREAT",),
    ("O_CREAT", "O_EXCL"),
    ("O_EXCL",),
    ("O_TRUNC",),
    ("O_CREAT", "O_TRUNC"),
    ("O_CREAT", "O_EXCL", "O_TRUNC"),
    ("O_APPEND",),
    ("O_APPEND", "O_TRUNC"),
    ("O_CREAT", "O_APPEND"),
    ("O_DIRECTORY",),
    ("O_NOFOLLOW",),
    ("O_PATH",),
    ("O_PATH", "O_DIRECTORY"),
    ("O_PATH", "O_CREAT"),
    ("O_SYNC",),
    ("O_DSYNC",),
    ("O_DIRECT",),
    ("O_NOATIME",),
    ("O_NONBLOCK",),
    ("O_CREAT", "O_DIRECTORY"),
    ("O_NOCTTY",),
]


def opens():
    for kind in kinds():
        for access, combination in itertools.product(("O_RDONLY", "O_WRONLY", "O_RDWR"), COMBINATIONS):
            path = prepared(kind)
            flags = getattr(os, access)
            for flag in combination:
                flags |= FLAGS[flag]
            name = "open %s %s" % (kind, "|".join((access,) + combination))
            try:
                fd = os.open(path, flags, 0o600)
            except OSError as error:
                say(name, errno.errorcode[error.errno], state(path))
                continue
            results = [
                told(lambda: os.read(fd, 4)),
                told(lambda: os.write(fd, b"W")),
                told(lambda: os.lseek(fd, 0, os.SEEK_CUR)),
                told(lambda: stat.S_ISDIR(os.fstat(fd).st_mode) or os.fstat(fd).st_size),
                told(lambda: oct(fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_CLOEXEC)),
                told(lambda: os.ftruncate(fd, 3)),
                told(lambda: os.close(fd)),
            ]
            say(name, *results, state(path))
