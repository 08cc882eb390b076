# E18, E20: the exit code and the message of each failure of an item's file. The commands are ordinary clients: permissions decide, and
# a bind mount of a directory or of one file, without control files, suffices.
# users: root
# seconds: 30
. "${0%/*}/lib.sh"
private_mounts
. "${0%/*}/accounts.sh"
make_accounts
mkdir "$CASE_DIR/small"; mount -t tmpfs -o size=4m tmpfs "$CASE_DIR/small"
K="$CASE_DIR/small/k"; create_keychain --keychain "$K"; mount_keychain --keychain "$K" -o allow_other; export KEYCHAINFS_MOUNT="$MNT"
P="$MNT/generic-passwords"; D="$P/web"; mkdir "$D"; printf geheim > "$D/amy"; printf 1 > "$D/bob"
chmod 711 "$CASE_DIR"; OUT="$CASE_DIR/out" ERR="$CASE_DIR/err"
# code CODE TEXT [as USER] COMMAND…: a message with that text, and no output with a failure.
code() {
    local wanted=$1 text=$2 got=0 who=(); shift 2
    [ "$1" != as ] || { who=(as "$2"); shift 2; }
    printf new | "${who[@]}" env KEYCHAINFS_MOUNT="$MNT" "$KEYCHAINFS" "$@" > "$OUT" 2> "$ERR" || got=$?
    expect "$wanted" "$got" "exit code of '$*' ($(cat "$ERR"))"; require_documented "$wanted"
    [ -z "$text" ] || grep -qF -- "$text" "$ERR" || fail "'$*': no '$text' in $(cat "$ERR")"
    [ "$wanted" = 0 ] || [ ! -s "$OUT" ] || fail "'$*' printed $(cat "$OUT")"
    [ "$wanted" = 0 ] || expect 1 "$(grep -c '^keychainfs: ' "$ERR")" "messages of '$*'"
    ! grep -q geheim "$ERR" || fail "a secret in the message of '$*'"
}
code 26 'There is no web/none.' get web/none; code 26 'There is no none/x' get none/x; code 20 'exists' add web/amy
code 26 'There is no' show "$D/none"; code 29 'is a file, not a directory' show "$D/amy/x"
mkdir "$D/x" 2> /dev/null && fail "a directory in a service"; mkdir "$P/dir"; code 29 'not an item' get generic-passwords/dir
code 29 'too long' add "web/$(printf '%0221d' 0)%~$(printf '%032d' 0)"

# Permissions: as for any program. Another user's mount gets no secret.
code 31 'No permission' as "$A" get web/amy; chmod 711 "$D"; code 31 'No permission' as "$A" get web/amy
chmod 644 "$D/amy"; code 0 '' as "$A" get web/amy; expect geheim "$(cat "$OUT")" "get by another user"
chmod 666 "$D/amy"; for options in '' --replace; do code 17 'is the mount of another user' as "$A" add $options web/amy; done
code 17 'is the mount of another user' as "$A" add web/new; expect geheim "$(cat "$D/amy")" "after A's attempts"
code 64 '--owner is for root' as "$A" add --owner root web/new
# Root and the mount of A: only with --owner.
mkdir "$CASE_DIR/a"; chown "$A" "$CASE_DIR/a"
in_a() {
    as "$A" env HOME="$CASE_DIR/a" XDG_DATA_HOME="$CASE_DIR/a/data" XDG_STATE_HOME="$CASE_DIR/a/state" \
        KEYCHAINFS_PASSPHRASE_FILE="$CASE_DIR/a/pass" "$@"
}
in_a sh -c 'umask 077; echo correct horse > "$HOME/pass"; mkdir "$HOME/mnt"'
in_a "$KEYCHAINFS" create --kdf test
# Root can enter the mount only if /etc/fuse.conf permits that.
[ -e /etc/fuse.conf ] || fail "no /etc/fuse.conf"
echo user_allow_other > "$CASE_DIR/fuse.conf"; mount --bind "$CASE_DIR/fuse.conf" /etc/fuse.conf
in_a "$KEYCHAINFS" mount -o allow_root "$CASE_DIR/a/mnt"
AM="$CASE_DIR/a/mnt/generic-passwords"; in_a mkdir "$AM/s"; in_a sh -c 'printf of-a > "$0"' "$AM/s/item"
code 17 'is the mount of another user' add "$AM/s/new"; code 17 'is the mount of another user' add --replace "$AM/s/item"
code 0 '' get "$AM/s/item"; expect of-a "$(cat "$OUT")" "root reads the item of A"
code 0 '' add --owner "$A" "$AM/s/new"; code 0 '' add --owner "$(id -u "$A")" --replace "$AM/s/item"
expect "new new" "$(cat "$AM/s/new") $(cat "$AM/s/item")" "--owner"
printf x | KEYCHAINFS_MOUNT_OWNER="$A" "$KEYCHAINFS" add "$AM/s/third" || fail "KEYCHAINFS_MOUNT_OWNER"
code 64 'no user' add --owner nosuchuser "$AM/s/new"; in_a "$KEYCHAINFS" unmount "$CASE_DIR/a/mnt"

# A bind mount of a service, and of one file.
mkdir "$CASE_DIR/service"; mount --bind "$D" "$CASE_DIR/service"; touch "$CASE_DIR/file"; mount --bind "$D/bob" "$CASE_DIR/file"
code 0 '' get "$CASE_DIR/service/amy"; expect geheim "$(cat "$OUT")" "in a bind mount"; code 0 '' get "$CASE_DIR/file"
expect 1 "$(cat "$OUT")" "a file that is mounted"
code 0 '' add "$CASE_DIR/service/added"; expect new "$(cat "$D/added")" "add in a bind mount"; code 20 exists add "$CASE_DIR/file"
code 0 '' add --replace "$CASE_DIR/file"; expect new "$(cat "$D/bob")" "replaced through a bind mount"
code 29 'SERVICE/NAME' add "$CASE_DIR/service/a/b"
code 17 'is the mount of another user' as "$A" add "$CASE_DIR/service/amy2"
umount "$CASE_DIR/service" "$CASE_DIR/file"

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
mount_keychain --keychain "$K" -o allow_other; code 21 'is damaged' get web/amy
# The daemon does not respond: 30 within 12 s. It has died: 17.
stopped=$(daemon); stop_process "$stopped"
trap 'code=$?; kill -CONT "$stopped" 2> /dev/null || true; (exit $code) || remove_accounts; remove_accounts' EXIT
jobs=(); SECONDS=0
for command in "get web/amy" "get --wait=1s web/amy" "add web/more" "add --replace web/amy" "show $D/amy"; do
    # shellcheck disable=SC2086
    (OUT="$OUT.${#jobs[@]}" ERR="$ERR.${#jobs[@]}"; code 30 'does not respond' $command
    [ $SECONDS -le 13 ] || fail "$command took $SECONDS s") & jobs+=($!)
    done
for job in "${jobs[@]}"; do wait "$job" || fail "one of them does not end with 30"; done
kill -CONT "$stopped"; fusermount3 -uz "$MNT"; wait_until 10 eval '! is_mounted'
mount_keychain --keychain "$K"; fail_daemon=$(daemon); kill -9 "$fail_daemon"; got=0; "$KEYCHAINFS" get web/amy 2> "$ERR" || got=$?
expect 17 "$got" "get after the end of the daemon ($(cat "$ERR"))"; wait_until 10 eval '! is_mounted'
