# H4, F10: SIGTERM during locks, renames by xattr, page reads and unlinks ends the daemon soon: no process keeps waiting
# in the kernel, the mount is removed, and the keychain is consistent.
. "${0%/*}/lib.sh"
create_keychain
cat > "$CASE_DIR/rival.py" <<'PY'
import os, random, sys, time
directory, seed = sys.argv[1], int(sys.argv[2])
random.seed(seed); deadline = time.time() + 20
path = lambda: os.path.join(directory, random.choice("ab"), random.choice("xyz"))
null = os.open("/dev/null", os.O_WRONLY)
while time.time() < deadline:
    step = random.randrange(7)
    try:
        if step == 0: os.setxattr(path(), "user.kSecAttrAccount", random.choice("xyz").encode())
        elif step == 1: os.setxattr(path(), "user.kSecAttrService", random.choice("ab").encode())
        elif step == 2: os.unlink(path())
        elif step == 3: os.rename(path(), path())
        elif step == 4:
            with open(path(), "w") as f: f.write("v" * 9000)
        elif step == 5:
            fd = os.open(path(), os.O_RDONLY)
            ends = os.pipe()
            try: os.sendfile(ends[1], fd, 0, 9000)
            finally:
                for d in (fd, *ends): os.close(d)
        else: os.listdir(os.path.join(directory, random.choice("ab")))
    except OSError as e:
        if e.errno in (103, 107) or not os.path.ismount(os.path.dirname(directory)): break
PY
for round in $(seq "$(rounds 5)"); do
    mount_keychain; mkdir -p "$MNT/generic-passwords/a" "$MNT/generic-passwords/b"
    pid=$(daemon); pids=()
    for seed in 1 2 3 4 5 6 7 8; do
        timeout -s KILL 60 python3 "$CASE_DIR/rival.py" "$MNT/generic-passwords" "$round$seed" & pids+=($!)
    done
    sleep "0.$((round * 2 % 10))"; sleep 0.5
    kill -TERM "$pid"
    ended() { [ ! -e "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status"; }
    wait_until 15 ended
    wait_until 15 eval '! is_mounted'
    for p in "${pids[@]}"; do wait_until 30 eval "! kill -0 $p 2>/dev/null"; wait "$p" || fail "a worker failed or hung"; done
done
expect_code 0 "$KEYCHAINFS" check > /dev/null
