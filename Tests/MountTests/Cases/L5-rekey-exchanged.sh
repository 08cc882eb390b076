# L5: a rekey that was interrupted seals no row that was exchanged in the meantime, before the user has accepted that.
# seconds: 30
. "${0%/*}/lib.sh"
rekey_field() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['rekey'].get('$1'))"; }
is_state() { [ "$(rekey_field state) $(rekey_field reason)" = "$1" ]; }
start_rekey() { python3 -I -c 'import sys; open(sys.argv[1] + "/.keychainfs/control", "wb", 0).write(b"rekey\n" + bytes([1, 13, 0, 0, 0]) + open(sys.argv[2], "rb").read().rstrip(b"\n"))' "$MNT" "$PASSPHRASE"; }
# copy_row FROM: puts the last row of the keychain FROM into the closed keychain, as the holder of old keys can do with a forged row.
copy_row() {
    python3 -I - "$1" "$KEYCHAIN" <<'PY'
import sqlite3, sys
def last(path):
    store = sqlite3.connect(path); store.row_factory = sqlite3.Row
    return store, store.execute("SELECT * FROM item ORDER BY id DESC LIMIT 1").fetchone()
_, row = last(sys.argv[1]); store, present = last(sys.argv[2])
assert row["id"] == present["id"] and tuple(row) != tuple(present) and row["generation"] == present["generation"], "no older version"
names = row.keys()
store.execute(f"UPDATE item SET {', '.join(f'{name} = ?' for name in names)} WHERE id = ?", (*tuple(row), row["id"]))
store.commit(); store.execute("PRAGMA wal_checkpoint(TRUNCATE)"); store.close()
PY
}

create_keychain 2> /dev/null; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
python3 -I - "$D" <<'PY'
import sys
for n in range(150):
    with open(f"{sys.argv[1]}/big{n}", "wb") as f: f.write(b"%03d" % n * 90000)
with open(f"{sys.argv[1]}/last", "w") as f: f.write("old")
PY
unmount_keychain; cp "$KEYCHAIN" "$CASE_DIR/older"
mount_keychain; printf new > "$D/last"; unmount_keychain; cp "$KEYCHAIN" "$CASE_DIR/newest"
NUMBER=$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*); cp "$NUMBER" "$CASE_DIR/number"
newest() { cp "$CASE_DIR/newest" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"; }

# Control: exchanged before the start, rekey asks.
copy_row "$CASE_DIR/older"; mount_keychain
expect_code 21 "$KEYCHAINFS" rekey "$MNT" | grep -q 'no terminal for the confirmation' || fail "a rekey does not ask"
unmount_keychain

# interrupted END COMMAND...: a rekey is interrupted after its first pages; the row is exchanged.
interrupted() {
    mount_keychain; start_rekey; "$@"
    wait_until 10 bash -c "! grep -q ' $MNT fuse.keychainfs ' /proc/self/mounts"
    # The log belongs to the keychain: SQLite moves it into the file.
    copy_row "$CASE_DIR/older"
}
killed() { kill -9 "$(daemon)"; }
for way in killed unmount_keychain; do
    newest; interrupted "$way"
    mount_keychain; wait_until 60 is_state 'waiting rows-differ'
    "$KEYCHAINFS" status "$MNT" | grep -q "rekey: *stopped, .* rows differ" || fail "status: $("$KEYCHAINFS" status "$MNT")"
    expect 150 "$(ls "$D" | grep -c ^big)" "items"
    expect_code 21 "$KEYCHAINFS" rekey "$MNT" | grep -q 'no terminal for the confirmation' || fail "$way: it does not ask"
    expect_code 10 "$KEYCHAINFS" rekey --yes --passphrase-file <(echo wrong) "$MNT" > /dev/null
    is_state 'waiting rows-differ' || fail "$way: it continues without consent"
    # The row is under the old keys still.
    unmount_keychain
    python3 -I - "$KEYCHAIN" "$CASE_DIR/older" <<'PY'
import sqlite3, sys
rows = [sqlite3.connect(path).execute("SELECT * FROM item ORDER BY id DESC LIMIT 1").fetchone() for path in sys.argv[1:]]
assert rows[0] == rows[1], "the exchanged row was sealed"
PY
    # Consent ends with the mount, and continues the rekey.
    mount_keychain; wait_until 60 is_state 'waiting rows-differ'
    expect_code 0 "$KEYCHAINFS" rekey --yes "$MNT" > /dev/null
    expect finished "$(rekey_field state)" "$way: the state at the end"; expect damaged "$(status integrity)" "the integrity"
    expect old "$(cat "$D/last")" "the accepted row"; unmount_keychain
done
# Control: without an exchanged row it continues by itself.
newest; mount_keychain; start_rekey; killed
wait_until 10 bash -c "! grep -q ' $MNT fuse.keychainfs ' /proc/self/mounts"
mount_keychain; wait_until 60 is_state 'finished None'; expect new "$(cat "$D/last")" "the item"; unmount_keychain
