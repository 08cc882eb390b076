# S2: commands that renew keys do not end with 0 if this device could not record that: full disk, read-only disk.
# users: root
# seconds: 25
. "${0%/*}/lib.sh"
mkdir -p "$XDG_STATE_HOME"; mount -t tmpfs -o size=64k tmpfs "$XDG_STATE_HOME"
state_cleanup() { local code=$?; (exit $code) || true; ! is_mounted || "$KEYCHAINFS" unmount "$MNT"; umount "$XDG_STATE_HOME"; exit $code; }
trap state_cleanup EXIT
(umask 077; echo second > "$CASE_DIR/second")
full() { head -c 1000000 /dev/zero > "$XDG_STATE_HOME/filler" 2> /dev/null || true; }
free() { rm -f "$XDG_STATE_HOME/filler"; }
# unrecorded CODE COMMAND...: it has changed the keychain, and says that this device could not record it.
unrecorded() {
    expect_code "$@" > "$CASE_DIR/said"
    grep -q 'could not record it' "$CASE_DIR/said" || fail "$*: $(cat "$CASE_DIR/said")"
}
slots() { "$KEYCHAINFS" slot list "$@" | wc -l; }
add_slot() { "$KEYCHAINFS" slot add "$@" --new-passphrase-file "$CASE_DIR/second" 2> /dev/null; }
warns() { "$KEYCHAINFS" status "$MNT" | grep -q 'commit number cannot be saved'; }
recorded() { ! warns; }

create_keychain 2> /dev/null; add_slot; cp "$KEYCHAIN" "$CASE_DIR/older"
# In the file.
full; unrecorded 19 "$KEYCHAINFS" slot remove 2; expect 1 "$(slots)" "slots after the removal"
unrecorded 19 "$KEYCHAINFS" slot change 1 --new-passphrase-file "$PASSPHRASE"
cp "$KEYCHAIN" "$CASE_DIR/newest"
# Control: this is the reason why it must be reported. An older copy is accepted until the device has recorded the new keys.
cp "$CASE_DIR/older" "$KEYCHAIN"; mount_keychain; unmount_keychain; cp "$CASE_DIR/newest" "$KEYCHAIN"
free; mount_keychain; recorded || fail "a mount with space does not record the keys"; unmount_keychain
cp "$CASE_DIR/older" "$KEYCHAIN"; expect_code 24 "$KEYCHAINFS" mount "$MNT" > /dev/null; cp "$CASE_DIR/newest" "$KEYCHAIN"
# In a mount: the same, and the daemon records it when that is possible.
add_slot; mount_keychain; mkdir "$MNT/generic-passwords/s"; printf one > "$MNT/generic-passwords/s/a"
full; unrecorded 19 "$KEYCHAINFS" slot remove 2 "$MNT"; expect 1 "$(slots "$MNT")" "slots of the mount"; warns || fail "no warning"
unrecorded 19 "$KEYCHAINFS" slot change 1 "$MNT" --new-passphrase-file "$PASSPHRASE"
unrecorded 19 "$KEYCHAINFS" rekey "$MNT"; grep -q '1 item is sealed' "$CASE_DIR/said" || fail "no result: $(cat "$CASE_DIR/said")"
free; "$KEYCHAINFS" lock "$MNT"; wait_until 10 recorded; "$KEYCHAINFS" unlock "$MNT"
"$KEYCHAINFS" rekey "$MNT" > /dev/null 2>&1 || fail "a rekey that is recorded"
# On a disk that became read-only.
add_slot "$MNT"; mount -o remount,ro "$XDG_STATE_HOME"
unrecorded 1 "$KEYCHAINFS" slot remove 2 "$MNT"; unrecorded 1 "$KEYCHAINFS" rekey "$MNT"
mount -o remount,rw "$XDG_STATE_HOME"; unmount_keychain
mount_keychain; expect one "$(cat "$MNT/generic-passwords/s/a")" "the item"
# The directory may be removed: it is created again.
cp -p "$XDG_STATE_HOME/keychainfs/device.key" "$CASE_DIR"; rm -r "$XDG_STATE_HOME/keychainfs"
"$KEYCHAINFS" rekey "$MNT" > /dev/null 2>&1 || fail "a rekey without the directory"
[ -s "$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*)" ] || fail "no file"
cp -p "$CASE_DIR/device.key" "$XDG_STATE_HOME/keychainfs"
"$KEYCHAINFS" backup "$CASE_DIR/backup" > /dev/null; unmount_keychain
# restore and check --repair.
full; unrecorded 19 "$KEYCHAINFS" restore --replace "$CASE_DIR/backup"; free; mount_keychain; unmount_keychain
python3 -I - "$KEYCHAIN" <<'PY'
import sqlite3, sys
store = sqlite3.connect(sys.argv[1]); store.execute("UPDATE item SET metadata = zeroblob(length(metadata))"); store.commit()
store.execute("PRAGMA wal_checkpoint(TRUNCATE)"); store.close()
PY
full; unrecorded 19 "$KEYCHAINFS" check --repair --yes; free; "$KEYCHAINFS" check > /dev/null || fail "not repaired"
