"""The machine that is measured on: processors, rights, what processes use."""
import os
import platform
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

# The placements below in words.
PLACES = {"same": "one CPU", "other": "two CPUs", "free": "any CPU"}


@dataclass(frozen=True)
class Placement:
    """The processors of daemon and client. `same`: they share one, so their work is compared. `other`: each has its
    own, as on an idle machine, so the wake-up of a sleeping processor counts. `free`: the scheduler decides."""
    name: str
    client: frozenset
    daemon: frozenset


class Machine:
    def __init__(self):
        self.processors = sorted(os.sched_getaffinity(0))
        self.is_root = os.geteuid() == 0
        self.load = os.getloadavg()[0]
        first = self.processors[0]
        self.same = Placement("same", frozenset([first]), frozenset([first]))
        self.free = Placement("free", frozenset(self.processors), frozenset(self.processors))
        other = self._unlike(first)
        self.other = Placement("other", frozenset([first]), frozenset([other])) if other is not None else None

    @property
    def placements(self):
        return [placement for placement in (self.same, self.other) if placement]

    def _unlike(self, processor):
        """A processor of another core, if possible."""
        others = [number for number in self.processors if number != processor]
        siblings = read(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")
        twins = {int(number) for number in re.findall(r"\d+", siblings)}
        return next((number for number in others if number not in twins), others[0] if others else None)

    @property
    def can_drop_caches(self):
        return self.is_root and os.access("/proc/sys/vm/drop_caches", os.W_OK)

    def describe(self):
        model = re.search(r"^model name\s*:\s*(.+)$", read("/proc/cpuinfo"), re.MULTILINE)
        memory = re.search(r"^MemTotal:\s*(\d+)", read("/proc/meminfo"), re.MULTILINE)
        return {"kernel": platform.release(), "processor": model[1] if model else platform.machine(),
                "processors": len(self.processors), "memoryMiB": int(memory[1]) // 1024 if memory else 0,
                "libfuse": output("pkg-config", "--modversion", "fuse3"), "load": self.load,
                "root": self.is_root}


def read(path):
    """The text of a file; nothing if it cannot be read."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def output(*command, **options):
    """What a command prints; nothing if it fails or is not there."""
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)
    except OSError:
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def pin(process, processors):
    """All threads of a process, and those that they will start."""
    for thread in os.listdir(f"/proc/{process}/task"):
        try:
            os.sched_setaffinity(int(thread), processors)
        except ProcessLookupError:
            pass


def processor_seconds(process):
    """What another process has used of the processors, threads that have ended included: its clock, as
    clock_getcpuclockid(3) numbers it."""
    return time.clock_gettime(~process << 3 | 2)


def memory_of(process):
    """KiB in memory now and at most."""
    status = read(f"/proc/{process}/status")
    found = {name: int(size) for name, size in re.findall(r"^(VmRSS|VmHWM):\s*(\d+)", status, re.MULTILINE)}
    return found.get("VmRSS", 0), found.get("VmHWM", 0)
