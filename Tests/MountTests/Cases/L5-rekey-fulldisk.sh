# L5, F9: on a full disk a rekey stops, reports it, leaves the space that others need, and continues later.
# users: root
. "${0%/*}/lib.sh"
mkdir "$CASE_DIR/small"; mount -t tmpfs -o size=12m tmpfs "$CASE_DIR/small"
small_cleanup() { local code=$?; (exit $code) || true; cd /; is_mounted && "$KEYCHAINFS" unmount "$MNT"; umount "$CASE_DIR/small"; exit $code; }
trap small_cleanup EXIT
rekey_field() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['rekey'].get('$1'))"; }
is_rekey() { [ "$(rekey_field state)" = "$1" ]; }
K="$CASE_DIR/small/k"
create_keychain --keychain "$K"; mount_keychain --keychain "$K"
D="$MNT/generic-passwords/s"; mkdir "$D"
for n in $(seq 60); do head -c 50000 /dev/zero | tr '\0' "$((n % 10))" > "$D/n$n"; done
right() { for n in $(seq 2 60); do head -c 50000 /dev/zero | tr '\0' "$((n % 10))" | cmp - "$D/n$n" || fail "n$n $1"; done; }
# The new keys still fit; the items do not.
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT"; sleep 1.5
free=$(($(stat -f -c '%a * %S' "$CASE_DIR/small")))
head -c $((free - 900000)) /dev/zero > "$CASE_DIR/small/filler"
expect_code 19 "$KEYCHAINFS" rekey "$MNT" | grep -q 'continues automatically' || fail "it does not report that it continues"
expect "waiting disk-full" "$(rekey_field state) $(rekey_field reason)" "the state on a full disk"
"$KEYCHAINFS" status "$MNT" | grep -q '^rekey: *waiting (disk-full)' || fail "status does not tell of it"
expect_errno ENOSPC sh -c "head -c 300000 /dev/zero > '$D/more'"
rm "$D/n1"; right "on a full disk"
rm "$CASE_DIR/small/filler"
wait_until 45 is_rekey finished
right "afterwards"
expect 0 "$(rekey_field left)" "items that are left"
expect_code 0 "$KEYCHAINFS" check --keychain "$K" > /dev/null
unmount_keychain
expect 1 "$(python3 -I -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(DISTINCT generation) FROM class_key WHERE purpose = 6").fetchone()[0])' "$K")" "generations that are left"
