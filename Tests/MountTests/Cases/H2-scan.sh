# H2, H1, L2: after a lock no data of a WhenUnlocked item and no passphrase is in the memory of the daemon or of its
# watchdog; data that stays available shows that the scan would find it.
# users: root
# seconds: 38
. "${0%/*}/lib.sh"
printf 'Canary-Passphrase-%s\n' "$RANDOM$RANDOM" > "$PASSPHRASE"
RUNNER=
as() { if [ -n "$RUNNER" ]; then runuser -u "$RUNNER" -- "$@"; else "$@"; fi; }

# Each canary is created at run time, long enough not to be found by chance, and stored nowhere else: not in this
# script, nor in the daemon's arguments.
canary() { python3 -I -c "import secrets; print('$1-' + secrets.token_hex(12))"; }
declare -A C
for name in content staged account moved sbn label comment other otherName aAccount aContent created big; do C[$name]=$(canary "$name"); done

scan() {
    local pid=$1 name; shift
    for name in "$@"; do printf '%s\t%s\n' "$name" "${C[$name]}"; done | python3 -I "${0%/*}/scan.py" "$pid"
}

round() {
    local D="$MNT/generic-passwords/svc" pid guard found
    as "$KEYCHAINFS" mount "$MNT"
    pid=$(as "$KEYCHAINFS" status --json "$MNT" | python3 -I -c 'import json, sys; print(json.load(sys.stdin)["pid"])')
    read -r guard < "/proc/$pid/task/$pid/children" || true
    [ -n "$guard" ] || fail "the daemon has no guard"
    for name in "${!C[@]}"; do printf '%s\t%s\n' "$name" "${C[$name]}"; done > "$CASE_DIR/canaries"
    as python3 -I "$CASE_DIR/use.py" "$CASE_DIR" "$MNT" & user=$!
    trap 'code=$?; kill "$user" 2>/dev/null || true; cleanup "$code"' EXIT
    wait_until 60 test -e "$CASE_DIR/used"

    # The scan finds what is in memory: a descriptor is open, an item is staged, and the keychain is unlocked.
    found=$(scan "$pid" account)
    [ -n "$found" ] || fail "before the lock the scan finds no name: it cannot find anything"
    # Secrets are in memory only while a request is served: staged values and the values of open descriptors are sealed
    # (`big` is a name, too).
    found=$(scan "$pid" content staged aContent)
    [ -z "$found" ] || fail "between requests the daemon's memory has contents: $found"

    as "$KEYCHAINFS" lock "$MNT"
    C[passphrase]=$(cat "$PASSPHRASE")
    found=$(scan "$pid" content staged account moved sbn label comment other otherName created big passphrase)
    [ -z "$found" ] || fail "after the lock the daemon's memory still has: $found"
    found=$(scan "$guard" content account label passphrase aAccount aContent)
    [ -z "$found" ] || fail "the guard's memory has: $found"

    # Items that are available from the first unlock on can still be used.
    [ "$(as cat "$D/${C[aAccount]}")" = "${C[aContent]}" ] || fail "the AfterFirstUnlock item went with the lock"
    found=$(scan "$pid" aAccount)
    [ -n "$found" ] || fail "the scan does not find the name of an available item"
    touch "$CASE_DIR/locked"
    wait "$user" || fail "the program that used the mount failed"

    # The same after an unlock and a lock with only a listing in between.
    as "$KEYCHAINFS" unlock "$MNT"
    as ls -lR "$MNT" > /dev/null; as cat "$D/${C[moved]}" > /dev/null
    as "$KEYCHAINFS" lock "$MNT"
    found=$(scan "$pid" content staged account moved sbn label comment other otherName created big passphrase)
    [ -z "$found" ] || fail "after the second lock the daemon's memory still has: $found"
    as "$KEYCHAINFS" unmount "$MNT"
    rm -f "$CASE_DIR/locked" "$CASE_DIR/used"
}

cat > "$CASE_DIR/use.py" <<'PY'
import errno, mmap, os, subprocess, sys, time
base, MNT = sys.argv[1:]
D = MNT + "/generic-passwords/svc"
C = dict(line.rstrip("\n").split("\t") for line in open(base + "/canaries"))
path = lambda name: f"{D}/{C[name]}"
def put(name, text):
    with open(path(name), "w") as f: f.write(text)
os.makedirs(D, exist_ok=True)
put("account", C["content"])
put("aAccount", C["aContent"])
os.setxattr(path("aAccount"), "user.kSecAttrAccessible", b"AfterFirstUnlock")
os.setxattr(path("account"), "user.kSecAttrLabel", C["label"].encode())
os.setxattr(path("account"), "user.kSecAttrComment", C["comment"].encode())
os.setxattr(path("account"), "user." + C["otherName"], C["other"].encode())
put("sbn", "x")
os.rename(path("sbn"), path("moved"))
put("big", C["big"] * 20000)
# Every way to read metadata.
for _ in range(3):
    subprocess.run(["ls", "-lR", MNT], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["getfattr", "-R", "-d", "-m-", D], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    subprocess.run(["cat", path("account"), path("big"), path("moved")], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["find", MNT, "-name", C["account"]], stdout=subprocess.DEVNULL, check=True)
    os.getxattr(path("account"), "user.kSecAttrLabel")
    try: os.stat(f"{D}/{C['content']}-is-no-name")
    except FileNotFoundError: pass
fd = os.open(path("account"), os.O_RDONLY)
null = os.open("/dev/null", os.O_WRONLY)
pipe = os.pipe()
os.sendfile(pipe[1], fd, 0, 4096); os.read(pipe[0], 4096)
private = mmap.mmap(fd, len(C["content"]), mmap.MAP_PRIVATE, mmap.PROT_READ)
assert bytes(private) == C["content"].encode()
# The way of an editor: a new file, fsync, renamed over the old one.
with open(path("created"), "w") as f:
    f.write(C["content"]); f.flush(); os.fsync(f.fileno())
os.rename(path("created"), path("moved"))
# A reader, a writer with a staged value, a name that is never committed, and an open file that was deleted.
writer = os.open(path("moved"), os.O_RDWR)
os.write(writer, (C["staged"] * 500).encode())
pending = os.open(path("sbn"), os.O_RDWR | os.O_CREAT)
os.write(pending, C["staged"].encode())
put("created", C["content"])
gone = os.open(path("created"), os.O_RDONLY)
os.unlink(path("created"))
open(base + "/used", "w").close()
while not os.path.exists(base + "/locked"): time.sleep(0.05)
for descriptor in (fd, writer, pending, gone):
    try: os.pread(descriptor, 100, 0)
    except OSError as error: assert error.errno == errno.ENOKEY, error
    else: raise SystemExit("a descriptor of a locked item still reads")
private.close()
for descriptor in (fd, writer, pending, gone):
    try: os.close(descriptor)
    except OSError as error: assert error.errno == errno.ENOKEY, error
PY
as "$KEYCHAINFS" create --kdf test
round
# The same of a mount made by an ordinary user.
RUNNER=keychainfs-test
getent passwd "$RUNNER" > /dev/null || flock /etc useradd --system --no-create-home --shell /bin/bash "$RUNNER"
rm -rf "$HOME"; mkdir -p "$HOME"
chown -R "$RUNNER" "$CASE_DIR"
as "$KEYCHAINFS" create --kdf test
round
