# S1, H4: an unmount releases the space of deleted items, `check` reports it, and `check --compact` releases it on request.
# seconds: 20
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
size() { stat -c %s "$KEYCHAIN"; }
facts() { stat -c '%a %u %g' "$KEYCHAIN"; }
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
number() { "$KEYCHAINFS" backup "$CASE_DIR/backup" --json | field commitNumber; rm -f "$CASE_DIR/backup"; }
# fill COUNT: adds COUNT items of 1 MB and removes them.
fill() {
    for i in $(seq "$1"); do head -c 1000000 /dev/urandom > "$D/large-$i"; done
    rm "$D"/large-*
}
expect_items() {
    for i in $(seq 10); do expect "value $i" "$(cat "$D/$i")" "item $i $1"; done
    expect 10 "$(ls "$D" | wc -l)" "items $1"
    printf changed > "$D/1"; expect changed "$(cat "$D/1")" "a write $1"; printf 'value 1' > "$D/1"
    printf x > "$D/new"; rm "$D/new"
}
for i in $(seq 10); do printf 'value %s' "$i" > "$D/$i"; done
setfattr -n user.kSecAttrLabel -v label "$D/10"

# At an unmount: 200 MB, and ten small items are left.
fill 200
free=$("$KEYCHAINFS" check --json | field freeBytes)
[ "$free" -gt 190000000 ] || fail "check reports $free free bytes"
"$KEYCHAINFS" check | grep -q "Free in the file: $free bytes" || fail "check does not show the free bytes"
before=$(number) owner=$(facts)
unmount_keychain
[ "$(size)" -lt 4194304 ] || fail "after an unmount the file has $(size) bytes"
expect "$owner" "$(facts)" "mode and owner after an unmount"
expect login.keychain "$(ls -A "${KEYCHAIN%/*}")" "the files after an unmount"
expect "$((before + 1))" "$(number)" "the commit number after an unmount, which marks the session of this device"
mount_keychain; expect_items "after a compaction"
expect label "$(attribute kSecAttrLabel "$D/10")" "an attribute after a compaction"
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null

# A signal ends the daemon without a compaction: the system may be shutting down.
mount_keychain; fill 12
pid=$(daemon); kill -TERM "$pid"; wait_until 20 eval '! is_mounted'; wait_until 20 eval "! [ -e /proc/$pid ] || grep -q '^State:.*Z' /proc/$pid/status"
[ "$(size)" -gt 8000000 ] || fail "a daemon that a signal has ended has compacted the file: $(size)"

# On request.
[ "$("$KEYCHAINFS" check --json | field freeBytes)" -gt 8000000 ] || fail "check reports too few free bytes"
number=$(number)
ln "$KEYCHAIN" "$CASE_DIR/second"; large=$(size)
expect_code 1 "$KEYCHAINFS" check --compact > "$CASE_DIR/out"; grep -q 'another name' "$CASE_DIR/out" || fail "$(cat "$CASE_DIR/out")"
expect "$large" "$(size)" "the size of a file with two names"
rm "$CASE_DIR/second"
released=$("$KEYCHAINFS" check --compact --json | field compactedBytes)
expect "$large" "$((released + $(size)))" "the released bytes and the rest"
[ "$(size)" -lt 1000000 ] || fail "after check --compact the file has $(size) bytes"
expect "$number" "$(number)" "the commit number after a compaction"
expect 0 "$("$KEYCHAINFS" check --compact --json | field compactedBytes)" "the bytes that a second compaction releases"
"$KEYCHAINFS" check --compact | grep -q 'is intact' || fail "check --compact does not show what it has checked"
mount_keychain; expect_items "after check --compact"
expect_code 14 "$KEYCHAINFS" check --compact > "$CASE_DIR/out"
grep -q "$MNT" "$CASE_DIR/out" || fail "does not say where it is mounted"
expect_code 64 "$KEYCHAINFS" check --compact --repair > /dev/null

# A daemon that is killed during an unmount leaves the old file or the new one.
fill 12
pid=$(daemon)
"$KEYCHAINFS" unmount "$MNT" & unmounting=$!
wait_until 20 eval '! is_mounted'; kill -KILL "$pid" 2> /dev/null || true
wait "$unmounting" || true
expect_code 0 "$KEYCHAINFS" check > /dev/null
mount_keychain; expect_items "after a killed unmount"; unmount_keychain
expect login.keychain "$(ls -A "${KEYCHAIN%/*}")" "the files after a killed unmount"

# A damaged keychain is not compacted.
mount_keychain; fill 12; row=$(stat -c %i "$D/5"); kill -TERM "$(daemon)"; wait_until 20 eval '! is_mounted'
wait_until 20 eval "$KEYCHAINFS check > /dev/null"
# edit STATEMENT: changes the file without the program.
edit() {
    python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit(); db.close()' "$KEYCHAIN" "$1"
    rm -f "$KEYCHAIN"-wal "$KEYCHAIN"-shm
}
edit "UPDATE item SET metadata = zeroblob(64) WHERE id = $row"; large=$(size)
expect_code 21 "$KEYCHAINFS" check --compact > /dev/null
expect "$large" "$(size)" "the size of a damaged keychain"
edit "DELETE FROM item WHERE id = $row"
mount_keychain; wait_until 20 eval '[ "$(status integrity)" = damaged ]'; unmount_keychain
expect "$large" "$(size)" "the size of a damaged keychain after an unmount"
