# F10: clients of Keychain Services and processes on the files of one directory, while lock and unlock run: no hang, no
# item lost or duplicated.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
cat > "$CASE_DIR/rival.py" <<'PY'
import errno, os, random, sys, time
sys.path.insert(0, sys.argv[2]); import rpc
mount, kind, deadline = sys.argv[1], sys.argv[3], time.time() + int(sys.argv[4])
directory = mount + "/generic-passwords/s"
names = ["a", "b", "c"]
done = 0
def tolerant(call, *args):
    try: return call(*args)
    except OSError as e:
        if e.errno not in (errno.ENOKEY, errno.ENOENT, errno.EEXIST): raise
def by_name(call, *args):
    try: return call(*args)
    except OSError as e:
        # The API deleted the item with this name twice during one call, or during an unlock an item that a process has
        # open for writing without its value (docs/protocol.md). This cannot happen without the API: F6-unlinked.
        if e.errno != errno.ESTALE: raise
def put(file):
    with file: file.write("v")
def write(path):
    file = by_name(open, path, "w")
    if file: by_name(put, file)
def client():
    api = rpc.Client(mount)
    def ask(call, *args, **named):
        try: return call(*args, **named)
        except OSError as e:
            if e.errno != errno.ENOKEY: raise
    while time.time() < deadline:
        one, two = random.sample(names, 2)
        ask(api.add, b"api", svce="s", acct=one)
        ask(api.update, {"svce": "s", "acct": one}, {"acct": two})
        ask(api.update, {"svce": "s", "acct": two}, {"labl": "x"}, b"longer value")
        ask(api.all, svce="s", r_Data=True, r_Attributes=True)
        ask(api.delete, svce="s", acct=random.choice(names))
        yield
def files():
    while time.time() < deadline:
        one, two = (os.path.join(directory, name) for name in random.sample(names, 2))
        if kind == "xattr": tolerant(by_name, os.setxattr, one, "user.kSecAttrAccount", os.path.basename(two).encode())
        elif kind == "rename": tolerant(write, one); tolerant(os.rename, one, two)
        elif kind == "unlink": tolerant(os.unlink, one)
        else: tolerant(write, one); tolerant(os.listdir, directory); tolerant(by_name, os.stat, two)
        yield
for _ in client() if kind == "api" else files(): done += 1
assert done > 5, (kind, done)
PY
pids=()
for kind in api api api xattr unlink rename write write; do
    timeout 60 python3 "$CASE_DIR/rival.py" "$MNT" "$CASE_DIR" $kind "$(rounds 9)" & pids+=($!)
done
for _ in $(seq "$(rounds 6)"); do sleep 0.9; timeout 20 "$KEYCHAINFS" lock "$MNT"; sleep 0.2; timeout 20 "$KEYCHAINFS" unlock "$MNT"; done
for pid in "${pids[@]}"; do wait "$pid" || fail "a rival failed or hung"; done
timeout 20 python3 - "$MNT" "$CASE_DIR" <<'PY' || fail "files and items are not the same"
import os, sys
sys.path.insert(0, sys.argv[2]); import rpc
directory = sys.argv[1] + "/generic-passwords/s"
status, items = rpc.Client(sys.argv[1]).all(svce="s", r_Data=True, r_Attributes=True)
items = {item["acct"]: item.get("v_Data") for item in items or []}
files = {name: open(os.path.join(directory, name), "rb").read() for name in os.listdir(directory)}
assert files == {name: value or b"" for name, value in items.items()}, (files, items)
PY
unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null
