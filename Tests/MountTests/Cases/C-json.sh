# Section 8: scripts rely on the keys and types that --json prints: none is removed and none changes its type. A new key
# is added here.
# users: user
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D" "$MNT/internet-passwords/h,protocol=https"
printf x > "$D/a"; printf y > "$MNT/internet-passwords/h,protocol=https/b"; touch "$D/.a.swp"; setfattr -n user.kSecAttrLabel -v L "$D/a"
cat > "$CASE_DIR/schema.py" <<'PY'
"""Compares JSON on standard input with the schema that argv[1] names. `key?` may be missing; a list has its one element's form; a
set lists the values."""
import json, sys
TEXT, NUMBER, TRUTH, NAMES = str, int, bool, [str]
VALUE = (str, int, bool)
DEVICE = {"isNew": TRUTH, "foreignItems": NUMBER, "rollback": {"not-checked", "first", "passed", "accepted"}}
HARDENING = {name: TRUTH for name in ("memoryLocked", "buffersLocked", "undumpable", "coreDumpsDisabled", "crashReportsOff",
                                      "allocatorWipes", "swapActive", "noNewPrivileges")} | {"lockedKilobytes": NUMBER, "ptraceScope?": NUMBER}
LOCKS = {"events": [{"suspend", "screen"}], "after?": NUMBER, "atMost?": NUMBER, "remaining?": NUMBER,
         "delaysSuspend?": TRUTH, "hearsLoginManager?": TRUTH}
REKEY = {"state": TEXT, "done": NUMBER, "left": NUMBER, "total": NUMBER}
KDF = {"algorithm": {"argon2id"}, "memory": NUMBER, "passes": NUMBER}
TREE = {"name": TEXT, "label?": TEXT}; TREE["contents?"] = [TREE]
SCHEMAS = {
    "status": {"pid": NUMBER, "state": {"before-first-unlock", "unlocked", "locked"}, "keychain": TEXT, "mountpoint": TEXT, "mountID?": NUMBER,
               "readOnly": TRUTH, "items": NUMBER, "commits": NUMBER, "format": {2},
               "integrity": {"unverified", "verifying", "verified", "damaged"}, "hardening": HARDENING, "warnings": NAMES,
               "device": DEVICE, "automaticLock": LOCKS, "rekey": REKEY,
               "stagedMemory": {"used": NUMBER, "limit": NUMBER}, "requestTimeout?": NUMBER},
    "check": {"items": NUMBER, "directories": NUMBER, "foreign": NUMBER, "unavailable": NUMBER, "damagedItems": [object],
              "damagedDirectories": [object], "leftovers": NAMES, "missingRows": NUMBER, "addedRows": NUMBER,
              "replacedRows": TRUTH, "anotherCopy": TRUTH, "structureFaults": NUMBER, "freeBytes": NUMBER,
              "compactedBytes?": NUMBER, "*": object},
    "slots": {"slots": [{"id": NUMBER, "kind": {"passphrase", "recovery", "keyfile"},
                         "kdf?": KDF}], "kdfAtLastUnlock?": KDF},
    "search": {"items": [{"path": TEXT, "class": {"GenericPassword", "InternetPassword"}, "attributes": {"*": VALUE}}]},
    "show": {"path": TEXT, "class": {"GenericPassword", "InternetPassword"}, "attributes": {"*": VALUE}},
    "tree": TREE,
    "rekey": REKEY,
    "backup": {"backup": TEXT, "bytes": NUMBER, "commitNumber": NUMBER, "integrity": TEXT, "items": NUMBER, "leftOut": NUMBER},
    "doctor": {"findings": [{"name": TEXT, "severity": {"ok", "warning", "problem"}, "message": TEXT, "advice": TEXT}]},
}
def compare(value, form, where):
    if form is object: return
    if isinstance(form, dict):
        assert isinstance(value, dict), f"{where} is no object: {value}"
        for key, part in form.items():
            name = key.rstrip("?")
            if key == "*": continue
            assert name in value or key.endswith("?"), f"{where} has no {name}"
            if name in value: compare(value[name], part, f"{where}.{name}")
        for key in value.keys() - {key.rstrip("?") for key in form}:
            assert "*" in form, f"{where} has a new key: {key}"
            compare(value[key], form["*"], f"{where}.{key}")
    elif isinstance(form, list):
        assert isinstance(value, list), f"{where} is no list: {value}"
        for index, part in enumerate(value): compare(part, form[0], f"{where}[{index}]")
    elif isinstance(form, tuple): assert type(value) in form, f"{where} is {value!r}"
    elif isinstance(form, set): assert value in form, f"{where} is {value!r}"
    else: assert type(value) is form, f"{where} is {value!r}, not {form.__name__}"
text = sys.stdin.read()
assert text.startswith("{") and text.endswith("}\n"), f"not one object and a newline: {text[:40]!r}"
value = json.loads(text)
compare(value, SCHEMAS[sys.argv[1]], sys.argv[1])
for test in sys.argv[2:]: assert eval(test), f"{test}: {text}"
PY
# json SCHEMA TESTS -- COMMAND…: also checks that standard error is empty.
json() {
    local tests=(); while [ "$1" != -- ]; do tests+=("$1"); shift; done; shift
    "$KEYCHAINFS" "$@" > "$CASE_DIR/out" 2> "$CASE_DIR/err" < /dev/null || echo "exit code $?"
    python3 -I "$CASE_DIR/schema.py" "${tests[@]}" < "$CASE_DIR/out" || fail "'$*' ($(cat "$CASE_DIR/err"))"
}
json status 'value["state"] == "unlocked"' 'value["items"] == 3' 'value["mountpoint"] == "'"$MNT"'"' 'value["keychain"] == "'"$KEYCHAIN"'"' \
    'value["rekey"]["state"] == "none"' -- status --json "$MNT"
json check 'value["items"] == 3' 'value["leftovers"] == ["generic-passwords/s/.a.swp"]' 'value["damagedItems"] == []' -- check --json
json slots 'len(value["slots"]) == 1' -- slot list --json "$MNT"
json search 'len(value["items"]) == 3' 'any(i["attributes"].get("kSecAttrLabel") == "L" for i in value["items"])' \
    '"x" not in [a for i in value["items"] for a in i["attributes"].values()]' -- search --json --mount "$MNT"
json tree 'value["name"].endswith("/generic-passwords/s")' '{"name": "a", "label": "L"} in value["contents"]' -- tree --json "$D"
json tree 'value["name"] == "'"$MNT"'"' 'all("contents" in part for part in value["contents"])' -- tree --json "$MNT"
json show 'value["path"] == "'"$D/a"'"' 'value["attributes"]["kSecAttrLabel"] == "L"' 'value["attributes"]["kSecAttrAccount"] == "a"' \
    '"x" not in value["attributes"].values()' -- show --json "$D/a"
# One encoder: an item has the same object in both commands, except for attributes of its file only.
F="$MNT/internet-passwords/h,protocol=https,port=8443"; mkdir "$F"; printf z > "$F/c"
printf z > "$D/c"; setfattr -n user.kSecAttrGeneric -v 0x00ff "$D/c"
setfattr -n user.kSecAttrIsInvisible -v 1 "$F/c"; setfattr -n user.kSecAttrIsNegative -v 0 "$F/c"; setfattr -n user.kSecAttrCreator -v aapl "$F/c"
setfattr -n user.kSecAttrType -v 4294967295 "$F/c";  setfattr -n user.kSecAttrComment -v 12 "$F/c"
setfattr -n user.count -v 12 "$F/c"
"$KEYCHAINFS" search --json --mount "$MNT" > "$CASE_DIR/found"; count=0
for file in "$D/a" "$D/c" "$F/c" "$MNT/internet-passwords/h,protocol=https/b"; do
    json show 'value["attributes"]["kSecAttrSynchronizable"] is False' -- show --json "$file"; mv "$CASE_DIR/out" "$CASE_DIR/shown$((count += 1))"
done
python3 -I - "$CASE_DIR" "$count" <<'PY' || fail "show and search differ"
import decimal, json, os, sys
found = {item["path"]: item for item in json.load(open(sys.argv[1] + "/found"))["items"]}
for number in range(1, int(sys.argv[2]) + 1):
    shown = json.load(open(f"{sys.argv[1]}/shown{number}"))
    for name in ("kSecAttrPersistentReference", "count"): shown["attributes"].pop(name, None)
    assert repr(sorted(shown["attributes"].items())) == repr(sorted(found[shown["path"]]["attributes"].items())), (shown, found[shown["path"]])
    values = shown["attributes"]
    for name in ("kSecAttrCreationDate", "kSecAttrModificationDate"):
        exact = os.getxattr(shown["path"], "user." + name).decode().replace("Z", ""); date = values[name].replace("Z", "")
        assert exact[:19] == date[:19] and len(date) <= 26, (exact, date)
        assert abs(decimal.Decimal(exact[17:]) - decimal.Decimal(date[17:])) <= decimal.Decimal("0.0000007"), (exact, date)
    if shown["path"].endswith(",port=8443/c"):
        wanted = {"kSecAttrPort": 8443, "kSecAttrIsInvisible": True, "kSecAttrIsNegative": False, "kSecAttrCreator": 1633775724,
                  "kSecAttrType": 4294967295, "kSecAttrComment": "12", "kSecAttrProtocol": "HTTPS"}
        for name, value in wanted.items(): assert repr(values[name]) == repr(value), (name, values[name])
PY
json show 'value["attributes"]["count"] == "12"' -- show --json "$F/c"; rm "$F/c" "$D/c"; rmdir "$F"
(cd "$D"; json show 'value["path"] == "'"$D/a"'"' -- show --json a)
json rekey 'value["state"] == "finished"' 'value["left"] == 0' -- rekey --json "$MNT"
json status 'value["rekey"]["state"] == "finished"' -- status --json "$MNT"
json backup 'value["items"] == 3' -- backup --json "$CASE_DIR/backup"
json check 'value["items"] == 3' -- backup --verify --json "$CASE_DIR/backup"
json doctor 'len({f["name"] for f in value["findings"]}) >= 13' 'all(f["severity"] == "ok" or f["advice"] or f["name"] == "backups" for f in value["findings"])' \
    -- doctor --json "$MNT"
"$KEYCHAINFS" lock "$MNT"; json status 'value["state"] == "locked"' -- status --json "$MNT"; unmount_keychain
# With all optional keys.
mount_keychain --locked --lock-after 10m --lock-at-most 2h --lock-on suspend,screen
json status 'value["state"] == "before-first-unlock"' 'value["automaticLock"]["after"] == 600' 'value["automaticLock"]["atMost"] == 7200' \
    'sorted(value["automaticLock"]["events"]) == ["screen", "suspend"]' -- status --json "$MNT"
"$KEYCHAINFS" unlock "$MNT"; json status '0 < value["automaticLock"]["remaining"] <= 600' -- status --json "$MNT"; unmount_keychain
"$KEYCHAINFS" slot add --kind recovery > /dev/null; "$KEYCHAINFS" slot add --kind keyfile --new-key-file "$CASE_DIR/key" 2> /dev/null
json slots 'sorted(s["kind"] for s in value["slots"]) == ["keyfile", "passphrase", "recovery"]' \
    'all(("kdf" in s) == (s["kind"] == "passphrase") for s in value["slots"])' -- slot list --json
mount_keychain -o ro; json status 'value["readOnly"]' -- status --json "$MNT"; unmount_keychain
# Damaged: the same keys.
python3 -I -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("DELETE FROM item WHERE id = (SELECT max(id) FROM item)"); db.commit()' "$KEYCHAIN"
json check 'value["missingRows"] == 1' -- check --json
# A problem: the same keys, and a script can identify it.
chmod 0644 "$KEYCHAIN"; json doctor '[f["name"] for f in value["findings"] if f["severity"] == "problem"] == ["keychain"]' -- doctor --json "$MNT"
