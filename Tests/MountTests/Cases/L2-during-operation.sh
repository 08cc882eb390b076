# L2: a lock during a read, a listing, with staged data, and during another lock; operations on available classes
# continue.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
G="$MNT/generic-passwords"; D="$G/s"; mkdir "$D" "$G/long" "$G/hidden"; printf x > "$G/hidden/a"
cat > "$CASE_DIR/middle.py" <<'PY'
import ctypes, errno, os, subprocess, sys, threading
G, MNT, program = sys.argv[1:]
D, long = G + "/s", G + "/long"
libc = ctypes.CDLL(None, use_errno=True)
MIB = 1 << 20

def keychainfs(*words): subprocess.run([program, *words, MNT], check=True)
def refused(body):
    try: got = body()
    except OSError as error: assert error.errno == errno.ENOKEY, error
    else: raise AssertionError(f"{got!r} instead of ENOKEY")
def put(path, value, protection=None):
    with open(path, "wb") as file: file.write(value)
    if protection: os.setxattr(path, "user.kSecAttrAccessible", protection)
def names_of(buffer):
    place, names = 0, []
    while place < len(buffer):
        size = int.from_bytes(buffer[place + 16:place + 18], "little")
        names.append(buffer[place + 19:place + size].split(b"\0")[0].decode())
        place += size
    return names
def getdents(fd):
    buffer = ctypes.create_string_buffer(1024)
    count = libc.syscall(217 if os.uname().machine == "x86_64" else 61, fd, buffer, len(buffer))
    if count < 0: raise OSError(ctypes.get_errno(), "getdents64")
    return names_of(buffer.raw[:count])

# A reader in the middle of 1 MiB: it has read a part, and gets neither more nor an end of file.
value = bytes(range(256)) * 4096
put(D + "/big", value)
put(D + "/later", value, b"AfterFirstUnlock")
put(D + "/open", value, b"WhenUnlockedUnlessOpen")
reader, later, unless = (os.open(D + name, os.O_RDONLY) for name in ("/big", "/later", "/open"))
for file in (reader, later, unless): assert os.read(file, 65536) == value[:65536]
# A writer whose staged data was committed in part: the rest is discarded, and later calls fail, close too.
put(D + "/w", b"committed")
writer = os.open(D + "/w", os.O_RDWR)
os.pwrite(writer, b"COMMITTED", 0); os.fsync(writer); os.pwrite(writer, b"staged", 0)
inherited = os.dup(writer)
new = os.open(D + "/new", os.O_WRONLY | os.O_CREAT); os.write(new, b"staged")
truncated = os.open(D + "/big", os.O_WRONLY | os.O_TRUNC)
kept = os.open(D + "/later", os.O_RDWR); os.pwrite(kept, b"staged", 0)
# A lock while directories are being listed, with only locked items and with available items among them.
for number in range(600): put(f"{long}/item {number:04}", b"x", b"AfterFirstUnlock" if number % 50 == 0 else None)
listing = os.open(long, os.O_RDONLY | os.O_DIRECTORY)
first = getdents(listing) + getdents(listing)
assert 10 < len(first) < 100, first
upper = os.open(G, os.O_RDONLY | os.O_DIRECTORY)

keychainfs("lock")
refused(lambda: os.read(reader, 65536)); refused(lambda: os.pread(reader, 1, MIB)); refused(lambda: os.pread(reader, 1, 0))
for file in (later, unless):
    rest = b"".join(iter(lambda: os.read(file, 65536), b""))
    assert rest == value[65536:], len(rest)
for body in (lambda: os.write(writer, b"x"), lambda: os.pread(writer, 10, 0), lambda: os.fsync(writer),
             lambda: os.ftruncate(writer, 0), lambda: os.fstat(writer), lambda: os.write(new, b"x"),
             lambda: os.write(truncated, b"x")):
    refused(body)
refused(lambda: os.close(inherited)); refused(lambda: os.close(writer)); refused(lambda: os.close(new)); refused(lambda: os.close(truncated))
os.close(kept)
# The next entries are the available ones; then ENOKEY, repeatedly: never an end without an error.
rest = []
try:
    while True:
        more = getdents(listing)
        assert more, "a clean end of a listing from which much is left out"
        rest += more
except OSError as error: assert error.errno == errno.ENOKEY, error
wanted = {f"item {number:04}" for number in range(0, 600, 50)} - set(first)
assert set(rest) == wanted, (sorted(rest), sorted(wanted))
refused(lambda: getdents(listing))
seen = []
try:
    while True:
        more = getdents(upper)
        assert more, "a clean end of a directory that hides one"
        seen += more
except OSError as error: assert error.errno == errno.ENOKEY, error
assert set(seen) - {".", ".."} == {"s", "long"}, seen
os.lseek(listing, 0, os.SEEK_SET)
again = getdents(listing)
assert set(again) - {".", ".."} <= {f"item {number:04}" for number in range(0, 600, 50)}, again

# Two concurrent locks, and a lock while locked.
locks = [threading.Thread(target=keychainfs, args=("lock",)) for _ in range(4)]
for lock in locks: lock.start()
for lock in locks: lock.join()
refused(lambda: os.stat(D + "/big"))
keychainfs("unlock")
# Discarded data stays discarded: the committed values exist, and the names that were never committed do not.
assert open(D + "/w", "rb").read() == b"COMMITTED" and open(D + "/big", "rb").read() == value
assert open(D + "/later", "rb").read() == b"staged" + value[6:] and not os.path.exists(D + "/new")
# Descriptors from before the lock keep failing after an unlock.
refused(lambda: os.pread(reader, 10, 0))
assert len(os.listdir(long)) == 600
PY
python3 -I "$CASE_DIR/middle.py" "$G" "$MNT" "$KEYCHAINFS"
# A program that checks the result of close gets the error.
staged() { [ "$(stat -c %s "$D/w")" = 13 ]; }
said=$( (printf more; wait_until 10 staged; "$KEYCHAINFS" lock "$MNT") | (cat >> "$D/w") 2>&1 || true)
case "$said" in *"Required key not available"*) ;; *) fail "cat did not hear of the lock at its close: '$said'" ;; esac
"$KEYCHAINFS" unlock "$MNT"; expect COMMITTED "$(cat "$D/w")" "what was staged is dropped"
