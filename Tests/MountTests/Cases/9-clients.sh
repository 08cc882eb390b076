# Design section 9: many clients at the same time, killed clients, and clients that send invalid requests: each request
# is answered, and the daemon's memory does not grow.
# seconds: 25
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
cat > "$CASE_DIR/client.py" <<'PY'
import os, random, sys
sys.path.insert(0, sys.argv[2]); import rpc
mount, number = sys.argv[1], sys.argv[3]
api = rpc.Client(mount)
for n in range(40):
    name = f"{number}-{n}"; value = name.encode() * (n + 1)
    assert api.add(value, svce="s", acct=name) == 0
    assert api.value(svce="s", acct=name) == value and open(f"{mount}/generic-passwords/s/{name}", "rb").read() == value
    if n % 2: assert api.delete(svce="s", acct=name) == 0
PY
pids=()
for i in $(seq 10); do timeout 90 python3 "$CASE_DIR/client.py" "$MNT" "$CASE_DIR" "$i" & pids+=($!); done
for pid in "${pids[@]}"; do wait "$pid" || fail "a client failed or hung"; done
expect 200 "$(ls "$MNT/generic-passwords/s" | wc -l)" "items of ten clients"

# A search of all items delays neither reads nor other clients: three processes only search while another one reads.
cat > "$CASE_DIR/killed.py" <<'PY'
import os, sys
sys.path.insert(0, sys.argv[2]); import rpc
api = rpc.Client(sys.argv[1]); kind = sys.argv[3]
request = rpc.frame(api.request("add", {"svce": "killed", "acct": "half"}), b"x" * 200_000)
scan = rpc.frame(api.request("copyMatching", {"labl": "nobody", "m_Limit": "m_LimitAll", "r_Attributes": True}))
print("ready", flush=True)
while True:
    if kind == "writing": os.write(api.fd, request[:100_000]); os.read(0, 1)
    elif kind == "whole": os.write(api.fd, request); os.read(0, 1)
    elif kind == "reading":
        os.write(api.fd, rpc.frame(api.request("copyMatching", {"svce": "s", "m_Limit": "m_LimitAll", "r_Data": True})))
        os.read(api.fd, 100); os.read(0, 1)
    else: os.write(api.fd, scan); api.answer()
PY
cat > "$CASE_DIR/kill.py" <<'PY'
import os, random, signal, subprocess, sys, time
mount, here = sys.argv[1:3]
def start(kind):
    child = subprocess.Popen(["python3", here + "/killed.py", mount, here, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    return child
scans = [start("scan") for _ in range(3)]
slowest = 0
for _ in range(200):
    begin = time.monotonic()
    with open(mount + "/generic-passwords/s/1-0", "rb") as file: assert file.read() == b"1-0"
    slowest = max(slowest, time.monotonic() - begin)
assert slowest < 2, slowest
others = [start(kind) for kind in ("writing", "whole", "reading") * 3]
time.sleep(0.3)
for child in scans + others: child.send_signal(signal.SIGKILL)
for child in scans + others: assert child.wait(10) == -signal.SIGKILL
assert not os.path.exists(mount + "/generic-passwords/killed")
PY
timeout 90 python3 "$CASE_DIR/kill.py" "$MNT" "$CASE_DIR" || fail "clients that were killed"

# Invalid requests: the daemon keeps its size and its descriptors.
cat > "$CASE_DIR/nonsense.py" <<'PY'
import os, random, struct, sys
sys.path.insert(0, sys.argv[2]); import rpc
random.seed(5)
for n in range(int(sys.argv[3])):
    api = rpc.Client(sys.argv[1])
    good = rpc.frame(api.request("copyMatching", {"svce": "s", "m_Limit": "m_LimitAll", "r_Data": True}), os.urandom(50_000))
    for data in (os.urandom(100), good[:random.randrange(len(good))], b"KCF\1" + struct.pack(">IQ", 1 << 20, 100) + os.urandom(900_000)):
        try: os.write(api.fd, data); os.read(api.fd, 10)
        except OSError: pass
    api.close()
    api = rpc.Client(sys.argv[1]); api.send(good); os.read(api.fd, random.randrange(1, 5000)); api.close()
PY
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$(daemon)/status"; }
descriptors() { (ls "/proc/$(daemon)/fd" 2> /dev/null || true) | wc -l; }     # root's alone: the process is not dumpable
timeout 60 python3 "$CASE_DIR/nonsense.py" "$MNT" "$CASE_DIR" 60
before=$(resident); open=$(descriptors)
timeout 90 python3 "$CASE_DIR/nonsense.py" "$MNT" "$CASE_DIR" "$(rounds 300)"
after=$(resident)
[ $((after - before)) -lt 6144 ] || fail "the daemon grew from $before to $after KiB"
expect "$open" "$(descriptors)" "descriptors of the daemon"
expect "1-0" "$(cat "$MNT/generic-passwords/s/1-0")" "after all this"
unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null
