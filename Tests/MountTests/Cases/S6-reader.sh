# S6: a second program, written from the format's documentation alone, reads the files of this program, and vice versa.
# needs: StoreFormat
# seconds: 15
. "${0%/*}/lib.sh"
FORMAT="$CASE_DIR/StoreFormat"
# Debian's Python, whose package is python3-nacl.
reader() { /usr/bin/python3 -I "$FORMAT/read-store" "$@"; }

# compare SHOWN READ: every item and service is the same in both.
compare() {
    python3 -I - "$1" "$2" <<'PY'
import json, sys
shown, read = (json.load(open(path)) for path in sys.argv[1:])
fixed = {"generic-passwords", "internet-passwords", "synchronizable", "access-groups"}
wanted = {path: entry for path, entry in shown.items() if path.rpartition("/")[2] not in fixed}
assert len(wanted) > 10
for path, entry in wanted.items():
    assert path in read, f"not read: {path}"
    for key in entry:
        assert entry[key] == read[path].get(key), f"{path}: {key}: {entry[key]} shown, {read[path].get(key)} read"
hidden = ("certificates", "keys", "templates")  # item classes that this program does not support
more = {path for path, entry in read.items() if "foreign" not in json.dumps(entry) and path not in shown and path.split("/")[0] not in hidden}
assert all(any(path.startswith(each + "/") for path in read) for each in hidden)
assert not more, f"read, not shown: {more}"
PY
}

for fixture in "$FORMAT"/fixtures/format-*/; do
    fixture=${fixture%/}
    keys=(--passphrase-file "$fixture/passphrase" --device-key "$fixture/device-1.key")
    reader "$fixture/login.keychain" "${keys[@]}" --json > "$CASE_DIR/read.json"
    compare "$fixture/contents.json" "$CASE_DIR/read.json"
    reader "$fixture/login.keychain" "${keys[@]}" --verify > "$CASE_DIR/said" || fail "$fixture: $(cat "$CASE_DIR/said")"
    reader "$fixture/login.keychain" --device-key "$fixture/device-1.key" --cold --json > "$CASE_DIR/cold.json"
    grep -q '"generic-passwords/always/cold"' "$CASE_DIR/cold.json" || fail "$fixture: nothing before the first unlock"
    ! grep -q 'generic-passwords/mail' "$CASE_DIR/cold.json" || fail "$fixture: too much before the first unlock"
done

# Rows that the other program has added, as while locked.
install_device "$FORMAT/fixtures/format-2" 1
install -m 600 "$FORMAT/fixtures/format-2/passphrase" "$PASSPHRASE"
install -m 600 "$FORMAT/fixtures/format-2/login.keychain" "$CASE_DIR/base"
/usr/bin/python3 -I "$FORMAT/add-while-locked" "$CASE_DIR/base" "$CASE_DIR/added" "$PASSPHRASE"
chmod 600 "$CASE_DIR/added"
"$KEYCHAINFS" check --keychain "$CASE_DIR/added" > "$CASE_DIR/said" || fail "$(cat "$CASE_DIR/said")"
mount_keychain --keychain "$CASE_DIR/added"
expect 'added while locked' "$(cat "$MNT/generic-passwords/unless open/added while locked")" "an item that the other program has added"
# Data that this program writes now.
for class in WhenUnlocked AfterFirstUnlock Always WhenUnlockedThisDeviceOnly WhenPasscodeSetThisDeviceOnly; do
    printf %s "$class" > "$MNT/generic-passwords/mail/new $class"
    setfattr -n user.kSecAttrAccessible -v "$class" "$MNT/generic-passwords/mail/new $class"
done
"$KEYCHAINFS" lock "$MNT"; printf 'locked' > "$MNT/generic-passwords/unless open/by this program"; unmount_keychain
reader "$CASE_DIR/added" --passphrase-file "$PASSPHRASE" --device-key "$XDG_STATE_HOME/keychainfs/device.key" --json > "$CASE_DIR/read.json"
reader "$CASE_DIR/added" --passphrase-file "$PASSPHRASE" --device-key "$XDG_STATE_HOME/keychainfs/device.key" --verify > "$CASE_DIR/said" || fail "$(cat "$CASE_DIR/said")"
mount_keychain --keychain "$CASE_DIR/added"; python3 -I "$FORMAT/show-mount" "$MNT" > "$CASE_DIR/shown.json"; unmount_keychain
compare "$CASE_DIR/shown.json" "$CASE_DIR/read.json"
