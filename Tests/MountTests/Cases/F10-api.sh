# F10: changes by Keychain Services are visible in files immediately, regardless of the kernel's caches, and vice versa.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
C="$MNT/generic-passwords"; D="$C/s"

cat > "$CASE_DIR/seen.py" <<'PY'
import mmap, os, stat, subprocess, sys
sys.path.insert(0, sys.argv[2]); import rpc
mount = sys.argv[1]; top = mount + "/generic-passwords"; d = top + "/s"
api = rpc.Client(mount, ["default", "grp", "grp2"])

def gone(path):
    try: os.stat(path)
    except FileNotFoundError: return True
    return False
def read(path):
    with open(path, "rb") as f: return f.read()
def other(*command):   # another process
    return subprocess.run(command, capture_output=True, timeout=20)

# Negative entries of every directory on the path.
for path in (d, d + "/a", mount + "/access-groups/grp", mount + "/synchronizable/generic-passwords/s"): assert gone(path), path
assert api.add(b"one", svce="s", acct="a", labl="first") == 0
assert read(d + "/a") == b"one" and os.getxattr(d + "/a", "user.kSecAttrLabel") == b"first"
assert api.add(b"g", svce="s", acct="a", agrp="grp") == 0
assert read(mount + "/access-groups/grp/generic-passwords/s/a") == b"g" and os.listdir(mount + "/access-groups") == ["grp"]
assert api.add(b"y", svce="s", acct="a", sync=True) == 0
assert read(mount + "/synchronizable/generic-passwords/s/a") == b"y"
assert api.add(b"again", svce="s", acct="a") == rpc.DUPLICATE and read(d + "/a") == b"one"

# Cached attributes, names and listings, in many rounds: none of them is stale.
for n in range(150):
    text = b"x" * (n % 40 + 1)
    before = os.stat(d + "/a"); times = os.stat(d).st_mtime_ns; assert gone(d + "/b"), n; os.listdir(d)
    assert api.update({"svce": "s", "acct": "a", "agrp": "default"}, {"labl": str(n)}, text) == 0
    after = os.stat(d + "/a")
    assert after.st_size == len(text) and after.st_ctime_ns > before.st_ctime_ns and after.st_ino == before.st_ino, n
    assert read(d + "/a") == text and os.getxattr(d + "/a", "user.kSecAttrLabel") == str(n).encode(), n
    assert api.update({"svce": "s", "acct": "a", "agrp": "default"}, {"acct": "b"}) == 0
    assert gone(d + "/a") and os.stat(d + "/b").st_ino == before.st_ino and os.listdir(d) == ["b"], n
    assert os.stat(d).st_mtime_ns > times, n
    assert api.delete(svce="s", acct="b", agrp="default") == 0
    assert gone(d + "/b") and os.listdir(d) == [], n
    assert api.add(text, svce="s", acct="a") == 0
    assert read(d + "/a") == text and os.listdir(d) == ["a"], n
# The same in separate processes.
for n in range(10):
    assert api.update({"svce": "s", "acct": "a", "agrp": "default"}, {"labl": f"L{n}"}, str(n).encode() * (n + 1)) == 0
    assert other("cat", d + "/a").stdout == str(n).encode() * (n + 1), n
    assert other("stat", "-c", "%s", d + "/a").stdout == str(n + 1).encode() + b"\n", n
    assert other("getfattr", "--only-values", "-n", "user.kSecAttrLabel", d + "/a").stdout == f"L{n}".encode(), n
    assert api.add(b"", svce="s", acct=f"n{n}") == 0 and f"n{n}" in other("ls", d).stdout.decode().split(), n
    assert api.delete(svce="s", acct=f"n{n}", agrp="default") == 0 and other("cat", d + f"/n{n}").returncode == 1, n

# Pages: private mappings pass through the page cache.
fd = os.open(d + "/a", os.O_RDONLY)
assert mmap.mmap(fd, 0, mmap.MAP_PRIVATE, mmap.PROT_READ)[:] == b"9" * 10; os.close(fd)
assert api.update({"svce": "s", "acct": "a", "agrp": "default"}, {}, b"page") == 0
fd = os.open(d + "/a", os.O_RDONLY); assert mmap.mmap(fd, 0, mmap.MAP_PRIVATE, mmap.PROT_READ)[:] == b"page"

# Pages and attributes of open files and directories, which no lookup refreshes.
held = os.open(d + "/a", os.O_RDONLY); folder = os.open(d, os.O_RDONLY); times = os.fstat(folder).st_mtime_ns
assert os.fstat(held).st_size == 4 and mmap.mmap(held, 0, mmap.MAP_PRIVATE, mmap.PROT_READ)[:] == b"page"
assert api.update({"svce": "s", "acct": "a", "agrp": "default"}, {}, b"other page") == 0 and os.fstat(held).st_size == 10
new = os.open(d + "/a", os.O_RDONLY); assert mmap.mmap(new, 0, mmap.MAP_PRIVATE, mmap.PROT_READ)[:] == b"other page"
assert api.add(b"", svce="s", acct="z") == 0 and os.fstat(folder).st_mtime_ns > times; times = os.fstat(folder).st_mtime_ns
assert api.delete(svce="s", acct="z") == 0 and os.fstat(folder).st_mtime_ns > times
for each in (held, new, folder, fd): os.close(each)
assert api.update({"svce": "s", "acct": "a", "agrp": "default"}, {}, b"page") == 0; fd = os.open(d + "/a", os.O_RDONLY)

# Descriptors: a reader keeps its value; writes to a deleted item are discarded.
assert api.update({"svce": "s", "acct": "a", "agrp": "default"}, {}, b"newer") == 0 and os.pread(fd, 99, 0) == b"page"
writer = os.open(d + "/a", os.O_RDWR)
assert api.delete(svce="s", acct="a", agrp="default") == 0
assert os.pread(fd, 99, 0) == b"page" and os.fstat(fd).st_nlink == 0 and os.pread(writer, 99, 0) == b"newer"
os.pwrite(writer, b"N", 0); assert os.pread(writer, 99, 0) == b"Newer"; os.close(writer); os.close(fd)
assert gone(d + "/a") and api.value(svce="s", acct="a", agrp="default") == rpc.NOT_FOUND
# Staged but not committed: the last commit wins completely.
assert api.add(b"one", svce="s", acct="a") == 0
writer = os.open(d + "/a", os.O_WRONLY | os.O_APPEND); os.write(writer, b"+")
assert api.update({"svce": "s", "acct": "a", "agrp": "default"}, {"labl": "kept"}, b"two") == 0 and read(d + "/a") == b"two"
os.fsync(writer); assert read(d + "/a") == b"one+" and os.getxattr(d + "/a", "user.kSecAttrLabel") == b"kept"
assert api.update({"svce": "s", "acct": "a", "agrp": "default"}, {}, b"three") == 0
os.write(writer, b"-"); os.close(writer); assert read(d + "/a") == b"three-"
# A pending name.
writer = os.open(d + "/p", os.O_WRONLY | os.O_CREAT | os.O_EXCL); os.write(writer, b"file")
assert api.value(svce="s", acct="p") == rpc.NOT_FOUND and api.add(b"api", svce="s", acct="p", labl="api") == 0
assert read(d + "/p") == b"api" and sorted(os.listdir(d)) == ["a", "p"]
os.close(writer)
assert read(d + "/p") == b"file" == api.value(svce="s", acct="p") and sorted(os.listdir(d)) == ["a", "p"]
assert os.getxattr(d + "/p", "user.kSecAttrLabel") == b"api" and len(api.all(svce="s", agrp="default", r_Attributes=True)[1]) == 2

# Vice versa.
with open(d + "/f", "w") as f: f.write("written")
assert api.value(svce="s", acct="f") == b"written"
os.setxattr(d + "/f", "user.kSecAttrLabel", b"mine"); assert api.value(labl="mine") == b"written"
reference = api.ask("copyMatching", {"labl": "mine", "r_PersistentRef": True})[1]
os.mkdir(top + "/t"); os.rename(d + "/f", top + "/t/h")
assert api.value(svce="s", acct="f") == rpc.NOT_FOUND and api.value(svce="t", acct="h") == b"written"
assert api.ask("copyMatching", {"v_PersistentRef": reference, "r_Data": True})[1] == b"written"
os.rename(top + "/t", top + "/u"); assert api.value(svce="u", acct="h") == b"written"
os.rename(mount + "/access-groups/grp", mount + "/access-groups/grp2"); assert api.value(acct="a", agrp="grp2") == b"g"
os.unlink(top + "/u/h"); assert api.value(acct="h") == rpc.NOT_FOUND
# The API moves items from open directories into new groups.
os.chdir(d)
assert api.update({"svce": "s", "acct": "a", "agrp": "default"}, {"agrp": "grp", "svce": "moved"}) == 0
assert gone("a") and read(mount + "/access-groups/grp/generic-passwords/moved/a") == b"three-"
PY
timeout 120 python3 "$CASE_DIR/seen.py" "$MNT" "$CASE_DIR" || fail "what was changed was not seen"
unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null
mount_keychain
expect "file" "$(cat "$D/p")" "after a remount"
