# H4, F10: kill -9 of the daemon during renames by xattr, unlinks and renames of the same names: no process keeps
# waiting in the kernel, the mount is removed, and the keychain is consistent.
. "${0%/*}/lib.sh"
create_keychain
cat > "$CASE_DIR/rival.py" <<'PY'
import os, random, sys, time
directory, seed = sys.argv[1], int(sys.argv[2])
random.seed(seed); deadline = time.time() + 10
path = lambda: os.path.join(directory, random.choice("ab"), random.choice("xyz"))
def write(p):
    with open(p, "w") as f: f.write("v")
while time.time() < deadline:
    step = random.randrange(6)
    try:
        if step == 0: os.setxattr(path(), "user.kSecAttrAccount", random.choice("xyz").encode())
        elif step == 1: os.setxattr(path(), "user.kSecAttrService", random.choice("ab").encode())
        elif step == 2: os.unlink(path())
        elif step == 3: os.rename(path(), path())
        elif step == 4: write(path())
        else: os.listdir(os.path.join(directory, random.choice("ab")))
    except OSError as e:
        if e.errno in (103, 107): break      # the connection no longer exists
PY
for round in $(seq "$(rounds 4)"); do
    mount_keychain; mkdir -p "$MNT/generic-passwords/a" "$MNT/generic-passwords/b"
    pid=$(daemon); pids=()
    for seed in 1 2 3 4 5 6 7 8; do timeout -s KILL 40 python3 "$CASE_DIR/rival.py" "$MNT/generic-passwords" "$round$seed" & pids+=($!); done
    sleep "1.$round"
    kill -9 "$pid"
    wait_until 20 eval '! is_mounted'
    for p in "${pids[@]}"; do wait_until 20 eval "! kill -0 $p 2>/dev/null"; wait "$p" || fail "a worker failed or hung"; done
done
expect_code 0 "$KEYCHAINFS" check > /dev/null
