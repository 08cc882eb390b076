# H1, F1: cp and os.copy_file_range within the mount go through the daemon, and the copy is committed when cp ends.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
head -c 300000 /dev/urandom > "$CASE_DIR/data"
cat "$CASE_DIR/data" > "$D/a"
commits_of 1 'cp --reflink=auto "$D/a" "$D/b"'
cmp "$CASE_DIR/data" "$D/b" || fail "cp made something else"
cp --reflink=auto "$D/a" "$D/b"; cmp "$CASE_DIR/data" "$D/b" || fail "cp over an item made something else"
# Of the two system calls that cp uses, the kernel sends this one to the daemon; nothing enters the page cache.
python3 -I - "$D" <<'PY'
import ctypes, os, sys
D = sys.argv[1]
r = os.open(D + "/a", os.O_RDONLY); w = os.open(D + "/c", os.O_RDWR | os.O_CREAT)
done = 0
while done < 300000:
    n = os.copy_file_range(r, w, 300000 - done)
    assert n > 0
    done += n
for fd in (r, w):
    where, answer = (ctypes.c_uint64 * 2)(0, 0), (ctypes.c_uint64 * 5)()
    assert ctypes.CDLL(None).syscall(451, fd, where, answer, 0) == 0 and answer[0] == 0, "pages are cached"
os.close(w); os.close(r)
PY
cmp "$CASE_DIR/data" "$D/c" || fail "copy_file_range made something else"
# F3: the kernel limits the call to the only file size that it knows: cp continues with read(2), and no copy is
# truncated.
python3 -I - "$D" <<'PY'
import os, subprocess, sys, threading
D = sys.argv[1]
value = open(D + "/a", "rb").read()
writer = os.open(D + "/a", os.O_WRONLY | os.O_TRUNC); os.write(writer, b"abc")
subprocess.run(["cp", D + "/a", D + "/cut"], check=True)
assert open(D + "/cut", "rb").read() == value, "F3: a copy was cut to the size of a staged value"
os.close(writer)
subprocess.run(["cp", D + "/a", D + "/cut"], check=True)
assert open(D + "/cut", "rb").read() == b"abc"
values, stop = [b"A" * 100000, b"B" * 50], False
def write():
    i = 0
    while not stop or i % 2:
        with open(D + "/a", "wb") as f: f.write(values[i % 2])
        i += 1
with open(D + "/a", "wb") as f: f.write(values[0])
thread = threading.Thread(target=write); thread.start()
torn = 0
try:
    for _ in range(60):
        subprocess.run(["cp", D + "/a", D + "/cut"], check=True)
        torn += open(D + "/cut", "rb").read() not in values
finally:
    stop = True; thread.join()
assert not torn, f"F3: {torn} of 60 copies are no value that the item ever had"
PY
unmount_keychain; mount_keychain
cmp "$CASE_DIR/data" "$D/b" || fail "the copy was not committed"
unmount_keychain
