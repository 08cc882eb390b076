"""What takes a path: unlink(2), mkdir(2), truncate(2) and their like, and rename(2) in all its combinations."""

import itertools
import os
import stat

from common import A, B, TOP, checked, clear, get, hash_of, kinds, libc, prepared, put, say, state, told


def unlinks():
    calls = {
        "unlink": os.unlink,
        "rmdir": os.rmdir,
        "mkdir": lambda p: os.mkdir(p, 0o700),
        "stat": lambda p: state(p),
        "listdir": lambda p: sorted(os.listdir(p)),
        "truncate 3": lambda p: os.truncate(p, 3),
        "truncate -1": lambda p: os.truncate(p, -1),
        "truncate 20": lambda p: os.truncate(p, 20),
        "chmod": lambda p: os.chmod(p, 0o640),
        "utime": lambda p: os.utime(p, (1, 2)),
        "chown": lambda p: os.chown(p, -1, -1),
        "access F": lambda p: os.access(p, os.F_OK),
        "access R": lambda p: os.access(p, os.R_OK),
        "access W": lambda p: os.access(p, os.W_OK),
        "access X": lambda p: os.access(p, os.X_OK),
        "readlink": os.readlink,
        "statvfs": lambda p: os.statvfs(p).f_namemax,
        "getxattr": lambda p: os.getxattr(p, "user.x"),
        "listxattr": lambda p: os.listxattr(p),
        "chdir": chdir,
        "mkfifo": os.mkfifo,
        "mknod": lambda p: os.mknod(p, stat.S_IFREG | 0o600),
        "symlink": lambda p: os.symlink("t", p),
        "link": lambda p: os.link(A + "/other", p),
        "link from": lambda p: os.link(p, A + "/linked"),
    }
    for kind, (name, call) in itertools.product(kinds(), calls.items()):
        path = prepared(kind)
        if name == "link":
            put(A + "/other", b"o")
        say("%s %s" % (name, kind), told(lambda: call(path)), state(path))
    say(
        "unlink of a mount's name twice",
        told(lambda: os.unlink(prepared("file"))),
        told(lambda: os.unlink(A + "/file")),
    )


def chdir(path):
    try:
        os.chdir(path)
    finally:
        os.chdir("/")


NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4


def renameat2(old, new, flags):
    checked(libc.renameat2(-100, os.fsencode(old), -100, os.fsencode(new), flags))


def renames():
    sources = [
        "missing",
        "file",
        "file/",
        "file/x",
        "file/.",
        "empty",
        "dir",
        "dir/",
        "dir/.",
        "dir/..",
        "full dir",
        "256 bytes",
        "no name",
        "0000",
        "missing/x",
    ]
    targets = {
        "new": lambda: A + "/new",
        "itself": None,
        "file": lambda: put(A + "/t", b"target") or A + "/t",
        "in another directory": lambda: B + "/new",
        "dir": lambda: os.mkdir(TOP + "/probe-t") or TOP + "/probe-t",
        "new dir": lambda: TOP + "/probe-new",
        "new dir/": lambda: TOP + "/probe-new/",
        "full dir": lambda: (os.mkdir(TOP + "/probe-f"), put(TOP + "/probe-f/x"), TOP + "/probe-f")[2],
        "new/": lambda: A + "/new/",
        "missing/x": lambda: A + "/no/x",
        "file/x": lambda: put(A + "/t", b"t") or A + "/t/x",
        "256 bytes": lambda: A + "/" + "m" * 256,
        "255 bytes": lambda: A + "/" + "m" * 255,
        "inside": None,
        "no name": lambda: "",
        "parent": lambda: A,
        ".": lambda: A + "/.",
        "..": lambda: A + "/..",
    }
    for source, (target, make), flags in itertools.product(sources, targets.items(), (0, 1, 2, 3, 4, 8)):
        old = prepared(source)
        new = old if target == "itself" else old + "/inside" if target == "inside" else make()
        result = told(lambda: renameat2(old, new, flags))
        say("rename %s to %s flags %d" % (source, target, flags), result, state(old), state(new))
