# S2: another copy that is written over the file of a mounted keychain is reported, and nothing is added to it; the next mount
# refuses an older one.
# seconds: 10
. "${0%/*}/lib.sh"
S="$MNT/generic-passwords/s"
STATE="$XDG_STATE_HOME/keychainfs"
integrity() { status integrity; }
is() { [ "$(integrity)" = "$1" ]; }
is_log_empty() { [ ! -s "$KEYCHAIN-wal" ]; }
mount_verified() { mount_keychain "$@"; wait_until 30 is verified; }
# write_over COPY: writes a copy over the mounted file, which stays the same inode, as soon as the log has been moved into it.
write_over() {
    wait_until 10 is_log_empty
    dd if="$1" of="$KEYCHAIN" conv=notrunc status=none; truncate -s "$(stat -c %s "$1")" "$KEYCHAIN"
}
# begin: the newest keychain and its state, mounted.
begin() {
    cp "$CASE_DIR/newest" "$KEYCHAIN"; cp "$CASE_DIR/state/"commit-number.* "$STATE/"
    mount_verified "$@"; expect new "$(cat "$S/alice")" "the newest value"
}
refused() { expect_code 24 "$KEYCHAINFS" mount "$MNT" > "$CASE_DIR/said"; grep -q OLDER "$CASE_DIR/said" || fail "$1: $(cat "$CASE_DIR/said")"; }

create_keychain; mount_keychain; mkdir "$S"; printf old > "$S/alice"; unmount_keychain; cp "$KEYCHAIN" "$CASE_DIR/old"
mount_keychain; printf new > "$S/alice"; printf x > "$S/bob"; unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/newest"; cp -r "$STATE" "$CASE_DIR/state"
# A fork: the same device has changed the older copy more often, with its former state put back.
cp "$CASE_DIR/old" "$KEYCHAIN"; mount_keychain --accept-rollback
for i in 1 2 3 4 5 6 7 8; do printf %s "$i" > "$S/alice"; done; printf fork > "$S/alice"; unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/fork"
# Control: between two mounts the older copy is refused.
cp "$CASE_DIR/old" "$KEYCHAIN"; cp "$CASE_DIR/state/"commit-number.* "$STATE/"; refused "between two mounts"

# With a write: refused, like each later one, and nothing is committed.
for copy in old fork; do
    begin; write_over "$CASE_DIR/$copy"
    for name in carol bob; do expect_errno EBADMSG cp "$PASSPHRASE" "$S/$name"; done
    expect_errno EBADMSG rm "$S/alice"; expect_errno EBADMSG mkdir "$S-2"
    expect 0 "$(commits)" "commits"; expect damaged "$(integrity)" "$copy, written to"
    "$KEYCHAINFS" status "$MNT" | grep -q "another copy .* was written over its file" || fail "$copy: the status does not say it"

    expect_code 21 "$KEYCHAINFS" check | grep -q "ANOTHER COPY" || fail "$copy: check does not say it"
    "$KEYCHAINFS" lock "$MNT"; expect_code 12 "$KEYCHAINFS" unlock "$MNT" | grep -q "another copy" || fail "$copy: unlocked"
    unmount_keychain
    if [ "$copy" = old ]; then refused "after a write"; else mount_keychain; expect fork "$(cat "$S/alice")" "the fork"; [ ! -e "$S/carol" ]; unmount_keychain; fi
done

# Without a write: check, backup and rekey find it, and an older state replaces no backup.
begin; write_over "$CASE_DIR/old"; expect_code 21 "$KEYCHAINFS" check | grep -q "ANOTHER COPY" || fail "check does not say it"
expect damaged "$(integrity)" "after check"; unmount_keychain; refused "after check"
begin; write_over "$CASE_DIR/old"; expect_code 12 "$KEYCHAINFS" backup "$CASE_DIR/backup" > /dev/null
[ ! -e "$CASE_DIR/backup" ] || fail "an older state was copied"
expect "" "$(find "${KEYCHAIN%/*}" -name '.keychainfs-backup-*')" "a copy next to the keychain"; unmount_keychain; refused "after backup"
begin; write_over "$CASE_DIR/old"; ! "$KEYCHAINFS" rekey < /dev/null > "$CASE_DIR/said" 2>&1 || fail "rekey: $(cat "$CASE_DIR/said")"
unmount_keychain; refused "after rekey"
# Without any of them: the next unlock, and the next mount.
begin; write_over "$CASE_DIR/old"; "$KEYCHAINFS" lock "$MNT"; expect_code 12 "$KEYCHAINFS" unlock "$MNT" > /dev/null
expect damaged "$(integrity)" "after unlock"; unmount_keychain; refused "after unlock"
begin; write_over "$CASE_DIR/old"; unmount_keychain; refused "after unmount"
# The newest copy, written back, is reported too: other values may have been read.
begin; write_over "$CASE_DIR/old"; expect_errno EBADMSG mkdir "$S-2"; write_over "$CASE_DIR/newest"
expect_errno EBADMSG mkdir "$S-2"; expect_code 21 "$KEYCHAINFS" check > /dev/null; unmount_keychain
mount_verified; mkdir "$S-2"; rmdir "$S-2"; expect_code 0 "$KEYCHAINFS" check > /dev/null; unmount_keychain
# Read-only.
begin -o ro; write_over "$CASE_DIR/old"; expect_code 21 "$KEYCHAINFS" check > /dev/null; unmount_keychain; refused "read-only"
# The daemon stores its last commit, also if it has stored none since the mount: a copy between the two is older.
begin; printf 1 > "$S/alice"; wait_until 10 is_log_empty; cp "$KEYCHAIN" "$CASE_DIR/between"
printf 2 > "$S/alice"; write_over "$CASE_DIR/between"; unmount_keychain; refused "between two stored states"
