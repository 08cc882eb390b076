# L2: `lock` waits for no other command: neither for unlocks that derive keys nor for commands that queue behind them.
. "${0%/*}/lib.sh"
"$KEYCHAINFS" create --kdf test-slow
mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; printf s3cret > "$D/a"
printf 'wrong\n' > "$CASE_DIR/wrong"
pids=()
for _ in 1 2 3; do
    "$KEYCHAINFS" unlock --passphrase-file "$CASE_DIR/wrong" "$MNT" 2> /dev/null & pids+=($!)
done
# The first one derives its key, the others wait for it.
sleep 0.3
"$KEYCHAINFS" lock "$MNT"
left=0
for pid in "${pids[@]}"; do if kill -0 "$pid" 2> /dev/null; then left=$((left + 1)); fi; done
[ "$left" -ge 1 ] || fail "the lock has waited for every unlock"
expect locked "$(status state)" "state"
expect_errno ENOKEY cat "$D/a"
for pid in "${pids[@]}"; do
    code=0; wait "$pid" || code=$?
    expect 10 "$code" "an unlock with a wrong passphrase"
done
expect locked "$(status state)" "state after the unlocks"
# Any write to the file `lock` locks, regardless of its data.
"$KEYCHAINFS" unlock "$MNT"
printf x > "$MNT/.keychainfs/lock"
expect locked "$(status state)" "locked by a write"
"$KEYCHAINFS" unlock "$MNT"
expect s3cret "$(cat "$D/a")" "after the unlock"
unmount_keychain
