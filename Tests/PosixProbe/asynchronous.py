"""Asynchronous reads and writes without a library: io_uring(7), and the io_submit(2) family that libaio calls.

A call that the kernel refuses raises an error: a question without an answer is not an equal answer."""

import ctypes
import errno
import mmap
import platform
import struct

from common import checked, libc

# io_setup, io_destroy, io_getevents, io_submit: asm/unistd.h.
AIO_CALLS = {"x86_64": (206, 207, 208, 209), "aarch64": (0, 1, 4, 2)}[platform.machine()]
AIO_PREAD, AIO_PWRITE, AIO_PREADV, AIO_PWRITEV = 0, 1, 7, 8

# linux/io_uring.h.
URING_READV, URING_WRITEV, URING_READ_FIXED, URING_WRITE_FIXED, URING_READ, URING_WRITE, URING_SPLICE = 1, 2, 4, 5, 22, 23, 30
URING_FIXED_FILE, URING_ASYNC = 1, 16
SETUP_SQPOLL = 2
CURRENT_POSITION = (1 << 64) - 1


class Failure(OSError):
    """The negative result of a completed operation."""

    def __init__(self, code):
        super().__init__(code, errno.errorcode.get(code, str(code)))


def completed(result):
    if result < 0:
        raise Failure(-result)
    return result


def call(number, *arguments):
    return checked(libc.syscall(ctypes.c_long(number), *arguments))


def vector(pieces):
    """An iovec for each of (address, length)."""
    array = (ctypes.c_uint64 * (2 * len(pieces)))()
    for index, piece in enumerate(pieces):
        array[2 * index : 2 * index + 2] = piece
    return array


class LinuxAIO:
    def __init__(self):
        self.context = ctypes.c_ulong(0)
        call(AIO_CALLS[0], 8, ctypes.byref(self.context))

    def run(self, operation, fd, address, length, offset):
        """Waits for one operation and returns its result."""
        block = struct.pack("QIIHhIQQqQII", 0, 0, 0, operation, 0, fd, address, length, offset, 0, 0, 0)
        memory = ctypes.create_string_buffer(block, len(block))
        pointer = ctypes.c_void_p(ctypes.addressof(memory))
        call(AIO_CALLS[3], self.context, ctypes.c_long(1), ctypes.byref(pointer))
        event = (ctypes.c_int64 * 4)()
        call(AIO_CALLS[2], self.context, ctypes.c_long(1), ctypes.c_long(1), event, None)
        return completed(event[2])

    def close(self):
        call(AIO_CALLS[1], self.context)


class Ring:
    """One queue of io_uring."""

    ENTRIES = 256

    def __init__(self, flags=0):
        parameters = (ctypes.c_uint32 * 30)()
        parameters[2] = flags
        self.fd = call(425, self.ENTRIES, parameters)
        sq_entries, cq_entries = parameters[0], parameters[1]
        self.polled = flags & SETUP_SQPOLL
        sq, cq = parameters[10:20], parameters[20:30]
        submission = mmap.mmap(self.fd, sq[6] + 4 * sq_entries, mmap.MAP_SHARED, offset=0)
        completion = mmap.mmap(self.fd, cq[5] + 16 * cq_entries, mmap.MAP_SHARED, offset=0x8000000)
        self.entries = mmap.mmap(self.fd, 64 * sq_entries, mmap.MAP_SHARED, offset=0x10000000)
        # Each counter is stored in one instruction (struct.pack_into writes zeros first, which the kernel's thread would see).
        self.sq_tail, self.sq_mask = (ctypes.c_uint32.from_buffer(submission, sq[place]) for place in (1, 2))
        self.sq_array = (ctypes.c_uint32 * sq_entries).from_buffer(submission, sq[6])
        self.cq_head, self.cq_tail, self.cq_mask = (ctypes.c_uint32.from_buffer(completion, cq[place]) for place in (0, 1, 2))
        self.completion, self.first_completion = completion, cq[5]

    def register(self, address, length):
        """IORING_REGISTER_BUFFERS: the only fixed buffer."""
        call(427, self.fd, 0, vector([(address, length)]), 1)

    def register_file(self, fd):
        """IORING_REGISTER_FILES: the only fixed file, until unregister_file."""
        call(427, self.fd, 2, (ctypes.c_int32 * 1)(fd), 1)

    def unregister_file(self):
        call(427, self.fd, 3, None, 0)

    def submit(self, operation, fd, address, length, offset, flags=0, rw_flags=0, tag=0, in_fd=0):
        tail = self.sq_tail.value
        index = tail & self.sq_mask.value
        entry = (operation, flags, 0, fd, offset, address, length, rw_flags, tag, 0, 0, in_fd, 0, 0)
        struct.pack_into("BBHiQQIIQHHiQQ", self.entries, 64 * index, *entry)
        self.sq_array[index] = index
        self.sq_tail.value = tail + 1
        # IORING_ENTER_SQ_WAKEUP.
        call(426, self.fd, 0 if self.polled else 1, 0, 2 if self.polled else 0, None, ctypes.c_long(8))

    def wait(self):
        """The tag and the result of the next operation that has completed."""
        head = self.cq_head.value
        while self.cq_tail.value == head:
            # IORING_ENTER_GETEVENTS.
            call(426, self.fd, 0, 1, 1, None, ctypes.c_long(8))
        place = self.first_completion + 16 * (head & self.cq_mask.value)
        tag, result, _ = struct.unpack_from("QiI", self.completion, place)
        self.cq_head.value = head + 1
        return tag, result

    def run(self, *arguments, **options):
        """Waits for one operation and returns its result."""
        self.submit(*arguments, **options)
        return completed(self.wait()[1])
