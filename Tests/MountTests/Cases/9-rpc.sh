# Design section 9: the file `rpc` with a client that was written from its documentation: the responses, and the
# daemon's memory and descriptors after invalid requests.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain

cat > "$CASE_DIR/protocol.py" <<'PY'
import errno, os, plistlib, random, struct, subprocess, sys, threading, time
sys.path.insert(0, sys.argv[2]); import rpc
mount, program = sys.argv[1], os.environ["KEYCHAINFS"]; path = mount + "/.keychainfs/rpc"
api = rpc.Client(mount)

def refused(code, call, *args):
    try: call(*args)
    except OSError as e: assert e.errno == code, (e, errno.errorcode[code])
    else: assert False, f"not refused with {errno.errorcode[code]}"

# The four functions.
assert api.value(svce="s", acct="a") == rpc.NOT_FOUND
assert api.add(b"secret\0\xff", svce="s", acct="a", labl="L\u00e9") == 0 and api.add(b"x", svce="s", acct="a") == rpc.DUPLICATE
assert api.value(svce="s", acct="a") == b"secret\0\xff"
status, item = api.ask("copyMatching", {"acct": "a", "r_Attributes": True, "r_Data": True})
assert (item["labl"], item["svce"], item["v_Data"]) == ("L\u00e9", "s", b"secret\0\xff"), item
assert api.update({"acct": "a"}, {"labl": "M"}, b"") == 0 and api.value(labl="M") == b"" and api.value(labl="L\u00e9") == rpc.NOT_FOUND
assert api.delete(acct="a") == 0 and api.delete(acct="a") == rpc.NOT_FOUND
assert rpc.Client(mount, []).value(acct="a") == -34018                # errSecMissingEntitlement: no group

# Long values: complete, read and written in chunks of any size; a value that is one byte too long.
long = os.urandom(1 << 20)
assert api.add(long, svce="s", acct="long") == 0 and api.value(acct="long") == long
api.piece = 5000; assert api.value(acct="long") == long and api.update({"acct": "long"}, {}, long[::-1]) == 0
api.piece = 1; assert api.add(b"123", svce="s", acct="pieces") == 0 and api.value(acct="pieces") == b"123"; api.piece = 1 << 20
assert api.value(acct="long") == long[::-1] == open(mount + "/generic-passwords/s/long", "rb").read()
status = api.add(long + b"x", svce="s", acct="longer"); assert status not in (0, rpc.NOT_FOUND) and api.value(acct="longer") == rpc.NOT_FOUND
# A list that is longer than a frame is in order.
for n in range(300): assert api.add(b"%d" % n * 400, svce="many", acct=f"{n}") == 0
status, found = api.all(svce="many", r_Data=True, r_Attributes=True)
assert [item["acct"] for item in found] == [str(n) for n in range(300)] and api.frames > 1
assert all(item["v_Data"] == item["acct"].encode() * 400 for item in found)

# The results of system calls on a descriptor.
state = os.stat(path); assert (state.st_size, state.st_mode & 0o777) == (0, 0o600)
refused(errno.EINVAL, os.open, path, os.O_WRONLY)
refused(errno.ESPIPE, os.lseek, api.fd, 0, os.SEEK_SET)
reader = os.open(path, os.O_RDONLY); assert os.read(reader, 100) == b""; refused(errno.EBADF, os.write, reader, b"K"); os.close(reader)
assert os.read(api.fd, 100) == b""
one = rpc.frame(api.request("copyMatching", {"acct": "pieces", "r_Data": True}))
api.send(one[:20]); refused(errno.EAGAIN, os.read, api.fd, 100); api.send(one[20:])
refused(errno.EBUSY, os.write, api.fd, one)
assert os.read(api.fd, 7)[:4] == b"KCF\1"; refused(errno.EBUSY, os.write, api.fd, b"K")
while os.read(api.fd, 1 << 20): pass
# Nothing enters the page cache: the kernel itself refuses sendfile, and a file of size 0 has no page to map.
api.send(one); out = os.open("/dev/null", os.O_WRONLY); refused(errno.EINVAL, os.sendfile, out, api.fd, None, 100)
assert api.answer() == (0, b"123")
# A child reads the response to its parent's request: they share the open file.
api.send(one); child = os.fork()
if not child: os._exit(0 if api.answer() == (0, b"123") else 1)
assert os.waitpid(child, 0)[1] == 0 and os.read(api.fd, 9) == b"" and api.value(acct="pieces") == b"123"

# Invalid bytes are refused at the first invalid byte, and the next request is served.
for data, code in ((b"X", errno.EINVAL), (b"KCG", errno.EINVAL), (b"KCF\x02", errno.EINVAL),
                   (b"KCF\1" + struct.pack(">IQ", 10, 1 << 63), errno.EMSGSIZE), (b"KCF\1" + b"\xff" * 12, errno.EMSGSIZE),
                   (b"KCF\1" + struct.pack(">IQ", 1 << 31, 0), errno.EMSGSIZE),
                   (b"KCF\1" + struct.pack(">IQ", 1 << 20, (128 << 10) + 1), errno.EMSGSIZE), (one + b"x", errno.EMSGSIZE)):
    refused(code, os.write, api.fd, data)
    api.send(data[:1] if data[:1] == b"K" else b"K")                 # the beginning of another one
    refused(errno.EINVAL, os.write, api.fd, b"?")
    assert api.value(acct="pieces") == b"123"
def answers_param(body, secret=b""):
    api.send(rpc.frame(body, secret)); assert api.answer() == (rpc.PARAM, None), body[:40]
good = plistlib.dumps(api.request("copyMatching", {"acct": "pieces"}), fmt=plistlib.FMT_BINARY)
deep = b"bplist00" + b"\xa1\x00" * 1; nested = {"q": "x"}
for _ in range(100): nested = {"q": nested}
answers_param(b""); answers_param(b"bplist00"); answers_param(good[:-1]); answers_param(b"\0" * 1000); answers_param(good + b"x")
answers_param(plistlib.dumps(nested, fmt=plistlib.FMT_BINARY)); answers_param(plistlib.dumps([1], fmt=plistlib.FMT_BINARY))
answers_param(plistlib.dumps({"operation": "drop", "query": {}, "accessGroups": []}, fmt=plistlib.FMT_BINARY))
answers_param(os.urandom(120 << 10)); answers_param(good[:8] + b"\xdf" * 64 + good[72:])
random.seed(9)
def mangled():
    body = bytearray(good)
    for _ in range(random.randint(1, 4)): body[random.randrange(len(body))] = random.randrange(256)
    return bytes(body)
for _ in range(300): api.send(rpc.frame(mangled(), os.urandom(random.randrange(50)))); assert isinstance(api.answer()[0], int)
assert api.value(acct="pieces") == b"123"

# Two threads on one descriptor: one gets the response, the other one an error.
outcomes = []
def both():
    for _ in range(200):
        try: api.send(one); os.read(api.fd, 1 << 16); outcomes.append("done")
        except OSError as e: outcomes.append(errno.errorcode[e.errno])
threads = [threading.Thread(target=both) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join(30); assert not thread.is_alive()
assert "done" in outcomes and set(outcomes) <= {"done", "EBUSY", "EMSGSIZE", "EINVAL"}, set(outcomes)
api.close(); api = rpc.Client(mount)
# A lock during a request.
api.send(one[:20]); two = rpc.Client(mount); two.send(one); three = rpc.Client(mount)
three.send(rpc.frame(three.request("copyMatching", {"acct": "long", "r_Data": True}))); three.read(40_000)
assert api is not two and rpc.Client(mount).add(b"afu", svce="s", acct="afu", pdmn="ck") == 0
subprocess.run([program, "lock", mount], check=True, capture_output=True)
refused(errno.ENOKEY, os.write, api.fd, one[20:]); refused(errno.ENOKEY, os.read, two.fd, 99); refused(errno.ENOKEY, three.read, 99)
for client in (api, two, three):
    assert client.value(acct="pieces") == rpc.LOCKED and client.add(b"x", svce="s", acct="z") == rpc.LOCKED
    assert client.value(acct="afu", svce="s") == b"afu" and client.update({"svce": "s", "acct": "afu"}, {}, b"afu") == 0
subprocess.run([program, "unlock", mount], check=True, capture_output=True)
assert api.value(acct="pieces") == b"123" and api.value(acct="z") == rpc.NOT_FOUND
PY
timeout 140 python3 "$CASE_DIR/protocol.py" "$MNT" "$CASE_DIR" || fail "the protocol"
unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null

# Read-only, and before the first unlock.
cat > "$CASE_DIR/states.py" <<'PY'
import os, sys
sys.path.insert(0, sys.argv[2]); import rpc
api, state = rpc.Client(sys.argv[1]), sys.argv[3]
def changes(): return api.add(b"x", svce="s", acct="new"), api.update({"svce": "s", "acct": "afu"}, {"labl": "x"}), api.delete(svce="s", acct="afu")
if state == "read-only":
    assert api.value(svce="s", acct="afu") == b"afu" and changes() == (-25292,) * 3, changes()
else:
    assert api.value(svce="s", acct="afu") == rpc.LOCKED and changes() == (rpc.LOCKED,) * 3, changes()
    assert api.all(r_Attributes=True)[0] == rpc.LOCKED
PY
mount_keychain -o ro
timeout 30 python3 "$CASE_DIR/states.py" "$MNT" "$CASE_DIR" read-only || fail "a read-only mount"
unmount_keychain
mount_keychain --locked
timeout 30 python3 "$CASE_DIR/states.py" "$MNT" "$CASE_DIR" locked || fail "before the first unlock"
