# E13: `get` prints the secret unchanged or nothing; --wait tries again while the item is locked or nothing is mounted.
# seconds: 40
. "${0%/*}/lib.sh"
create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT"
D="$MNT/generic-passwords/s"; mkdir "$D"; OUT="$CASE_DIR/out" ERR="$CASE_DIR/err"
for bytes in '' 'x' 'line\n' '\n\n' 'a\0b' '\377\r\n'; do
    printf "$bytes" > "$D/item"; "$KEYCHAINFS" get s/item > "$OUT"; cmp "$D/item" "$OUT" || fail "get of '$bytes'"
done
head -c $((1 << 20)) /dev/urandom > "$D/big"; "$KEYCHAINFS" get s/big | cmp - "$D/big" || fail "1 MiB through a pipe"
# Output that cannot be written is a failure; a reader that ends early ends it, as cat.
code=0; "$KEYCHAINFS" get s/big > /dev/full 2> "$ERR" || code=$?
expect 1 "$code" "get > /dev/full"; grep -q 'standard output' "$ERR" || fail "get > /dev/full: $(cat "$ERR")"
code=0; "$KEYCHAINFS" get s/item >&- 2> "$ERR" || code=$?; expect 1 "$code" "get with a closed standard output ($(cat "$ERR"))"
python3 -I - "$KEYCHAINFS" <<'PY' || fail "the end of get if the reader ends"
import signal, subprocess, sys
# Popen restores SIGPIPE, which the caller of this case may ignore.
process = subprocess.Popen([sys.argv[1], "get", "s/big"], stdout=subprocess.PIPE)
process.stdout.read(1); process.stdout.close()
sys.exit(None if process.wait() == -signal.SIGPIPE else f"it ends with {process.returncode}")
PY
# A value is read as of one time: a replacement in between is not mixed in.
printf old > "$D/item"
for round in 1 2 3 4 5; do
    "$KEYCHAINFS" get s/item > "$OUT" & get=$!; printf new > "$D/item"; wait "$get"
    case $(cat "$OUT") in old | new) ;; *) fail "a mixture: $(cat "$OUT")" ;; esac
    printf old > "$D/item"
done

# Without --wait: immediately.
timed() { # SECONDS SECONDS CODE COMMAND…: the duration and the exit code
    local least=$1 most=$2 wanted=$3 start=$EPOCHREALTIME code=0; shift 3
    "$KEYCHAINFS" "$@" > "$OUT" 2> "$ERR" < /dev/null || code=$?
    expect "$wanted" "$code" "$* ($(cat "$ERR"))"
    python3 -I -c '
import sys
start, end, least, most = map(float, sys.argv[1:])
sys.exit(None if least <= end - start <= most else f"{end - start} s")' \
        "$start" "$EPOCHREALTIME" "$least" "$most" || fail "the duration of '$*'"
    [ "$wanted" = 0 ] || [ ! -s "$OUT" ] || fail "'$*' printed $(cat "$OUT")"
}
"$KEYCHAINFS" lock "$MNT"
timed 0 5 23 get s/item; grep -q 'is locked' "$ERR" || fail "$(cat "$ERR")"
timed 2 8 23 get --wait=2s s/item
(sleep 1.5; "$KEYCHAINFS" unlock "$MNT") & timed 1 10 0 get s/item --wait; wait $!; expect old "$(cat "$OUT")" "after the unlock"
# What waiting does not change.
timed 0 5 26 get --wait s/none; timed 0 5 29 get --wait amy; timed 0 5 64 get --wait=soon s/item; timed 0 5 64 get --wait=0s s/item
timed 0 5 64 get --wait 90s s/item
timed 0 5 0 get --wait -- s/item; expect old "$(cat "$OUT")" "an item that is there"
unmount_keychain
timed 0 5 17 get s/item; timed 1 8 17 get s/item --wait=1s
(sleep 1; mount_keychain) & timed 1 15 0 get --wait=1m s/item; wait $!; expect old "$(cat "$OUT")" "after the mount"
unmount_keychain; (sleep 1; mount_keychain -o locked; sleep 2; "$KEYCHAINFS" unlock "$MNT") & timed 3 20 0 get --wait=1m s/item; wait $!
expect old "$(cat "$OUT")" "after a mount that began locked"
# A signal ends the wait.
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" get --wait s/item > "$OUT" 2> "$ERR" & get=$!; sleep 0.5; kill -TERM "$get"; code=0
wait "$get" || code=$?
expect 143 "$code" "a wait that a signal ends"; [ ! -s "$OUT" ] || fail "printed $(cat "$OUT")"
