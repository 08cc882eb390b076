# E18: the exit code and the message of each failure of an item's file.
# users: root
# seconds: 30
. "${0%/*}/lib.sh"
private_mounts
. "${0%/*}/items.sh"
mkdir "$CASE_DIR/small"; mount -t tmpfs -o size=4m tmpfs "$CASE_DIR/small"
K="$CASE_DIR/small/k"; create_keychain --keychain "$K"; mount_keychain --keychain "$K"; export KEYCHAINFS_MOUNT="$MNT"
P="$MNT/generic-passwords"; D="$P/web"; mkdir "$D"; printf geheim > "$D/amy"; printf 1 > "$D/bob"
code 26 'There is no web/none.' get web/none; code 26 'There is no none/x' get none/x; code 20 'exists' add web/amy
code 26 'There is no' show "$D/none"; code 29 'is a file, not a directory' show "$D/amy/x"
mkdir "$D/x" 2> /dev/null && fail "a directory in a service"; mkdir "$P/dir"; code 29 'not an item' get generic-passwords/dir
code 29 'too long' add "web/$(printf '%0221d' 0)%~$(printf '%032d' 0)"

# The disk is full, in the middle of a secret, too.
head -c 4000000 /dev/zero > "$CASE_DIR/small/filler" 2> /dev/null || true
for item in web/large new/large; do
    got=0; head -c 900000 /dev/zero | "$KEYCHAINFS" add $item 2> "$ERR" || got=$?; expect 19 "$got" "add on a full disk ($(cat "$ERR"))"
done
got=0; head -c 900000 /dev/zero | "$KEYCHAINFS" add --replace web/amy 2> "$ERR" || got=$?
expect 19 "$got" "add --replace on a full disk ($(cat "$ERR"))"
grep -q 'full.*Nothing was changed' "$ERR" || fail "the message of a full disk: $(cat "$ERR")"
rm "$CASE_DIR/small/filler"; expect geheim "$(cat "$D/amy")" "the old secret"
[ ! -e "$D/large" ] && [ ! -e "$P/new" ] || fail "a part of an item"
# Locked; then read-only.
"$KEYCHAINFS" lock "$MNT"; code 23 'unlock' get web/amy; code 23 'unlock' add --replace web/amy; code 23 'unlock' add web/amy
code 23 'unlock' add web/fresh
code 23 'unlock' add fresh/item; "$KEYCHAINFS" unlock "$MNT"; [ ! -e "$P/fresh" ] || fail "a directory of a failed add"
unmount_keychain; mount_keychain --keychain "$K" -o ro
code 0 '' get web/amy; code 22 'read-only' add web/fresh; code 22 'read-only' add --replace web/amy; code 22 'read-only' add fresh/item
unmount_keychain
# Damaged: one bit of the secret.
python3 -I - "$K" <<'PY'
import sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro&immutable=1", uri=True)
rows = [bytes(row[0]) for row in db.execute("SELECT secret FROM item") if row[0]]; db.close()
data = bytearray(open(sys.argv[1], "rb").read())
for row in rows:
    at = data.index(row); assert data.count(row) == 1; data[at] ^= 1
open(sys.argv[1], "wb").write(data)
PY
mount_keychain --keychain "$K"; code 21 'is damaged' get web/amy; got=0; "$KEYCHAINFS" why web/amy > "$OUT" || got=$?; expect 21 "$got" "why of a damaged item"
grep -q 'is damaged.*keychainfs check' "$OUT" || fail "$(cat "$OUT")"; code 21 'is damaged' run --env A=web/amy true
# The daemon does not respond: 30 within 12 s. It has died: 17.
stopped=$(daemon); stop_process "$stopped"
trap 'code=$?; kill -CONT "$stopped" 2> /dev/null || true; cleanup $code' EXIT
jobs=(); SECONDS=0
for command in "get web/amy" "get --wait=1s web/amy" "add web/more" "add --replace web/amy" "show $D/amy" \
    "run --env A=web/amy true" "run --env-folder web true" "run --env-file $D/amy true" "tree" "tree web"; do
    # shellcheck disable=SC2086
    (OUT="$OUT.${#jobs[@]}" ERR="$ERR.${#jobs[@]}"; code 30 'does not respond' $command
    [ $SECONDS -le 13 ] || fail "$command took $SECONDS s") & jobs+=($!)
    done
for job in "${jobs[@]}"; do wait "$job" || fail "one of them does not end with 30"; done
kill -CONT "$stopped"; fusermount3 -uz "$MNT"; wait_until 10 eval '! is_mounted'
mount_keychain --keychain "$K"; fail_daemon=$(daemon); kill -9 "$fail_daemon"; got=0; "$KEYCHAINFS" get web/amy 2> "$ERR" || got=$?
expect 17 "$got" "get after the end of the daemon ($(cat "$ERR"))"; wait_until 10 eval '! is_mounted'
