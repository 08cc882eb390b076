# S4: check --repair saves every row that verifies, keeps the complete damaged file under another name, and invents
# nothing.
# seconds: 20
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
G="$MNT/generic-passwords"; mkdir "$G/s" "$G/t" "$MNT/access-groups/team" "$MNT/access-groups/team/generic-passwords/u"
for name in a b c; do printf 'value of %s' "$name" > "$G/s/$name"; printf 'other %s' "$name" > "$G/t/$name"; done
printf team > "$MNT/access-groups/team/generic-passwords/u/x"
head -c 5000 /dev/urandom > "$CASE_DIR/long"; cp "$CASE_DIR/long" "$G/s/long"
A=$(stat -c %i "$G/s/a"); S=$(stat -c %i "$G/s"); T=$(stat -c %i "$G/t"); LONG=$(stat -c %i "$G/s/long")
expect_code 14 "$KEYCHAINFS" check --repair --yes > /dev/null
unmount_keychain
NUMBER=$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*)
cp "$KEYCHAIN" "$CASE_DIR/sound.db"; cp "$NUMBER" "$CASE_DIR/number"
cd "$XDG_DATA_HOME/keychainfs"

# edit SQL…: changes the intact file.
edit() {
    rm -f "$KEYCHAIN"*; cp "$CASE_DIR/sound.db" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"
    python3 -I - "$KEYCHAIN" "$@" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
for sql in sys.argv[2:]: db.execute(sql)
db.close()
PY
    rm -f "$KEYCHAIN-wal" "$KEYCHAIN-shm"; cp "$KEYCHAIN" "$CASE_DIR/damaged.db"
}
# repaired [OPTION…]: repairs it; the damaged file is kept next to it, and all other items are unchanged.
repaired() {
    "$KEYCHAINFS" check --repair --yes --json "$@" > "$CASE_DIR/answer" 2> "$CASE_DIR/said" || fail "no repair: $(cat "$CASE_DIR/said")"
    expect True "$(answer repaired)" "repaired"
    local aside; aside=$(answer aside)
    cmp "$CASE_DIR/damaged.db" "$aside" || fail "the damaged file is not what it was"
    expect 600 "$(stat -c %a "$aside")" "mode of the damaged file"; expect 600 "$(stat -c %a "$KEYCHAIN")" "mode of the repaired one"
    expect 2 "$(ls -A | wc -l)" "files beside it: $(ls -A)"
    expect_code 0 "$KEYCHAINFS" check > /dev/null
    # M20: all class keys are renewed, so a planted one seals nothing new.
    expect "2 2,2,2,2,2,2,2,2,1" "$(query "SELECT user_key_generation, (SELECT group_concat(g) FROM (SELECT max(generation) AS g FROM class_key GROUP BY purpose ORDER BY purpose)) FROM store")" "generations of keys"
    expect_code 0 "$KEYCHAINFS" check --repair > "$CASE_DIR/said"    # nothing to confirm
    grep -q 'Nothing was changed' "$CASE_DIR/said" || fail "a repair of a sound keychain: $(cat "$CASE_DIR/said")"
    expect 2 "$(ls -A | wc -l)" "a sound keychain is not copied"
}
answer() { python3 -I -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2]))' "$CASE_DIR/answer" "$1"; }
query() { python3 -I -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone())' "$KEYCHAIN" "$1"; }
whole() {  # whole DIR NAME…: exactly these items of a directory exist
    local dir=$1; shift
    expect "$*" "$(ls "$dir" | tr '\n' ' ' | sed 's/ $//')" "listing of $dir"
}

# An intact keychain is not modified.
edit 'SELECT 1'
expect_code 0 "$KEYCHAINFS" check --repair > /dev/null; cmp "$KEYCHAIN" "$CASE_DIR/sound.db"
expect_code 64 "$KEYCHAINFS" check --yes > /dev/null

# An item: EBADMSG before, missing after, the others unchanged. Without --yes and a terminal nothing is done.
edit "UPDATE item SET metadata = zeroblob(64) WHERE id = $A"
expect_code 21 "$KEYCHAINFS" check > "$CASE_DIR/said"
grep -q "in generic-passwords/s/, its name is lost: item (row $A)" "$CASE_DIR/said" || fail "what check says is hurt: $(cat "$CASE_DIR/said")"
grep -q "keychainfs check --repair" "$CASE_DIR/said" || fail "check names no command that mends it: $(cat "$CASE_DIR/said")"
expect_code 21 "$KEYCHAINFS" check --repair > "$CASE_DIR/said"
grep -q "Items that do not verify (rows): $A" "$CASE_DIR/said" || fail "what would be done: $(cat "$CASE_DIR/said")"
cmp "$KEYCHAIN" "$CASE_DIR/damaged.db" || fail "changed without being asked"; expect 1 "$(ls -A | wc -l)" "left over"
mount_keychain; expect_errno EBADMSG cat "$G/s/a"; expect 'value of b' "$(cat "$G/s/b")" beside; unmount_keychain
cp "$CASE_DIR/number" "$NUMBER"; rm -f "$KEYCHAIN"*; cp "$CASE_DIR/damaged.db" "$KEYCHAIN"
repaired; expect "[$A]" "$(answer removedItems)" "removed items"
mount_keychain; whole "$G/s" b c long; cmp "$CASE_DIR/long" "$G/s/long"; expect 'other a' "$(cat "$G/t/a")" "another directory"
printf new > "$G/s/a"; expect new "$(cat "$G/s/a")" "the name is free again"; unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null

# M20: the slot that opened the damaged keychain stays, although its recipient does not open; new keys are sealed for it.
edit "UPDATE slot SET recipient = zeroblob(64)"; repaired
mount_keychain; whole "$G/s" a b c long; expect_code 0 "$KEYCHAINFS" rekey "$MNT" > /dev/null; unmount_keychain
mount_keychain; whole "$G/s" a b c long; unmount_keychain

# S2: a copy from before the repair is older than the state that this device has seen, although it was the newest.
cp "$CASE_DIR/sound.db" "$KEYCHAIN"; rm -f "$KEYCHAIN"-*; expect_code 24 "$KEYCHAINFS" check > /dev/null

# A missing long secret, a service, a container and a group whose names are lost: nothing is guessed, all items stay.
edit "DELETE FROM secret WHERE id = (SELECT secret_row FROM item WHERE id = $LONG)"
expect_code 21 "$KEYCHAINFS" check > "$CASE_DIR/said"
grep -q "item generic-passwords/s/long (row $LONG)" "$CASE_DIR/said" || fail "what check says is hurt: $(cat "$CASE_DIR/said")"
repaired; expect "[$LONG]" "$(answer removedItems)" "a lost secret"
edit "UPDATE directory SET name = zeroblob(length(name)) WHERE id = $S"; repaired
mount_keychain
whole "$MNT/access-groups/lost+found/generic-passwords/directory $S" a b c long
expect 'value of a' "$(cat "$MNT/access-groups/lost+found/generic-passwords/directory $S/a")" "an item whose directory is lost"
mv "$MNT/access-groups/lost+found/generic-passwords/directory $S" "$G/s"; whole "$G/s" a b c long; cmp "$CASE_DIR/long" "$G/s/long"
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null
edit "DELETE FROM directory WHERE parent = 0"; repaired
mount_keychain; LOST="$MNT/access-groups/lost+found"
expect team "$(cat "$LOST/generic-passwords/u/x")" "a lost group"; whole "$LOST 2/generic-passwords/s" a b c long
mv "$LOST" "$MNT/access-groups/team"; mv "$LOST 2/generic-passwords/s" "$LOST 2/generic-passwords/t" "$G"
whole "$G/s" a b c long; expect team "$(cat "$MNT/access-groups/team/generic-passwords/u/x")" "a renamed group"
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null

# Removed rows stay missing, and are reported. Unreadable keys are removed.
edit "DELETE FROM item WHERE id = $A"; repaired; expect 1 "$(answer missingRows)" "missing rows"
edit "INSERT INTO device VALUES (9, x'01', 0, zeroblob(16))"; repaired; expect 1 "$(answer removedKeys)" "rows of keys"

# The header: it is unknown whether the copy is the newest, so the user must accept it. An older copy likewise.
edit "UPDATE store SET header = zeroblob(256)"
expect_code 21 "$KEYCHAINFS" check --repair --yes > /dev/null; cmp "$KEYCHAIN" "$CASE_DIR/damaged.db"
repaired --accept-rollback; expect True "$(answer headerDamaged)" header
edit "DELETE FROM item WHERE id = $A"
mount_keychain; printf more > "$G/t/more"; unmount_keychain; cp "$CASE_DIR/damaged.db" "$KEYCHAIN"
expect_code 24 "$KEYCHAINFS" check --repair --yes > /dev/null
repaired --accept-rollback

# Pages: zeros in a page that contains items, and in the first one.
edit 'SELECT 1'
python3 -I - "$KEYCHAIN" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1]); root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'item_tag'").fetchone()[0]; db.close()
with open(sys.argv[1], "r+b") as f: f.seek((root - 1) * 4096); f.write(bytes(4096))
PY
rm -f "$KEYCHAIN-wal" "$KEYCHAIN-shm"; cp "$KEYCHAIN" "$CASE_DIR/damaged.db"
expect_code 21 "$KEYCHAINFS" check > /dev/null
repaired; expect '[]' "$(answer removedItems)" "an index alone"; mount_keychain; whole "$G/s" a b c long; unmount_keychain

# killed COMMAND...: runs it, which kills a repair. Then the damaged or the repaired keychain is in place, intact. Between them there
# is one more state: the damaged file without its log. Its header differs, its original bytes have been put aside, and the next
# repair completes.
killed() {
    edit "UPDATE item SET metadata = zeroblob(64) WHERE id = $A"
    "$@" > /dev/null 2>&1 || true
    if cmp -s "$KEYCHAIN" "$CASE_DIR/damaged.db"; then return; fi
    cmp "$CASE_DIR/damaged.db" "$KEYCHAIN".damaged-* || fail "$*: the damaged bytes are lost"
    local code=0; "$KEYCHAINFS" check > /dev/null 2>&1 || code=$?
    if [ "$code" != 0 ]; then
        expect 21 "$code" "$*: check"
        [ -z "$(cmp -l "$KEYCHAIN" "$CASE_DIR/damaged.db" | awk '$1 > 100')" ] || fail "$*: more than the header has changed"
        expect_code 0 "$KEYCHAINFS" check --repair --yes > /dev/null
        expect_code 0 "$KEYCHAINFS" check > /dev/null
    fi
    mount_keychain; whole "$G/s" b c long; unmount_keychain
}
# At random times; before the damaged file is renamed, before the repaired one gets its name, and before the commit
# number is saved.
for delay in 0.05 0.1 0.15 0.2 0.25 0.3 0.4 0.5; do killed timeout -s KILL "$delay" "$KEYCHAINFS" check --repair --yes; done
for call in renameat2:1 rename:1 rename:2; do
    killed strace -f -qq -o /dev/null -e "trace=${call%:*}" -e "inject=${call%:*}:signal=KILL:when=${call#*:}" \
        "$KEYCHAINFS" check --repair --yes
done
