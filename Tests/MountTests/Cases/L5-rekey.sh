# L5, S8: after a rekey that is killed 20 times at random times every item is unchanged, and no old key is usable.
# needs: StoreFormat
# seconds: 32
. "${0%/*}/lib.sh"
FORMAT="$CASE_DIR/StoreFormat"
DEVICE="$XDG_STATE_HOME/keychainfs/device.key"
rekey_state() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['rekey']['$1'])"; }
is_rekey() { [ "$(rekey_state state)" = "$1" ]; }
# The number of sets of master keys in a copy of the store and its log.
sets() {
    rm -rf "$CASE_DIR/copy"; mkdir "$CASE_DIR/copy"
    cp "$KEYCHAIN" "$CASE_DIR/copy/k"; cp "$KEYCHAIN-wal" "$CASE_DIR/copy/k-wal" 2> /dev/null || true
    python3 -I -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT length(master_keys) / 256 FROM store").fetchone()[0])' "$CASE_DIR/copy/k"
}

# The observable state of 560 items of seven classes: secrets, sizes, times, inode numbers, references.
cat > "$CASE_DIR/items.py" <<'PY'
import hashlib, json, os, sys
root = sys.argv[2] + "/generic-passwords"
CLASSES = ["WhenUnlocked", "AfterFirstUnlock", "Always", "WhenUnlockedThisDeviceOnly", "AlwaysThisDeviceOnly",
           "WhenPasscodeSetThisDeviceOnly", "WhenUnlockedUnlessOpen"]
def contents(c, n):
    return f"{c} {n} ".encode() * (1 if n < 70 else 400 if n < 79 else 30000)
def make():
    for c in CLASSES:
        os.mkdir(f"{root}/{c}"); os.setxattr(f"{root}/{c}", "user.kSecAttrAccessible", c.encode())
        for n in range(80):
            with open(f"{root}/{c}/{n}", "wb") as f: f.write(contents(c, n))
            if n % 16 == 0: os.setxattr(f"{root}/{c}/{n}", "user.kSecAttrComment", b"a comment")
            if n % 20 == 0: os.utime(f"{root}/{c}/{n}", (1, n + 2))
def show():
    seen = {}
    for c in sorted(os.listdir(root)):
        for n in sorted(os.listdir(f"{root}/{c}")):
            path = f"{root}/{c}/{n}"
            s, data = os.stat(path), open(path, "rb").read()
            xattrs = {x: os.getxattr(path, x).hex() for x in os.listxattr(path)}
            xattrs["reference"] = os.getxattr(path, "user.kSecAttrPersistentReference").hex()
            if c in CLASSES: assert data == contents(c, int(n)), path
            seen[f"{c}/{n}"] = [s.st_ino, s.st_size, s.st_mode, s.st_mtime_ns, s.st_ctime_ns, xattrs, hashlib.sha256(data).hexdigest()]
    return seen
if sys.argv[1] == "make": make()
else: json.dump(show(), sys.stdout, indent=0, sort_keys=True)
PY
items() { python3 -I "$CASE_DIR/items.py" show "$MNT" > "$CASE_DIR/$1.json"; }
same_items() { items now; cmp "$CASE_DIR/before.json" "$CASE_DIR/now.json" || { diff "$CASE_DIR/before.json" "$CASE_DIR/now.json" | head >&2; fail "items differ $1"; }; }

# proof OLD NEW: no row of NEW is sealed with old keys, and no key of OLD opens any row of NEW.
proof() {
    /usr/bin/python3 -I - "$FORMAT" "$PASSPHRASE" "$DEVICE" "$@" <<'PY'
import sys, tempfile
arguments = sys.argv[1:]
sys.path.insert(0, arguments[0])
from programs import load
reader = load("read-store")
f = reader.f
def store(path):
    passphrase, device = arguments[1:3]
    sys.argv = ["read-store", path, "--passphrase-file", passphrase, "--device-key", device, "--cheap"]
    with tempfile.TemporaryDirectory() as scratch: return reader.open_store(reader.arguments(), scratch)
old, new = store(arguments[3]), store(arguments[4])
assert not new.faults, new.faults
newest = {}
for row in new.small["class_key"]: newest[row["purpose"]] = max(newest.get(row["purpose"], 0), row["generation"])
for row in new.small["class_key"]:
    assert row["generation"] == newest[row["purpose"]], ("an old row of class keys", row["purpose"], row["generation"])
assert all(newest[p] > 1 for p in newest if p != 32), newest
assert new.row["master_key_generation"] == len(old.master_sets) + max(newest[9], newest[12]) - 1, "one set a rekey"
assert len(new.master_sets) == 1, "several sets of master keys"
for row in new.tables["directory"]: assert row["master_key_generation"] == new.row["master_key_generation"], "a directory under old keys"
for name in ("directory", "row_mac", "past"): assert new.masters[name] != old.masters[name], name
for row in new.tables["directory"]:
    try: f.open_sealed(old.masters["directory"], row["name_seal"], row["name"], new.name_data(3, row), "R25", "")
    except reader.Refused: continue
    raise AssertionError("an old key opens a directory")
assert len(new.tables["item"]) >= 560
for row in new.tables["item"]: assert row["generation"] == newest[row["protection"]], "an item under an old key"
materials = list(old.class_keys.values())
assert not set(materials) - {old.class_keys[(32, 1)]} & set(new.class_keys.values()), "class keys were taken over"
tried = 0
for row in new.tables["item"]:
    data = new.item_data(1, row, row["version"]) + reader.part(row["tag"]) + reader.part(row["always_tag"]) + reader.part(row["secret_seals"])
    for material in materials:
        for key in (material[:32], material[32:64]):
            tried += 1
            try: f.open_sealed(key, row["metadata_seal"], row["metadata"], data, "R33", "")
            except reader.Refused: continue
            raise AssertionError("an old key opens a new row")
# The old user key opens neither the master keys nor class keys.
new.user_key = old.user_key
for row in new.small["class_key"]:
    if row["wrapping"] == 2: continue
    assert not new.opens(new.open_class_key, row), "the old user key opens class keys"
assert not new.opens(f.open_sealed, f.H(old.user_key, b"keychainfs master keys", new.id), new.row["master_keys_seal"],
                     new.row["master_keys"], f.ad(5, new.id) + f.i64(2) + f.i64(new.row["user_key_generation"]) + f.i64(new.row["master_key_generation"]), "R10", "")
print(f"{tried} attempts with old keys")
PY
}

create_keychain; mount_keychain
python3 -I "$CASE_DIR/items.py" make "$MNT"
items before
unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/older"

rounds=0 interrupted=0
while [ "$rounds" -lt 20 ]; do
    rounds=$((rounds + 1))
    mount_keychain
    pid=$(daemon)
    follower=
    if ! is_rekey running && ! is_rekey waiting; then
        "$KEYCHAINFS" rekey "$MNT" > /dev/null 2>&1 & follower=$!
        wait_until 20 eval '! is_rekey none'
    fi
    sleep "$(python3 -I -c 'import random; print(random.uniform(0, 0.1))')"
    kill -9 "$pid"
    [ -z "$follower" ] || wait "$follower" || true
    [ "$(sets)" = 1 ] || interrupted=$((interrupted + 1))
    wait_until 15 eval '! is_mounted'
done
echo "$interrupted of $rounds kills came in the middle of a rekey"
[ "$interrupted" -ge 10 ] || fail "only $interrupted kills came in the middle of a rekey"
mount_keychain
same_items "after 20 kills"
# An interrupted rekey continues automatically; then a rekey without an interruption.
wait_until 60 eval '! is_rekey running'
expect 1 "$(sets)" "sets of master keys after a rekey"
expect_code 0 "$KEYCHAINFS" rekey --json "$MNT" | grep -q '"done" *: *560' || fail "the rekey does not tell of 560 items"
is_rekey finished || fail "it is $(rekey_state state)"
expect 0 "$(rekey_state left)" "items that are left"
# S8: neither the log nor the file contains old keys.
expect 0 "$(stat -c %s "$KEYCHAIN-wal")" "bytes in the log"
cp "$KEYCHAIN" "$CASE_DIR/whole"
python3 -I - "$CASE_DIR/older" "$CASE_DIR/whole" <<'PY'
import sqlite3, sys
old, new = (open(path, "rb").read() for path in sys.argv[1:])
for seal, keys in sqlite3.connect(sys.argv[1]).execute("SELECT keys_seal, keys FROM class_key WHERE purpose <> 32"):
    assert keys in old and keys not in new and seal not in new, "a row of old class keys is still in the file"
PY
same_items "after the rekey"
expect_code 0 "$KEYCHAINFS" check > /dev/null
unmount_keychain
same_store() { /usr/bin/python3 -I "$FORMAT/read-store" "$KEYCHAIN" --cheap --passphrase-file "$PASSPHRASE" --device-key "$DEVICE" --verify; }
same_store || fail "the other program finds faults"
proof "$CASE_DIR/older" "$KEYCHAIN"
expect_code 0 "$KEYCHAINFS" check > /dev/null
