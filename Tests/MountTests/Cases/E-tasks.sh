# C18, S1: the tasks of docs/guide.md work as pasted: a second keychain, the passphrase, restore, another machine, an item that was deleted
# by mistake, and a keychain file. Nothing that was deleted is lost without a step of the user.
# needs: pages
# users: both
# seconds: 20
. "${0%/*}/lib.sh"
. "${0%/*}/pages.sh"
unset KEYCHAINFS_PASSPHRASE_FILE
P='correct horse' ITEM="$MNT/generic-passwords/demo/item"
# typed TEXT (PROMPT ANSWER)…: runs it in the home directory at a terminal.
typed() {
    local text=$1 code=0; shift
    (cd "$HOME" && timeout 100 python3 -I "$CASE_DIR/terminal.py" /bin/bash -euo pipefail -c "$text" -- "$@") > "$CASE_DIR/said" 2>&1 || code=$?
    expect 0 "$code" "the end of '$text' ($(cat "$CASE_DIR/said"))"
}
# task HEADING N (PROMPT ANSWER)…: the Nth block of the task.
task() { local text; text=$(block_under "$CASE_DIR/guide.md" "$1" "$2" console); shift 2; typed "$text" "$@"; }
items_of() { "$KEYCHAINFS" status --json "$@" | sed -n 's/^  "items" : \([0-9]*\).*/\1/p'; }

typed 'keychainfs create --kdf test; keychainfs mount' 'New passphrase for login: ' "$P" 'Again: ' "$P" 'Passphrase for login: ' "$P"
mkdir "${ITEM%/*}"; printf one > "$ITEM"; setfattr -n user.kSecAttrLabel -v Label "$ITEM"

# The line feed at the end: with Return, and with Ctrl-D twice.
typed "echo type:; cat > $ITEM-1" type: $'secret\n\x04'; printf 'secret\n' | cmp - "$ITEM-1"
typed "echo type:; cat > $ITEM-2" type: $'secret\x04\x04'; printf secret | cmp - "$ITEM-2"
rm "$ITEM"-[12]
task "Files" 1 'Secret of wifi/guest: ' s3cret 'Again: ' s3cret; tail -n 1 "$CASE_DIR/said" | grep -qx '.*s3cret' || fail "get: $(cat "$CASE_DIR/said")"
printf s3cret | cmp - "$MNT/generic-passwords/wifi/guest"; rm -r "$MNT/generic-passwords/wifi"

task "A second keychain" 1 'New passphrase for work: ' "$P" 'Again: ' "$P" 'Passphrase for work: ' "$P"
mkdir ~/Work/generic-passwords/w; printf w > ~/Work/generic-passwords/w/w
expect "1 1" "$(items_of) $(items_of ~/Work)" "items of both"
"$KEYCHAINFS" lock ~/Work; expect_errno ENOKEY cat ~/Work/generic-passwords/w/w; expect one "$(cat "$ITEM")" "the first keychain"
KEYCHAINFS_MOUNT=~/Work typed 'keychainfs unlock' "Passphrase for the keychain at $HOME/Work: " "$P"
# Everything that is unlocked can be copied there without a passphrase.
copy=$(grep -o '`cp -a ~/Keychain/[^`]*`' "$CASE_DIR/guide.md") || fail "the guide does not copy a keychain"
eval "${copy//\`/}"; expect "one Label" "$(cd ~/Work/generic-passwords/demo; cat item; echo -n " "; getfattr -n user.kSecAttrLabel --only-values item)" "a copy of all items"
"$KEYCHAINFS" backup --keychain work ~/work-copy > /dev/null; "$KEYCHAINFS" unmount ~/Work; expect one "$(cat "$ITEM")" "the first keychain"
typed 'keychainfs check --keychain work' 'Passphrase for work: ' "$P"

# The passphrase: of a mounted keychain, whose first slot then opens with the new one only.
N='another horse'
task "Change the passphrase" 1 "Passphrase for the keychain at $MNT: " "$P" "New passphrase for the keychain at $MNT: " "$N" 'Again: ' "$N"
"$KEYCHAINFS" lock; typed "! keychainfs unlock" "$MNT: " "$P"; typed 'keychainfs unlock' "$MNT: " "$N"

# Backup and restore: the item of the backup is back, and the present file is kept.
typed "$(block_under "$CASE_DIR/guide.md" "Backup and restore")" "Passphrase for $HOME/backups/keychain-1: " "$N"
# The line of crontab(5), where `\%` is a `%`, without a terminal and without a passphrase.
daily=$(block_under "$CASE_DIR/guide.md" "Backup and restore" 1 text | sed 's/^@daily //; s/\\%/%/g')
sh -c "$daily" < /dev/null > /dev/null || fail "the daily backup fails"
(KEYCHAINFS_PASSPHRASE_FILE=<(echo "$N") "$KEYCHAINFS" backup --verify ~/backups/keychain-2*) > /dev/null || fail "the daily backup is not intact"
printf two > "$ITEM"; printf new > "$ITEM-new"
task "Backup and restore" 1 "Passphrase for $HOME/backups/keychain-1: " "$N" 'Passphrase for login: ' "$N"
expect one "$(cat "$ITEM")" "the item after the restore"; [ ! -e "$ITEM-new" ] || fail "an item that is not in the backup"
ls "$KEYCHAIN".replaced-* > /dev/null || fail "the replaced keychain is lost"

# An item that was deleted by mistake, also together with its service. The mounted keychain stays the newest.
printf late > "${ITEM%/*}/late"; rm "$ITEM"; "$KEYCHAINFS" unmount; typed 'keychainfs mount' 'Passphrase for login: ' "$N"
task "Deleted by mistake" 1 "Passphrase for $HOME/backups/keychain-1: " "$N"
expect "one Label" "$(cat "$ITEM") $(getfattr -n user.kSecAttrLabel --absolute-names --only-values "$ITEM")" "the deleted item"
printf three > "$ITEM"; typed "cp -ai $HOME/backups/keychain-1 $ITEM || true" overwrite n
expect "three late" "$(cat "$ITEM") $(cat "${ITEM%/*}/late")" "the other items"
rm -r "${ITEM%/*}"; typed 'keychainfs mount -o ro --accept-rollback ~/backups/keychain-1 ~/Backup' 'Passphrase' "$N"
cp -ai ~/Backup/generic-passwords/demo "$MNT/generic-passwords/"; expect one "$(cat "$ITEM")" "the deleted service"; "$KEYCHAINFS" unmount ~/Backup
"$KEYCHAINFS" unmount; typed 'keychainfs mount' 'Passphrase for login: ' "$N"; expect one "$(cat "$ITEM")" "after the next mount"

# The keychain's file, and its directory: nothing is lost until the unmount.
printf four > "$ITEM"
for deleted in "$KEYCHAIN" "$XDG_DATA_HOME"; do
    printf kept > "$ITEM-kept"; setfattr -n user.kSecAttrAccessible -v WhenPasscodeSetThisDeviceOnly "$ITEM-kept"
    rm -r "$deleted"*
    expect_errno ENODEV cp "$PASSPHRASE" "$ITEM-new"; "$KEYCHAINFS" status | grep -q 'before you unmount' || fail "status advises nothing"
    task "Deleted by mistake" 2; grep -q 'In no backup .*: 1\.' "$CASE_DIR/said" || fail "the rescued copy lacks an item silently"
    expect kept "$(cat "$ITEM-kept")" "an item that is in no backup"
    task "Deleted by mistake" 3 "Passphrase for $HOME/rescued-keychain: " "$N" 'Passphrase for login: ' "$N"; mv ~/rescued-keychain ~/moved
    expect four "$(cat "$ITEM")" "after $deleted was deleted"; printf x > "$ITEM-new"; rm "$ITEM-new"
    expect 700 "$(stat -c %a "${KEYCHAIN%/*}")" "mode of the directory"
done

# Another machine, which cannot open the items of this device, and back.
printf five > "$ITEM-own"
setfattr -n user.kSecAttrAccessible -v WhenUnlockedThisDeviceOnly "$ITEM-own"
typed "$(block_under "$CASE_DIR/guide.md" "Another machine" 1 console | grep -v '^scp')"
here=$HOME; export HOME="$CASE_DIR/there" XDG_DATA_HOME="$CASE_DIR/there/data" XDG_STATE_HOME="$CASE_DIR/there/state"
mkdir "$HOME"; mv "$here/keychain-copy" "$HOME"
task "Another machine" 2 "Passphrase for $HOME/keychain-copy: " "$N" 'Passphrase for login: ' "$N"
expect four "$(cat "$HOME/Keychain/generic-passwords/demo/item")" "the item on the other machine"
"$KEYCHAINFS" status | grep -q '1 item that only another device can open' || fail "the item of the first machine is not counted"
printf six > "$HOME/Keychain/generic-passwords/demo/item"; "$KEYCHAINFS" backup ~/second-copy > /dev/null
"$KEYCHAINFS" unmount; mv ~/second-copy "$here"
export HOME="$here" XDG_DATA_HOME="$here/data" XDG_STATE_HOME="$here/state"
"$KEYCHAINFS" unmount; typed 'keychainfs restore --replace second-copy; keychainfs mount' "Passphrase for $HOME/second-copy: " "$N" 'Passphrase for login: ' "$N"
expect "six five" "$(cat "$ITEM") $(cat "$ITEM-own")" "the items after the return"
"$KEYCHAINFS" unmount
