# E14: `why` states why a file cannot be read, written or created now, with the exit code of that operation, and changes nothing.
# users: root
# seconds: 25
. "${0%/*}/lib.sh"
private_mounts
. "${0%/*}/accounts.sh"
. "${0%/*}/items.sh"
make_accounts
mkdir "$CASE_DIR/small"; mount -t tmpfs -o size=4m tmpfs "$CASE_DIR/small"
K="$CASE_DIR/small/k"; create_keychain --keychain "$K"; mount_keychain --keychain "$K" -o allow_other; export KEYCHAINFS_MOUNT="$MNT"
P="$MNT/generic-passwords"; D="$P/web"; mkdir "$D"; printf geheim > "$D/amy"; printf geheim > "$D/bob"
setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock "$D/bob"
# why CODE TEXT [as USER] FILE: the explanation, on standard output alone
why() {
    local wanted=$1 text=$2 got=0 who=(); shift 2
    [ "$1" != as ] || { who=(as "$2"); shift 2; }
    "${who[@]}" env KEYCHAINFS_MOUNT="$MNT" "$KEYCHAINFS" why "$1" > "$OUT" 2> "$ERR" || got=$?
    expect "$wanted" "$got" "exit code of 'why $1' ($(cat "$OUT" "$ERR"))"; require_documented "$wanted"
    grep -qF -- "$text" "$OUT" || fail "'why $1': no '$text' in $(cat "$OUT")"
    [ ! -s "$ERR" ] || fail "'why $1' on standard error: $(cat "$ERR")"
    ! grep -q geheim "$OUT" || fail "a secret in the explanation of '$1'"
}
state() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c 'import json, sys; print(json.load(sys.stdin)["commits"])'; find "$MNT" -path '*/.k*' -prune -o -printf '%p %m %s %T@\n' 2> /dev/null; }
before=$(state)
# What is possible.
for file in web/amy "$D/amy" keychain:web/amy generic-passwords/web/amy; do why 0 'can be read and written' "$file"; done
why 0 'is a directory, not an item. It can be listed, and has 2 entries.' "$D"; why 0 'directory' "$MNT"; why 0 'directory' "$P/"
why 26 "It can be created: 'keychainfs add'" web/new; why 26 'Its directory does not exist either' new/item
why 26 'It can be created' "$MNT/access-groups/g/generic-passwords/s/i"
# What is never possible there.
why 29 "canonical spelling of a name. Write '%2562'" web/%62; why 29 'SERVICE/NAME' amy; why 29 'one level below' web/a/b; why 29 '' keychain:../x
why 29 'items are in directories of' "$MNT/x"; why 29 'control files' "$MNT/.keychainfs/lock"; why 29 'control files' .keychainfs
why 29 'not an item' none; why 29 '255 bytes' "web/$(printf '%0300d' 0)"; why 17 'is not in a mounted keychain' /etc/passwd
got=0; "$KEYCHAINFS" why 2> "$ERR" || got=$?; expect 64 "$got" "why without a file"
expect "$before" "$(state)" "the state after all of that"
# Permissions, with the obstacle and both users.
chmod 711 "$CASE_DIR"; why 31 "$D has mode 700 and belongs to root (0), and you are $A (" as "$A" web/amy
chmod 711 "$D"; why 31 "$D/amy has mode 600 and belongs to root" as "$A" web/amy
chmod 644 "$D/amy"; why 31 'can be read, but not written' as "$A" web/amy; why 31 'cannot be created' as "$A" web/new
why 31 'cannot be created' as "$A" new/item; chmod 666 "$D/amy"; why 0 'can be read and written' as "$A" web/amy; chmod 600 "$D/amy"
# The disk is full.
head -c 8000000 /dev/zero > "$CASE_DIR/small/filler" 2> /dev/null || true
why 19 'can be read, but not written' web/amy; why 19 'cannot be created' web/new; rm "$CASE_DIR/small/filler"
# Locked: by class.
mkdir "$P/free"; setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock "$P/free"
"$KEYCHAINFS" lock "$MNT"
why 23 'its protection class permits access only while' web/amy; why 0 'can be read and written' web/bob
why 23 'new items there have the class WhenUnlocked' web/new; why 23 'cannot be created' new/item; why 23 'locked' "$D"
why 26 'It can be created' free/new; printf x > "$P/free/new"; why 0 'can be listed' "$MNT"
"$KEYCHAINFS" unlock "$MNT"; unmount_keychain
why 17 'No keychain is mounted' web/amy; why 17 'is not in a mounted keychain' "$D/amy"
"$KEYCHAINFS" mount --keychain "$K" --locked "$MNT" 2> "$ERR" || fail "$(cat "$ERR")"
why 23 'has not been unlocked since it was mounted' web/amy; why 23 'does not show before whether' web/none; "$KEYCHAINFS" unmount "$MNT"
# Read-only.
mount_keychain --keychain "$K" -o ro; why 22 'can be read, but not written' web/amy; why 22 'cannot be created' web/new
unmount_keychain
# Another device's.
mount_keychain --keychain "$K"; setfattr -n user.kSecAttrAccessible -v WhenUnlockedThisDeviceOnly "$D/amy"; unmount_keychain
XDG_STATE_HOME="$CASE_DIR/elsewhere" mount_keychain --keychain "$K"
why 23 'another device has created it' web/amy; unmount_keychain
