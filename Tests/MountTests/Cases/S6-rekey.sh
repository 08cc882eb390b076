# S6, L5: a store in the middle of a rekey, with three sets of master keys, a removed slot and a slot of a passphrase and a key
# file: everything opens with either slot, both programs agree, and the rekey is completed after the unlock.
# needs: StoreFormat
# seconds: 14
. "${0%/*}/lib.sh"
FORMAT="$CASE_DIR/StoreFormat"; F="$FORMAT/fixtures/rekey"; KEYCHAIN="$CASE_DIR/rekey.keychain"; KEY="$CASE_DIR/key-file"
install -m 600 "$F/login.keychain" "$KEYCHAIN"; install -m 600 "$F/passphrase" "$PASSPHRASE"; install -m 600 "$F/key-file" "$KEY"
install_device "$F" 1
reader() {
    /usr/bin/python3 -I "$FORMAT/read-store" "$KEYCHAIN" --device-key "$F/device-1.key" --verify --passphrase-file "$PASSPHRASE" "$@" \
        > "$CASE_DIR/said" || fail "read-store: $(cat "$CASE_DIR/said")"
}
compare() {
    python3 -I "$FORMAT/show-mount" "$MNT" > "$CASE_DIR/shown.json"
    diff "$FORMAT/fixtures/format-2/contents.json" "$CASE_DIR/shown.json" > "$CASE_DIR/difference" || fail "$1: $(head -n 40 "$CASE_DIR/difference")"
}
sets() {
    python3 -I -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT length(master_keys) / 256 FROM store").fetchone()[0])' \
        "$KEYCHAIN"
}
expect 3 "$(sets)" "sets of master keys"
reader --device-file "$F/device-1.commit-number"; reader --key-file "$KEY"
"$KEYCHAINFS" check --keychain "$KEYCHAIN" > /dev/null || fail "check"
mount_keychain --keychain "$KEYCHAIN" -o ro --key-file "$KEY" --with-passphrase; compare "during the rekey"; unmount_keychain
cmp "$F/login.keychain" "$KEYCHAIN" || fail "a read-only mount has changed it"
mount_keychain --keychain "$KEYCHAIN"
for _ in {1..100}; do
    "$KEYCHAINFS" status --json "$MNT" > "$CASE_DIR/status"; ! grep -q '"running"\|"waiting"' "$CASE_DIR/status" || { sleep 0.1; continue; }
    break
done
compare "after the rekey"; unmount_keychain
expect 1 "$(sets)" "sets of master keys after the rekey"
reader; reader --key-file "$KEY"
"$KEYCHAINFS" check --keychain "$KEYCHAIN" > /dev/null || fail "check after the rekey"
