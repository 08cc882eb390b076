# F9, F1, S8: on a full disk every change is complete or fails with ENOSPC without an effect; acknowledged changes are
# kept.
# users: root
. "${0%/*}/lib.sh"
mkdir "$CASE_DIR/small"; mount -t tmpfs -o size=3m tmpfs "$CASE_DIR/small"
small_cleanup() { local code=$?; (exit $code) || true; cd /; is_mounted && "$KEYCHAINFS" unmount "$MNT"; umount "$CASE_DIR/small"; exit $code; }
trap small_cleanup EXIT
K="$CASE_DIR/small/k"
create_keychain --keychain "$K"; mount_keychain --keychain "$K"
cat > "$CASE_DIR/full.py" <<'PY'
import errno, os, random, subprocess, sys
mnt, small, program = sys.argv[1:4]
d, filler = mnt + "/generic-passwords/s", small + "/filler"
generator, expected, counts = random.Random(5), {}, {"done": 0, "refused": 0}

def fill(free):
    """Leaves at most this number of bytes of the disk free."""
    with open(filler, "ab") as f:
        for size in (65536, 4096):
            try:
                while True: os.write(f.fileno(), bytes(size))
            except OSError as e: assert e.errno == errno.ENOSPC
    if free: os.truncate(filler, max(0, os.stat(filler).st_size - free))

def write(name, value):
    f = os.open(f"{d}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(f, value); os.fsync(f)
    finally:
        try: os.close(f)
        except OSError as e: assert e.errno == errno.ENOSPC
    expected[name] = value
def unlink(name): os.unlink(f"{d}/{name}"); del expected[name]
def rename(name, to): os.rename(f"{d}/{name}", f"{d}/{to}"); expected[to] = expected.pop(name)
def attempt(change, *arguments):
    try: change(*arguments); counts["done"] += 1
    except OSError as e:
        assert e.errno == errno.ENOSPC, e
        counts["refused"] += 1
def verify(what):
    found = {n: open(f"{d}/{n}", "rb").read() for n in os.listdir(d)}
    assert found.keys() == expected.keys(), (what, found.keys() ^ expected.keys())
    assert found == expected, (what, [n for n in found if found[n] != expected[n]])
def value(): return os.urandom(generator.choice([10, 900, 5000, 40000]))
def command(*arguments): subprocess.run([program, *arguments, mnt], check=True, stdout=subprocess.DEVNULL)
def locked_and_unlocked():
    """Truncates the log, so that a change cannot use space that the log already has."""
    command("lock"); command("unlock")

os.mkdir(d)
for n in range(24): write(f"item{n}", value())
for free in (0, 4096, 8192, 16384, 24576, 40960, 65536, 98304, 160000, 0):
    fill(free); locked_and_unlocked(); verify("after the unlock")
    for step in range(8):
        fill(free)
        names = sorted(expected)
        kind = generator.choice([unlink, unlink, write, rename])
        if kind is write: attempt(write, generator.choice(names + ["fresh"]), value())
        elif kind is unlink: attempt(unlink, generator.choice(names))
        else: attempt(rename, generator.choice(names), generator.choice(names + [f"to{free}{step}"]))
        verify((free, step))
    while len(expected) < 20:
        os.truncate(filler, 0); attempt(write, f"item{len(expected)}x{free}", value())
assert counts["refused"] > 10 and counts["done"] > 10, counts

# With free space again all changes work immediately.
os.unlink(filler)
for name in sorted(expected): write(name, b"better " + name.encode())
unlink(sorted(expected)[0]); rename(sorted(expected)[0], "renamed"); verify("with room")
fill(0)
import json; json.dump({n: v.decode() for n, v in expected.items()}, open(sys.argv[4], "w"))
PY
python3 "$CASE_DIR/full.py" "$MNT" "$CASE_DIR/small" "$KEYCHAINFS" "$CASE_DIR/expected"
status_after() { "$KEYCHAINFS" status --json "$MNT" > /dev/null; }
status_after
# The disk is full: unmount, mount, unlock and reading work.
unmount_keychain; mount_keychain --keychain "$K"
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT"
compare() {
    python3 -c '
import json, os, sys
d, expected = sys.argv[1], json.load(open(sys.argv[2]))
found = {n: open(f"{d}/{n}").read() for n in os.listdir(d)}
assert found == expected, found.keys() ^ expected.keys()' "$MNT/generic-passwords/s" "$CASE_DIR/expected"
}
compare
# A daemon that is killed on a full disk loses nothing.
pid=$(daemon); kill -9 "$pid"; wait_until 10 bash -c "! grep -q ' $MNT fuse.keychainfs ' /proc/self/mounts"
mount_keychain --keychain "$K"; compare
expect_code 0 "$KEYCHAINFS" check --keychain "$K" > /dev/null
rm "$CASE_DIR/small/filler"
unmount_keychain; expect_code 0 "$KEYCHAINFS" check --keychain "$K" > /dev/null
