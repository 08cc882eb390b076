# L5: a cost of the passphrase above what 'create --kdf sensitive' chooses is reported before it is spent; more is refused.
. "${0%/*}/lib.sh"
create_keychain
python() { python3 - "$KEYCHAIN" "$@"; }
cost() { python "$@" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE store SET passes = ?, memory = ?", (int(sys.argv[2]), int(sys.argv[3]))); db.commit(); db.close()
PY
}
restore() { rm -f "$KEYCHAIN-wal" "$KEYCHAIN-shm"; cp "$CASE_DIR/original" "$KEYCHAIN"; }
printf 'another horse\n' > "$CASE_DIR/new"; chmod 600 "$CASE_DIR/new"
WARNING='warning: the passphrase of .* costs [0-9]* passes over [0-9]* MiB, about [0-9]* s'
warned() { grep -q "$WARNING" "$CASE_DIR/said" || fail "$1 did not warn: $(cat "$CASE_DIR/said")"; }
refused() { grep -q "2 GiB, 10 passes" "$CASE_DIR/said" || fail "$1: $(cat "$CASE_DIR/said")"; }

# No warning for a usual cost.
for command in check "slot add --new-passphrase-file $CASE_DIR/new" "mount $MNT"; do
    expect_code 0 "$KEYCHAINFS" $command > "$CASE_DIR/said"; ! grep -q warning: "$CASE_DIR/said" || fail "$command: $(cat "$CASE_DIR/said")"
done
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT" 2> "$CASE_DIR/said"; ! grep -q warning: "$CASE_DIR/said" || fail "unlock: $(cat "$CASE_DIR/said")"
unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/original"

# Another user with write access to the file has raised it: the passphrase opens no slot then, but the user is informed
# of the reason for the duration.
restore; cost 1 $(((1 << 30) + (4 << 20)))
for command in check "slot add --new-passphrase-file $CASE_DIR/new" "backup $CASE_DIR/backup" "mount $MNT" "check --repair"; do
    expect_code 10 "$KEYCHAINFS" $command > "$CASE_DIR/said"; warned "$command"
done
mount_keychain --locked
for command in unlock rekey; do expect_code $([ $command = unlock ] && echo 10 || echo 23) "$KEYCHAINFS" $command "$MNT" > "$CASE_DIR/said"; done
"$KEYCHAINFS" unlock "$MNT" 2> "$CASE_DIR/said" || true; warned unlock
unmount_keychain

# So is one that is usual, but higher than at the last unlock on this device.
restore; cost 1 $((16 << 20))
KEPT='more than at the last unlock here (1 over 0 MiB)'
kept() { grep -qF "$KEPT" "$CASE_DIR/said" || fail "$1 did not warn: $(cat "$CASE_DIR/said")"; }
for command in check "slot add --new-passphrase-file $CASE_DIR/new" "mount $MNT"; do
    expect_code 10 "$KEYCHAINFS" $command > "$CASE_DIR/said"; kept "$command"
done
mount_keychain --locked
expect_code 10 "$KEYCHAINFS" unlock "$MNT" > "$CASE_DIR/said"; kept unlock
expect_code 23 "$KEYCHAINFS" slot add --new-passphrase-file "$CASE_DIR/new" "$MNT" > "$CASE_DIR/said"; kept "slot add of a mount"
unmount_keychain

# Beyond the limits nothing is derived.
for limits in "11 65536" "1 $(((2 << 30) + 1024))" "20 $((4 << 30))"; do
    restore; cost $limits
    for command in check "slot add --new-passphrase-file $CASE_DIR/new" "mount $MNT"; do
        expect_code 13 "$KEYCHAINFS" $command > "$CASE_DIR/said"; refused "$command ($limits)"
    done
    mount_keychain --locked; expect_code 13 "$KEYCHAINFS" unlock "$MNT" > "$CASE_DIR/said"; refused "unlock ($limits)"; unmount_keychain
done

# The original works.
restore; mount_keychain; expect unlocked "$(status state)" "the original"
