"""The groups of measurements. Each is a function of a `Bench` whose docstring is its description in --list."""
import json
import os
import subprocess
import time

from .machine import output, processor_seconds
from .meter import Case, announce
from .stores import installed_stores
from .subject import Subject
from .waits import waits

READS = ("read", "cat")
NAMES = ("stat", "miss", "getxattr", "listxattr")
LISTINGS = ("list", "list-long")
WRITES = ("create", "overwrite", "rename-over", "unlink", "setxattr")
DISK = ("append", "rewrite")
# ls(1) of more takes minutes, most of them in ls(1).
MOST_LISTED = 100_000


def reads(bench):
    """open+read+close and cat of a secret: warm, cold, several threads, several sizes"""
    for items in bench.scale.items:
        subjects = bench.mount_subjects(items)
        places = bench.placements()
        measure_idleness(bench, subjects[0], items)
        cases = [Case("reads", operation, items, place) for operation in READS for place in places]
        cases += [Case("reads", "read", items, "free", threads=threads) for threads in (1, *bench.scale.threads)]
        bench.take_turns(subjects, cases)
        bench.take_cold_turns(subjects, "reads", "read", items, places)
        if items <= bench.scale.peer_items:
            read_sizes(bench, subjects, items)
        bench.unmount(subjects)


def measure_idleness(bench, subject, items):
    """The processor time of a daemon without requests."""
    time.sleep(2)
    before = processor_seconds(subject.process)
    time.sleep(2)
    used = processor_seconds(subject.process) - before
    bench.results.add_figure("idle daemon, processor ms a second", items, used * 1000 / 2)


def read_sizes(bench, subjects, items):
    """The same files, larger."""
    for size in bench.scale.sizes:
        for subject in subjects:
            bench.meter.populate(subject, items, size)
        bench.take_turns(subjects, [Case("reads", "read", items, place, size=size) for place in bench.placements()])


def names(bench):
    """stat, a miss, getxattr, listxattr, listings, and the commands ls, ls -l, find; cold look-ups"""
    for items in bench.scale.items:
        subjects = bench.mount_subjects(items)
        places = bench.placements()
        cases = [Case("names", name, items, place) for name in NAMES for place in places]
        bench.take_turns(subjects, cases + [Case("names", name, items, "same") for name in LISTINGS])
        bench.take_cold_turns(subjects, "names", "stat", items, places)
        if items <= MOST_LISTED:
            list_by_commands(bench, subjects, items)
        bench.unmount(subjects)


def list_by_commands(bench, subjects, items):
    count = max(1, min(10, 100_000 // items))
    commands = {"ls": ["ls"], "ls -l": ["ls", "-l"], "find": ["find"]}
    for _ in range(bench.scale.repetitions):
        for name, command in commands.items():
            for subject in subjects:
                subject.place(bench.machine.free)
                sample = bench.meter.time_command([*command, subject.directory], count, bench.machine.free)
                bench.results.add(Case("names", name, items, "free"), subject.name, sample)


def writes(bench):
    """durable create, overwrite, rename-over, unlink, setxattr by one writer and several, compared with files on the
    disk"""
    items = bench.scale.items[0]
    subjects = bench.mount_subjects(items)
    disk = Subject("disk", bench.scratch.make_directory("disk"), None, needs_sync=True)
    bench.meter.populate(disk, items)
    for subject in subjects:
        subject.lacks |= frozenset(DISK)
    calls = max(100, bench.scale.calls // 4)
    alone = [Case("writes", operation, items, place) for operation in WRITES for place in bench.placements()]
    alone += [Case("writes", operation, items, "same") for operation in DISK]
    bench.take_turns([*subjects, disk], alone, calls)
    together = [Case("writes", operation, items, "free", threads=writers)
                for operation in WRITES for writers in (1, *bench.scale.writers)]
    bench.take_turns([*subjects, disk], together, calls)
    bench.unmount(subjects)


def start(bench):
    """create, mount and unlock without the derivation of a key, commands, the size of the program"""
    measure_program(bench)
    measure_creation(bench)
    for items in bench.scale.items:
        keychain = bench.keychains.copy(items)
        bench.scratch.expect_mount(keychain.mount_point)
        # The first mount on this machine adds it to the keychain.
        for round_number in range(bench.scale.repetitions + 1):
            times = time_a_session(keychain)
            for name, milliseconds in times.items() if round_number else ():
                bench.results.add_figure(name, items, milliseconds)
        keychain.run("mount", *keychain.mount_options, keychain.mount_point)
        time_commands(bench, keychain, items)
        keychain.run("unmount", keychain.mount_point)


def time_a_session(keychain):
    """The duration of each command in milliseconds: `mount` ends when the mount is ready."""
    times = {}

    def timed(name, *arguments):
        begin = time.perf_counter()
        keychain.run(name, *arguments)
        times[f"{name}, ms"] = (time.perf_counter() - begin) * 1000

    timed("mount", *keychain.mount_options, keychain.mount_point)
    begin = time.perf_counter()
    with open(os.path.join(keychain.directory, "s000000"), "rb") as file:
        file.read()
    times["first read, ms"] = (time.perf_counter() - begin) * 1000
    timed("lock", keychain.mount_point)
    timed("unlock", "--key-file", keychain.key_file, keychain.mount_point)
    keychain.await_verified()
    timed("unmount", keychain.mount_point)
    return times


def time_commands(bench, keychain, items):
    keychain.await_verified()
    commands = {"status": ["status"], "status --json": ["status", "--json"],
                "slot list": ["slot", "list", keychain.mount_point],
                "show": ["show", os.path.join(keychain.directory, "s000000")], "--version": ["--version"]}
    for name, arguments in commands.items():
        sample = bench.meter.time_command([bench.programs.keychainfs, *arguments], 20, bench.machine.free,
                                          keychain.environment)
        bench.results.add(Case("start", f"keychainfs {name}", items, "free"), "keychainfs", sample)


def measure_creation(bench):
    """The least of ten, less the least derivation: both are far longer than the rest; a busy machine hides it."""
    directory = bench.scratch.make_directory("create")
    text = bench.scratch.run(bench.programs.filler, "create", directory, "10", environment=bench.scratch.environment())
    least = {name: timing["least"] for name, timing in json.loads(text).items()}
    bench.results.add_figure("create, ms", 0, max(0, least["create"] - least["derivation"]) / 1000)


def measure_program(bench):
    program = bench.programs.keychainfs
    bench.results.add_figure("program, MiB", 0, os.path.getsize(program) / 2**20)
    stripped = bench.scratch.path("stripped")
    if subprocess.run(["strip", "-o", stripped, program], stderr=subprocess.DEVNULL).returncode == 0:
        bench.results.add_figure("program without symbols, MiB", 0, os.path.getsize(stripped) / 2**20)
    libraries = [line for line in output("ldd", program).splitlines() if "=>" in line]
    bench.results.add_figure("shared libraries", 0, len(libraries))


def growth(bench):
    """time, memory and disk of each operation as the number of items grows"""
    for items in bench.scale.growth:
        path, seconds = bench.keychains.filled(items)
        bench.results.add_figure("add without a mount, µs an item", items, seconds * 1e6 / items)
        bench.results.add_figure("disk, bytes an item", items, os.stat(path).st_blocks * 512 / items)
        subjects = bench.mount_subjects(items, with_peers=False)
        ours = subjects[:1]
        bench.results.add_figure("memory after mount, MiB", items, ours[0].memory()[0] / 1024)
        grow(bench, subjects, ours, items)
        now, most = ours[0].memory()
        bench.results.add_figure("memory after use, MiB", items, now / 1024)
        bench.results.add_figure("memory at most, MiB", items, most / 1024)
        for operation in ("read", "stat"):
            bench.take_cold_turns(subjects, "growth", operation, items, bench.placements()[:1])
        bench.results.add_figure("memory after names are forgotten, MiB", items, ours[0].memory()[0] / 1024)
        bench.unmount(subjects)


def grow(bench, subjects, ours, items):
    calls = max(100, bench.scale.calls // 4)
    place = bench.placements()[0]
    bench.take_turns(subjects, [Case("growth", operation, items, place) for operation in (*READS, *NAMES)], calls)
    bench.take_turns(ours, [Case("growth", operation, items, place) for operation in WRITES], calls)
    bench.take_turns(subjects, [Case("growth", operation, items, place) for operation in LISTINGS])


def commands(bench):
    """complete commands as a user at a shell runs them: one secret, a hundred one by one, a hundred in one command"""
    items = 100
    subjects = bench.mount_subjects(items)
    stores = [store for store in installed_stores() if bench.wants(store.name)]
    for store in stores:
        announce(f"  commands: filling {store.name}")
        store.prepare(bench.scratch, items)
    lines = [line for subject in subjects for line in lines_of(subject, items)]
    lines += [line for store in stores for line in lines_of_store(store, items)]
    for subject in subjects:
        if subject.name == "keychainfs":
            lines += lines_of_program(bench.programs.keychainfs, subject, items)
    lines.append(("one secret", "(true)", ["true"], None))
    for _ in range(bench.scale.repetitions):
        for operation, name, command, environment in lines:
            count = 20 if operation == "one secret" else 2
            sample = bench.meter.time_command(command, count, bench.machine.free, environment)
            bench.results.add(Case("commands", operation, items, "free"), name, sample)
    bench.unmount(subjects)


def loop(command, arguments):
    """`command` with each argument, by one shell."""
    return ["sh", "-c", f'for name; do {command} "$name" || exit 1; done', "sh", *arguments]


def lines_of(subject, items):
    files = [os.path.join(subject.directory, f"s{number:06}") for number in range(items)]
    return [("one secret", subject.name, ["cat", files[0]], None),
            ("a hundred, one by one", subject.name, loop("cat", files), None),
            ("a hundred in one command", subject.name, ["cat", *files], None)]


def lines_of_program(program, subject, items):
    """The program's commands, and as their limit a command without a mount."""
    files = [os.path.join(subject.directory, f"s{number:06}") for number in range(items)]
    return [("one secret", "keychainfs get", [program, "get", files[0]], None),
            ("a hundred, one by one", "keychainfs get", loop(f"{program} get", files), None),
            ("one secret", "keychainfs run", [program, "run", "--env", f"SECRET={files[0]}", "printenv", "SECRET"], None),
            ("one secret", "(keychainfs --version)", [program, "--version"], None)]


def lines_of_store(store, items):
    secrets = [store.secret(number) for number in range(items)]
    command = " ".join(store.command)
    return [("one secret", store.name, [*store.command, secrets[0]], store.environment),
            ("a hundred, one by one", store.name, loop(command, secrets), store.environment)]


GROUPS = {group.__name__: group for group in (reads, names, writes, start, growth, commands, waits)}
