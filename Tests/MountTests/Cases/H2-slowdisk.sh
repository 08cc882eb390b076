# H2, L2: after a lock while the disk hangs no content and no data of another item is in the daemon's memory; when the disk has
# responded, no data of the item that was being written, and none of the calls that waited for it.
# users: root
# needs: SlowDisk
# seconds: 6
. "${0%/*}/lib.sh"
slow_disk
TOKEN=$(python3 -I -c "import secrets; print('Canary' + secrets.token_hex(8) + '-')")
create_keychain; mount_slow; pid=$(daemon)
D="$MNT/generic-passwords/svc"; mkdir "$D"
found() { printf 'prefix:\t%s\n' "$TOKEN" | python3 -I "${0%/*}/scan.py" "$pid"; }
for name in slow other; do
    printf '%s' "${TOKEN}$name-content" > "$D/${TOKEN}$name-name"
    setfattr -n user.kSecAttrLabel -v "${TOKEN}$name-label" "$D/${TOKEN}$name-name"
done
python3 -I - "$D/$TOKEN" "$SLOW_DISK" "$CASE_DIR" <<'PY' &
import os, sys, threading, time
prefix, flag, base = sys.argv[1:]
def attempt(call, *arguments):
    try: call(*arguments)
    except OSError: pass
slow, other = prefix + "slow-name", prefix + "other-name"
kept = [os.open(other, os.O_RDONLY), os.open(slow, os.O_RDONLY)]
writer = os.open(slow, os.O_RDWR); os.pwrite(writer, os.fsencode(prefix.rsplit("/")[-1] + "slow-content-new"), 0)
with open(flag, "w") as delay: delay.write("60000")
threads = [threading.Thread(target=attempt, args=call) for call in
    [(os.close, writer), (os.getxattr, slow, "user.kSecAttrLabel"), (os.stat, slow), (os.open, slow, os.O_RDWR), (os.rename, slow, slow + "r")]]
threads[0].start(); time.sleep(0.5)
for thread in threads[1:]: thread.start()
time.sleep(0.5)
open(base + "/waiting", "w").close()
for thread in threads: thread.join()
open(base + "/done", "w").close()
while os.path.exists(base + "/waiting"): time.sleep(0.05)
PY
user=$!
wait_until 20 test -e "$CASE_DIR/waiting"
[ -n "$(found)" ] || fail "the scan finds nothing while all is unlocked: it cannot find anything"
"$KEYCHAINFS" lock "$MNT"
[ ! -e "$CASE_DIR/done" ] || fail "the disk has responded"
left=$(found | grep -e content -e ^other || true); [ -z "$left" ] || fail "while the disk hangs the daemon's memory has: $left"
rm "$SLOW_DISK"
wait_until 20 test -e "$CASE_DIR/done"
# The thread that waits for the item ends soon after.
wait_until 10 eval '[ -z "$(found)" ]'
rm "$CASE_DIR/waiting"; wait "$user"
"$KEYCHAINFS" unlock "$MNT"
ls "$D" | grep -q "${TOKEN}slow-name" || fail "the item is gone"
unmount_keychain
