"""Directories: listings under change, positions, names, inode numbers."""

import ctypes
import os
import struct

from common import A, B, TOP, checked, clear, get, hash_of, kinds, libc, prepared, put, say, state, told


def directories():
    clear()
    names = ["n%03d" % i for i in range(150)]
    for name in names:
        put(A + "/" + name)
    libc.opendir.restype = ctypes.c_void_p
    libc.readdir.restype = ctypes.c_void_p
    libc.telldir.restype = ctypes.c_long
    for call in (libc.readdir, libc.telldir, libc.rewinddir, libc.closedir):
        call.argtypes = [ctypes.c_void_p]
    libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]
    stream = libc.opendir(os.fsencode(A))

    def following():
        entry = libc.readdir(stream)
        return ctypes.string_at(entry + 19).decode() if entry else None

    positions, order = [], []
    while True:
        positions.append(libc.telldir(stream))
        name = following()
        if name is None:
            break
        order.append(name)
    say("readdir", sorted(order) == sorted(names + [".", ".."]), len(order))
    wrong = 0
    for index in list(range(0, len(order), 7))[::-1]:
        libc.seekdir(stream, positions[index])
        wrong += following() != order[index]
    say("seekdir", wrong)
    libc.rewinddir(stream)
    again = []
    while (name := following()) is not None:
        again.append(name)
    say("rewinddir", again == order)
    for name in names[::2]:
        os.unlink(A + "/" + name)
    put(A + "/fresh")
    libc.rewinddir(stream)
    again = []
    while (name := following()) is not None:
        again.append(name)
    say("rewinddir sees changes", sorted(again) == sorted(names[1::2] + ["fresh", ".", ".."]))
    libc.seekdir(stream, positions[10])
    seen = []
    while (name := following()) is not None:
        seen.append(name)
    say("seekdir after removal", set(order[10:]) - set(names[::2]) <= set(seen), len(seen) == len(set(seen)))
    libc.closedir(stream)
    removed = 0
    for entry in os.scandir(A):
        os.unlink(entry.path)
        removed += 1
    say("remove while reading", removed, os.listdir(A))
    buffer = ctypes.create_string_buffer(24)
    fd = os.open(A, os.O_RDONLY)
    say("getdents with no room", told(lambda: checked(libc.syscall(217, fd, buffer, 8))))
    os.close(fd)
    for name in (
        "a",
        "é",
        "a b",
        "-",
        "~",
        "a\tb",
        "\\",
        "*",
        "?",
        "'",
        '"',
        "a:b",
        "名" * 85,
        "\u0301",
        "A",
        "é".encode("utf-8").decode(),
    ):
        clear()
        say("name %r" % name[:10], told(lambda: put(A + "/" + name, b"x")), os.listdir(A) == [name])


def inodes():
    clear()
    put(A + "/f", b"x")
    before = os.stat(A + "/f")
    os.rename(A + "/f", B + "/g")
    after = os.stat(B + "/g")
    say("inode kept by rename", before.st_ino == after.st_ino, before.st_dev == after.st_dev)
    listed = {entry.name: entry.inode() for entry in os.scandir(B)}
    say("inode in listing", listed["g"] == after.st_ino)
    parent = {name: ino for name, ino in raw_listing(B)}
    say("inode of dots", parent["."] == os.stat(B).st_ino, parent[".."] == os.stat(TOP).st_ino)
    say("nlink", os.stat(B + "/g").st_nlink, os.stat(B).st_nlink)
    say("blocks", os.stat(B + "/g").st_blocks > 0, os.stat(B + "/g").st_blksize)


def raw_listing(path):
    fd = os.open(path, os.O_RDONLY)
    buffer = ctypes.create_string_buffer(65536)
    count = checked(libc.syscall(217, fd, buffer, 65536))
    os.close(fd)
    position = 0
    while position < count:
        inode, _, length = struct.unpack_from("QqH", buffer.raw, position)
        yield buffer.raw[position + 19 : position + length].split(b"\0")[0].decode(), inode
        position += length
