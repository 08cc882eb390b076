# H6: status and doctor show which measures are in effect, and warn where backups would copy decrypted files.
# seconds: 11
. "${0%/*}/lib.sh"
expect_code 0 "$KEYCHAINFS" doctor "$MNT" > "$CASE_DIR/doctor"
grep -q 'create' "$CASE_DIR/doctor" || fail "doctor does not say how to make a keychain"
[ ! -e "$HOME/state" ] || fail "doctor made something"
create_keychain; mount_keychain
pid=$(daemon)
"$KEYCHAINFS" status --json "$MNT" > "$CASE_DIR/status"
python3 -I - "$CASE_DIR/status" "$pid" <<'PY'
import json, sys
status, pid = json.load(open(sys.argv[1])), sys.argv[2]
held = status["hardening"]
locked = int(next(l for l in open(f"/proc/{pid}/status") if l.startswith("VmLck")).split()[1])
assert held["lockedKilobytes"] == locked, (held, locked)
for name in ("memoryLocked", "buffersLocked", "undumpable", "coreDumpsDisabled", "crashReportsOff", "allocatorWipes", "noNewPrivileges"):
    assert held[name] is True, (name, held)
assert held["swapActive"] == (len(open("/proc/swaps").readlines()) > 1)
assert locked >= 2048 + 1088, "arena and a receive buffer are not locked"
# At most four receive buffers, as many as fit next to the arena into the usual 8 MiB.
assert locked <= 8192, locked
assert status["warnings"] == [], status["warnings"]
PY
"$KEYCHAINFS" status "$MNT" | grep -q 'freed memory wiped' || fail "the text does not tell of the allocator"
long=$("$KEYCHAINFS" status "$MNT" | grep -v / | grep -E '.{81}') && fail "a line of more than 80 columns: $long"
expect_code 0 "$KEYCHAINFS" doctor "$MNT" > /dev/null
unmount_keychain

# If the limit prevents locking memory, both report it: for all memory, or for the buffers alone, which are allocated
# after the arena.
hardening() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['hardening']['$1'])"; }
if [ "$(id -u)" != 0 ]; then
    (ulimit -l 64; "$KEYCHAINFS" mount "$MNT"; "$KEYCHAINFS" doctor --json "$MNT" > "$CASE_DIR/limited") 2> /dev/null
    expect "False False" "$(hardening memoryLocked) $(hardening buffersLocked)" "what is locked"
    # A buffer of one page for short messages still fits.
    locked=$(hardening lockedKilobytes)
    [ "$locked" -le 64 ] || fail "$locked KiB are locked where 64 may be"
    expect "$(awk '/^VmLck:/ { print $2 }' "/proc/$(daemon)/status")" "$locked" "what is locked, as the kernel counts it"
    "$KEYCHAINFS" status "$MNT" | grep -q 'NOT in force:.*plaintext locked.*buffers locked' || fail "the text hides what does not hold"
    python3 -I -c '
import json, sys
found = {f["name"]: f for f in json.load(open(sys.argv[1]))["findings"]}
assert found["memory-lock-limit"]["severity"] == "warning" and "LimitMEMLOCK" in found["memory-lock-limit"]["advice"]
assert found["memory-locked"]["severity"] == "warning"' "$CASE_DIR/limited"
    unmount_keychain
    (ulimit -l 2200; "$KEYCHAINFS" mount "$MNT") 2> /dev/null
    expect "True False" "$(hardening memoryLocked) $(hardening buffersLocked)" "what is locked with room for the arena"
    unmount_keychain
fi

# An allocator that leaves data in reused memory is detected: here glibc itself fills new blocks.
GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=90 "$KEYCHAINFS" mount "$MNT"
expect False "$(hardening allocatorWipes)" "allocatorWipes"
unmount_keychain
GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=90 "$KEYCHAINFS" doctor "$MNT" > "$CASE_DIR/doctor"
grep -q '^warning .*freed.*NOT in force' "$CASE_DIR/doctor" || fail "doctor claims that freed memory is wiped"

# Backups of the home directory copy a mount in it; only doctor warns about the default mount point.
mkdir "$HOME/Keychain" "$HOME/Secrets" "$HOME/Dropbox" "$HOME/Dropbox/k"
for name in Keychain Secrets; do
    "$KEYCHAINFS" mount "$HOME/$name"; "$KEYCHAINFS" status "$HOME/$name" > "$CASE_DIR/status"; "$KEYCHAINFS" unmount "$HOME/$name"
    expect "$([ "$name" = Keychain ] || echo 1)" "$(grep -m 1 -o 'warning:.*backup' "$CASE_DIR/status" | wc -l | grep -v 0)" "warnings about $name"
done
"$KEYCHAINFS" doctor "$HOME/Keychain" | grep -q '^warning .*backup' || fail "doctor does not warn of backups"
"$KEYCHAINFS" doctor "$HOME/Dropbox/k" | grep -q 'Dropbox' || fail "no warning about a synchronized directory"

# Each problem is reported with advice, and doctor fails.
problem() {
    local name=$1 code=0; shift
    "$KEYCHAINFS" doctor --json "$MNT" > "$CASE_DIR/doctor" 2> /dev/null || code=$?
    expect 1 "$code" "exit code of doctor ($name)"
    python3 -I - "$CASE_DIR/doctor" "$name" <<'PY'
import json, sys
bad = {f["name"]: f for f in json.load(open(sys.argv[1]))["findings"] if f["severity"] == "problem"}
assert set(bad) == {sys.argv[2]} and bad[sys.argv[2]]["advice"], bad
PY
}
chmod 0644 "$KEYCHAIN"; problem keychain; chmod 0600 "$KEYCHAIN"
chmod 0640 "$XDG_STATE_HOME/keychainfs/device.key"; problem device-key; chmod 0600 "$XDG_STATE_HOME/keychainfs/device.key"
STATE="$XDG_STATE_HOME/keychainfs"; cp "$STATE/device.key" "$CASE_DIR/key"
truncate -s 31 "$STATE/device.key"; problem device-key
rm "$STATE/device.key"; mkfifo "$STATE/device.key"; problem device-key
# A pipe is not read.
expect_code 1 timeout 20 "$KEYCHAINFS" mount "$MNT" | grep -q 'device key' || fail "a pipe for a device key"
rm "$STATE/device.key"; install -m 600 "$CASE_DIR/key" "$STATE/device.key"
mv "$STATE" "$CASE_DIR/moved"; touch "$STATE"; problem state-directory; rm "$STATE"; mv "$CASE_DIR/moved" "$STATE"
chmod 0700 "$MNT"; touch "$MNT/x"; problem mount-point; rm "$MNT/x"
mount_keychain; pid=$(daemon); read -r guard < "/proc/$pid/task/$pid/children" || true
[ -z "$guard" ] || kill -9 "$guard"
kill -9 "$pid"; wait_until 10 eval '! stat "$MNT" 2> /dev/null'
problem mount-point
mount_keychain; unmount_keychain
expect_code 0 "$KEYCHAINFS" doctor "$MNT" > /dev/null

# S2: status reports a commit number that cannot be saved.
create_keychain --keychain "$CASE_DIR/other"; mount_keychain --keychain "$CASE_DIR/other"
mkdir "$MNT/generic-passwords/s"; "$KEYCHAINFS" status "$MNT" | grep 'commit number' && fail "told too early"
mv "$STATE" "$CASE_DIR/moved"; touch "$STATE"
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" status "$MNT" | grep -q 'commit number cannot be saved' || fail "a commit number that is not kept"
rm "$STATE"; mv "$CASE_DIR/moved" "$STATE"
"$KEYCHAINFS" unlock "$MNT"; "$KEYCHAINFS" status "$MNT" | grep 'commit number' && fail "still told"
true
