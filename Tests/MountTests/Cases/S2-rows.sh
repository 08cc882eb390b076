# S2, S4: rows of the closed file that are removed, older, added or swapped are reported by check and after the first
# unlock; rows of keys refuse the unlock.
# seconds: 20
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
S="$MNT/generic-passwords/s"; mkdir "$S" "$MNT/generic-passwords/empty" "$MNT/generic-passwords/t"
for name in a b c d; do printf 'value of %s' "$name" > "$S/$name"; done
head -c 5000 /dev/zero | tr '\0' 1 > "$S/long"; printf other > "$MNT/generic-passwords/t/other"
row() { stat -c %i "$1"; }  # a new file's inode number is its row's
A=$(row "$S/a"); B=$(row "$S/b"); C=$(row "$S/c"); LONG=$(row "$S/long"); T=$(row "$MNT/generic-passwords/t"); SROW=$(row "$S"); EMPTY=$(row "$MNT/generic-passwords/empty")
unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/older.db"
mount_keychain
printf 'new value of a' > "$S/a"; setfattr -n user.color -v blue "$S/b"; head -c 5000 /dev/zero | tr '\0' 2 > "$S/long"
chmod 750 "$MNT/generic-passwords/empty"
unmount_keychain
NUMBER=$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*)
cp "$KEYCHAIN" "$CASE_DIR/sound.db"; cp "$NUMBER" "$CASE_DIR/number"
expect_code 0 "$KEYCHAINFS" check > /dev/null

# edit PYTHON: changes the intact file; db is the database, old the older copy, put(table, row) writes a row.
edit() {
    cp "$CASE_DIR/sound.db" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"; rm -f "$KEYCHAIN-wal"
    A=$A B=$B C=$C LONG=$LONG T=$T S=$SROW EMPTY=$EMPTY python3 -I - "$KEYCHAIN" "$CASE_DIR/older.db" "$1" <<'PY'
import os, sqlite3, sys
db, old = sqlite3.connect(sys.argv[1]), sqlite3.connect(sys.argv[2])
A, B, C, LONG, T, S, EMPTY = (int(os.environ[n]) for n in ("A", "B", "C", "LONG", "T", "S", "EMPTY"))
def row(table, key, id, source=db):
    return source.execute(f"SELECT * FROM {table} WHERE {key} = ?", (id,)).fetchone()
def put(table, values): db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(values))})", values)
def changed(row, table, **values):
    names = [c[1] for c in db.execute(f"PRAGMA table_info({table})")]
    return [values.get(n, v) for n, v in zip(names, row)]
SECRET, = db.execute("SELECT secret_row FROM item WHERE id = ?", (LONG,)).fetchone()
before = db.total_changes
exec(sys.argv[3])
assert db.total_changes > before, "nothing was changed"
db.commit(); db.close()
PY
}

# reported WHAT CHECK LOG: check and the integrity scan after the unlock report it; the mount stays.
reported() {
    local pid
    expect_code 21 "$KEYCHAINFS" check > "$CASE_DIR/said"
    grep -q "$2" "$CASE_DIR/said" || fail "$1: check does not say '$2': $(cat "$CASE_DIR/said")"
    grep -q 'DAMAGED' "$CASE_DIR/said" || fail "$1: no verdict"
    "$KEYCHAINFS" mount --foreground "$MNT" 2> "$CASE_DIR/log" & pid=$!
    wait_until 20 is_mounted
    wait_until 20 grep -q "$3" "$CASE_DIR/log"
    expect damaged "$(status integrity)" "$1: status"
    "$KEYCHAINFS" status "$MNT" | grep -q 'integrity: *damaged' || fail "$1: status for people"
    expect_code 21 "$KEYCHAINFS" check > /dev/null
    # All other data stays usable, for writing too.
    expect other "$(cat "$MNT/generic-passwords/t/other")" "$1: another directory"
    expect 'value of d' "$(cat "$S/d")" "$1: another item"
    printf more > "$S/d"; expect more "$(cat "$S/d")" "$1: another item, written"
    DAEMON=$pid
}
done_with() { unmount_keychain; wait "$DAEMON" || fail "$1: the daemon failed"; ! grep -q 'value of' "$CASE_DIR/log" || fail "a secret in the log"; }

missing='Rows are missing that were committed: 1'
edit 'db.execute("DELETE FROM item WHERE id = ?", (A,))'
reported "a removed item" "$missing" 'rows are missing that were committed'
expect_errno ENOENT cat "$S/a"; expect 'value of b' "$(cat "$S/b")" "beside a removed item"
done_with "a removed item"
# A later commit does not repair it.
expect_code 21 "$KEYCHAINFS" check | grep -q "$missing" || fail "healed by a later commit"

edit 'db.execute("DELETE FROM directory WHERE id = ?", (EMPTY,))'
reported "a removed directory" "$missing" 'rows are missing that were committed'
expect_errno ENOENT ls "$MNT/generic-passwords/empty"; done_with "a removed directory"

edit 'put("item", row("item", "id", A, old))'
reported "an older item" 'Rows are older than the last commit' 'rows are older than the last commit'
done_with "an older item"

edit 'put("directory", row("directory", "id", EMPTY, old))'
reported "an older directory" 'Rows are older than the last commit' 'rows are older than the last commit'
done_with "an older directory"

edit 'put("item", row("item", "id", LONG, old)); put("secret", row("secret", "id", SECRET, old))'
reported "an older item with its long secret" 'Rows are older than the last commit' 'rows are older than'
done_with "an older item with its long secret"

# Rows of keys are checked before anything is unlocked: a key that no item needs is removed, a device that was never
# registered is added. No option accepts this, and check names it.
refused() {
    expect_code 12 "$KEYCHAINFS" mount "$MNT" > "$CASE_DIR/said"
    grep -q 'check' "$CASE_DIR/said" || fail "$1: the message names no remedy: $(cat "$CASE_DIR/said")"
    is_mounted && fail "$1: mounted"
    expect_code 12 "$KEYCHAINFS" mount --accept-rollback "$MNT" > /dev/null
    cmp "$KEYCHAIN" "$CASE_DIR/edited" || fail "$1: a refused unlock changed the file"
    expect_code 21 "$KEYCHAINFS" check > "$CASE_DIR/said"
    grep -q "$2" "$CASE_DIR/said" || fail "$1: check does not say '$2': $(cat "$CASE_DIR/said")"
}
edit 'db.execute("DELETE FROM class_key WHERE purpose = 12")'; cp "$KEYCHAIN" "$CASE_DIR/edited"
refused "a removed class key" "$missing"
edit 'put("device", (9, os.urandom(16), 0, bytes(16)))'; cp "$KEYCHAIN" "$CASE_DIR/edited"
refused "an added device" 'Rows exist that were never committed: 1'

# An older long secret alone: no other row changes, but it is never opened for the wrong item (S4).
edit 'put("secret", row("secret", "id", SECRET, old))'
expect_code 21 "$KEYCHAINFS" check | grep -q "Damaged items (rows): $LONG" || fail "an older long secret"
mount_keychain; expect_errno EBADMSG cat "$S/long"; expect 'value of d' "$(cat "$S/d")" "beside it"; unmount_keychain

# An additional row, a copy of another one: never committed, and not an item.
edit 'put("item", changed(row("item", "id", A), "item", id=7777, tag=os.urandom(16)))'
reported "an added item" 'Rows exist that were never committed: 1' 'rows exist that were never committed'
expect 'new value of a' "$(cat "$S/a")" "the row that was copied"
expect_errno EBADMSG ls "$S"; done_with "an added item"
edit 'put("directory", changed(row("directory", "id", EMPTY), "directory", id=7777, tag=os.urandom(16)))'
reported "an added directory" 'Rows exist that were never committed: 1' 'rows exist that were never committed'
done_with "an added directory"

# Two rows swapped: by id, by everything but id and tag, by directory; each fails with EBADMSG, none returns the other's
# value.
ids='a, b = row("item", "id", A), row("item", "id", B); db.execute("DELETE FROM item WHERE id IN (?, ?)", (A, B));'
edit "$ids"' put("item", changed(a, "item", id=B)); put("item", changed(b, "item", id=A))'
reported "swapped ids" "Damaged items (rows): " 'rows are older than the last commit, or changed'
for name in a b; do expect_errno EBADMSG cat "$S/$name"; done; expect 'value of c' "$(cat "$S/c")" "beside swapped rows"
done_with "swapped ids"
edit "$ids"' put("item", changed(b, "item", id=A, tag=a[7])); put("item", changed(a, "item", id=B, tag=b[7]))'
reported "swapped contents" "Damaged items (rows): " 'rows are older than the last commit, or changed'
for name in a b; do expect_errno EBADMSG cat "$S/$name"; done; expect 'value of c' "$(cat "$S/c")" "beside swapped contents"
# rm cannot remove damaged items, because their lstat fails; the others stay usable. The directory reports it.
expect_errno EBADMSG ls "$S"; done_with "swapped contents"
edit 'put("item", changed(row("item", "id", C), "item", directory=T))'
reported "a moved row" "Damaged items (rows): $C" 'rows are older than the last commit, or changed'
expect_errno EBADMSG cat "$S/c"; expect_errno EBADMSG ls "$MNT/generic-passwords/t"; done_with "a moved row"
# Only the short secret of another item in the row, with the original nonces and tags.
edit 'db.execute("UPDATE item SET secret = (SELECT secret FROM item WHERE id = ?) WHERE id = ?", (B, C))'
expect_code 21 "$KEYCHAINFS" check | grep -q "Damaged items (rows): $C" || fail "a swapped short secret"
mount_keychain; expect_errno EBADMSG cat "$S/c"; expect 'value of b' "$(cat "$S/b")" "beside it"; unmount_keychain

# An older header row: the number that this device stores reveals it.
edit 'db.execute("UPDATE store SET header_seal = ?, header = ?", old.execute("SELECT header_seal, header FROM store").fetchone())'
expect_code 24 "$KEYCHAINFS" check > /dev/null
cp "$CASE_DIR/sound.db" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"
expect_code 0 "$KEYCHAINFS" check > /dev/null
