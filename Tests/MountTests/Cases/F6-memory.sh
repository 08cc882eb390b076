# F6, S5: many opens of a large item cost the daemon one copy of it, whose memory is released at the last close.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; head -c 1000000 /dev/urandom > "$CASE_DIR/value"; cp "$CASE_DIR/value" "$D/large"
resident() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$(daemon)/status"; }
before=$(resident)
python3 -I - "$D/large" "$CASE_DIR/value" <<'PY' &
import os, sys, time
files = [os.open(sys.argv[1], os.O_RDONLY) for _ in range(300)]
value = open(sys.argv[2], "rb").read()
for file in (files[0], files[150], files[-1]):
    assert os.pread(file, 1000000, 0) == value
# A value written in the meantime is a different one: readers of the old value keep it (F3).
with open(sys.argv[1], "wb") as writer:
    writer.write(b"new")
assert os.pread(files[7], 1000000, 0) == value and os.pread(os.open(sys.argv[1], os.O_RDONLY), 9, 0) == b"new"
open(sys.argv[1] + ".ready", "w").close()
time.sleep(60)
PY
reader=$!
wait_until 20 test -e "$D/large.ready"
during=$(resident); kill "$reader"; wait "$reader" 2>/dev/null || true
[ $((during - before)) -lt 30000 ] || fail "300 descriptors of one item take $((during - before)) KiB"

# Many large values written at the same time and then deleted.
python3 -I - "$D" <<'PY'
import os, sys
files = [os.open(f"{sys.argv[1]}/{i}", os.O_WRONLY | os.O_CREAT) for i in range(100)]
for file in files:
    os.write(file, b"x" * 500_000)
for file in files:
    os.close(file)
PY
small() { [ $(($(resident) - before)) -lt 60000 ] || { resident >&2; false; }; }
wait_until 10 small
expect 500000 "$(stat -c %s "$D/99")" "what was written"
