# H4, F1, F4, F5, L4: at a random time under load the daemon is killed, terminated, or stopped and killed, its
# connection is aborted, its watchdog is killed before it, or the keychain is locked: every acknowledged value is kept,
# every item has its old or its new value, the next mount works. LIFE_SEED and LIFE_ROUNDS repeat and prolong it;
# LIFE_SECONDS ends it.
# users: root
. "${0%/*}/lib.sh"
create_keychain
if [ "$(id -u)" = 0 ]; then mountpoint -q /sys/fs/fuse/connections || mount -t fusectl none /sys/fs/fuse/connections; fi
cat > "$CASE_DIR/writer.py" <<'PY'
"""Changes items of one directory at random; says in a log what it is about to do, and when that is acknowledged."""
import errno, json, os, random, sys
directory, log, seed = sys.argv[1], open(sys.argv[2], "a"), int(sys.argv[3])
choose = random.Random(seed)
def tell(*words): log.write(json.dumps(words) + "\n"); log.flush()
def write(name, value, synchronous):
    with open(f"{directory}/{name}", "w") as file:
        file.write(value)
        if synchronous: file.flush(); os.fsync(file.fileno())
number = 0
while True:
    number += 1
    name, value = f"n{choose.randrange(12)}", f"{seed}.{number}." + "x" * choose.choice((0, 10, 5000, 40000))
    kind = choose.randrange(6)
    try:
        if kind < 3:
            tell("begin", name, value); write(name, value, kind == 2)
        elif kind == 3:
            write("new", value, False); tell("begin", name, value); os.rename(f"{directory}/new", f"{directory}/{name}")
        elif kind == 4:
            tell("begin", name, None)
            try: os.unlink(f"{directory}/{name}")
            except FileNotFoundError:
                # Either the name or the complete mount no longer exists.
                if not os.path.isdir(directory): sys.exit(0)
        else:
            try: os.setxattr(f"{directory}/{name}", "user.kSecAttrLabel", b"label")
            except FileNotFoundError: pass
            continue
        tell("done")
    except OSError as error:
        if error.errno == errno.ENOKEY: tell("refused"); continue
        sys.exit(0 if error.errno in (errno.ENOTCONN, errno.ECONNABORTED, errno.ENOENT, errno.EACCES, errno.EIO, errno.ENODEV, errno.EINTR, errno.EPERM) else 1)
PY
cat > "$CASE_DIR/life.py" <<'PY'
import json, os, random, signal, subprocess, sys, time
program, mount, base, seed, rounds, seconds = sys.argv[1:4] + [int(x) for x in sys.argv[4:]]
data, isRoot = mount + "/generic-passwords", os.geteuid() == 0
held = {}     # acknowledged values by writer and name, and possible changes
def run(*arguments, check=True): return subprocess.run([program, *arguments], check=check, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
def isMounted(): return any(line.split()[1] == mount for line in open("/proc/self/mounts"))
def wait(what, seconds=60):
    deadline = time.time() + seconds
    while not what():
        assert time.time() < deadline, "does not come to an end"
        time.sleep(0.02)
def children(pid): return [int(child) for child in open(f"/proc/{pid}/task/{pid}/children").read().split()]
def gone(pid):
    try: return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError): return True
def abort(pid):
    with open("/proc/self/mountinfo") as table: minor = [line.split()[2].split(":")[1] for line in table if line.split()[4] == mount][0]
    with open(f"/sys/fs/fuse/connections/{minor}/abort", "w") as file: file.write("1")
def stop(pid, choose): os.kill(pid, signal.SIGSTOP); time.sleep(choose.random() / 2); os.kill(pid, signal.SIGKILL)
def pause(pid, choose):
    os.kill(pid, signal.SIGSTOP); time.sleep(choose.random() / 2); os.kill(pid, signal.SIGCONT); time.sleep(choose.random() / 2); os.kill(pid, signal.SIGKILL)
def lock(pid, choose):
    run("lock", mount); time.sleep(choose.random() / 3); run("unlock", mount); time.sleep(choose.random() / 2); os.kill(pid, signal.SIGKILL)
def withoutGuard(pid, choose):
    for child in children(pid): os.kill(child, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
EVENTS = {"KILL": lambda pid, _: os.kill(pid, signal.SIGKILL), "TERM": lambda pid, _: os.kill(pid, signal.SIGTERM),
          "INT": lambda pid, _: os.kill(pid, signal.SIGINT), "HUP": lambda pid, _: os.kill(pid, signal.SIGHUP), "stop": stop, "pause": pause,
          "lock": lock, "without guard": withoutGuard, "unmount": lambda pid, _: run("unmount", mount, check=False),
          "lazily": lambda pid, _: subprocess.run(["umount", "-l", mount] if isRoot else ["fusermount3", "-uz", mount])}
if isRoot: EVENTS["abort"] = lambda pid, _: abort(pid)
def replay(log):
    """The possible values by name."""
    state, begun = {}, None
    for line in open(log):
        if not line.endswith("\n"): break
        what, *words = json.loads(line)
        # Refused with ENOKEY: a lock came, either before the commit or after it.
        if what == "begin": begun = words; state.setdefault(words[0], {None}); before = state[words[0]]; state[words[0]] = before | {words[1]}
        elif what == "done": state[begun[0]] = {begun[1]}
    return state
def verify(writer, log, possible):
    for name, values in possible.items():
        path = f"{data}/w{writer}/{name}"
        try: found = open(path).read()
        except FileNotFoundError: found = None
        assert found in values, f"{path}: {str(found)[:40]!r} is there, one of {[str(v)[:40] for v in values]} was acknowledged"
    # From here on the observed state counts.
    with open(log, "w") as file:
        for name in possible:
            path = f"{data}/w{writer}/{name}"
            file.write(json.dumps(["begin", name, open(path).read() if os.path.exists(path) else None]) + "\n" + json.dumps(["done"]) + "\n")
def round(number, choose):
    run("mount", mount); pid = json.loads(run("status", "--json", mount).stdout)["pid"]
    for writer in range(3):
        log = f"{base}/log{writer}"; os.makedirs(f"{data}/w{writer}", exist_ok=True)
        if os.path.exists(log): verify(writer, log, replay(log))
    writers = [subprocess.Popen([sys.executable, "-I", base + "/writer.py", f"{data}/w{writer}", f"{base}/log{writer}", str(choose.randrange(1 << 30))]) for writer in range(3)]
    time.sleep(0.05 + choose.random() * 1.2)
    event = choose.choice(sorted(EVENTS)); print(f"round {number}: {event}", flush=True)
    EVENTS[event](pid, choose)
    if event == "unmount" and isMounted(): os.kill(pid, signal.SIGTERM)      # it was in use
    if event == "without guard": wait(lambda: gone(pid)); [w.wait(60) for w in writers]; return
    wait(lambda: not isMounted())
    for process in writers: assert process.wait(60) == 0, "a writer failed"
    wait(lambda: gone(pid)); assert not os.listdir(mount), "something is left below the mount point"
start = time.time()
for number in range(rounds):
    if seconds and time.time() - start > seconds: rounds = number; break
    try: round(number, random.Random(seed * 1000 + number))
    except BaseException: print(f"FAILED in round {number}: repeat with LIFE_SEED={seed} LIFE_ROUNDS={number + 1}", file=sys.stderr); raise
run("mount", mount)
for writer in range(3): verify(writer, f"{base}/log{writer}", replay(f"{base}/log{writer}"))
run("unmount", mount); run("check")
print(f"rounds: {rounds}")
PY
timeout -s KILL $((${LIFE_SECONDS:-0} + 140)) python3 -I "$CASE_DIR/life.py" "$KEYCHAINFS" "$MNT" "$CASE_DIR" "${LIFE_SEED:-$RANDOM}" "${LIFE_ROUNDS:-$(rounds 4)}" "${LIFE_SECONDS:-0}"
