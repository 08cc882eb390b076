#!/bin/bash
# F10, issue 5: changes by the SecItem functions are visible in the mount immediately, and vice versa, with attributes.
# needs: SecItemProgram
. "$(dirname "$0")/lib.sh"
SECITEM="$CASE_DIR/SecItemProgram"
export KEYCHAINFS_MOUNT="$MNT"
secitem() { timeout 20 "$SECITEM" "$@"; }
answers() { local wanted=$1; shift; expect "$wanted" "$(secitem "$@" | head -1)" "secitem $*"; }
# found NAME QUERY...: that attribute of the item that a search finds.
found() { local name=$1; shift; secitem find "$@" | sed -n "s/^$name=//p"; }

answers -25291 find class=genp                                   # nothing is mounted
create_keychain
mount_keychain
cd "$MNT"
answers -25300 find class=genp

# An added item is a file immediately, even if its name was just looked up and missing.
[ ! -e generic-passwords/web/smith ] || fail "a file of nothing"
answers 0 add class=genp svce=web acct=smith labl=Label icmt=Note v_Data=s3cret
expect s3cret "$(cat generic-passwords/web/smith)" "the file's contents"
expect Label "$(getfattr --only-values -n user.kSecAttrLabel generic-passwords/web/smith)" "the label"
expect Note "$(getfattr --only-values -n user.kSecAttrComment generic-passwords/web/smith)" "the comment"
expect smith "$(ls generic-passwords/web)" "the listing"
answers -25299 add class=genp svce=web acct=smith v_Data=other
answers 0 add class=inet srvr=example.com ptcl=htps port=8443 acct=smith v_Data=two
expect two "$(cat internet-passwords/example.com,protocol=https,port=8443/smith)" "the internet password"

# A written file is an item immediately.
printf new > generic-passwords/web/jones
setfattr -n user.kSecAttrLabel -v Jones generic-passwords/web/jones
expect new "$(found v_Data class=genp svce=web acct=jones)" "the new item"
expect Jones "$(found labl class=genp acct=jones)" "its label"
expect jones "$(found acct class=genp labl=Jones)" "the item by its label"
expect $'smith\njones' "$(found acct class=genp m_Limit=all)" "all, in the order in which they were made"
printf changed > generic-passwords/web/smith
expect changed "$(found v_Data class=genp svce=web acct=smith)" "the changed item"

# Changes and deletions, both ways.
answers 0 update class=genp acct=smith -- v_Data=again labl=Other
expect again "$(cat generic-passwords/web/smith)" "the updated contents"
expect Other "$(getfattr --only-values -n user.kSecAttrLabel generic-passwords/web/smith)" "the updated label"
answers 0 update class=genp acct=smith -- acct=miller svce=shop
[ ! -e generic-passwords/web/smith ] || fail "the old name is still there"
expect again "$(cat generic-passwords/shop/miller)" "the moved item"
rm generic-passwords/shop/miller
answers -25300 find class=genp acct=miller
answers 0 delete class=genp svce=web
[ ! -e generic-passwords/web/jones ] || fail "the deleted item is still there"
answers -25300 delete class=genp svce=web

# Groups and synchronizable items have separate directories.
answers -34018 add class=genp svce=g acct=a agrp=team
KEYCHAINFS_ACCESS_GROUPS=team,default answers 0 add class=genp svce=g acct=a v_Data=t
expect t "$(cat access-groups/team/generic-passwords/g/a)" "the item of a group"
mkdir -p "$HOME/.config/keychainfs"
printf '# groups\nteam\n' > "$HOME/.config/keychainfs/access-groups"
unset XDG_CONFIG_HOME
expect team "$(found agrp class=genp svce=g)" "the groups of the file"
rm "$HOME/.config/keychainfs/access-groups"
answers 0 add class=genp svce=s acct=a sync=1 v_Data=s
expect s "$(cat synchronizable/generic-passwords/s/a)" "the synchronizable item"

# Locked and deleted items.
answers 0 add class=genp svce=w acct=a v_Data=x
answers 0 add class=genp svce=w acct=b pdmn=ck v_Data=y
cd /
"$KEYCHAINFS" lock "$MNT"
answers -25308 find class=genp svce=w acct=a
answers -25308 add class=genp svce=w acct=c v_Data=z
expect y "$(found v_Data class=genp svce=w pdmn=ck)" "an item of AfterFirstUnlock"
"$KEYCHAINFS" unlock "$MNT"
expect x "$(found v_Data class=genp svce=w acct=a)" "the unlocked item"
unmount_keychain
answers -25291 find class=genp
