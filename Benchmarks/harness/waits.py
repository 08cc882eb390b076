"""How long operations on other items take while the disk is slow: synchronization is delayed by a preloaded library."""
import contextlib
import ctypes
import dataclasses
import errno
import os
import subprocess
import sys
import time

from . import load
from .load import LOADS
from .meter import Case, announce
from .results import Wait

ITEMS = 50
# Delay of each fsync and fdatasync, in milliseconds.
DELAY = 100
LOCK_DELAY = 3000
# A median of another item's operation up to this many times its idle median is accepted.
ACCEPTED = 3
ATTRIBUTE = "user.kSecAttrLabel"
BUSY_ITEMS = 1000
COMMITS_A_SECOND = 100

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS = -100, 0x2000, 0x7FF
STATX_BUFFER = ctypes.create_string_buffer(256)

# Causes of longer waits that are known and not removed yet: (operations, loads, cause); None: all of them.
KNOWN = (
    (None, ("one item is truncated",), "the last close commits on the receiver"),
    (("create", "unlink"), ("200 closes wait",), "48 threads serve requests that wait, in the order of arrival"),
    (("create", "unlink"), None, "names are changed one at a time, and wait for the commits of others"),
)


def known_cause(operation, name):
    """Why this cell is known to be slow; empty if it is not."""
    return next((cause for operations, loads, cause in KNOWN
                 if (operations is None or operation in operations) and (loads is None or name in loads)), "")


class SlowDisk:
    """The file that makes synchronization slow while it exists."""

    def __init__(self, scratch):
        self._path = scratch.path("slow-disk")

    def environment(self, library):
        return {"LD_PRELOAD": library, "SLOW_DISK": self._path}

    @contextlib.contextmanager
    def delaying(self, milliseconds):
        with open(self._path + ".new", "w") as file:
            file.write(str(milliseconds))
        os.rename(self._path + ".new", self._path)
        try:
            yield
        finally:
            os.unlink(self._path)


class Probe:
    """Operations on items that the load does not use."""

    def __init__(self, directory):
        self._directory = directory
        self._created = 0

    def _item(self, number):
        return os.path.join(self._directory, f"s{number % ITEMS:06}")

    def read(self, number):
        with open(self._item(number), "rb", buffering=0) as file:
            file.read()

    def open(self, number):
        os.close(os.open(self._item(number), os.O_RDONLY))

    def stat(self, number):
        """statx(2) with AT_STATX_FORCE_SYNC: the kernel's own attributes do not count."""
        if LIBC.statx(AT_FDCWD, self._item(number).encode(), AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, STATX_BUFFER):
            raise OSError(ctypes.get_errno(), "statx")

    def getxattr(self, number):
        with contextlib.suppress(OSError):
            os.getxattr(self._item(number), ATTRIBUTE)

    def ls(self, _):
        os.listdir(self._directory)

    def create(self, number):
        with open(os.path.join(self._directory, f"new{number}"), "xb", buffering=0) as file:
            file.write(b"x" * 32)
        self._created = number + 1

    def unlink(self, number):
        if number >= self._created:
            raise StopIteration
        os.unlink(os.path.join(self._directory, f"new{number}"))

    def remove_rest(self):
        for name in os.listdir(self._directory):
            if name.startswith("new"):
                os.unlink(os.path.join(self._directory, name))


OPERATIONS = ("read", "open", "stat", "getxattr", "ls", "create", "unlink")


def durations(operation, calls, seconds):
    """The duration of each call in microseconds, until the number of calls or the time limit is reached."""
    found = []
    end = time.monotonic() + seconds
    for number in range(calls):
        begin = time.perf_counter_ns()
        try:
            operation(number)
        except StopIteration:
            break
        found.append((time.perf_counter_ns() - begin) / 1000)
        if time.monotonic() > end:
            break
    return found


def waits(bench):
    """other items' operations while a slow disk keeps commits waiting; lock; reads during 100 commits a second"""
    disk = SlowDisk(bench.scratch)
    keychain = bench.keychains.copy(BUSY_ITEMS)
    keychain.environment |= disk.environment(bench.programs.slow_disk)
    subject = keychain.mount()
    directories = [os.path.join(os.path.dirname(subject.directory), name) for name in ("probe", "load")]
    for directory in directories:
        os.mkdir(directory)
    measure_busy_reads(bench, subject, directories[1])
    measure_lock(bench, disk, keychain, directories[1])
    measure_loads(bench, disk, *directories)
    bench.unmount([subject])


def measure_loads(bench, disk, directory, load_directory):
    for number in range(ITEMS):
        with open(os.path.join(directory, f"s{number:06}"), "wb") as file:
            file.write(b"x" * 32)
    for name, threads in LOADS.items():
        for function, number in threads:
            if function is not load.create_and_remove:
                load.overwrite(load_directory, number)
        for _ in range(bench.scale.repetitions):
            with running(bench, disk, name, load_directory):
                measure_operations(bench, name, Probe(directory))
            Probe(directory).remove_rest()
        announce(f"  waits: {name}")


@contextlib.contextmanager
def running(bench, disk, name, directory):
    """The load, on a slow disk. The disk is fast again before the load ends: a request that waits cannot be withdrawn."""
    with disk.delaying(DELAY):
        process = start_load(bench, name, directory)
        try:
            time.sleep(5 * DELAY / 1000)
            yield
        finally:
            process.terminate()
    bench.scratch.end(process)


def start_load(bench, name, directory):
    return bench.scratch.start([sys.executable, "-I", "-B", load.__file__, name, directory],
                               bench.scratch.environment())


def measure_operations(bench, name, probe):
    for operation in OPERATIONS:
        changes = operation in ("create", "unlink")
        calls = 10 if changes else bench.scale.calls
        found = durations(getattr(probe, operation), calls, seconds=3)
        if found:
            bench.results.add_wait(operation, name, Wait.of(found))


def measure_lock(bench, disk, keychain, directory):
    """From the start of `keychainfs lock` until a staged value cannot be read, and until the command ends."""
    path = os.path.join(directory, "staged")
    load.overwrite(directory, 0)
    for _ in range(bench.scale.repetitions):
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.write(file, b"staged")
        with disk.delaying(LOCK_DELAY):
            begin = time.monotonic()
            lock = subprocess.Popen([bench.programs.keychainfs, "lock", keychain.mount_point],
                                    env=keychain.environment | {"LD_PRELOAD": ""})
            bench.results.add_figure("lock until a staged value is refused, ms", 0, (until_refused(file) - begin) * 1000)
            lock.wait()
            bench.results.add_figure("lock until it is reported, ms", 0, (time.monotonic() - begin) * 1000)
        # It reports that the value is lost.
        with contextlib.suppress(OSError):
            os.close(file)
        keychain.run("unlock", "--key-file", keychain.key_file, keychain.mount_point)
        keychain.await_verified()


def until_refused(file):
    """The time when a read of the staged value failed with ENOKEY."""
    while True:
        try:
            os.pread(file, 16, 0)
        except OSError as error:
            if error.errno != errno.ENOKEY:
                raise
            return time.monotonic()
        time.sleep(0.0005)


def measure_busy_reads(bench, subject, load_directory):
    """Reads of a thousand items in turn, alone and while a writer that commits a hundred times a second."""
    case = Case("waits", "read", BUSY_ITEMS, "same")
    busy = dataclasses.replace(case, operation="read during 100 commits a second")
    for repetition in range(bench.scale.repetitions):
        bench.results.add(case, subject.name, measure_reads(bench, subject, case, repetition))
        process = start_load(bench, "100 commits a second", load_directory)
        time.sleep(0.5)
        bench.results.add(busy, subject.name, measure_reads(bench, subject, case, repetition))
        bench.scratch.end(process)


def measure_reads(bench, subject, case, repetition):
    return bench.meter.measure(subject, case, 5 * bench.scale.calls + BUSY_ITEMS, bench.placement("same"), repetition)
