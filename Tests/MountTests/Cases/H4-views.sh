# H4, L2: bind mounts of the mount and of a directory in it end with it, and a bind mount that is removed, or a mount that is moved,
# changes nothing. A refused unmount has changed nothing. Programs in the mount, and a stopped daemon, do not prevent the end.
# users: root
# seconds: 15
. "${0%/*}/lib.sh"
private_mounts
create_keychain
D="$MNT/generic-passwords/s"
VIEW="$CASE_DIR/a view"; PART="$CASE_DIR/part"; mkdir "$VIEW" "$PART"
gone() { [ ! -e "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status"; }
bind() { mount --bind "$MNT" "$VIEW"; mount --bind "$D" "$PART"; }
dead() { [[ $(cat "$1" 2>&1) == *"not connected"* ]] || fail "$1 is readable after $way"; }
start() {
    mount_keychain; pid=$(daemon); mkdir -p "$D"
    for item in when after always; do printf old > "$D/$item"; done
    setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock "$D/after"; setfattr -n user.kSecAttrAccessible -v Always "$D/always"
}
start
# Another view is removed: the daemon continues, and the message names the mount that remains.
bind; exec 5<> "$D/when"; printf new >&5
umount "$PART"
expect_code 0 "$KEYCHAINFS" unmount "$VIEW" | grep -qF "stays mounted at $MNT." || fail "unmount of a bind mount: not told"
! grep -qF " $PART " /proc/self/mounts || fail "the bind mount stayed"
expect unlocked "$(status state)" "after the removal of bind mounts"
# It is in use: refused, and the value that is being written is kept.
expect_code 14 "$KEYCHAINFS" unmount "$MNT" | grep -q "in use" || fail "a refused unmount: not told"
expect_code 14 "$KEYCHAINFS" unmount "$MNT" > /dev/null
sleep 0.3; expect unlocked "$(status state)" "after a refused unmount"
exec 5>&-; wait_until 10 eval '[ "$(cat "$D/when")" = new ]'; printf old > "$D/when"
# A copy in another namespace, from there.
said=$(unshare --mount --propagation private "$KEYCHAINFS" unmount "$MNT" 2>&1)
[[ $said == *"stays mounted at $MNT, in another mount namespace." ]] || fail "unmount in another namespace: $said"
# Moved: it keeps its ID, and a bind mount at its old path is not the mount.
mkdir "$CASE_DIR/moved"; mount --move "$MNT" "$CASE_DIR/moved"; OLD=$MNT; sleep 0.3
MNT="$CASE_DIR/moved"; expect unlocked "$(status state)" "after a move"
mount --bind "$MNT" "$OLD"
expect_code 0 "$KEYCHAINFS" unmount "$OLD" | grep -qF "stays mounted at $MNT." || fail "a bind mount at the old path"
mount --move "$MNT" "$OLD"; MNT=$OLD; expect "$pid" "$(daemon)" "the daemon after moves"; sleep 0.3

# The mount is removed in any way: both views end, the command names them, and the keychain can be mounted again next to them.
for way in command umount lazy reused signal; do
    is_mounted || start
    bind
    case $way in
    command) expect_code 0 "$KEYCHAINFS" unmount "$MNT" > "$CASE_DIR/said"
        grep -qF "umount '$VIEW'" "$CASE_DIR/said" && grep -qF "umount $PART" "$CASE_DIR/said" || fail "views: $(cat "$CASE_DIR/said")" ;;
    umount) umount "$MNT" ;;
    lazy) umount -l "$MNT" ;;
    # The next mount gets the ID of the one that was removed.
    reused) mkdir -p "$CASE_DIR/next"; python3 -I - "$MNT" "$CASE_DIR/next" <<'PY'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
mount, following = (path.encode() for path in sys.argv[1:])
number = lambda path: [line.split()[0] for line in open("/proc/self/mountinfo") if line.split()[4] == path.decode()]
before = number(mount)
assert libc.umount2(mount, 2) == 0 and libc.mount(b"none", following, b"tmpfs", 0, None) == 0
print("the ID was reused" if number(following) == before else "the ID was not reused")
PY
        ;;
    signal) kill -TERM "$pid" ;;
    esac
    wait_until 5 gone
    [ $way != reused ] || umount "$CASE_DIR/next"
    for item in when after always; do dead "$PART/$item"; dead "$VIEW/generic-passwords/s/$item"; done
    start; expect old "$(cat "$D/when")" "mounted again after $way"
    "$KEYCHAINFS" check > /dev/null || fail "check next to a view that has ended"
    umount "$PART"; umount "$VIEW"; sleep 0.2; expect unlocked "$(status state)" "after the removal of views that have ended"
done

# A process whose root and working directory are in the mount, and a descriptor of another user.
cat > "$CASE_DIR/users.py" <<'PY'
import os, sys
mount = sys.argv[1]

def attempt(call):
    try: call()
    except OSError as error: return "not connected" in str(error)
    return False

def started(enter, calls):
    """Runs a process that enters the mount and expects an error from each call, after a byte from the pipe that it returns."""
    ready, finish = os.pipe(), os.pipe()
    process = os.fork()
    if process == 0:
        enter(); place = os.open(".", os.O_RDONLY)
        assert os.listdir(place); os.write(ready[1], b"x"); os.read(finish[0], 1)
        os._exit(0 if all(attempt(call) for call in [lambda: os.listdir(place), lambda: os.stat(place), *calls]) else 1)
    os.close(ready[1]); assert os.read(ready[0], 1)
    return process, finish[1]

def inside(): os.chroot(mount); os.chdir("/")
def other(): os.chdir(mount); os.setgroups([]); os.setgid(65534); os.setuid(65534)
users = [started(inside, [lambda: os.stat("/generic-passwords")]), started(other, [lambda: os.stat("generic-passwords")])]
print(*(process for process, _ in users), flush=True); sys.stdin.readline()
for process, finish in users:
    os.write(finish, b"x"); assert os.waitpid(process, 0)[1] == 0, "the mount is accessible"
PY
unmount_keychain; mount_keychain -o allow_other; pid=$(daemon)
coproc USERS { exec python3 -I "$CASE_DIR/users.py" "$MNT"; }
users=$USERS_PID; read -r -t 20 inside other <&"${USERS[0]}"
expect_code 14 "$KEYCHAINFS" unmount "$MNT" > "$CASE_DIR/said"
grep -qF "(process $inside)" "$CASE_DIR/said" && grep -qF "(process $other)" "$CASE_DIR/said" || fail "users: $(cat "$CASE_DIR/said")"
umount -l "$MNT"; wait_until 5 gone
echo >&"${USERS[1]}"; wait "$users" || fail "processes in the mount"

# A stopped daemon locks and ends when it continues. A command that is sent before that does not respond, and changes nothing.
start; exec 5< "$D/after"; stop_process "$pid"; umount -l "$MNT"; sleep 0.5
! gone || fail "a stopped daemon has ended"
kill -CONT "$pid"; wait_until 5 gone; dead /dev/fd/5; exec 5<&-

# At the same time as locks, unlocks and accesses.
for round in 1 2 3 4 5; do
    start; bind
    (for i in 1 2 3 4 5 6 7 8; do "$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT"; done) > /dev/null 2>&1 & locks=$!
    (for i in $(seq 200); do cat "$PART/when"; env printf x$i > "$PART/new"; done) > /dev/null 2>&1 & uses=$!
    sleep "0.$round"; umount -l "$MNT"; wait_until 8 gone; wait "$locks" "$uses" || true
    dead "$PART/always"; umount "$PART"; umount "$VIEW"
done
expect_code 0 "$KEYCHAINFS" check > /dev/null
