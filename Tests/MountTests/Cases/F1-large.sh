# F1, F4, F9: values up to the limit are written and read in chunks of any size; one synchronous write of up to 1 MiB is
# one commit, never a mixture of the old value and the new.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
python3 -I - "$D" "$MNT" <<'PY'
import errno, json, mmap, os, sys
D, MNT = sys.argv[1:]
path, limit = D + "/a", 1 << 20
def commits(): return json.load(open(MNT + "/.keychainfs/status"))["commits"]
def value():
    with open(path, "rb") as f: return f.read()
def aligned(data):
    """In page-aligned memory, unlike malloc's: the kernel sends at most 256 pages in one request."""
    memory = mmap.mmap(-1, len(data)); memory.write(data); return memoryview(memory)
new = os.urandom(limit)
for piece in (limit, 700_001, 131_072, 65_537):
    with open(path, "wb", buffering=0) as f:
        before = commits()
        for offset in range(0, limit, piece): assert f.write(new[offset:offset + piece]) == len(new[offset:offset + piece])
        assert commits() == before, "a commit before close"
    assert commits() == before + 1 and value() == new, piece
for piece in (limit, 300_000, 4096):
    fd = os.open(path, os.O_RDONLY); got = b""
    while part := os.read(fd, piece): got += part
    os.close(fd)
    assert got == new, piece
# Each write(2) is a separate commit and is durable when it returns.
old = new
for size in (limit, limit // 2, 200_000):
    new = os.urandom(size)
    fd = os.open(path, os.O_WRONLY | os.O_SYNC); before = commits()
    assert os.write(fd, aligned(new)) == size
    assert commits() == before + 1, f"{commits() - before} commits of a write of {size}"
    assert value() == new + old[size:]
    old = value(); os.close(fd)
fd = os.open(path, os.O_WRONLY | os.O_DSYNC | os.O_TRUNC); before = commits()
for offset in range(0, limit, limit // 4): os.write(fd, aligned(new[:1] * (limit // 4)))
assert commits() == before + 4 and value() == new[:1] * limit; os.close(fd)
# One byte more is refused, and the old value stays.
fd = os.open(path, os.O_WRONLY | os.O_APPEND)
try: os.write(fd, b"x")
except OSError as error: assert error.errno == errno.EFBIG, error
else: raise AssertionError("beyond the limit")
try: os.close(fd)
except OSError as error: assert error.errno == errno.EFBIG, error
assert value() == new[:1] * limit
# The longest attribute value of Linux, and more data than an item may contain.
os.setxattr(D + "/a", "user.long", b"v" * 60_000)
assert os.getxattr(D + "/a", "user.long") == b"v" * 60_000
PY
unmount_keychain; mount_keychain
expect 1048576 "$(wc -c < "$D/a")" "the size after a new mount"
unmount_keychain
