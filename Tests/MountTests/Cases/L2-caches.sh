# L2, F10: after a lock the kernel answers no request about a locked item from its caches: while the daemon is stopped
# every request blocks (and the caller can be killed), although before the lock the caches answered the same requests.
# seconds: 13
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
for name in a b c; do printf "value of $name" > "$D/$name"; setfattr -n user.kSecAttrLabel -v label "$D/$name"; done
cat > "$CASE_DIR/caches.py" <<'PY'
import errno, os, signal, sys, time
D, MNT, pid = sys.argv[1], sys.argv[2], int(sys.argv[3])
here = os.open(D, os.O_RDONLY | os.O_DIRECTORY)
place = os.open(D + "/a", os.O_PATH)
# No descriptor for writing: each process that inherits one waits for its FLUSH when it exits, which cannot be
# interrupted.
reader = os.open(D + "/b", os.O_RDONLY)

def within(seconds, body):
    """("ok", ...) or ("errno", name) of a separate process; None if it blocks: then it is killed, which must work."""
    ends = os.pipe(); child = os.fork()
    if child == 0:
        try: body(); said = "ok"
        except OSError as error: said = errno.errorcode[error.errno]
        os.write(ends[1], said.encode()); os._exit(0)
    os.close(ends[1]); deadline = time.time() + seconds; done = 0
    while not done and time.time() < deadline:
        done = os.waitpid(child, os.WNOHANG)[0]; time.sleep(0.01)
    if not done:
        os.kill(child, signal.SIGKILL)
        deadline = time.time() + 5
        while not os.waitpid(child, os.WNOHANG)[0]:
            assert time.time() < deadline, "a caller that waits for the daemon cannot be killed"
            time.sleep(0.01)
    said = os.read(ends[0], 100).decode()
    os.close(ends[0])
    return said or None

# The requests that the kernel answers from its caches while the keychain is unlocked, and those that it always sends.
cached = {
    "stat": lambda: os.stat(D + "/a"), "stat of an absent name": lambda: os.stat(D + "/none"),
    "access": lambda: os.stat(D + "/b") if os.access(D + "/b", os.R_OK) else os.stat(D + "/b"),
    "O_PATH": lambda: os.close(os.open(D + "/c", os.O_PATH)), "fstatat": lambda: os.stat("a", dir_fd=here),
    "fstat": lambda: os.fstat(reader), "fstat of a place": lambda: os.fstat(place),
    "stat of the directory": lambda: os.stat(D), "chdir": lambda: os.chdir(D),
}
asked = {
    "getxattr": lambda: os.getxattr(D + "/a", "user.kSecAttrLabel"), "listxattr": lambda: os.listxattr(D + "/a"),
    "fgetxattr": lambda: os.getxattr(reader, "user.kSecAttrLabel"), "open": lambda: os.close(os.open(D + "/a", os.O_RDONLY)),
    "read": lambda: os.pread(reader, 100, 0), "list": lambda: os.listdir(D), "list by descriptor": lambda: os.listdir(here),
    "rename": lambda: os.rename(D + "/a", D + "/z"), "unlink": lambda: os.unlink(D + "/b"),
    "create": lambda: os.close(os.open(D + "/new", os.O_WRONLY | os.O_CREAT)), "truncate": lambda: os.truncate(D + "/c", 0),
}

def warm():
    # Reading and listing invalidate a time in the kernel's cache, so the cached requests come last.
    for body in (*(asked[name] for name in ("getxattr", "listxattr", "fgetxattr", "open", "read", "list")), *cached.values()):
        try: body()
        except OSError as error: assert error.errno == errno.ENOENT, error

def is_stopped():
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] != "T": return False
    return True

def stopped(body):
    os.kill(pid, signal.SIGSTOP)
    # A thread that has not stopped yet may receive a request, and its caller could not be killed.
    while not is_stopped(): time.sleep(0.01)
    try: return body()
    finally: os.kill(pid, signal.SIGCONT)

warm()
before = stopped(lambda: {name: within(1, body) for name, body in cached.items()})
for name, said in before.items():
    wanted = "ENOENT" if "absent" in name else "ok"
    assert said == wanted, f"{name} was not cached before the lock, so this shows nothing: {said}"
warm()
control = os.open(MNT + "/.keychainfs/control", os.O_RDWR)
os.write(control, b"lock\n"); os.close(control)
after = stopped(lambda: {name: within(0.5, body) for name, body in {**cached, **asked}.items()})
about_items = {name: said for name, said in after.items() if said is not None}
assert not about_items, f"answered while the daemon was stopped: {about_items}"
# The daemon continues and returns no locked data.
for name, body in {**cached, **asked}.items():
    said = within(5, body)
    if name in ("stat of the directory", "chdir"): assert said == "ok", (name, said)
    elif name == "stat of an absent name": assert said == "ENOENT", said
    else: assert said == "ENOKEY", (name, said)
PY
timeout 100 python3 -I "$CASE_DIR/caches.py" "$D" "$MNT" "$(daemon)"
"$KEYCHAINFS" unlock "$MNT"; expect "a b c" "$(ls "$D" | xargs)" "nothing was changed"; expect "value of c" "$(cat "$D/c")" "contents"
