# F5: regardless of how a tool saves a file, the item stays the same: label, class, creation date, reference; two
# processes create a new item.
# seconds: 20
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
OTHER="$CASE_DIR/other"; mkdir "$OTHER"

# saves NAME COMMAND...: the command changes 'old' into 'new', and the item is the same afterwards.
saves() {
    local name=$1; shift
    make_item; "$@" || fail "$name ended with $?"
    expect new "$(cat a)" "$name: contents"; same_item "$name"
    rm -f -- *
}
saves "sed -i" sed -i s/old/new/ a
saves "sed -i.bak" sed -i.bak s/old/new/ a
saves "perl -i" perl -i -pe s/old/new/ a
saves "perl -i.orig" perl -i.orig -pe s/old/new/ a
printf 'new\n' > "$OTHER/a"; touch -d 2001-01-01 "$OTHER/a"
saves rsync rsync "$OTHER/a" a
saves "rsync -a --inplace" rsync -a --inplace "$OTHER/a" a
saves "rsync --backup" rsync -a --backup "$OTHER/a" .
saves "rsync --backup --suffix" rsync -a --backup --suffix=.old "$OTHER/a" .
saves "rsync --delay-updates --backup" rsync -a --backup --no-inc-recursive "$OTHER/" .
saves install install -m 600 "$OTHER/a" a
saves "install --backup" install --backup -m 600 "$OTHER/a" a
saves "cp" cp "$OTHER/a" a
saves "cp --remove-destination" cp --remove-destination "$OTHER/a" a
saves "cp --backup" cp --backup "$OTHER/a" a
saves "mv from elsewhere" bash -c "cp '$OTHER/a' '$OTHER/b'; mv '$OTHER/b' a"
saves "mv --backup from elsewhere" bash -c "cp '$OTHER/a' '$OTHER/b'; mv --backup '$OTHER/b' a"
saves "ed" bash -c "printf 's/old/new/\nw\nq\n' | ed -s a"
saves "patch" bash -c "printf -- '--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new\n' | patch -s a"
saves "patch -b" bash -c "printf -- '--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new\n' | patch -s -b a"
saves "tar -x" bash -c "tar -C '$OTHER' -c a | tar -x"
saves "tar -x --xattrs" bash -c "tar -C '$OTHER' --xattrs -c a | tar -x --xattrs --xattrs-include='*'"
saves "tar -x --unlink-first" bash -c "tar -C '$OTHER' -c a | tar -x --unlink-first"
saves "dd" dd status=none if="$OTHER/a" of=a
saves "tee" bash -c "tee a < '$OTHER/a' > /dev/null"
saves "os.replace" python3 -c '
import os, tempfile
with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as f: f.write("new\n")
os.replace(f.name, "a")'
saves "unlink and create" python3 -c '
import os
os.unlink("a")
open("a", "w").write("new\n")'
saves "link is refused, rename serves" python3 -c '
import os
open("t", "w").write("new\n")
try: os.link("a", "a~")
except PermissionError: os.rename("a", "a~")
os.rename("t", "a")'
make_item; git config --file a core.editor vi; [ -s a ] || fail "git config"
rm a; printf '[core]\n\teditor = ed\n' > a
created=$(attribute kSecAttrCreationDate a); reference=$(attribute kSecAttrPersistentReference a)
setfattr -n user.kSecAttrLabel -v 'Home Wi-Fi' a; setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock a
setfattr -n user.color -v blue a
git config --file a core.editor vi; expect vi "$(git config --file a core.editor)" "git config"; same_item "git config"
rm a
# -X also copies the attributes of the other file.
make_item; rsync -aX --inplace "$OTHER/a" .; expect new "$(cat a)" "rsync -aX --inplace"; same_identity "rsync -aX --inplace"
rm a; make_item; rsync -aX "$OTHER/a" .; expect new "$(cat a)" "rsync -aX"; same_identity "rsync -aX"; rm a

# The item that was renamed to the backup name keeps the old value and has its own reference.
make_item; sed -i.bak s/old/new/ a
expect old "$(cat a.bak)" "the copy's contents"; expect HomeWi-Fi "$(attribute kSecAttrLabel a.bak)" "the copy's label"
expect AfterFirstUnlock "$(attribute kSecAttrAccessible a.bak)" "the copy's class"
rm -- *
# Two processes: the item that gets the name is new, and the renamed item is still the old one.
make_item; rm a; sleep 0.01; printf x > a; new_item "rm a; printf x > a"; rm a
make_item; mv a b; printf 'x\n' > "$OTHER/x"; cp "$OTHER/x" a; new_item "mv a b; cp x a"
expect "$reference" "$(attribute kSecAttrPersistentReference b)" "mv a b: the reference goes along"
expect HomeWi-Fi "$(attribute kSecAttrLabel b)" "mv a b: the label goes along"; rm a b
make_item; mv a b; printf x > c; mv c a; new_item "mv a b; mv c a"; rm a b
# A thread of the same process counts as that process; its child is another one.
make_item; python3 -c '
import os, threading
threading.Thread(target=lambda: os.unlink("a")).start()
[t.join() for t in threading.enumerate() if t is not threading.current_thread()]
open("a", "w").write("new\n")'
same_item "threads"; rm a
make_item; python3 -c '
import os
os.unlink("a")
if os.fork() == 0: open("a", "w").write("new\n"); os._exit(0)
os.wait()'
new_item "a child"; rm a
# If the new file lists attributes, they replace all of the old item's; so do attributes that are set before its commit.
make_item; python3 -c '
import os
os.rename("a", "b")
f = open("a", "w"); os.setxattr("a", "user.kSecAttrComment", b"mine"); f.write("new"); f.close()'
expect "$reference" "$(attribute kSecAttrPersistentReference a)" "listed attributes: reference"
expect '' "$(attribute kSecAttrLabel a)" "listed attributes: label"; expect mine "$(attribute kSecAttrComment a)" comment
expect AfterFirstUnlock "$(attribute kSecAttrAccessible a)" "listed attributes: class"; rm a b
# A discarded creation continues no item.
make_item; python3 - <<'PY'
import os, signal
os.rename("a", "b")
if os.fork() == 0:
    fd = os.open("a", os.O_WRONLY | os.O_CREAT); os.write(fd, b"half"); os.kill(os.getpid(), signal.SIGKILL)
os.wait()
assert not os.path.exists("a")
os.rename("b", "a")
PY
expect old "$(cat a)" "moved back"; same_item "moved back"; rm a
# H1: a lock wipes an unlinked item.
make_item; python3 - "$KEYCHAINFS" "$MNT" <<'PY'
import os, subprocess, sys
os.unlink("a")
subprocess.run([sys.argv[1], "lock", sys.argv[2]], check=True)
subprocess.run([sys.argv[1], "unlock", sys.argv[2]], check=True)
open("a", "w").write("new\n")
PY
new_item "a lock in between"; rm a
# After ten seconds a freed name no longer refers to its item.
make_item; python3 -c '
import os, time
os.unlink("a"); time.sleep(10.2)
open("a", "w").write("new\n")'
new_item "ten seconds later"
