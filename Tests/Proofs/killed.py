"""Usage: killed.py PROGRAM WORK SECONDS SEED FAULTS [CASE]

At each system call of a command that changes anything one of FAULTS happens (strace's injection): KILL ends the
program, an errno fails that call, with a `+` all later calls of its kind too. Then a new process of the program checks
the state. Runs all cases if SECONDS allow, otherwise a selection by SEED. CASE: that one alone, as a failure names it.
"""
import random
import subprocess
import sys
import time

from crashing import CHANGING, READING, SCENARIOS, Bench, Wrong

program, work, seconds, seed = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
faults = sys.argv[5].split(",")
only = sys.argv[6] if len(sys.argv) > 6 else None
bench = Bench(program, work)
# These calls do not concern the disk alone: events between threads, output to the terminal, programs and libraries.
# mkdir(2) of an existing directory reports that before any other error.
NEVER_FAIL = {"write", "writev", "openat", "mkdir", "mkdirat"}
CALLS = CHANGING if faults == ["KILL"] else f"{CHANGING},{READING}"
# Exit codes that mean damage, which no error of the disk is.
DAMAGE = {12, 21}


def is_possible(name, fault):
    """Whether the call can fail so: a failed read is an I/O error."""
    if fault == "KILL":
        return True
    return name not in NEVER_FAIL and (name not in READING.split(",") or fault.startswith("EIO"))


def calls(scenario):
    """The calls that a run makes: for each system call, how often a thread makes it at most."""
    home = bench.home(scenario)
    log = f"{work}/strace"
    subprocess.run(["rm", "-f", log])
    if not scenario.run(home, ["strace", "-f", "-o", log, "-e", f"trace={CALLS}"]):
        raise Wrong("it failed without a fault")
    scenario.verify(home, True)
    bench.remove(home)
    counts, threads = {}, {}
    for line in open(log, errors="replace"):
        thread, _, rest = line.partition(" ")
        name = rest.strip().split("(")[0]
        if name in CALLS.split(","):
            threads[thread, name] = threads.get((thread, name), 0) + 1
            counts[name] = max(counts.get(name, 0), threads[thread, name])
    return [(name, number) for name, count in counts.items() for number in range(1, count + 1)]


def injection(name, number, fault):
    if fault == "KILL":
        return f"inject={name}:signal=KILL:when={number}"
    later = "+" if fault.endswith("+") else ""
    return f"inject={name}:error={fault.rstrip('+')}:when={number}{later}"


def run(scenario, name, number, fault):
    home = bench.home(scenario)
    try:
        prefix = ["strace", "-f", "-o", "/dev/null", "-e", f"trace={name}", "-e", injection(name, number, fault)]
        is_done = scenario.run(home, prefix)
        if home.last[0] in DAMAGE and not scenario.name.startswith("repair"):
            raise Wrong(f"an intact keychain is called damaged: {home.last[1].strip()}")
        scenario.verify(home, is_done)
    except (Wrong, subprocess.TimeoutExpired, OSError) as wrong:
        case = f"{scenario.name}/{name}/{number}/{fault}"
        proof = "killed-program" if faults == ["KILL"] else "failing-program"
        sys.exit(f"FAIL: {case}: {wrong}\nrepeat: PROOF_CASE='{case}' Tests/Proofs/{proof}")
    finally:
        bench.remove(home)


cases = [(scenario, name, number, fault) for scenario in SCENARIOS
         if not only or only.startswith(scenario.name + "/") for name, number in calls(scenario) for fault in faults
         if is_possible(name, fault)]
if only:
    cases = [c for c in cases if f"{c[0].name}/{c[1]}/{c[2]}/{c[3]}" == only]
random.Random(seed).shuffle(cases)
end = time.monotonic() + seconds
done = 0
for case in cases:
    if time.monotonic() > end:
        break
    run(*case)
    done += 1
print(f"{done} of {len(cases)} cases, seed {seed}", file=sys.stderr)
print(f"cases: {done}")
