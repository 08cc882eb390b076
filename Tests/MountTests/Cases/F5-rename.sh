# F5, F6: a rename over an item keeps the item, exchange swaps names, replaced files stay usable through their
# descriptors.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
attribute() { getfattr --only-values -n "user.$1" "$2" 2>/dev/null; }
printf 's3cret\n' > a
setfattr -n user.kSecAttrLabel -v 'Home Wi-Fi' a; setfattr -n user.color -v blue a
created=$(attribute kSecAttrCreationDate a); reference=$(attribute kSecAttrPersistentReference a | od -An -tx1)
kept() {
    expect 'Home Wi-Fi' "$(attribute kSecAttrLabel a)" "$1: label"
    expect blue "$(attribute color a)" "$1: other attribute"
    expect "$created" "$(attribute kSecAttrCreationDate a)" "$1: creation date"
    expect "$reference" "$(attribute kSecAttrPersistentReference a | od -An -tx1)" "$1: persistent reference"
}
sed -i s/s3cret/changed/ a; expect changed "$(cat a)" "sed -i"; kept "sed -i"
python3 -c '
import os
f = open(".a.tmp", "w"); f.write("atomic"); f.flush()
os.replace(".a.tmp", "a")    # before the close
assert open("a").read() == "atomic"
f.close()
assert open("a").read() == "atomic"'
expect atomic "$(cat a)" os.replace; kept os.replace
printf fromtmp > "$CASE_DIR/f"; rsync -a "$CASE_DIR/f" a; expect fromtmp "$(cat a)" rsync; kept rsync
printf mine > b; inode=$(stat -c %i b); chmod 640 b; mv b a
expect "mine $inode 640" "$(cat a) $(stat -c '%i %a' a)" "the file follows POSIX"; kept mv
printf own > c; setfattr -n user.kSecAttrLabel -v Other c; mv c a
expect Other "$(attribute kSecAttrLabel a)" "listed attributes replace the target's"
expect "$created" "$(attribute kSecAttrCreationDate a)" "creation date stays with the name"
[ ! -e b ] && [ ! -e c ] || fail "a source is still there"
python3 - <<'PY'
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def renameat2(a, b, flags):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), flags): raise OSError(ctypes.get_errno(), "renameat2")
def refused(code, *args):
    try: renameat2(*args)
    except OSError as e: assert e.errno == code, e
    else: raise SystemExit("renameat2 was not refused")
open("one", "w").write("1"); open("two", "w").write("2")
os.setxattr("one", "user.kSecAttrLabel", b"first")
inodes = os.stat("one").st_ino, os.stat("two").st_ino
refused(errno.EEXIST, "one", "two", 1)
refused(errno.EINVAL, "one", "two", 4)
refused(errno.ENOENT, "one", "none", 2)
renameat2("one", "two", 2)
assert open("two").read() == "1" and open("one").read() == "2"
assert os.getxattr("two", "user.kSecAttrLabel") == b"first" and os.listxattr("one") == []
assert (os.stat("two").st_ino, os.stat("one").st_ino) == inodes
renameat2("one", "three", 1)
# F6: replaced and unlinked files remain readable through their descriptors; writes to them are discarded.
old = os.open("two", os.O_RDWR); reader = os.open("two", os.O_RDONLY)
os.rename("three", "two")
assert os.pread(reader, 9, 0) == b"1" and os.pread(old, 9, 0) == b"1" and os.fstat(old).st_nlink == 0
os.pwrite(old, b"late", 0)
assert os.pread(old, 9, 0) == b"late" and os.fstat(old).st_size == 4
os.close(old)
assert open("two").read() == "2"
old = os.open("two", os.O_RDWR)
os.unlink("two")
assert os.pread(old, 9, 0) == b"2"
open("two", "w").write("again")
os.pwrite(old, b"x", 0); os.fsync(old); os.close(old)
assert open("two").read() == "again" and os.pread(reader, 9, 0) == b"1"
PY
mkdir ../t; printf 1 > m; mv m ../t/n; expect 1 "$(cat ../t/n)" "to another service"
mv ../t ../u; expect 1 "$(cat ../u/n)" "a renamed service"
mkdir ../v; expect_errno ENOTEMPTY python3 -c 'import os; os.rename("../v", "../u")'
rmdir ../v; mkdir ../w; python3 -c 'import os; os.rename("../u", "../w")'; expect 1 "$(cat ../w/n)" "over an empty service"
mkdir "$MNT/internet-passwords/h"
expect_errno EXDEV python3 -c "import os; os.rename('a', '$MNT/internet-passwords/h/a')"
mv a "$MNT/internet-passwords/h/a"; [ ! -e a ] && [ -s "$MNT/internet-passwords/h/a" ] || fail "mv to another class does not copy"
