# L5: a recovery key is printed once, accepted in several spellings, and an error names its group.
# needs: StoreFormat
. "${0%/*}/lib.sh"
cd "$CASE_DIR"
slot() { timeout 60 "$KEYCHAINFS" slot "$@"; }
create_keychain; mount_keychain; mkdir "$MNT/generic-passwords/s"; printf x > "$MNT/generic-passwords/s/x"
(umask 077; slot add --kind recovery "$MNT" > key 2> said)
grep -qE '^([0-9A-HJKMNP-TV-Z]{6}-){5}[0-9A-HJKMNP-TV-Z]{6}$' key || fail "the recovery key: $(cat key)"
expect 1 "$(wc -l < key)" "lines on standard output"; grep -q 'shown this once' said || fail "$(cat said)"
! grep -qF "$(cut -c1-6 key)" said || fail "the key is in a message too"
(umask 077; slot add --kind recovery "$MNT" > other 2> /dev/null); ! cmp -s key other || fail "the same key twice"
slot remove 3 "$MNT" 2> /dev/null
# Entered through the daemon and for the file, in any spelling.
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock --recovery --passphrase-file key "$MNT"; expect x "$(cat "$MNT/generic-passwords/s/x")" "unlocked"
"$KEYCHAINFS" lock "$MNT"; tr 'A-Z-' 'a-z ' < key | sed 's/0/o/g; s/1/l/g' | "$KEYCHAINFS" unlock --recovery --passphrase-file - "$MNT"
expect x "$(cat "$MNT/generic-passwords/s/x")" "unlocked in another spelling"
unmount_keychain; tr -d - < key > flat; chmod 600 flat
"$KEYCHAINFS" check --recovery --passphrase-file flat > /dev/null; mount_keychain --recovery --passphrase-file key
expect x "$(cat "$MNT/generic-passwords/s/x")" "mounted with it"; expect unlocked "$(status state)" "state"; unmount_keychain
# At a terminal, without echo.
timeout 100 python3 -I "${0%/*}/terminal.py" "$KEYCHAINFS" check --recovery -- 'Recovery key for login: ' "$(cat key)" > terminal ||
    fail "typed at a terminal: $(cat terminal)"
! grep -qF "$(head -c 6 key)" terminal || fail "the terminal echoes the key"
# Mistyped: the group is named before any slot is tried.
mistyped() { expect_code 10 "$KEYCHAINFS" check --recovery --passphrase-file "$1" | grep -q "$2" || fail "not told: $2"; }
for group in 1 2 3 4 5 6; do
    awk -v g=$group 'BEGIN { FS = OFS = "-" } { c = substr($g, 2, 1); $g = substr($g, 1, 1) (c == "7" ? "8" : "7") substr($g, 3); print }' key > bad; chmod 600 bad
    mistyped bad "Group $group of the recovery key is mistyped"
done
awk 'BEGIN { FS = OFS = "-" } { t = $2; $2 = $5; $5 = t; print }' key > bad; mistyped bad 'Groups 2, 5'
cut -c1-40 key > bad; mistyped bad 'Group 6'; cut -c1-34 key > bad; mistyped bad 'this has 30'; echo U > bad; mistyped bad 'this has 1'
expect_code 18 "$KEYCHAINFS" check --recovery --passphrase-file /dev/null > /dev/null
# Correctly typed, but not a key of this keychain.
mistyped other 'The recovery key does not open'
# The variable contains passphrases: no recovery key is read from it.
expect_code 18 "$KEYCHAINFS" check --recovery | grep -q 'no terminal' || fail "the variable was read"
# A user who opens no slot sees no recovery key.
(umask 077; echo wrong > wrong); if "$KEYCHAINFS" slot add --kind recovery --passphrase-file wrong > shown 2> /dev/null; then fail "added"; fi
expect 0 "$(stat -c %s shown)" "a recovery key that was shown for nothing"
# Output that cannot be written: no slot is added.
expect_code 1 bash -c "'$KEYCHAINFS' slot add --kind recovery > /dev/full" > /dev/null
expect 2 "$(slot list | wc -l)" "slots"
# It works without a passphrase slot, and can be changed; the old key opens the slot no more.
slot remove 1 --recovery --passphrase-file key 2> /dev/null; expect_code 10 "$KEYCHAINFS" check > /dev/null
(umask 077; slot change 2 --recovery --passphrase-file key > new 2> /dev/null)
expect_code 10 "$KEYCHAINFS" check --recovery --passphrase-file key > /dev/null
"$KEYCHAINFS" check --recovery --passphrase-file new > /dev/null || fail "the new recovery key"
# The second implementation opens it.
/usr/bin/python3 -I "${0%/*}/StoreFormat/read-store" "$KEYCHAIN" --recovery-file new --device-key "$XDG_STATE_HOME/keychainfs/device.key" --verify || fail "read-store"
