# S4: a repair without free space fails, at any step, with the damaged file unchanged and no other file left.
# users: root
. "${0%/*}/lib.sh"
SMALL="$CASE_DIR/small"; K="$SMALL/k"
mkdir "$SMALL"; mount -t tmpfs -o size=8m tmpfs "$SMALL"
full_cleanup() { local code=$?; (exit $code) || true; is_mounted && "$KEYCHAINFS" unmount "$MNT"; umount "$SMALL"; exit $code; }
trap full_cleanup EXIT
create_keychain --keychain "$K"; mount_keychain --keychain "$K"
D="$MNT/generic-passwords/s"; mkdir "$D"; printf precious > "$D/a"; head -c 150000 /dev/urandom > "$CASE_DIR/long"; cp "$CASE_DIR/long" "$D/long"
unmount_keychain

# An index is missing, so that all rows are read from the pages.
python3 -I - "$K" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1]); root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'item_tag'").fetchone()[0]; db.close()
with open(sys.argv[1], "r+b") as f: f.seek((root - 1) * 4096); f.write(bytes(4096))
PY
rm -f "$K"-*; cp "$K" "$CASE_DIR/damaged"
used=$(df --output=used -k "$SMALL" | tail -n 1); size=$(du -k "$K" | cut -f 1)
refused=0; room=0
while :; do
    mount -o remount,size=$((used + room))k "$SMALL"
    code=0; timeout 60 "$KEYCHAINFS" check --repair --yes --keychain "$K" > /dev/null 2> "$CASE_DIR/said" || code=$?
    [ $code != 0 ] || break
    expect 19 $code "a repair with room for $room KiB: $(cat "$CASE_DIR/said")"
    cmp "$K" "$CASE_DIR/damaged" || fail "changed for want of room"
    expect k "$(ls -A "$SMALL" | xargs)" "what a repair with room for $room KiB leaves"
    refused=$((refused + 1)); room=$((room + 44))
    [ $room -lt $((20 * size)) ] || fail "no room is enough"
done
[ $room -gt $((2 * size)) ] || fail "$room KiB are enough: was anything copied?"
[ $refused -gt 10 ] || fail "only $refused repairs without room"
cmp "$CASE_DIR/damaged" "$K".damaged-* || fail "the damaged file is not what it was"
mount -o remount,size=8m "$SMALL"
mount_keychain --keychain "$K"; expect precious "$(cat "$D/a")" "a saved value"; cmp "$CASE_DIR/long" "$D/long"
expect_code 0 "$KEYCHAINFS" check --keychain "$K" > /dev/null
