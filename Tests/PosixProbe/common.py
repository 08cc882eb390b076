"""Common parts of the questions: two directories, subjects of operations, and one line for each answer."""

import ctypes
import errno
import hashlib
import os
import stat
import sys

TOP = os.path.abspath(sys.argv[1])
A, B = TOP + "/probe-a", TOP + "/probe-b"
# A question about `probe-d/..` changes it.
TOP_MODE = stat.S_IMODE(os.stat(TOP).st_mode)
libc = ctypes.CDLL(None, use_errno=True)


def told(call):
    """What a call returns, or the name of its error."""
    try:
        value = call()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    return "ok" if value is None else value


def say(name, *values):
    print(name + ": " + " ".join(str(value) for value in values), flush=True)


def checked(result):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def put(path, data=b"", mode=0o600):
    if os.path.exists(path):
        os.chmod(path, 0o600)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if data:
            os.write(fd, data)
    finally:
        os.close(fd)
    os.chmod(path, mode)


def get(path):
    with open(path, "rb", buffering=0) as file:
        return file.read()


def remove(path):
    """What is below it too: a file system of the kernel has directories in directories."""
    if stat.S_ISDIR(os.lstat(path).st_mode):
        os.chmod(path, 0o700)
        for name in os.listdir(path):
            remove(path + "/" + name)
        os.rmdir(path)
    else:
        os.unlink(path)


def clear():
    if stat.S_IMODE(os.stat(TOP).st_mode) != TOP_MODE:
        os.chmod(TOP, TOP_MODE)
    for directory in (A, B):
        # RENAME_WHITEOUT leaves a device behind.
        if os.path.lexists(directory) and not os.path.isdir(directory):
            os.unlink(directory)
        if not os.path.isdir(directory):
            os.mkdir(directory, 0o700)
        os.chmod(directory, 0o700)
        for name in os.listdir(directory):
            remove(directory + "/" + name)
    for name in os.listdir(TOP):
        if name.startswith("probe-") and TOP + "/" + name not in (A, B):
            remove(TOP + "/" + name)


def kinds():
    """The subjects of operations, created for each use."""
    long = "n" * 255
    return {
        "missing": (lambda: None, A + "/missing"),
        "empty": (lambda: put(A + "/empty"), A + "/empty"),
        "file": (lambda: put(A + "/file", b"0123456789"), A + "/file"),
        "file/": (lambda: put(A + "/file", b"0123456789"), A + "/file/"),
        "file/x": (lambda: put(A + "/file", b"0123456789"), A + "/file/x"),
        "file/.": (lambda: put(A + "/file", b"0123456789"), A + "/file/."),
        "missing/": (lambda: None, A + "/missing/"),
        "missing/x": (lambda: None, A + "/missing/x"),
        "dir": (lambda: os.mkdir(TOP + "/probe-d"), TOP + "/probe-d"),
        "dir/": (lambda: os.mkdir(TOP + "/probe-d"), TOP + "/probe-d/"),
        "dir/.": (lambda: os.mkdir(TOP + "/probe-d"), TOP + "/probe-d/."),
        "dir/..": (lambda: os.mkdir(TOP + "/probe-d"), TOP + "/probe-d/.."),
        "full dir": (lambda: put(B + "/inside", b"x"), B),
        "255 bytes": (lambda: None, A + "/" + long),
        "255 bytes there": (lambda: put(A + "/" + long, b"x"), A + "/" + long),
        "256 bytes": (lambda: None, A + "/" + long + "n"),
        "4096 bytes": (lambda: None, A + "/" + "/".join(["."] * 2050) + "/x"),
        "no name": (lambda: None, ""),
        "read-only": (lambda: put(A + "/ro", b"ro", 0o400), A + "/ro"),
        "write-only": (lambda: put(A + "/wo", b"wo", 0o200), A + "/wo"),
        "0000": (lambda: put(A + "/none", b"no", 0), A + "/none"),
    }


def prepared(kind):
    clear()
    make, path = kinds()[kind]
    make()
    return path


def state(path):
    """The present contents of the directory."""
    try:
        status = os.lstat(path)
    except OSError as error:
        return errno.errorcode[error.errno]
    if stat.S_ISDIR(status.st_mode):
        return "dir"
    return "file%o,%d" % (status.st_mode & 0o7777, status.st_size)


def hash_of(data):
    return hashlib.sha256(data).hexdigest()[:12]
