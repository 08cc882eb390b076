# H2, L2: the same scan for each class that a lock closes: secret, name, label and other attributes of an item, staged
# values, a new name, freed names, and a listing in progress. The scan finds names of the classes that stay available.
# users: root
# seconds: 12
. "${0%/*}/lib.sh"
CLOSED="WhenUnlocked WhenUnlockedThisDeviceOnly WhenPasscodeSetThisDeviceOnly WhenUnlockedUnlessOpen"
ONGOING="AfterFirstUnlock AfterFirstUnlockThisDeviceOnly Always AlwaysThisDeviceOnly"
# The common prefix of all canaries, so that one scan finds them all: created at run time, stored nowhere else.
TOKEN=$(python3 -I -c "import secrets; print('Canary' + secrets.token_hex(8) + '-')")
printf %s "$TOKEN" > "$CASE_DIR/token"

cat > "$CASE_DIR/use.py" <<'PY'
import os, subprocess, sys, time
base, MNT, *classes = sys.argv[1:]
token = open(base + "/token").read()
kept = []
def put(path, text):
    with open(path, "w") as file: file.write(text)
for name in classes:
    c = lambda kind: f"{token}{name}-{kind}"
    # A directory's name stays readable from the first unlock on; the names of its items must not.
    here = f"{MNT}/generic-passwords/{name}"
    os.mkdir(here); os.setxattr(here, "user.kSecAttrAccessible", name.encode())
    unless = name == "WhenUnlockedUnlessOpen"
    item = f"{here}/{c('name')}"
    put(item, c("content"))
    os.setxattr(item, "user.kSecAttrLabel", c("label").encode()); os.setxattr(item, "user.kSecAttrComment", c("comment").encode())
    os.setxattr(item, "user." + c("extraName"), c("extra").encode())
    for number in range(60): put(f"{here}/{c('listed')} {number}", "x")
    subprocess.run(["ls", "-l", here], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["cat", item], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["getfattr", "-d", "-m-", item], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    put(f"{here}/{c('freed')}", c("content")); os.setxattr(f"{here}/{c('freed')}", "user.kSecAttrLabel", c("label").encode())
    os.unlink(f"{here}/{c('freed')}")
    put(f"{here}/{c('renamed')}", c("content")); os.rename(f"{here}/{c('renamed')}", f"{here}/{c('renamedTo')}")
    listing = os.scandir(here)
    for _ in range(3): next(listing)
    kept.append(listing)
    # Open files of WhenUnlockedUnlessOpen stay available with their data: here none is open.
    if unless: continue
    reader = os.open(item, os.O_RDONLY); os.pread(reader, 100, 0)
    pipe = os.pipe(); os.sendfile(pipe[1], reader, 0, 100)
    writer = os.open(item, os.O_RDWR); os.write(writer, c("staged").encode() * 300)
    fresh = os.open(f"{here}/{c('fresh')}", os.O_RDWR | os.O_CREAT); os.write(fresh, c("staged").encode())
    kept += [reader, writer, fresh]
open(base + "/used", "w").close()
while not os.path.exists(base + "/done"): time.sleep(0.05)
for file in kept:
    try: os.close(file) if isinstance(file, int) else file.close()
    except OSError: pass
PY
# scan: one scan for all canaries; found CLASS: the canaries of that class.
scan() { printf 'prefix:\t%s\n' "$TOKEN" | python3 -I "${0%/*}/scan.py" "$(daemon)" > "$CASE_DIR/found"; }
found() { grep "^$1-" "$CASE_DIR/found" || true; }
# nothing_of_closed WHEN
nothing_of_closed() {
    local name
    for name in $CLOSED; do [ -z "$(found "$name")" ] || fail "$1 the daemon's memory still has: $(found "$name")"; done
}
create_keychain; mount_keychain
python3 -I "$CASE_DIR/use.py" "$CASE_DIR" "$MNT" $CLOSED $ONGOING & user=$!
trap 'code=$?; kill "$user" 2>/dev/null || true; cleanup "$code"' EXIT
wait_until 60 test -e "$CASE_DIR/used"
scan; for name in $CLOSED; do [ -n "$(found "$name")" ] || fail "before the lock the scan finds nothing of $name"; done
"$KEYCHAINFS" lock "$MNT"
for name in $ONGOING; do ls -l "$MNT/generic-passwords/$name" > /dev/null; done
scan; nothing_of_closed "after the lock"
for name in $ONGOING; do [ -n "$(found "$name")" ] || fail "nothing is left of $name, which goes on"; done
# Closing the open files leaves nothing; nor does an unlock and a listing before the next lock.
touch "$CASE_DIR/done"; wait "$user" || fail "the program that used the mount failed"
"$KEYCHAINFS" unlock "$MNT"; ls -lR "$MNT" > /dev/null; "$KEYCHAINFS" lock "$MNT"
scan; nothing_of_closed "after the second lock"
