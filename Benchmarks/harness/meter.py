"""Runs the programs of Benchmarks/Meter and takes what they print."""
import json
import os
import sys
from dataclasses import dataclass

from .scratch import BenchmarkError

# Files that a subject is filled with carry the attribute; the time of it is not of interest.
POPULATE_THREADS = 2


@dataclass(frozen=True)
class Case:
    """One thing to measure, of any subject. `operation` is one of the meter's, or a command line's name."""
    group: str
    operation: str
    items: int
    placement: str
    size: int = 32
    threads: int = 1
    # What the kernel had forgotten before: nothing, `names` (attributes too), or `all` (pages of files too).
    cold: str = ""


@dataclass(frozen=True)
class Sample:
    """One repetition: microseconds, calls a second, microseconds of the daemon's processor a call; None: unknown."""
    p50: float
    p99: float
    rate: float | None
    processor: float | None
    count: int
    failed: int
    error: str = ""

    @staticmethod
    def of(line):
        """The values of an output line of the meter or the stopwatch, in nanoseconds."""
        count, seconds, used = line["count"], line.get("seconds"), line.get("daemon_seconds")
        return Sample(
            p50=line.get("p50", 0) / 1000, p99=line.get("p99", 0) / 1000, rate=count / seconds if seconds else None,
            processor=used * 1e6 / count if used is not None and count else None, count=count, failed=line["failed"],
            error=line.get("error", ""))


class Meter:
    def __init__(self, scratch, programs):
        self._scratch = scratch
        self._programs = programs

    def measure(self, subject, case, count, placement, seed):
        subject.place(placement)
        command = [
            *self._command(subject, case.operation, case.items, count), "--size", str(case.size),
            "--threads", str(case.threads), "--seed", str(seed),
            *(["--daemon", str(subject.process)] if subject.process else []),
            *(["--sync"] if subject.needs_sync else []), *(["--cold", case.cold] if case.cold else []),
        ]
        return self._sample(command, placement)

    def _command(self, subject, operation, items, count):
        return [self._programs.meter, "--directory", subject.directory, "--operation", operation,
                "--attribute", subject.attribute, "--items", str(items), "--count", str(count)]

    def time_command(self, command, count, placement, environment=None):
        """The duration of a complete command."""
        return self._sample([self._programs.stopwatch, str(count), *command], placement, environment)

    def populate(self, subject, items, size=32):
        """Writes the files s000000, …, also those that exist."""
        command = [*self._command(subject, "populate", items, items), "--size", str(size),
                   "--threads", str(POPULATE_THREADS)]
        sample = self._sample(command, None)
        if sample.failed:
            raise BenchmarkError(f"{subject.name} could not be filled: {sample.error}")

    def _sample(self, command, placement, environment=None):
        """The meter runs where the placement wants it: it inherits that from us."""
        before = os.sched_getaffinity(0)
        if placement:
            os.sched_setaffinity(0, placement.client)
        try:
            text = self._scratch.run(*command, environment=environment or self._scratch.environment(), timeout=3600)
        finally:
            os.sched_setaffinity(0, before)
        return Sample.of(json.loads(text))


def announce(text):
    """Reports the progress to the user."""
    print(text, file=sys.stderr, flush=True)
