# L1, L2: the result of each operation for an item of each class in each lock state is the documented one.
# LOCK_TABLE_ONLY=1 (scripts/lock-table) prints the results and compares nothing.
. "${0%/*}/lib.sh"
here="${0%/*}"; table() { python3 -I "$here/lock-table.py" "$1" "$MNT" "$CASE_DIR/table"; }
create_keychain 2> /dev/null; mount_keychain; table prepare; unmount_keychain
mount_keychain --locked; table cold; "$KEYCHAINFS" unlock "$MNT"
table over-lock & pid=$!
wait_until 60 test -e "$CASE_DIR/table.unlocked"
"$KEYCHAINFS" lock "$MNT"; touch "$CASE_DIR/table.locked"; wait "$pid"
table print > "$CASE_DIR/printed"
[ -z "${LOCK_TABLE_ONLY:-}" ] || { cat "$CASE_DIR/printed"; exit 0; }
sed '1,/^<!-- scripts\/lock-table begins -->$/d; /^<!-- scripts\/lock-table ends -->$/,$d' "$here/locking.md" > "$CASE_DIR/documented"
[ -s "$CASE_DIR/documented" ] || fail "the documentation has no table"
diff -u "$CASE_DIR/documented" "$CASE_DIR/printed" >&2 || fail "the table of the documentation is not what the mount does"
