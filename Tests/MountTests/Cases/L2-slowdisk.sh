# L2, S2: a lock does not wait for a slow disk: descriptors are refused and the command ends while each synchronization takes 60 s.
# The commit number is saved afterwards.
# users: user
# needs: SlowDisk
# seconds: 4
. "${0%/*}/lib.sh"
slow_disk
create_keychain; mount_slow
D="$MNT/generic-passwords/s"; mkdir "$D"; printf old > "$D/a"; printf old > "$D/b"
NUMBER=$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*); before=$(sha256sum "$NUMBER")
python3 -I - "$KEYCHAINFS" "$MNT" "$D" "$SLOW_DISK" <<'PY'
import errno, os, subprocess, sys, time
program, mount, directory, flag = sys.argv[1:]
file = os.open(f"{directory}/a", os.O_RDWR); os.pwrite(file, b"new", 0)
other = os.open(f"{directory}/b", os.O_RDONLY); assert os.pread(other, 3, 0) == b"old"
with open(flag, "w") as delay: delay.write("60000")
begin = time.monotonic()
lock = subprocess.Popen([program, "lock", mount], env={**os.environ, "LD_PRELOAD": ""})
def refused(read):
    while time.monotonic() < begin + 20:
        try: read()
        except OSError as error:
            assert error.errno == errno.ENOKEY, error
            return True
        time.sleep(0.005)
assert refused(lambda: os.pread(file, 3, 0)), "the staged value is readable"
assert refused(lambda: os.pread(other, 3, 0)), "an item is readable"
assert lock.wait(20) == 0, "lock"
try: os.close(file)
except OSError as error: assert error.errno == errno.ENOKEY, error
else: raise AssertionError("close did not report the lost value")
PY
expect "$before" "$(sha256sum "$NUMBER")" "the commit number while the disk is slow"
rm "$SLOW_DISK"
expect locked "$(status state)" "the state afterwards"
wait_until 20 eval '[ "$before" != "$(sha256sum "$NUMBER")" ]'
"$KEYCHAINFS" unlock "$MNT"; expect old "$(cat "$D/a")" "the item"
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null
