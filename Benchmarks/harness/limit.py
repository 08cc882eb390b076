"""The limit: a file system in memory on the same libfuse, which encrypts nothing (Benchmarks/Limit)."""
from .subject import Subject


def mount_limit(bench, items, single=False):
    mount_point = bench.scratch.make_directory("limit")
    command = [bench.programs.limit, mount_point, "--items", str(items), *(["--single"] if single else [])]
    process = bench.scratch.start(command, bench.scratch.environment(bench.scratch.directory))
    bench.scratch.await_mount(mount_point, process)
    return Subject("limit-single" if single else "limit", mount_point, mount_point, process)
