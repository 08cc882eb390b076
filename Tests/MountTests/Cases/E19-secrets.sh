# E19: the secret of `add`, `get` and the helpers of git and docker is in no argument, no environment, no other file, no log, and not in their memory when they end.
# They are hardened before they read it. Prompts have no echo, and a signal restores the terminal.
# users: root
# seconds: 15
# needs: SlowDisk
. "${0%/*}/lib.sh"
HERE=${0%/*}; TOKEN=$(python3 -I -c 'import secrets; print("Canary" + secrets.token_hex(8))')
slow_disk; create_keychain; mount_slow; export KEYCHAINFS_MOUNT="$MNT"
cat > "$CASE_DIR/stop_at_end.c" <<'C'
#include <signal.h>
#include <string.h>
#include <errno.h>
__attribute__((destructor)) static void stop(void) {
    if (strcmp(program_invocation_short_name, "keychainfs") == 0) raise(SIGSTOP);
}
C
compile_library stop_at_end
# found PID: the canary in the memory of the process.
found() { printf 'secret\t%s\n' "$TOKEN" | python3 -I "$HERE/scan.py" "$1"; }
is_stopped_process() { grep -q '^State:.*T' "/proc/$1/status"; }
# at_end INPUT COMMAND…: stops the command when it ends.
at_end() {
    local input=$1; shift
    LD_PRELOAD="$CASE_DIR/stop_at_end.so" "$KEYCHAINFS" "$@" < "$input" > "$CASE_DIR/out" & process=$!
    wait_until 10 is_stopped_process "$process"
    [ -z "$(found "$process")" ] || fail "the memory of '$*' at its end: $(found "$process")"
    kill -CONT "$process"; wait "$process"
}
IN="$CASE_DIR/in"; printf '%s' "$TOKEN" > "$IN"; { cat "$IN"; head -c 300000 /dev/zero | tr '\0' x; cat "$IN"; } > "$IN.long"
at_end "$IN" add s/item; at_end /dev/null get s/item; cmp "$IN" "$CASE_DIR/out" || fail "get"
at_end "$IN.long" add s/long; at_end /dev/null get s/long; cmp "$IN.long" "$CASE_DIR/out" || fail "get of a long secret"
at_end "$IN" add --replace s/long
printf 'protocol=https\nhost=h\nusername=u\npassword=%s\n' "$TOKEN" > "$IN.git"; printf '{"ServerURL":"h","Username":"u","Secret":"%s"}' "$TOKEN" > "$IN.docker"
for client in git docker; do at_end "$IN.$client" helper $client-credential store; rm "$IN.$client"; done
printf 'protocol=https\nhost=h\n' > "$CASE_DIR/git"; printf h > "$CASE_DIR/docker"
for client in git docker; do
    at_end "$CASE_DIR/$client" helper $client-credential get; grep -q "$TOKEN" "$CASE_DIR/out" || fail "the answer to $client"
    at_end "$CASE_DIR/$client" helper $client-credential erase
done
printf 'otpauth://totp/x?secret=%s' "${TOKEN^^}" | tr 0189 AAAA > "$IN.otp"; TOKEN=$(cut -d= -f2 "$IN.otp")
"$KEYCHAINFS" add s/otp < "$IN.otp"
at_end /dev/null otp s/otp; grep -qE '^[0-9]{6}$' "$CASE_DIR/out" || fail "otp: $(cat "$CASE_DIR/out")"; rm "$IN.otp"
# A generated secret, which is known at the end only.
for recipe in 24 20+symbols words:6 hex:16; do
    LD_PRELOAD="$CASE_DIR/stop_at_end.so" "$KEYCHAINFS" generate "$recipe" > "$CASE_DIR/out" & process=$!
    wait_until 10 is_stopped_process "$process"; TOKEN=$(cat "$CASE_DIR/out")
    [ "${#TOKEN}" -ge 20 ] && [ -z "$(found "$process")" ] || fail "the memory of 'generate $recipe' at its end: $(found "$process")"
    kill -CONT "$process"; wait "$process"
done
TOKEN=$(cat "$IN")

# While the secret is there: hardened, and in no argument, environment or file. The scan finds it in the same process.
echo 3000 > "$SLOW_DISK"; (cat "$IN"; sleep 0.2) | "$KEYCHAINFS" add s/slow & sleep 1
adds=$(pgrep -P $$ -x keychainfs); expect 1 "$(wc -l <<< "$adds")" "processes of add"
found "$adds" | grep -q secret || fail "the scan does not find the secret"
expect 0 "$(awk '/^Max core file size/ { print $5 + $6 }' "/proc/$adds/limits")" "limit of core dumps"
python3 -I - "$adds" <<'PY' || fail "a process of another user can read it"
import os, sys
pid = sys.argv[1]
# A process that is not dumpable belongs to root in /proc, and no other one of its user may read it (ptrace(2)).
assert os.stat(f"/proc/{pid}/environ").st_uid == 0
PY
for process in $(pgrep -x keychainfs; pgrep -x keychainfs-ask || true); do
    ! grep -qa "$TOKEN" "/proc/$process/cmdline" "/proc/$process/environ" 2> /dev/null || fail "in arguments or environment of $process"
done
wait; rm "$SLOW_DISK"
mapfile -t files < <(grep -rla "$TOKEN" "$CASE_DIR" --exclude-dir=mnt || true)
expect "in in.long" "$(for file in "${files[@]}"; do echo "${file##*/}"; done | sort | grep -v '\.sh$' | paste -sd' ')" "files with the secret"

# At a terminal: no echo, twice; two entries that differ, none, and ^C change nothing.
talk() {
    local wanted=$1 code=0; shift
    timeout 100 python3 -I "$HERE/terminal.py" "$KEYCHAINFS" "$@" > "$CASE_DIR/said" 2>&1 || code=$?
    expect "$wanted" "$code" "exit code of '$*' ($(cat "$CASE_DIR/said"))"
    ! grep -q "$TOKEN" "$CASE_DIR/said" || fail "an echo: $(cat "$CASE_DIR/said")"
}
said() { grep -qF -- "$1" "$CASE_DIR/said" || fail "no '$1' in: $(cat "$CASE_DIR/said")"; }
talk 0 add s/typed -- 'Secret of s/typed: ' "$TOKEN" 'Again: ' "$TOKEN"
expect "$TOKEN" "$(cat "$MNT/generic-passwords/s/typed")" "a typed secret"
talk 18 add s/differs -- 'Secret of s/differs: ' "$TOKEN" 'Again: ' "x$TOKEN"; said 'entries differ'
talk 18 add s/empty -- 'Secret of s/empty: ' ''; said 'No secret'
talk 18 add s/ended -- 'Secret of s/ended: ' $'\x04'; said 'No secret'
# Before the prompt: what cannot be added is not asked for.
talk 20 add s/typed --
talk 29 add s --
"$KEYCHAINFS" lock "$MNT"; talk 23 add s/locked --; "$KEYCHAINFS" unlock "$MNT"
# 126: SIGINT has ended it, after the terminal had its echo again.
talk 126 add s/broken -- 'Secret of s/broken: ' "$TOKEN" 'Again: ' '^C'
for name in differs empty ended locked broken; do [ ! -e "$MNT/generic-passwords/s/$name" ] || fail "an item $name"; done
talk 29 add s/long2 -- 'Secret of s/long2: ' "$(head -c 4095 /dev/zero | tr '\0' x)"; said 'at most 4094 bytes'
