# F6: the daemon holds no file descriptor per open file, even if the file was deleted.
# users: root
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
python3 - "$(daemon)" <<'PY'
import os, sys
held = lambda: len(os.listdir(f"/proc/{sys.argv[1]}/fd"))
for i in range(300):
    with open(f"n{i}", "w") as f: f.write(f"value {i}")
before = held()
files = [os.open(f"n{i}", os.O_RDONLY) for i in range(300)]
files += [os.open(f"n{i}", os.O_RDWR) for i in range(100)]
files += [os.open(f"new{i}", os.O_RDWR | os.O_CREAT) for i in range(100)]
directories = [os.open(".", os.O_RDONLY | os.O_DIRECTORY) for _ in range(100)]
for fd in files[300:]: os.write(fd, b"staged " * 1000)
assert held() <= before + 2, (before, held())
for i in range(200): os.unlink(f"n{i}")
for i in range(100): os.rename(f"n{200 + i}", f"m{i}")
assert held() <= before + 2, (before, held())
# Unlinked and renamed files can be read, written and examined as before.
for i in range(300):
    assert os.pread(files[i], 100, 0) == b"value %d" % i, i
    assert os.fstat(files[i]).st_nlink == (0 if i < 200 else 1) and os.fstat(files[i]).st_size == len(f"value {i}") or i < 100
for i in range(100):
    assert os.fstat(files[300 + i]).st_size == 7000
    os.pwrite(files[300 + i], b"!", 0)
    assert os.pread(files[300 + i], 7, 0) == b"!taged "
for fd in files + directories: os.close(fd)
assert held() <= before + 2, (before, held())
PY
expect "$(printf '%s\n' 100 100)" "$(ls | grep -c '^m'; ls | grep -c '^new')" "what is left"
