# X1: `keychainfs show` prints all attributes of an item or a service, never a secret.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/internet-passwords/example.com,protocol=https,port=8443"; mkdir "$D"
show() { "$KEYCHAINFS" show "$@" > "$CASE_DIR/shown"; }
has() { grep -qxF -- "$1" "$CASE_DIR/shown" || fail "$2: no '$1' in: $(cat "$CASE_DIR/shown")"; }
printf s3cret > "$D/me"
setfattr -n user.kSecAttrLabel -v 'Grüße' "$D/me"; setfattr -n user.kSecAttrComment -v 0x00ff "$D/me"
setfattr -n user.color -v 'a
b' "$D/me"; setfattr -n user.kSecAttrCreator -v aapl "$D/me"
show "$D/me"
for line in 'kSecClass: InternetPassword' 'kSecAttrAccount: me' 'kSecAttrServer: example.com' 'kSecAttrProtocol: HTTPS' \
    'kSecAttrPort: 8443' 'kSecAttrLabel: Grüße' 'kSecAttrComment: 0x00ff' 'color: 0x610a62' 'kSecAttrCreator: 1633775724' \
    'kSecAttrAccessible: WhenUnlocked' 'kSecAttrAccessGroup: default' 'kSecAttrSynchronizable: 0'; do has "$line" item; done
for name in kSecAttrCreationDate kSecAttrModificationDate; do
    grep -qE "^$name: [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$" "$CASE_DIR/shown" || fail "no $name: $(cat "$CASE_DIR/shown")"
done
grep -qE '^kSecAttrPersistentReference: 0x[0-9a-f]{32}$' "$CASE_DIR/shown" || fail "no reference: $(cat "$CASE_DIR/shown")"
! grep -q s3cret "$CASE_DIR/shown" || fail "show told the secret"
expect "$(sort "$CASE_DIR/shown" | cut -d: -f1 | uniq | wc -l)" "$(wc -l < "$CASE_DIR/shown")" "lines of different names"
# Names of attributes that a copy brings: none moves the cursor, adds a line or turns the text around.
F="$MNT/generic-passwords/copied"; mkdir "$F"; printf s3cret > "$F/me"
setfattr -n $'user.evil\e]0;owned\a\nkSecAttrAccount: bob' -v 1 "$F/me"
setfattr -n $'user.\xe2\x80\xaeright' -v 2 "$F/me"; setfattr -n $'user.\xe2\x80\xa8line' -v 3 "$F/me"
setfattr -n user.größe -v 4 "$F/me"
python3 -I -c 'import os, sys; os.setxattr(sys.argv[1], b"user.bad\xff", b"5")' "$F/me"
show "$F/me"
for line in "0x$(printf 'evil\e]0;owned\a\nkSecAttrAccount: bob' | od -An -v -tx1 | tr -d ' \n'): 1" 0xe280ae7269676874': 2' \
    0xe280a86c696e65': 3' 'größe: 4' '0x626164ff: 5' 'kSecAttrAccount: me'; do has "$line" "a copied name"; done
! grep -qx 'kSecAttrAccount: bob' "$CASE_DIR/shown" || fail "a name added a line"
expect "" "$(tr -d '\n' < "$CASE_DIR/shown" | grep -aP '[\x00-\x1f\x7f]')" "control characters"
"$KEYCHAINFS" show --json "$F/me" | python3 -c '
import json, sys
names = json.load(sys.stdin)["attributes"]
assert names["evil\x1b]0;owned\x07\nkSecAttrAccount: bob"] == "1" and names["kSecAttrAccount"] == "me" and names["0x626164ff"] == "5", names'
# A service: the attributes that its name represents, and the class for new items.
setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock "$D"
show "$D"
expect 'kSecClass: InternetPassword
kSecAttrServer: example.com
kSecAttrProtocol: HTTPS
kSecAttrPort: 8443
kSecAttrAccessGroup: default
kSecAttrSynchronizable: 0
kSecAttrAccessible: AfterFirstUnlock' "$(cat "$CASE_DIR/shown")" "a service"
mkdir "$MNT/access-groups/team"; G="$MNT/access-groups/team/synchronizable/generic-passwords/s"; mkdir "$G"; show "$G/"
expect 'kSecClass: GenericPassword
kSecAttrService: s
kSecAttrAccessGroup: team
kSecAttrSynchronizable: 1
kSecAttrAccessible: WhenUnlocked' "$(cat "$CASE_DIR/shown")" "a service of a group"
# Paths that are neither.
for path in "$MNT" "$MNT/generic-passwords" "$MNT/access-groups/team" "$MNT/.keychainfs/status"; do
    expect_code 1 "$KEYCHAINFS" show "$path" | grep -q 'neither an item nor' || fail "$path"
done
# Elsewhere, also a file with the attributes of an item, as 'cp -a' can make it.
touch "$CASE_DIR/copy"; setfattr -n user.kSecClass -v GenericPassword "$CASE_DIR/copy"
ln -s loop "$CASE_DIR/loop"; ln -s "$D/me" "$CASE_DIR/item"; ln -s "$D/none" "$CASE_DIR/nothing"
for path in "$CASE_DIR" "$CASE_DIR/passphrase" "$CASE_DIR/copy" "$CASE_DIR/none" "$CASE_DIR/loop/x"; do
    expect_code 17 "$KEYCHAINFS" show "$path" | grep -q 'not in a mounted keychain' || fail "$path"
done
show "$CASE_DIR/item"; has 'kSecAttrAccount: me' "through a link"
for path in "$D/none" "$CASE_DIR/nothing" "$MNT/generic-passwords/none/x"; do
    expect_code 26 "$KEYCHAINFS" show "$path" | grep -q 'There is no' || fail "what is not there: $path"
done
expect_code 29 "$KEYCHAINFS" show "$D/me/x" > /dev/null
# E17: names in the default mount.
export KEYCHAINFS_MOUNT="$MNT"; cd "$CASE_DIR"; mkdir -p copied; touch copied/me
for name in copied/me keychain:copied/me generic-passwords/copied/me; do show "$name"; has 'kSecAttrAccount: me' "$name"; done
for name in copied copied/ keychain:copied; do show "$name"; has 'kSecAttrService: copied' "$name"; done
cd "$F"; show me; has 'kSecAttrAccount: me' "in the mount"; show ../copied; has 'kSecAttrService: copied' "in the mount"; cd "$CASE_DIR"
for name in keychain:../x copied/../../x keychain: "copied//me"; do expect_code 29 "$KEYCHAINFS" show "$name" > /dev/null; done
for name in ./copied/me ../none/x; do expect_code 17 "$KEYCHAINFS" show "$name" > /dev/null; done
expect_code 26 "$KEYCHAINFS" show copied/none > /dev/null
"$KEYCHAINFS" lock "$MNT"
expect_code 23 "$KEYCHAINFS" show "$D/me" | grep -q unlock || fail "a locked item"
show "$D"; has 'kSecAttrServer: example.com' "a service while locked"
