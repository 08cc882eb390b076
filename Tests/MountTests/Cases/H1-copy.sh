# H1, F1: cp and os.copy_file_range within the mount go through the daemon, and the copy is committed when cp ends.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
head -c 300000 /dev/urandom > "$CASE_DIR/data"
cat "$CASE_DIR/data" > "$D/a"
commits_of 1 'cp --reflink=auto "$D/a" "$D/b"'
cmp "$CASE_DIR/data" "$D/b" || fail "cp made something else"
cp --reflink=auto "$D/a" "$D/b"; cmp "$CASE_DIR/data" "$D/b" || fail "cp over an item made something else"
# Of the two calls that cp has, the kernel asks the daemon for this one; nothing lands in the page cache.
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
unmount_keychain; mount_keychain
cmp "$CASE_DIR/data" "$D/b" || fail "the copy was not committed"
unmount_keychain
