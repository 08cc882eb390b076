# E3: the secret is in the memory of neither `copy` at its end nor the process that holds the clipboard.
# users: root
# seconds: 8
. "${0%/*}/lib.sh"
create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT"; . "${0%/*}/display.sh"
D="$MNT/generic-passwords/s"; mkdir "$D"; TOKEN=Canary$(python3 -I -c 'import secrets; print(secrets.token_hex(8))')
{ printf '%s' "$TOKEN"; head -c 300000 /dev/zero | tr '\0' x; } > "$D/long"
# Stops `copy` at its end, not the process that holds the clipboard, which leads a session.
cat > "$CASE_DIR/stop_at_end.c" <<'C'
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
__attribute__((destructor)) static void stop(void) {
    if (strcmp(program_invocation_short_name, "keychainfs") == 0 && getsid(0) != getpid()) raise(SIGSTOP);
}
C
compile_library stop_at_end
is_stopped_process() { grep -q '^State:.*T' "/proc/$1/status"; }
LD_PRELOAD="$CASE_DIR/stop_at_end.so" "$KEYCHAINFS" copy --all --clear-after 3s s/long & process=$!
wait_until 10 is_stopped_process "$process"; holds=$(holder | grep -vx "$process")
for id in "$process" "$holds"; do
    found=$(printf 'secret\t%s\n' "$TOKEN" | python3 -I "${0%/*}/scan.py" "$id") || fail "the scan of $id"
    [ -z "$found" ] || fail "in the memory of $id: $found"
done
kill -CONT "$process"; wait "$process"; wait_until 10 no_holder
