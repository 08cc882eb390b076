# S2: the first use of a keychain on a device is announced by the command that unlocks it: an older copy would not be detected. Once;
# not after 'create' and 'restore', which save the state.
. "${0%/*}/lib.sh"
FIRST="used on this device for the first time"
quiet() { local what=$1; shift; "$@" 2> "$CASE_DIR/said" || fail "$what failed: $(cat "$CASE_DIR/said")"; ! grep -q "$FIRST" "$CASE_DIR/said" || fail "$what announces a first use"; }
told() { local what=$1; shift; "$@" 2> "$CASE_DIR/said" || fail "$what failed: $(cat "$CASE_DIR/said")"; expect 1 "$(grep -c "^keychainfs: warning: .*$FIRST" "$CASE_DIR/said")" "$what"; }
quiet create create_keychain; quiet mount mount_keychain; mkdir "$MNT/generic-passwords/s"; printf one > "$MNT/generic-passwords/s/a"
"$KEYCHAINFS" backup "$CASE_DIR/backup" > /dev/null; unmount_keychain

# other N: the Nth other device, which has a device key.
other() { export XDG_STATE_HOME="$CASE_DIR/state-$1"; create_keychain --keychain "$CASE_DIR/own-$1" 2> /dev/null; }
other 1; quiet check "$KEYCHAINFS" check > /dev/null; told mount mount_keychain
"$KEYCHAINFS" status "$MNT" | grep -q "warning: .*$FIRST" || fail "status: $("$KEYCHAINFS" status "$MNT")"
"$KEYCHAINFS" lock "$MNT"; quiet "a later unlock" "$KEYCHAINFS" unlock "$MNT"; unmount_keychain
quiet "the next mount" mount_keychain; ! "$KEYCHAINFS" status "$MNT" | grep -q "$FIRST" || fail "status of the next mount"; unmount_keychain
other 2; quiet "a locked mount" mount_keychain --locked; told "the first unlock" "$KEYCHAINFS" unlock "$MNT"; unmount_keychain
quiet "the next locked mount" mount_keychain --locked; quiet "its first unlock" "$KEYCHAINFS" unlock "$MNT"; unmount_keychain
other 3; told "slot add" "$KEYCHAINFS" slot add --kind recovery > /dev/null; quiet "a mount after slot add" mount_keychain; unmount_keychain
other 4; told "repair" "$KEYCHAINFS" check --repair --yes > /dev/null; told "a mount after a repair that changes nothing" mount_keychain; unmount_keychain
other 5; told "a read-only mount" mount_keychain -o ro; unmount_keychain; told "a mount after it, which saves the state" mount_keychain; unmount_keychain
other 6; quiet restore "$KEYCHAINFS" restore --keychain "$CASE_DIR/restored" "$CASE_DIR/backup"
quiet "a mount after restore" "$KEYCHAINFS" mount "$CASE_DIR/restored" "$MNT"; unmount_keychain
