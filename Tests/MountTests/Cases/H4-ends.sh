# H4, F1: SIGTERM, SIGINT and SIGHUP under load: acknowledged changes are kept, the mount is removed, the exit code is
# 0. Signals that have no meaning for a daemon change nothing. A stopped or killed watchdog blocks no unmount.
# users: user
# seconds: 15
. "${0%/*}/lib.sh"
create_keychain
cat > "$CASE_DIR/writer.py" <<'PY'
import os, sys
directory, log = sys.argv[1], open(sys.argv[2], "w")
try:
    for i in range(1000000):
        if i % 3: file = os.open(f"{directory}/n{i % 20}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        else: file = os.open(f"{directory}/n{i % 20}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.ftruncate(file, 0); os.write(file, b"%d" % i)
        if i % 2: os.fsync(file)
        os.close(file)
        log.write(f"{i % 20} {i}\n"); log.flush()
except OSError: pass
PY
cat > "$CASE_DIR/verify.py" <<'PY'
import sys
last = {}
for line in open(sys.argv[2]):
    if line.endswith("\n"): slot, value = map(int, line.split()); last[slot] = value
assert last, "nothing was written"
for slot, value in last.items():
    text = open(f"{sys.argv[1]}/n{slot}").read()
    assert text.isdigit() and int(text) >= value, f"n{slot}: {value} was acknowledged, {text!r} is there"
PY
D="$MNT/generic-passwords/s"
for signal in TERM INT HUP; do
    "$KEYCHAINFS" mount --foreground "$MNT" 2> "$CASE_DIR/log" & pid=$!
    wait_until 30 is_mounted; wait_until 30 eval 'status pid > /dev/null 2>&1'; mkdir -p "$D"
    python3 -I "$CASE_DIR/writer.py" "$D" "$CASE_DIR/acknowledged" & writer=$!
    wait_until 30 test -s "$CASE_DIR/acknowledged"; sleep 0.3
    for other in QUIT PIPE; do kill -$other "$pid"; done
    sleep 0.2; expect unlocked "$(status state)" "after signals that mean nothing"
    kill -$signal "$pid"
    code=0; wait "$pid" || code=$?; expect 0 "$code" "exit code after SIG$signal"
    ! is_mounted || fail "SIG$signal: still mounted"
    wait "$writer" || fail "the writer"
    [ ! -s "$KEYCHAIN-wal" ] || fail "SIG$signal: the log was not emptied"
    mount_keychain; python3 -I "$CASE_DIR/verify.py" "$D" "$CASE_DIR/acknowledged" || fail "SIG$signal lost something"
    unmount_keychain; rm "$CASE_DIR/acknowledged"
done

guard_of() { local guard; read -r guard < "/proc/$1/task/$1/children" || true; [ -n "$guard" ] || fail "no guard"; echo "$guard"; }
gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"; }
# Signals that a terminal or a logout sends do not end the watchdog.
mount_keychain; pid=$(daemon); guard=$(guard_of "$pid")
for signal in TERM INT HUP PIPE; do kill -$signal "$guard"; done
sleep 0.3; ! gone "$guard" || fail "the guard went with a signal"
# A stopped watchdog does not block the unmount.
kill -STOP "$guard"; start=$SECONDS
expect_code 0 timeout 60 "$KEYCHAINFS" unmount "$MNT" > /dev/null
[ $((SECONDS - start)) -le 15 ] || fail "the unmount took $((SECONDS - start)) s"
wait_until 10 gone "$guard"
mount_keychain; pid=$(daemon); kill -KILL "$(guard_of "$pid")"; sleep 0.2
expect unlocked "$(status state)" "without a guard"; expect_code 0 "$KEYCHAINFS" unmount "$MNT" > /dev/null

# A closed terminal or an ended session does not affect the daemon: it has a separate session.
setsid bash -c '"$KEYCHAINFS" mount "$0"; kill -HUP 0' "$MNT" 2> /dev/null || true
wait_until 30 is_mounted; pid=$(daemon)
expect "$pid" "$(ps -o sid= -p "$pid" | tr -d ' ')" "the session of the daemon"
expect "?" "$(ps -o tty= -p "$pid" | tr -d ' ')" "the terminal of the daemon"
[ "$(ps -o sid= -p "$(guard_of "$pid")" | tr -d ' ')" != "$pid" ] || fail "daemon and guard end with one session"
unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null
