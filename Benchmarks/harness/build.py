"""The programs: the measured release build, and the measuring programs."""
import os
import shlex
import shutil
from dataclasses import dataclass

from .machine import output
from .scratch import BenchmarkError

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SOURCES = os.path.join(ROOT, "Benchmarks")
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra"]


@dataclass(frozen=True)
class Programs:
    keychainfs: str
    filler: str
    limit: str
    meter: str
    stopwatch: str
    # The library that makes synchronization slow.
    slow_disk: str


def build(scratch, skip_release=False):
    """A release by SwiftPM, and the C programs into the scratch directory."""
    if not skip_release:
        scratch.run_aloud(os.path.join(ROOT, "scripts", "build-release"), "keychainfs", "QueryBenchmark")
    binaries = output("swift", "build", "--package-path", ROOT, "-c", "release", "--show-bin-path")
    programs = Programs(
        keychainfs=os.path.join(binaries, "keychainfs"), filler=os.path.join(binaries, "QueryBenchmark"),
        limit=_compile(scratch, "limitfs", "Limit", ["limitfs", "loops", "requests", "table"], _fuse_flags()),
        meter=_compile(scratch, "meter", "Meter", ["meter", "run", "operations", "samples"], ["-pthread"]),
        stopwatch=_compile(scratch, "stopwatch", "Meter", ["stopwatch", "samples"], []),
        slow_disk=_compile(scratch, "slow_disk.so", "../Tests/MountTests/SlowDisk", ["slow_disk"], ["-shared", "-fPIC"]))
    for program in (programs.keychainfs, programs.filler):
        if not os.access(program, os.X_OK):
            raise BenchmarkError(f"there is no release build: {program}")
    return programs


def _compiler():
    """The system's compiler, or the compiler that Swift contains."""
    for name in ("cc", "clang"):
        if shutil.which(name):
            return name
    raise BenchmarkError("there is no C compiler (cc or clang)")


def _fuse_flags():
    flags = output("pkg-config", "--cflags", "--libs", "fuse3")
    if not flags:
        raise BenchmarkError("pkg-config knows no fuse3; run scripts/install build")
    return [*shlex.split(flags), "-pthread"]


def _compile(scratch, name, folder, units, libraries):
    program = scratch.path(name)
    files = [os.path.join(SOURCES, folder, unit + ".c") for unit in units]
    scratch.run_aloud(_compiler(), *FLAGS, "-o", program, *files, *libraries)
    return program
