# F1, F2, F5: a staged value as other programs see it. Programs that read as many bytes as stat shows copy the beginning of the old
# value (posix-differences.md, Contents); all others copy the old value. A close for reading and RENAME_EXCHANGE commit nothing.
# users: root
. "${0%/*}/lib.sh"
private_mounts
create_keychain; mount_keychain
S="$MNT/generic-passwords/s"; mkdir "$S"; OLD=$(printf 'old %.0s' $(seq 15)); OUT="$CASE_DIR/out"; mkdir "$OUT"
printf %s "$OLD" > "$S/item"
python3 -I -c '
import os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC); os.write(fd, b"0123456789"); print("staged", flush=True); time.sleep(60)' \
    "$S/item" > "$OUT/writer" & writer=$!
wait_until 10 grep -q staged "$OUT/writer"
expect 10 "$(stat -c %s "$S/item")" "the staged size"
copy() { local program=$1 wanted=$2; shift 2; rm -f "$OUT/item"; "$@" || fail "$program failed"; expect "$wanted" "$(cat "$OUT/item")" "$program"; }
copy cat "$OLD" sh -c 'cat "$1" > "$2"' - "$S/item" "$OUT/item"
copy cp "$OLD" cp "$S/item" "$OUT/item"
copy "cp -a" "$OLD" cp -a "$S/item" "$OUT/item"
copy dd "$OLD" dd status=none "if=$S/item" "of=$OUT/item"
copy install "$OLD" install "$S/item" "$OUT/item"
copy "a reader to the end" "$OLD" python3 -I -c 'import sys; open(sys.argv[2], "wb").write(open(sys.argv[1], "rb").read())' "$S/item" "$OUT/item"
copy tar "${OLD:0:10}" sh -c 'tar -C "$1" -cf - item | tar -C "$2" -xf -' - "$S" "$OUT"
copy shutil.copyfile "${OLD:0:10}" python3 -I -c 'import shutil, sys; shutil.copyfile(*sys.argv[1:])' "$S/item" "$OUT/item"
copy tarfile "${OLD:0:10}" python3 -I -c '
import sys, tarfile
with tarfile.open(sys.argv[2] + "/archive", "w") as archive: archive.add(sys.argv[1], "item")
with tarfile.open(sys.argv[2] + "/archive") as archive: archive.extract("item", sys.argv[2])' "$S/item" "$OUT"
if command -v rsync > /dev/null; then copy rsync "${OLD:0:10}" rsync "$S/item" "$OUT/item"; fi
if command -v curl > /dev/null; then copy curl "${OLD:0:10}" curl -s "file://$S/item" -o "$OUT/item"; fi
# A backup has the old value.
"$KEYCHAINFS" backup "$OUT/backup" > /dev/null
kill "$writer"; wait "$writer" || true
expect "$OLD" "$(cat "$S/item")" "after the writer was killed"
"$KEYCHAINFS" restore --keychain "$OUT/restored" "$OUT/backup" 2> /dev/null; mkdir "$OUT/mnt"; "$KEYCHAINFS" mount "$OUT/restored" "$OUT/mnt"
expect "$OLD" "$(cat "$OUT/mnt/generic-passwords/s/item")" "the backup"; "$KEYCHAINFS" unmount "$OUT/mnt"

printf one > "$S/a"; printf two > "$S/b"
python3 -I - "$S/a" "$S/b" <<'PY'
import ctypes, os, sys
a, b = sys.argv[1:]
read = lambda path: open(path, "rb").read()
writer = os.open(a, os.O_WRONLY | os.O_TRUNC); os.write(writer, b"new")
os.close(os.open(a, os.O_RDONLY))
assert read(a) == b"one", "the close of a descriptor for reading committed"
renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
assert renameat2(-100, a.encode(), -100, b.encode(), 2) == 0
assert (read(a), read(b)) == (b"two", b"one"), "RENAME_EXCHANGE committed"
os.close(writer)
assert (read(a), read(b)) == (b"two", b"new"), (read(a), read(b))
PY

# The creation date is an attribute; there is no st_btime.
expect 0 "$(stat -c %W "$S/a")" "the time of birth"
getfattr --only-values -n user.kSecAttrCreationDate "$S/a" | grep -qE '^20[0-9]{2}-' || fail "no creation date"

# A mount as the lower layer of overlayfs: names that were looked up before a lock are stale until the overlay is mounted again.
mount -t tmpfs none "$OUT/mnt"; mkdir "$OUT/mnt/upper" "$OUT/mnt/work" "$OUT/merged"
overlay() { mount -t overlay overlay -o "lowerdir=$MNT,upperdir=$OUT/mnt/upper,workdir=$OUT/mnt/work" "$OUT/merged"; }
overlay; expect two "$(cat "$OUT/merged/generic-passwords/s/a")" "through overlayfs"
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT"
said=$(cat "$OUT/merged/generic-passwords/s/a" 2>&1) && fail "overlayfs after a lock: $said"
[[ $said == *"Stale file handle"* ]] || fail "overlayfs: $said"
umount "$OUT/merged"; overlay; expect two "$(cat "$OUT/merged/generic-passwords/s/a")" "mounted again"
umount "$OUT/merged" "$OUT/mnt"
