# L5: a key file unlocks; it is created if it does not exist, never overwritten, and special files and endless ones are
# refused.
# needs: StoreFormat
. "${0%/*}/lib.sh"
cd "$CASE_DIR"
slot() { timeout 60 "$KEYCHAINFS" slot "$@"; }
create_keychain; mount_keychain; mkdir "$MNT/generic-passwords/s"; printf x > "$MNT/generic-passwords/s/x"
slot add --kind keyfile --key-file key "$MNT" 2> said; grep -q 'created the key file' said || fail "$(cat said)"
expect "600 64" "$(stat -c '%a %s' key)" "the key file that was made"
(umask 077; head -c 65536 /dev/urandom > large; head -c 32 /dev/urandom > small); before=$(sha256sum large small)
slot add --kind keyfile --new-key-file large --key-file key "$MNT"; slot add --new-key-file small "$MNT"
expect "$before" "$(sha256sum large small)" "key files that were there"
expect 4 "$(slot list "$MNT" | wc -l)" "slots"
for f in key large small; do
    "$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock --key-file $f "$MNT"; expect x "$(cat "$MNT/generic-passwords/s/x")" "unlocked with $f"
done
expect_code 64 slot add --kind keyfile --key-file "$MNT/generic-passwords/s/key" "$MNT" | grep -q 'is in a mounted keychain' || fail "a key file in the keychain"
unmount_keychain
for f in key large small; do mount_keychain --key-file $f; expect x "$(cat "$MNT/generic-passwords/s/x")" "mounted with $f"; unmount_keychain; done
"$KEYCHAINFS" check --key-file key > /dev/null; "$KEYCHAINFS" backup --key-file key copy > /dev/null
"$KEYCHAINFS" backup --verify --key-file key copy > /dev/null; XDG_STATE_HOME="$CASE_DIR/elsewhere" "$KEYCHAINFS" restore --key-file key --keychain ./restored copy
mount_keychain -o "key_file=$CASE_DIR/key"; expect unlocked "$(status state)" "the mount option"; unmount_keychain
chmod 640 key; expect_code 18 "$KEYCHAINFS" mount "$MNT" -o "key_file=$CASE_DIR/key" > /dev/null
"$KEYCHAINFS" check --key-file key > /dev/null 2> said; grep -q 'can be read by others' said || fail "no warning"; chmod 600 key
# One byte more, less, or different: another key.
cp key bad; printf x >> bad; expect_code 10 "$KEYCHAINFS" check --key-file bad > /dev/null
head -c 63 key > bad; expect_code 10 "$KEYCHAINFS" check --key-file bad > /dev/null
refused() { expect_code 18 timeout 20 "$KEYCHAINFS" check --key-file "$1" | grep -q "$2" || fail "$1: not told '$2'"; }
: > bad; refused bad 'is empty'; printf short > bad; refused bad 'has 5 bytes'; head -c 65537 /dev/zero > bad; refused bad 'too large'
refused /dev/zero 'no regular file'; refused "$CASE_DIR" 'no regular file'; refused none 'cannot be read'
mkfifo pipe; refused pipe 'no regular file'
for f in bad /dev/zero pipe; do expect_code 18 slot add --new-key-file $f > /dev/null; done
: > empty; expect_code 18 slot add --new-key-file empty > /dev/null; expect 0 "$(stat -c %s empty)" "an empty file that was there"
expect_code 64 "$KEYCHAINFS" check --key-file key --recovery > /dev/null
expect_code 64 "$KEYCHAINFS" check --key-file key --passphrase-file "$PASSPHRASE" > /dev/null
# Printable text can be guessed: refused for a new slot without an explicit option; random bytes and one control byte are not text.
(umask 077; printf '%-32s' password > text; printf '%s\n' "passwört — $(head -c 64 /dev/zero | tr '\0' x)" > unicode
    head -c 32 /dev/urandom | base64 > base64; printf '%-32s\1' password > control)
for f in text unicode base64; do
    expect_code 18 slot add --new-key-file $f | grep -q 'printable text' || fail "$f was accepted"
    expect_code 18 slot change 4 --new-key-file $f --key-file key | grep -q 'printable text' || fail "$f was accepted by slot change"
done
expect 4 "$(slot list | wc -l)" "slots"; before=$(sha256sum text)
slot add --new-key-file text --weak-key-file; "$KEYCHAINFS" check --key-file text > /dev/null; expect "$before" "$(sha256sum text)" "the text"
slot remove 5; slot add --new-key-file control; "$KEYCHAINFS" check --key-file control > /dev/null; slot remove 5
# A failed change leaves no key file behind.
(umask 077; echo wrong > wrong); expect_code 10 slot add --passphrase-file wrong --kind keyfile --key-file new > /dev/null; [ ! -e new ] || fail "a key file of no slot"
expect_code 1 slot add --new-key-file none/key > /dev/null; expect 4 "$(slot list | wc -l)" "slots"
expect_code 64 "$KEYCHAINFS" mount "$MNT" --create --keychain ./fresh --key-file key > /dev/null; [ ! -e fresh ] || fail "a keychain without a passphrase"
/usr/bin/python3 -I "${0%/*}/StoreFormat/read-store" "$KEYCHAIN" --key-file large --device-key "$XDG_STATE_HOME/keychainfs/device.key" --verify || fail "read-store"
