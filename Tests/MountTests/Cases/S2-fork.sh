# S2: two devices change copies of one keychain. A copy that lacks the last changes of a device is refused there, also if it has a
# larger commit number; devices that change it in turn, or only read, are never refused.
# needs: StoreFormat
# seconds: 20
. "${0%/*}/lib.sh"
S="$MNT/generic-passwords/s"
FIRST="$XDG_STATE_HOME"; SECOND="$CASE_DIR/second"; mkdir -m 700 "$SECOND"; mkdir -p "$CASE_DIR/copies" "$CASE_DIR/ro"
on() { export XDG_STATE_HOME="$1"; }
keep() { cp "$KEYCHAIN" "$CASE_DIR/copies/$1"; }
put() { cp "$CASE_DIR/copies/$1" "$KEYCHAIN"; rm -f "$KEYCHAIN"-wal "$KEYCHAIN"-shm; }
session() { mount_keychain 2> /dev/null; "$@"; unmount_keychain; }
write() { printf %s "$1" > "$S/alice"; }
# value: the value of alice, in a mount for it.
value() { mount_keychain 2> /dev/null; cat "$S/alice"; unmount_keychain; }
add() { for i in 1 2 3 4 5 6; do printf x > "$S/item $i"; done; }
number() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['device']['rollback'])"; }
# reader: the second implementation compares the store with the state of the device.
reader() {
    /usr/bin/python3 -I "$CASE_DIR/StoreFormat/read-store" "$KEYCHAIN" --cheap --passphrase-file "$PASSPHRASE" \
        --device-key "$XDG_STATE_HOME/keychainfs/device.key" --device-file "$XDG_STATE_HOME"/keychainfs/commit-number.* --verify
}
refused() {
    expect_code 2 reader > "$CASE_DIR/said"; grep -q "R46.*lacks the last changes" "$CASE_DIR/said" || fail "$1: $(cat "$CASE_DIR/said")"
    expect_code 24 "$KEYCHAINFS" mount "$MNT" > "$CASE_DIR/said"
    grep -q "ANOTHER COPY than the one that this device has changed last" "$CASE_DIR/said" || fail "$1: $(cat "$CASE_DIR/said")"
    ! is_mounted || fail "$1: mounted"
}
create_keychain; session mkdir "$S"; on "$SECOND"; session true; on "$FIRST"; session write old; keep equal

# Control: changes on one device, then on the other, reach each of them and are accepted.
on "$SECOND"; session write second; on "$FIRST"; expect second "$(value)" "in turn"; reader > /dev/null
on "$SECOND"; session write third; on "$FIRST"; session write old; keep equal

# Reading alone makes no different copies.
for device in "$FIRST" "$SECOND"; do
    on "$device"; put equal; mount_keychain; cat "$S/alice" > /dev/null; "$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT"
    unmount_keychain; cmp "$KEYCHAIN" "$CASE_DIR/copies/equal" || fail "a session that only reads has changed the file"
done

# A password is changed on the first device after a breach; the second one, with its own copy, adds six items.
on "$FIRST"; put equal; session write changed; keep changed
on "$SECOND"; put equal; session add; keep added
on "$FIRST"; put added; refused "a fork with a larger number"; refused "again"
cmp "$KEYCHAIN" "$CASE_DIR/copies/added" || fail "a refusal has changed the file"
expect_code 24 "$KEYCHAINFS" mount -o ro "$MNT" > /dev/null; expect_code 24 "$KEYCHAINFS" check > /dev/null
expect_code 24 "$KEYCHAINFS" backup "$CASE_DIR/b" > /dev/null
mount_keychain --locked; expect_code 24 "$KEYCHAINFS" unlock "$MNT" > "$CASE_DIR/said"; unmount_keychain
grep -q "another copy" "$CASE_DIR/said" || fail "unlock: $(cat "$CASE_DIR/said")"
expect_code 24 "$KEYCHAINFS" check --repair --yes > /dev/null
# The second device has not seen the changes of the first one: its own copy is the newest there, the other one is older.
on "$SECOND"; put added; expect old "$(value)" "its own copy"
put changed; expect_code 24 "$KEYCHAINFS" mount "$MNT" | grep -q OLDER || fail "the second device has accepted a copy without its items"

# As the message advises: one copy is read, the other one accepted, and items are copied.
on "$FIRST"; put added
"$KEYCHAINFS" mount --keychain "$CASE_DIR/copies/changed" -o ro --accept-rollback "$CASE_DIR/ro" < /dev/null
mount_keychain --accept-rollback; expect accepted "$(number)" "accepted"; expect old "$(cat "$S/alice")" "the old password"
cp "$CASE_DIR/ro/generic-passwords/s/alice" "$S/alice"; expect changed "$(cat "$S/alice")" "merged"
"$KEYCHAINFS" unmount "$CASE_DIR/ro"; unmount_keychain
mount_keychain; expect passed "$(number)" "the next mount"; expect changed "$(cat "$S/alice")" "merged"; unmount_keychain; keep merged
on "$SECOND"; reader > /dev/null; expect changed "$(value)" "on the second device"
# Each other copy is older from then on.
on "$FIRST"; put changed; expect_code 24 "$KEYCHAINFS" mount "$MNT" > /dev/null; put merged

# After a kill the last changes of the session are not known here, but the first one is.
mount_keychain; write one; "$KEYCHAINFS" lock "$MNT"; sleep 1; "$KEYCHAINFS" unlock "$MNT"; write two; write three; kill -9 "$(daemon)"
wait_until 10 bash -c "! grep -q ' $MNT fuse.keychainfs ' /proc/self/mounts"
mount_keychain; expect three "$(cat "$S/alice")" "after a kill"; unmount_keychain
on "$SECOND"; put merged; session add; session add; session add; keep added; on "$FIRST"; put added; refused "after a kill"

# restore and check --repair replace what this device has noted.
"$KEYCHAINFS" restore --replace "$CASE_DIR/copies/added" 2> /dev/null
mount_keychain; expect passed "$(number)" "after restore"; unmount_keychain; rm -f "$KEYCHAIN".replaced-*
session write four; put added; expect_code 24 "$KEYCHAINFS" mount "$MNT" > /dev/null
python3 -I - "$KEYCHAIN" <<'PY'
import sqlite3, sys
sqlite3.connect(sys.argv[1], isolation_level=None).execute("UPDATE item SET version = version + 1 WHERE id = (SELECT max(id) FROM item)")
PY
expect_code 24 "$KEYCHAINFS" check --repair --yes > /dev/null
expect_code 0 "$KEYCHAINFS" check --repair --yes --accept-rollback > /dev/null
mount_keychain; expect passed "$(number)" "after a repair"; write five; unmount_keychain; mount_keychain; expect passed "$(number)" "later"
unmount_keychain
