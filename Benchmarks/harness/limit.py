"""The limit: a file system in memory on the same libfuse, which encrypts nothing (Benchmarks/Limit)."""
from .subject import Subject


def mount_limit(bench, items, loop="threads"):
    """`loop` is the way in which it receives requests (Benchmarks/Limit/loops.h); the subject "limit" uses libfuse's
    threads."""
    mount_point = bench.scratch.make_directory("limit")
    command = [bench.programs.limit, mount_point, "--items", str(items), "--loop", loop]
    process = bench.scratch.start(command, bench.scratch.environment(bench.scratch.directory))
    bench.scratch.await_mount(mount_point, process)
    return Subject("limit" if loop == "threads" else f"limit-{loop}", mount_point, mount_point, process)
