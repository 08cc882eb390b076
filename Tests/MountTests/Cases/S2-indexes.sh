# S2, L1: an index of the file that lacks an item hides nothing. check and backup report it. Until the indexes are
# rebuilt, no listing ends without an error, and no name is created or removed because of them. The next unlock rebuilds
# them.
# users: both
# seconds: 30
. "${0%/*}/lib.sh"
create_keychain; P="$MNT/generic-passwords"

# hide NAME INDEX...: removes the entry of the item from indexes, without a key, and leaves the schema as it was.
hide() {
    /usr/bin/python3 -I - "$KEYCHAIN" "$@" <<'PY' || fail "the indexes cannot be edited"
import sqlite3, sys
path, row, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
def run(*statements):
    db = sqlite3.connect(path, isolation_level=None)
    for statement in statements: db.execute(*statement)
    db.close()
db = sqlite3.connect(path)
old = dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index'").fetchall())
db.close()
def schema(n, sql): return ('UPDATE sqlite_schema SET sql = ? WHERE name = ?', (sql, n))
run(('PRAGMA writable_schema = ON',), *[schema(n, f'{old[n]} WHERE id <> {row}') for n in names])
run(*[(f'REINDEX {n}',) for n in names])
run(('PRAGMA writable_schema = ON',), *[schema(n, old[n]) for n in names])
run(('PRAGMA journal_mode = DELETE',))
PY
}
integrity() { status integrity; }
# ended ERROR COMMAND...: the command fails with the message of that error.
ended() {
    local error=$1; shift
    if LC_ALL=C "$@" > "$CASE_DIR/out" 2> "$CASE_DIR/err"; then fail "succeeded: $*"; fi
    grep -q "$error" "$CASE_DIR/err" || fail "$*: $(cat "$CASE_DIR/err")"
}
BAD='Bad message'

mount_keychain; mkdir "$P/mail" "$P/empty"
for name in alice bob carol; do printf '%s' "secret of $name" > "$P/mail/$name"; done
ROW=$(stat -c %i "$P/mail/alice"); unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/whole"
NUMBER=$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*); cp "$NUMBER" "$CASE_DIR/number"
hide "$ROW" item_tag item_directory
cp "$KEYCHAIN" "$CASE_DIR/hidden"

# Reported, and the item is named; nothing is changed.
expect_code 21 "$KEYCHAINFS" check > "$CASE_DIR/said"
grep -q "generic-passwords/mail/alice (row $ROW): it is there, but an index misses it" "$CASE_DIR/said" || fail "$(cat "$CASE_DIR/said")"
grep -q 'rebuilds them' "$CASE_DIR/said" || fail "$(cat "$CASE_DIR/said")"
expect_code 21 "$KEYCHAINFS" backup "$CASE_DIR/copy"
expect_code 21 "$KEYCHAINFS" backup --verify "$CASE_DIR/copy" > "$CASE_DIR/said"
cmp "$KEYCHAIN" "$CASE_DIR/hidden" || fail "a look changed the keychain"

# Without a repair no absence is trusted: a read-only mount. The log reports numbers and no name.
"$KEYCHAINFS" mount --foreground -o ro "$MNT" 2> "$CASE_DIR/log" & DAEMON=$!
wait_until 20 is_mounted
wait_until 30 eval '[ "$(integrity)" = damaged ]'
wait_until 20 grep -q 'could not be rebuilt' "$CASE_DIR/log"
grep -q 'unindexed=1 .*indexes differ from the rows' "$CASE_DIR/log" || fail "the log: $(cat "$CASE_DIR/log")"
! grep -q 'alice\|mail\|secret of' "$CASE_DIR/log" || fail "a name in the log: $(cat "$CASE_DIR/log")"
ended "$BAD" ls "$P/mail"
expect "bob carol" "$(echo $(cat "$CASE_DIR/out"))" "a listing shows what it has"
ended "$BAD" cat "$P/mail/alice"
ended "$BAD" cat "$P/mail/never"
expect "secret of bob" "$(cat "$P/mail/bob")" "an item that is found"
expect_code 21 "$KEYCHAINFS" backup "$CASE_DIR/copy-2"
unmount_keychain; wait "$DAEMON" || fail "the daemon failed"
cmp "$KEYCHAIN" "$CASE_DIR/hidden" || fail "a read-only mount changed the keychain"

# A new value for the hidden name, immediately after the mount: it waits, and finds the item.
mount_keychain
printf 'new' > "$P/mail/alice"
wait_until 30 eval '[ "$(integrity)" = verified ]'
expect "alice bob carol" "$(echo $(ls "$P/mail"))" "the listing"
expect "new" "$(cat "$P/mail/alice")" "the value"
expect_code 0 "$KEYCHAINFS" check > "$CASE_DIR/said"
grep -q '^3 items' "$CASE_DIR/said" || fail "a second item of the name: $(cat "$CASE_DIR/said")"
expect_code 0 "$KEYCHAINFS" backup "$CASE_DIR/copy-3" > /dev/null
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null

# rmdir of a directory that looks empty, immediately after the mount: no item loses its directory.
cp "$CASE_DIR/whole" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"
hide "$ROW" item_directory
mount_keychain; rm "$P/mail/bob" "$P/mail/carol"
ended 'not empty' rmdir "$P/mail"
expect "secret of alice" "$(cat "$P/mail/alice")" "the item"
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null

# If the indexes cannot be rebuilt: items that are found can be used, and no name is added or removed.
cp "$CASE_DIR/hidden" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"
/usr/bin/python3 -I - "$KEYCHAIN" <<'PY' || fail "the page cannot be damaged"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
page = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'directory_always_tag'").fetchone()[0]
db.close()
with open(sys.argv[1], 'r+b') as file:
    file.seek((page - 1) * 4096); file.write(b'\xff' * 100)
PY
mount_keychain
wait_until 30 eval '[ "$(integrity)" = damaged ]'
ended "$BAD" ls "$P/mail"; ended "$BAD" cat "$P/mail/alice"
ended "$BAD" sh -c "printf x > '$P/mail/alice'"
ended "$BAD" sh -c "printf x > '$P/mail/dora'"
ended "$BAD" mkdir "$P/other"; ended "$BAD" rmdir "$P/empty"
ended "$BAD" mv "$P/mail/bob" "$P/mail/alice"; ended "$BAD" mv "$P/mail" "$P/post"
printf 'changed' > "$P/mail/bob"; expect "changed" "$(cat "$P/mail/bob")" "an item that is found"
rm "$P/mail/carol"
unmount_keychain; expect_code 21 "$KEYCHAINFS" check > "$CASE_DIR/said"

# A repair builds a new file, with every item in it.
"$KEYCHAINFS" check --repair --yes > "$CASE_DIR/said" || fail "$(cat "$CASE_DIR/said")"
mount_keychain
expect "alice bob" "$(echo $(ls "$P/mail"))" "the listing after the repair"
expect "secret of alice" "$(cat "$P/mail/alice")" "the value after the repair"
