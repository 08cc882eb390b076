# S2: contents that the holder of a removed slot has exchanged under an unchanged row are not served, restored, or sealed by a rekey.
# needs: StoreFormat
# seconds: 12
. "${0%/*}/lib.sh"
(umask 077; echo second > "$CASE_DIR/second")
ACCOUNTS=(short long always)
forge() { /usr/bin/python3 -I "$CASE_DIR/StoreFormat/forge-contents" "$1" "$CASE_DIR/older" "$CASE_DIR/second" "${ACCOUNTS[@]}"; }
items() { local name; for name in "${ACCOUNTS[@]}"; do "$@" "$name"; done; }
integrity() { [ "$(status integrity)" = "$1" ]; }

create_keychain 2> /dev/null; "$KEYCHAINFS" slot add --new-passphrase-file "$CASE_DIR/second" 2> /dev/null
mount_keychain; D="$MNT/generic-passwords/s"; mkdir "$D"
printf 'machine example.com login alice password correct-one-1234567890 # a comment at the end of the line' > "$D/short"
head -c 100000 /dev/zero | tr '\0' x > "$D/long"
printf 'a token that is available before the first unlock, with a comment' > "$D/always"; setfattr -n user.kSecAttrAccessible -v Always "$D/always"
printf other > "$D/other"; cp "$D"/* "$CASE_DIR/"
unmount_keychain; cp "$KEYCHAIN" "$CASE_DIR/older"; "$KEYCHAINFS" slot remove 2 2> /dev/null
cp "$KEYCHAIN" "$CASE_DIR/genuine"; forge "$KEYCHAIN"

# Before the first unlock, and after it. The other items are served, and written.
refused() { ! cat "$D/$1" > "$CASE_DIR/read" 2> "$CASE_DIR/said" || fail "$1 is served"; grep -q 'Bad message' "$CASE_DIR/said" && [ ! -s "$CASE_DIR/read" ] || fail "$1: $(cat "$CASE_DIR/said")"; }
mount_keychain --locked; refused always; "$KEYCHAINFS" unlock "$MNT" 2> /dev/null
items refused; expect other "$(cat "$D/other")" "another item"; printf new > "$D/other"; expect new "$(cat "$D/other")" "another item"
expect 98 "$(stat -c %s "$D/short")" "the size of an item with forged contents"
# The rows are those of the last commit: a scan reads no contents, and a backup copies them as they are.
wait_until 10 integrity verified
reported() { expect_code 21 "$@" > "$CASE_DIR/said"; local name; for name in "${ACCOUNTS[@]}"; do grep -q "generic-passwords/s/$name" "$CASE_DIR/said" || fail "$*: $(cat "$CASE_DIR/said")"; done; }
reported "$KEYCHAINFS" check
"$KEYCHAINFS" backup "$CASE_DIR/backup" > /dev/null; reported "$KEYCHAINFS" backup --verify "$CASE_DIR/backup"

unmount_keychain; "$KEYCHAINFS" restore --replace "$CASE_DIR/backup" 2> "$CASE_DIR/said"
grep -q 'a part of this backup is damaged' "$CASE_DIR/said" || fail "restore: $(cat "$CASE_DIR/said")"; mount_keychain

# A rekey reports them, and leaves them as they are.
expect_code 21 "$KEYCHAINFS" rekey "$MNT" > "$CASE_DIR/said"
grep -q "3 items are damaged" "$CASE_DIR/said" || fail "rekey: $(cat "$CASE_DIR/said")"
items refused; unmount_keychain
unchanged() { python3 -I - "$KEYCHAIN" "$CASE_DIR/backup" <<'PY'
import sqlite3, sys
query = "SELECT item.id, generation, secret_seals, item.secret, ciphertext FROM item LEFT JOIN secret ON secret.id = secret_row"
rows, old = (set(sqlite3.connect(path).execute(query)) for path in sys.argv[1:])
print(len(rows & old))
PY
}
expect 3 "$(unchanged)" "rows that the rekey left alone"

# Control: without the forged contents, the same steps find nothing.
cp "$CASE_DIR/genuine" "$KEYCHAIN"; mount_keychain --accept-rollback 2> /dev/null
same() { cmp "$D/$1" "$CASE_DIR/$1"; }
items same; "$KEYCHAINFS" check > /dev/null; "$KEYCHAINFS" rekey "$MNT" > /dev/null 2>&1; items same; unmount_keychain
expect 0 "$(unchanged)" "rows that the rekey left alone, without forged contents"
