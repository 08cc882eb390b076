# H4, F1: kill -9 of the daemon in a loop of writes loses nothing acknowledged and leaves no dead mount.
# users: both
. "${0%/*}/lib.sh"
create_keychain
for round in $(seq "$(rounds 6)"); do
    mount_keychain
    D="$MNT/generic-passwords/s"; mkdir -p "$D"
    pid=$(daemon)
    rm -f "$CASE_DIR/acknowledged"
    python3 - "$D" "$CASE_DIR/acknowledged" <<'PY' &
import sys, os
directory, log = sys.argv[1:]
log = open(log, "w")
try:
    for i in range(100000):
        with open(f"{directory}/n{i % 40}", "w") as f: f.write(f"{i}")
        log.write(f"{i % 40} {i}\n"); log.flush()
except OSError: pass
PY
    writer=$!
    wait_until 60 [ -s "$CASE_DIR/acknowledged" ]
    sleep "0.$round"
    kill -9 "$pid"
    wait "$writer" || true
    wait_until 15 eval '! is_mounted'
    [ -z "$(ls -A "$MNT" 2>/dev/null)" ] || fail "something is left below the mount point"
    [ -s "$CASE_DIR/acknowledged" ] || fail "nothing was written in round $round"
    mount_keychain
    python3 - "$D" "$CASE_DIR/acknowledged" <<'PY'
import sys
directory, log = sys.argv[1:]
last = {}
for line in open(log):
    if line.endswith("\n"): slot, value = map(int, line.split()); last[slot] = value
for slot, value in last.items():
    found = int(open(f"{directory}/n{slot}").read())
    assert found >= value, f"n{slot}: {value} was acknowledged, {found} is there"
print(f"{len(last)} items, last value {max(last.values())}")
PY
    unmount_keychain
done
expect_code 0 "$KEYCHAINFS" check > /dev/null
# A stale mount whose watchdog is dead too is cleaned up at the next start.
mount_keychain; pid=$(daemon)
for guard in $(pgrep -f "guard .*$MNT" || true); do [ "$guard" = "$$" ] || kill -9 "$guard"; done
kill -9 "$pid"; sleep 0.5
ln -s "$MNT" "$CASE_DIR/link"
for way in "$MNT" "$CASE_DIR/link"; do
    expect_code 17 "$KEYCHAINFS" show "$way/generic-passwords/s/n0" | grep -q 'has died' || fail "show after the daemon's death"
done
mount_keychain; cat "$MNT/generic-passwords/s/n0" > /dev/null; unmount_keychain
# After a normal unmount the mount point is not writable, and there is no watchdog (H3).
expect 500 "$(stat -c %a "$MNT")" "mode of the mount point"
wait_until 10 eval '! pgrep -f "guard .*$MNT" > /dev/null'
