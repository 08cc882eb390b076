# F9: another user gets ENOSPC when its staged values use a quarter of the memory; the mounting user's data still
# commits, and the daemon stays small with 1,000 open files.
# users: root
. "${0%/*}/lib.sh"
. "${0%/*}/accounts.sh"
make_accounts
create_keychain; mount_keychain -o allow_other
D="$MNT/generic-passwords/s"; mkdir "$D"; chmod 777 "$D"
resident() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$(daemon)/status"; }

# The mounting user has a staged value.
exec 8> "$D/own"; head -c 1000000 /dev/zero >&8

as "$A" python3 -I - "$D" <<'PY' &
import errno, os, sys, time
value, refused, written, files = b"x" * 1_000_000, 0, 0, []
for index in range(1000):
    file = os.open(f"{sys.argv[1]}/a{index}", os.O_RDWR | os.O_CREAT, 0o600)
    files.append(file)
    try:
        os.pwrite(file, value, 0)
        written += 1
    except OSError as error:
        assert error.errno == errno.ENOSPC, error
        refused += 1
        if refused > 20:
            break
# A quarter of 64 MiB, at 4 KiB and a little more each.
assert 14 <= written <= 16, written
# Readers of an uncommitted value use no additional memory.
files += [os.open(f"{sys.argv[1]}/a0", os.O_RDONLY) for _ in range(1000 - len(files))]
assert os.pread(files[-1], 9, 999_995) == b"x" * 5
open(f"{sys.argv[1]}/ready", "w").close()
deadline = time.monotonic() + 60
while os.path.exists(f"{sys.argv[1]}/ready") and time.monotonic() < deadline: time.sleep(0.05)
PY
other=$!
wait_until 30 test -e "$D/ready"
exec 8>&-
expect 1000000 "$(stat -c %s "$D/own")" "the mounting user's value"
printf more > "$D/more"; expect more "$(cat "$D/more")" "another value of the mounting user"
[[ "$("$KEYCHAINFS" status "$MNT")" = *"memory:      "*" of 64 MiB"* ]] || fail "the status does not show the memory"
size=$(resident)
[ "$size" -lt 153600 ] || fail "the daemon takes $size KiB with 1,000 open files"
rm -f "$D/ready"; wait "$other" || fail "the other user's program"

# All of the memory is free again; a smaller limit applies to another user too.
as "$A" python3 -I - "$D" <<'PY'
import contextlib, os, sys, time
for _ in range(100):
    try:
        files = []
        files += [os.open(f"{sys.argv[1]}/b{index}", os.O_WRONLY | os.O_CREAT, 0o600) for index in range(14)]
        for file in files: os.write(file, b"y" * 1_000_000)
        for file in files: os.close(file)
        break
    except OSError:
        for file in files:
            with contextlib.suppress(OSError): os.close(file)
        time.sleep(0.1)
else:
    sys.exit("the memory of closed files is not free")
PY
unmount_keychain; mount_keychain -o allow_other,staged_limit=8
expect 8388608 "$("$KEYCHAINFS" status --json "$MNT" | python3 -I -c 'import json, sys; print(json.load(sys.stdin)["stagedMemory"]["limit"])')" "the limit"
expect_errno ENOSPC as "$A" sh -c 'exec 3> "$0/c" 4> "$0/d"; head -c 1000000 /dev/zero >&3; head -c 1100000 /dev/zero >&4' "$D"
