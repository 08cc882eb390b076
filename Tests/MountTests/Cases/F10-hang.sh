# F10: 20 processes that create, rename by xattr and remove in one directory while lock and unlock run: no hang.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
cat > "$CASE_DIR/worker.py" <<'PY'
import errno, os, sys, time
directory, number, deadline = sys.argv[1], sys.argv[2], time.time() + int(sys.argv[3])
done = 0
def tolerant(call, *args):
    try: return call(*args)
    except OSError as e:
        if e.errno not in (errno.ENOKEY, errno.ENOENT, errno.EEXIST): raise
while time.time() < deadline:
    name, other = (os.path.join(directory, f"{number}-{part}") for part in ("a", "b"))
    def write():
        with open(name, "w") as f: f.write("x")
    tolerant(write)
    tolerant(os.setxattr, name, "user.kSecAttrAccount", f"{number}-b".encode())
    tolerant(os.stat, other); tolerant(os.listdir, directory)
    tolerant(os.unlink, other); tolerant(os.unlink, name)
    done += 1
assert done > 3, done
PY
# Renames through setxattr concurrently with unlink and rename of the same names: each acquires the kernel's locks in a
# different order.
cat > "$CASE_DIR/rival.py" <<'PY'
import errno, os, sys, time
directory, kind, deadline = sys.argv[1], sys.argv[2], time.time() + int(sys.argv[3])
a, b = (os.path.join(directory, name) for name in "ab")
def tolerant(call, *args):
    try: return call(*args)
    except OSError as e:
        if e.errno not in (errno.ENOKEY, errno.ENOENT, errno.EEXIST): raise
def write(path):
    with open(path, "w") as f: f.write("v")
while time.time() < deadline:
    if kind == "xattr":
        tolerant(os.setxattr, a, "user.kSecAttrAccount", b"b"); tolerant(os.setxattr, b, "user.kSecAttrAccount", b"a")
    elif kind == "unlink":
        tolerant(os.unlink, a); tolerant(os.unlink, b); tolerant(write, a)
    else:
        tolerant(write, b); tolerant(os.rename, b, a)
PY
rivals="$MNT/generic-passwords/rivals"; mkdir "$rivals"
seconds=$(rounds 9); pids=()
for kind in xattr unlink xattr rename; do timeout 60 python3 "$CASE_DIR/rival.py" "$rivals" $kind "$seconds" & pids+=($!); done
for i in $(seq 20); do timeout 60 python3 "$CASE_DIR/worker.py" "$D" "$i" "$seconds" & pids+=($!); done
for _ in $(seq "$(rounds 12)"); do sleep 0.4; "$KEYCHAINFS" lock "$MNT"; sleep 0.2; timeout 20 "$KEYCHAINFS" unlock "$MNT"; done
for pid in "${pids[@]}"; do wait "$pid" || fail "a worker failed or hung"; done
ls -la "$D" > /dev/null
unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null
