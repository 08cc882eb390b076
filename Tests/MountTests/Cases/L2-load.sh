# L2: lock and unlock while other processes read, write, rename, list and set attributes: operations that begin after a
# lock get ENOKEY, a value whose close succeeded is kept, no name is lost or duplicated, no value is mixed.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain; mkdir "$MNT/generic-passwords/s"
cat > "$CASE_DIR/lock-load.py" <<'PY'
import errno, os, random, sys, threading, time
MNT, SECONDS = sys.argv[1], int(sys.argv[2])
D = MNT + "/generic-passwords/s"
ALLOWED = {errno.ENOKEY}
stop = time.time() + SECONDS
# Odd while locked: from the reply to a lock until the request of an unlock.
window, bad, counts, mutex = 0, [], {}, threading.Lock()

def count(what):
    with mutex: counts[what] = counts.get(what, 0) + 1
def attempt(what, body):
    """Records a success entirely within a locked window, and any error except ENOKEY. Returns (success, result)."""
    before = window
    try: result = body()
    except OSError as error:
        if error.errno not in ALLOWED: bad.append((what, str(error)))
        else: count(what + " ENOKEY")
        return False, None
    if before == window and before % 2: bad.append((what, "worked while locked"))
    count(what)
    return True, result
def control(line):
    file = os.open(MNT + "/.keychainfs/control", os.O_RDWR)
    try: os.write(file, line)
    finally: os.close(file)

SIZE = 200_000
def value(name, number): return (b"%s %08d " % (name.encode(), number)) * (SIZE // (len(name) + 10))
acked, tried = {}, {}

def writer(name):
    number = 0
    while time.time() < stop:
        number += 1
        tried[name] = number
        def body():
            file = os.open(f"{D}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try: os.write(file, value(name, number))
            except BaseException:
                try: os.close(file)
                except OSError: pass
                raise
            os.close(file)
        if attempt("write", body)[0]: acked[name] = number
        time.sleep(0.002)
def reader(seed):
    chance = random.Random(seed)
    while time.time() < stop:
        names = list(acked)
        if not names: continue
        name = chance.choice(names)
        def body():
            with open(f"{D}/{name}", "rb", buffering=0) as file: return b"".join(iter(lambda: file.read(65536), b""))
        worked, data = attempt("read", body)
        if worked and data != value(name, int(data[len(name) + 1:len(name) + 9])): bad.append(("read", "a mixture", len(data)))
def renamer(name):
    a, b = f"{D}/{name}-a", f"{D}/{name}-b"
    # With data: an empty file is committed after its last close, and a lock may come before that.
    def body():
        with open(a, "w") as file: file.write("x")
    while not attempt("create", body)[0]: time.sleep(0.01)
    while time.time() < stop:
        if attempt("rename", lambda: os.rename(a, b))[0]: a, b = b, a
        time.sleep(0.001)
    renamed[name] = (a, b)
def lister():
    while time.time() < stop:
        attempt("list", lambda: os.listdir(D))
        for name in list(acked): attempt("stat", lambda: os.stat(f"{D}/{name}"))
def labeller(name):
    while time.time() < stop:
        attempt("setxattr", lambda: os.setxattr(f"{D}/{name}", "user.kSecAttrLabel", b"label"))
        attempt("getxattr", lambda: os.getxattr(f"{D}/{name}", "user.kSecAttrAccessible"))
def locker():
    global window
    chance = random.Random(1)
    while time.time() < stop:
        time.sleep(chance.random() * 0.15)
        begin = time.time()
        # Two concurrent commands: both are answered when the lock is complete.
        others = [threading.Thread(target=control, args=(b"lock\n",)) for _ in range(2)]
        for other in others: other.start()
        for other in others: other.join()
        if time.time() - begin > 2: bad.append(("lock", f"took {time.time() - begin:.1f} s"))
        window += 1
        time.sleep(chance.random() * 0.05)
        window += 1
        control(b"unlock\ncorrect horse")
        count("locks")

renamed = {}
for name in ("w0", "w1", "w2"):
    with open(f"{D}/{name}", "wb") as file: file.write(value(name, 0))
    acked[name] = 0
jobs = [(writer, ("w0",)), (writer, ("w1",)), (writer, ("w2",)), (reader, (1,)), (reader, (2,)), (renamer, ("r0",)),
        (renamer, ("r1",)), (lister, ()), (labeller, ("w0",)), (locker, ())]
threads = [threading.Thread(target=job, args=arguments) for job, arguments in jobs]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not bad, (len(bad), bad[:8])
for what in ("locks", "write", "read", "rename", "read ENOKEY", "list", "setxattr"): assert counts.get(what, 0) >= 3, counts
# A close that returned ENOKEY may have committed immediately before.
for name, number in acked.items():
    with open(f"{D}/{name}", "rb") as file: data = file.read()
    found = int(data[len(name) + 1:len(name) + 9])
    assert number <= found <= tried.get(name, 0) and data == value(name, found), (name, number, found, tried[name])
for name, (a, b) in renamed.items():
    there = [os.path.exists(path) for path in (a, b)]
    assert there.count(True) == 1, (name, there)
assert len(os.listdir(D)) == 5, os.listdir(D)
PY
timeout 100 python3 -I "$CASE_DIR/lock-load.py" "$MNT" "$(rounds 12)"
expect unlocked "$(status state)" "state"; expect_code 0 "$KEYCHAINFS" check > /dev/null
