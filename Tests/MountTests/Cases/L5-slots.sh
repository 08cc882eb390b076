# L5, S1, S8: key slots are listed, added, changed and removed, mounted or not, each with the secret of a slot.
# seconds: 20
. "${0%/*}/lib.sh"
cd "$CASE_DIR"
secret() { (umask 077; printf '%s\n' "$2" > "$1"); }
secret second 'battery staple'; secret third 'third'; secret wrong 'wrong'
slot() { timeout 60 "$KEYCHAINFS" slot "$@"; }
kinds() { slot list --json "$@" | python3 -I -c "import json, sys; print(*(f\"{s['id']}:{s['kind']}\" for s in json.load(sys.stdin)['slots']))"; }
opens() { "$KEYCHAINFS" check --passphrase-file "$1" > /dev/null 2>&1; }
create_keychain

# A keychain that is not mounted.
expect "1:passphrase" "$(kinds)" "the slots of a new keychain"
slot list | grep -q '^1  passphrase  Argon2id, 64 KiB, 1 passes$' || fail "slot list: $(slot list)"
slot add --new-passphrase-file second
expect "1:passphrase 2:passphrase" "$(kinds)" "after add"; opens second || fail "the new passphrase does not open"
opens "$PASSPHRASE" || fail "the old passphrase does not open any more"
cp "$KEYCHAIN" older; before=$(sha256sum < "$KEYCHAIN")
# Without a valid secret nothing is changed.
expect_code 10 slot add --passphrase-file wrong --new-passphrase-file third > /dev/null
expect_code 10 slot change 1 --passphrase-file wrong --new-passphrase-file third > /dev/null
expect_code 10 slot remove 1 --passphrase-file wrong > /dev/null
expect_code 25 slot remove 7 > /dev/null; expect_code 25 slot change 7 --new-passphrase-file third > /dev/null
expect_code 64 slot remove x > /dev/null; expect_code 64 slot add --kind tpm2 > /dev/null
expect_code 64 slot add --kind keyfile > /dev/null; expect_code 64 slot add --kind recovery --new-passphrase-file third > /dev/null
expect_code 64 slot list --keychain "$KEYCHAIN" "$MNT" > /dev/null
expect_code 18 slot add --new-passphrase-file /dev/null > /dev/null; expect_code 18 slot add --new-passphrase-file none > /dev/null
expect_code 17 slot list "$CASE_DIR" > /dev/null; expect_code 11 slot list --keychain none > /dev/null
expect "$before" "$(sha256sum < "$KEYCHAIN")" "the file after refused changes"
# The removed slot: refused for the new file, opens an older copy, and the command says that.
slot remove 1 --passphrase-file second 2> said
grep -q 'Older copies' said && grep -q 'keychainfs rekey' said || fail "what removal does not do is not said: $(cat said)"
expect "2:passphrase" "$(kinds)" "after remove"
expect_code 10 "$KEYCHAINFS" check > /dev/null; opens second || fail "the slot that stays does not open"
cp older "$KEYCHAIN.older"; "$KEYCHAINFS" backup --verify "$KEYCHAIN.older" > /dev/null || fail "an older copy does not open"
expect_code 25 slot remove 2 --passphrase-file second | grep -q 'last slot' || fail "the last slot"
# A change: the old secret does not open the slot any more.
slot change 2 --passphrase-file second --new-passphrase-file "$PASSPHRASE"
expect "2:passphrase" "$(kinds)" "after change"; opens "$PASSPHRASE" || fail "the changed slot does not open"
expect_code 10 "$KEYCHAINFS" check --passphrase-file second > /dev/null

# A mounted keychain, through its daemon: unlocked and locked; by mount point and by file.
mount_keychain; mkdir "$MNT/generic-passwords/s"; printf one > "$MNT/generic-passwords/s/one"
before=$(stat -c '%Y %Z' "$MNT/generic-passwords/s/one")
commits_of 0 kinds "$MNT" '> /dev/null'
expect_code 10 slot add --passphrase-file wrong --new-passphrase-file third "$MNT" > /dev/null
expect "2:passphrase" "$(kinds "$MNT")" "an unlocked mount is no authority"
slot add --new-passphrase-file third "$MNT"; expect "2:passphrase 3:passphrase" "$(kinds --keychain "$KEYCHAIN")" "added while mounted"
expect one "$(cat "$MNT/generic-passwords/s/one")" "an item"; printf two > "$MNT/generic-passwords/s/two"
"$KEYCHAINFS" lock "$MNT"; expect locked "$(status state)" "locked"
slot change 3 --new-passphrase-file second --keychain "$KEYCHAIN"; expect locked "$(status state)" "a change unlocks nothing"
expect_errno ENOKEY cat "$MNT/generic-passwords/s/two"
# S8: the log contains no data of the old slots.
expect 0 "$(stat -c %s "$KEYCHAIN-wal" 2>/dev/null || echo 0)" "the log after a change"
expect_code 10 "$KEYCHAINFS" unlock --passphrase-file third "$MNT" > /dev/null
"$KEYCHAINFS" unlock --passphrase-file second "$MNT"; expect two "$(cat "$MNT/generic-passwords/s/two")" "an item of between"
slot remove 2 --passphrase-file second "$MNT"; expect "3:passphrase" "$(kinds "$MNT")" "removed while mounted"
printf three > "$MNT/generic-passwords/s/three"; expect three "$(cat "$MNT/generic-passwords/s/three")" "an item after"
expect_code 25 slot remove 3 --passphrase-file second "$MNT" > /dev/null; expect_code 25 slot remove 9 --passphrase-file second "$MNT" > /dev/null
expect_code 64 slot remove 3 "$MNT" --keychain "$KEYCHAIN" > /dev/null
# No slot command re-encrypts items, and times do not change.
expect "$before" "$(stat -c '%Y %Z' "$MNT/generic-passwords/s/one")" "times of an item"
"$KEYCHAINFS" check > /dev/null || fail "check of the mounted keychain"
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock --passphrase-file second "$MNT"
for f in one two three; do expect "$f" "$(cat "$MNT/generic-passwords/s/$f")" "$f after a lock"; done
unmount_keychain; "$KEYCHAINFS" check --passphrase-file second > /dev/null; expect_code 10 "$KEYCHAINFS" check > /dev/null
"$KEYCHAINFS" mount "$MNT" --passphrase-file second; for f in one two three; do expect "$f" "$(cat "$MNT/generic-passwords/s/$f")" "$f later"; done
# Two concurrent commands: both succeed.
slot add --passphrase-file second --new-passphrase-file third "$MNT" & slot add --passphrase-file second --kind keyfile --key-file "$CASE_DIR/k" "$MNT"; wait $!
expect 3 "$(kinds "$MNT" | wc -w)" "two at once"
unmount_keychain
# Costs: raised while there is one passphrase slot, never lowered; this needs no new passphrase.
expect_code 25 slot change 3 --passphrase-file second --kdf test-slow | grep -q 'share their cost' || fail "a shared cost"
slot remove "$(slot list | awk '$2 == "passphrase" && $1 != 3 { print $1 }')" --passphrase-file second
expect 1 "$(slot list | grep -c passphrase)" "passphrase slots"
slot change 3 --passphrase-file second --kdf test-slow
slot list | grep -qE '^3  passphrase  Argon2id, 64 MiB, 6 passes$' || fail "the raised cost: $(slot list)"
opens second || fail "the passphrase at its new cost"
slot change 3 --passphrase-file second --kdf test; slot list | grep -q '64 MiB' || fail "the cost was lowered"
expect_code 64 slot change 3 --passphrase-file second --kdf cheap > /dev/null
expect_code 64 slot change 3 --passphrase-file second --kind recovery --kdf moderate > /dev/null
# Before the first unlock, and read-only, nothing changes.
"$KEYCHAINFS" mount "$MNT" --passphrase-file second -o ro
expect_code 22 slot add --passphrase-file second --new-passphrase-file wrong "$MNT" > /dev/null; expect 2 "$(kinds "$MNT" | wc -w)" "read-only"
unmount_keychain; "$KEYCHAINFS" mount "$MNT" --locked; expect before-first-unlock "$(status state)" "a cold start"
expect_code 23 slot add --passphrase-file second --new-passphrase-file wrong "$MNT" > /dev/null; expect 2 "$(kinds "$MNT" | wc -w)" "before the first unlock"
unmount_keychain
# S2: an older copy with older slots is reported.
cp older "$KEYCHAIN"; expect_code 24 mount_keychain > /dev/null
