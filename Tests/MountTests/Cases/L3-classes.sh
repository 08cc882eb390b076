# L3: observed in the file: a change of class changes the key. Row, ciphertext and generation of an item are compared in
# the file itself, and a second program reads the result.
# needs: StoreFormat
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
cat > "$CASE_DIR/classes.py" <<'PY'
import os, shutil, sqlite3, sys
D, keychain, scratch = sys.argv[1:]
CLASSES = {
    "WhenUnlockedUnlessOpen": 2, "WhenUnlocked": 6, "AfterFirstUnlock": 7, "Always": 8, "WhenUnlockedThisDeviceOnly": 9,
    "AfterFirstUnlockThisDeviceOnly": 10, "AlwaysThisDeviceOnly": 11, "WhenPasscodeSetThisDeviceOnly": 12,
}
def row(inode):
    """Of the item of that number, in a copy of the file: the mount has the keychain for itself."""
    for end in ("", "-wal"): shutil.copyfile(keychain + end, scratch + end)
    store = sqlite3.connect(scratch)
    try:
        return store.execute(
            "SELECT protection, generation, version, metadata, secret_seals, always_tag IS NOT NULL, coalesce(item.secret, "
            "(SELECT ciphertext FROM secret WHERE secret.id = item.secret_row)) FROM item WHERE id = ?", (inode,)).fetchone()
    finally: store.close()
# A short secret is stored in its row, a long one in a separate table.
for name, size in (("short", 100), ("long", 30_000)):
    path, value = f"{D}/{name}", os.urandom(size // 2).hex().encode()
    with open(path, "wb") as file: file.write(value)
    inode, seen = os.stat(path).st_ino, set()
    reader = os.open(path, os.O_RDONLY)
    for target in [*CLASSES, *reversed(CLASSES)]:
        before = row(inode)
        os.setxattr(path, "user.kSecAttrAccessible", target.encode())
        after = row(inode)
        if before[0] == CLASSES[target]:
            assert before == after, "the class that it has already"
            continue
        assert after[0] == CLASSES[target] and after[2] > before[2], (target, after[:3])
        for index, what in ((3, "attributes"), (4, "seals"), (6, "contents")):
            assert after[index] != before[index] and after[index] not in seen, f"{target}: the {what} are not sealed anew"
            seen.add(after[index])
        assert value not in after[6] and after[5] == target.startswith("Always")
        assert len(after[6]) >= len(value)
        with open(path, "rb") as file: assert file.read() == value
        assert os.pread(reader, size, 0) == value, "a descriptor that was open before"
    os.close(reader)
for name in CLASSES:
    with open(f"{D}/{name}", "w") as file: file.write("value")
    os.setxattr(f"{D}/{name}", "user.kSecAttrAccessible", name.encode())
# The names of file protection are aliases of four classes, and each class shows its own name.
for alias, name in {"Complete": "WhenUnlocked", "CompleteUnlessOpen": "WhenUnlockedUnlessOpen", "None": "Always",
                    "CompleteUntilFirstUserAuthentication": "AfterFirstUnlock"}.items():
    for path in (D + "/alias", D):
        if path != D: open(path, "w").close()
        os.setxattr(path, "user.kSecAttrAccessible", b"NSFileProtection" + alias.encode())
        assert os.getxattr(path, "user.kSecAttrAccessible") == name.encode(), alias
PY
python3 -I "$CASE_DIR/classes.py" "$D" "$KEYCHAIN" "$CASE_DIR/copy"
unmount_keychain
reader() { /usr/bin/python3 -I "$CASE_DIR/StoreFormat/read-store" "$KEYCHAIN" --cheap --device-key "$XDG_STATE_HOME/keychainfs/device.key" "$@"; }
reader --passphrase-file "$PASSPHRASE" --verify > "$CASE_DIR/said" || fail "$(cat "$CASE_DIR/said")"
reader --passphrase-file "$PASSPHRASE" --json > "$CASE_DIR/read.json"; reader --cold --json > "$CASE_DIR/cold.json"
python3 -I - "$CASE_DIR/read.json" "$CASE_DIR/cold.json" <<'PY'
import base64, json, sys
read, cold = (json.load(open(path)) for path in sys.argv[1:])
place = "generic-passwords/s/"
for name in ("WhenUnlocked", "AfterFirstUnlock", "Always", "WhenUnlockedThisDeviceOnly", "AfterFirstUnlockThisDeviceOnly",
             "AlwaysThisDeviceOnly", "WhenPasscodeSetThisDeviceOnly", "WhenUnlockedUnlessOpen"):
    found = base64.b64decode(read[place + name]["attributes"]["user.kSecAttrAccessible"]).decode()
    assert found == name and read[place + name]["size"] == 5, (name, found)
    # With the device key alone Always can be read, and nothing else.
    assert (place + name in cold) == name.startswith("Always"), name
PY
