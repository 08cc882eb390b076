# F1, F4, F10, T6, H5: many processes write, read, rename, exchange, remove, list and set attributes, through the mount
# and through its API, while it is locked and unlocked: no acknowledged change is lost, no process waits forever, no
# resource use grows.
# users: root
. "${0%/*}/lib.sh"
: "${LOAD_SECONDS:=$(rounds 12)}" "${LOAD_PROCESSES:=16}"
create_keychain; mount_keychain
python3 "$CASE_DIR/load.py" run "$MNT" "$LOAD_SECONDS" "$LOAD_PROCESSES" "$KEYCHAINFS" "$CASE_DIR/journal"
python3 "$CASE_DIR/load.py" verify "$MNT" "$CASE_DIR/journal" > /dev/null
unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null
mount_keychain
python3 "$CASE_DIR/load.py" verify "$MNT" "$CASE_DIR/journal"
