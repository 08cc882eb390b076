# Scans all memory of a process for the canaries on standard input (`NAME<tab>TEXT` lines), as UTF-8, UTF-16 or raw hex.
# Usage: scan.py PID; prints a line for each canary that is found. Fails if it cannot scan. `prefix:NAME<tab>TEXT`
# prints the bytes after TEXT instead, up to the next byte that is not a letter, digit or hyphen, UTF-8 only. `scan.py
# --unlocked PID` skips memory that is locked (mlock(2)): data that it finds can be swapped out.
import re, sys

only_unlocked = "--unlocked" in sys.argv[1:]
pid = int(sys.argv[-1])


def locked_ranges():
    """By the start of each mapping: whether VmFlags of smaps (proc_pid_smaps(5)) say `lo`."""
    start, locked = None, set()
    with open(f"/proc/{pid}/smaps") as smaps:
        for line in smaps:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                start = int(line.split("-")[0], 16)
            elif line.startswith("VmFlags:") and "lo" in line.split():
                locked.add(start)
    return locked


def is_mapped(address):
    with open(f"/proc/{pid}/maps") as maps:
        ranges = (line.split(maxsplit=1)[0].split("-") for line in maps)
        return any(int(start, 16) <= address < int(end, 16) for start, end in ranges)


passed_over = locked_ranges() if only_unlocked else set()
wanted, prefixes = [], []
for line in sys.stdin.read().splitlines():
    name, text = line.split("\t", 1)
    if name.startswith("prefix:"):
        prefixes.append(re.compile(re.escape(text.encode()) + rb"([A-Za-z0-9-]{1,100})"))
    elif name.startswith("hex:"):
        wanted.append((name, bytes.fromhex(text)))
    else:
        wanted.append((name, text.encode()))
        wanted.append((name + " (UTF-16)", text.encode("utf-16-le")))
total, found = 0, set()
with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
    for line in maps:
        fields = line.split(maxsplit=5)
        start, end = (int(part, 16) for part in fields[0].split("-"))
        name = fields[5].strip() if len(fields) > 5 else ""
        if start in passed_over:
            continue
        # The kernel's own pages hold no data of the process and cannot be read.
        if "r" not in fields[1] or name in ("[vvar]", "[vsyscall]", "[vvar_vclock]"):
            continue
        position, rest = start, b""
        while position < end:
            memory.seek(position)
            try:
                block = memory.read(min(end - position, 1 << 22))
            except OSError as error:
                # A file's mapping beyond its end.
                if "/" in name: break
                # The process has returned this memory in the meantime, such as the end of its heap (malloc_trim(3)).
                if not is_mapped(position): break
                raise SystemExit(f"{fields[0]} {name} cannot be read: {error}")
            if not block: break
            total += len(block)
            window = rest + block
            for what, pattern in wanted:
                if pattern in window:
                    found.add(f"{what} in {name or 'anonymous memory'} {fields[0]} {fields[1]}")
            for pattern in prefixes:
                found.update(match.decode() for match in pattern.findall(window))
            rest = block[-4096:]
            position += len(block)
assert total > 1 << 20, f"only {total} bytes were looked at"
print("\n".join(sorted(found)))
