"""Usage: power_cut.py PROGRAM WORK SECONDS SEED [CASE]

Each command runs once under strace, which lists all its operations on files and directories. From them the program
computes the states that a power cut after each call may leave on a disk that guarantees no more than POSIX: contents
are durable after fsync(2) of the file, names after fsync(2) of the directory; any part of the rest may be missing. A
new process of the program checks each state. Runs all cases if SECONDS allow, otherwise a selection by SEED. CASE: that
one alone, as a failure names it."""
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

from crashing import CHANGING, SCENARIOS, Bench, Wrong


class Inode:
    """A file or a directory: its durable state, and the changes since."""

    def __init__(self, is_directory=False, contents=b""):
        self.is_directory = is_directory
        self.durable = {} if is_directory else contents
        self.pending = []

    @staticmethod
    def of(path):
        if not path.is_dir():
            return Inode(contents=path.read_bytes())
        inode = Inode(is_directory=True)
        inode.durable = {child.name: Inode.of(child) for child in path.iterdir()}
        return inode

    def synchronize(self):
        self.durable, self.pending = self.now(lambda: True), []

    def now(self, keeps):
        """As it is with those of the pending changes that are kept."""
        if self.is_directory:
            entries = dict(self.durable)
            for change in self.pending:
                if keeps():
                    change(entries)
            return entries
        contents = bytearray(self.durable)
        for offset, data in self.pending:
            if not keeps():
                continue
            if data is None:
                del contents[offset:]
                contents.extend(bytes(offset - len(contents)))
            else:
                contents.extend(bytes(max(0, offset - len(contents))))
                contents[offset:offset + len(data)] = data
        return bytes(contents)


class Disk:
    """The directories of a home as the calls of a program change them."""

    def __init__(self, root):
        self.path, self.root, self.offsets = Path(root), Inode.of(Path(root)), {}

    def find(self, path):
        """None: no such file, or one outside of the test."""
        try:
            inode = self.root
            for part in Path(path).relative_to(self.path).parts:
                inode = inode.now(lambda: True)[part]
            return inode
        except (KeyError, ValueError):
            return None

    def name(self, path, inode, leaving=None):
        """Adds or removes (None) a name and, in the same operation, removes another one."""
        parent, name = self.find(Path(path).parent), Path(path).name
        if parent is None:
            return
        old = Path(leaving).name if leaving else None

        def change(entries):
            if old:
                entries.pop(old, None)
            entries.pop(name, None)
            if inode is not None:
                entries[name] = inode
        parent.pending.append(change)

    def call(self, name, paths, strings, numbers, data):
        """Whether that call of the program's has changed anything here."""
        if name in ("mkdir", "mkdirat"):
            self.name(strings[0], Inode(is_directory=True))
        elif name == "openat":
            self.offsets[strings[0]] = 0
            inode = self.find(strings[0])
            if inode is not None:
                return False
            self.name(strings[0], Inode())
        elif name in ("link", "linkat"):
            self.name(strings[1], self.find(strings[0]))
        elif name in ("rename", "renameat", "renameat2"):
            self.name(strings[1], self.find(strings[0]), leaving=strings[0])
        elif name in ("unlink", "unlinkat", "rmdir"):
            self.name(strings[0], None)
        else:
            inode = self.find(paths[0]) if paths else None
            if inode is None:
                return False
            if name in ("fsync", "fdatasync"):
                inode.synchronize()
            elif name == "ftruncate":
                inode.pending.append((numbers[0], None))
            elif name == "pwrite64":
                inode.pending.append((numbers[-1], data))
            elif name == "write":
                offset = self.offsets.get(paths[0], 0)
                inode.pending.append((offset, data))
                self.offsets[paths[0]] = offset + len(data)
        return True

    def leave(self, target, keeps_names, keeps_data, inode=None):
        """Writes what a power cut leaves."""
        inode = inode or self.root
        Path(target).mkdir(exist_ok=True)
        os.chmod(target, 0o700)
        for name, child in inode.now(keeps_names).items():
            path = Path(target) / name
            if child.is_directory:
                self.leave(path, keeps_names, keeps_data, child)
            else:
                path.write_bytes(child.now(keeps_data))
                path.chmod(0o600)


CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+)")
STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


def calls(log, root):
    """The calls of a log of strace's that have succeeded, in the order of their ends."""
    waiting = {}
    for line in open(log, errors="replace"):
        thread, _, text = line.strip().partition(" ")
        text = text.strip()
        if text.endswith("<unfinished ...>"):
            waiting[thread] = text[:-len("<unfinished ...>")].rstrip()
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>", text):
            text = waiting.pop(thread, "") + text[resumed.end():]
        found = CALL.match(text)
        if not found or int(found[3]) < 0:
            continue
        name, arguments = found[1], found[2]
        if name == "openat" and "O_CREAT" not in arguments:
            continue
        raw = [bytes.fromhex(s.replace("\\x", "")) for s in STRING.findall(arguments)]
        rest = STRING.sub("", arguments)
        paths = [re.sub(r"\\x([0-9a-f]{2})", lambda x: chr(int(x[1], 16)), p) for p in re.findall(r"\d+<([^>]*)>", rest)]
        numbers = [int(n) for n in re.findall(r"(?<=, )(\d+)\b(?!<)", rest)]
        strings = [os.fsdecode(s) for s in raw]
        if any(str(root) in place for place in strings + paths):
            yield name, paths, strings, numbers, raw[0] if raw else b""


def choices(generator):
    """The part of the changes that reaches the disk: of names and of contents."""
    def never():
        return False

    def always():
        return True

    def sometimes(chance):
        return lambda: generator.random() < chance
    return {"nothing": (never, never), "names": (always, never), "contents": (never, always), "all": (always, always),
            "some": (sometimes(0.5), sometimes(0.5)), "most": (sometimes(0.9), sometimes(0.9))}


def record(bench, scenario):
    """The calls of a run, and where it began."""
    home = bench.home(scenario)
    begin, log = Disk(home.path), f"{bench.work}/strace"
    if not scenario.run(home, ["strace", "-f", "-y", "-xx", "-s", "4194304", "-o", log, "-e", f"trace={CHANGING}"]):
        raise Wrong("it failed without a fault")
    found = list(calls(log, home.path))
    for call in found:
        begin.call(*call)
    # The computed final state must be the actual one.
    if begin.root.now(lambda: True).keys() != {p.name for p in home.path.iterdir()} or any(
            path.read_bytes() != begin.find(path).now(lambda: True) for path in home.path.rglob("*") if path.is_file()):
        raise Wrong("the replay of the calls differs from the disk")
    bench.remove(home)
    return home.path, found


def run(bench, scenario, path, found, point, choice, seed):
    template = bench.home(scenario)
    # The recorded paths are those of another copy of the same beginning.
    disk = Disk(template.path)
    disk.path = path
    for call in found[:point]:
        disk.call(*call)
    bench.remove(template)
    home = bench.home(scenario)
    bench.remove(home)
    disk.leave(home.path, *choices(random.Random(f"{seed}{point}"))[choice])
    try:
        scenario.verify(home, point == len(found))
    except (Wrong, subprocess.TimeoutExpired, OSError) as wrong:
        case = f"{scenario.name}/{point}/{choice}"
        name, paths, strings, _, data = found[point - 1] if point else ("nothing", [], [], [], b"")
        places = [os.path.basename(p) for p in paths + strings if "/" in p and "\0" not in p]
        sys.exit(f"FAIL: {case} (after {name} of {' '.join(places)}): {wrong}\n"
                 f"repeat: PROOF_SEED={seed} PROOF_CASE='{case}' Tests/Proofs/power-cut-program")
    finally:
        bench.remove(home)


def main():
    program, work, seconds, seed = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
    only = sys.argv[5] if len(sys.argv) > 5 else None
    bench = Bench(program, work)
    cases = []
    for scenario in SCENARIOS[:-2]:
        if only and not only.startswith(scenario.name + "/"):
            continue
        path, found = record(bench, scenario)
        cases += [(scenario, path, found, point, choice) for point in range(len(found) + 1)
                  for choice in choices(random.Random(0))]
    if only:
        cases = [c for c in cases if f"{c[0].name}/{c[3]}/{c[4]}" == only]
    random.Random(seed).shuffle(cases)
    end, done = time.monotonic() + seconds, 0
    for case in cases:
        if time.monotonic() > end:
            break
        run(bench, *case, seed)
        done += 1
    print(f"{done} of {len(cases)} cases, seed {seed}", file=sys.stderr)
    print(f"cases: {done}")


main()
