"""A mounted file system that is measured: the program and its peers alike."""
import os
from dataclasses import dataclass, field

from .machine import memory_of, pin


@dataclass(eq=False)
class Subject:
    name: str
    # The directory of its files s000000, …, and the mounted file system; None for a plain directory.
    directory: str
    mount_point: str | None
    # Whose process it is; None: the kernel's own.
    daemon: object = None
    # What the meter asks for.
    attribute: str = "user.label"
    # Whether a close is not enough to make a write durable.
    needs_sync: bool = False
    # The files and directories on disk that hold it.
    store: list = field(default_factory=list)
    # Whether its loop polls, and ceases to for a while where that did not pay.
    may_pause: bool = False
    # What it lacks, by the operations of the meter.
    lacks: frozenset = frozenset()

    @property
    def process(self):
        return self.daemon.pid if self.daemon else 0

    def place(self, placement):
        if self.daemon:
            pin(self.process, placement.daemon)

    def memory(self):
        return memory_of(self.process) if self.daemon else (0, 0)

    def read_store(self):
        """Brings all of it into memory: a measurement before may have dropped it."""
        for path in _files_below(self.store):
            with open(path, "rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass

    def bytes_on_disk(self):
        return sum(_size(path) for path in self.store)


def _files_below(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        for directory, _, names in os.walk(path):
            yield from (os.path.join(directory, name) for name in names)


def _size(path):
    """What the disk gives for it, in bytes."""
    if os.path.isfile(path):
        return os.stat(path).st_blocks * 512
    return sum(os.lstat(name).st_blocks * 512 for name in _files_below([path]))
