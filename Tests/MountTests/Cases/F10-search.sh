#!/usr/bin/env bash
# keychainfs search: paths by attributes, of both classes and all groups; each path exists in the mount.
# seconds: 24
. "$(dirname "$0")/lib.sh"
create_keychain
mount_keychain
search() { timeout 60 "$KEYCHAINFS" search --mount "$MNT" "$@"; }

expect_code 26 search > /dev/null
generic="$MNT/generic-passwords"; internet="$MNT/internet-passwords"
mkdir "$generic/wifi" "$generic/mail" "$internet/example.com,protocol=https,port=8443"
printf canary-1 > "$generic/wifi/home"; printf canary-2 > "$generic/mail/home"; printf canary-6 > "$generic/mail/ä%2F%09b"
printf canary-3 > "$internet/example.com,protocol=https,port=8443/home"
setfattr -n user.kSecAttrLabel -v 'Home Wi-Fi' "$generic/wifi/home"
setfattr -n user.kSecAttrLabel -v 'Home Wi-Fi' "$internet/example.com,protocol=https,port=8443/home"
setfattr -n user.kSecAttrGeneric -v 0xff0041 "$generic/mail/home"
setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock "$generic/mail/home"
mkdir -p "$MNT/synchronizable/generic-passwords/wifi" "$MNT/access-groups/team.x"
mkdir "$MNT/access-groups/team.x/generic-passwords/wifi"
printf canary-4 > "$MNT/synchronizable/generic-passwords/wifi/home"
printf canary-5 > "$MNT/access-groups/team.x/generic-passwords/wifi/home"

all=$(search | sort)
expect "$(find "$MNT" -type f | sort)" "$all" "every item, and every path one of the mount"
expect 6 "$(wc -l <<< "$all")" "items"
expect "$generic/wifi/home
$internet/example.com,protocol=https,port=8443/home" "$(search 'label=Home Wi-Fi')" "by a label, in both classes"
expect "$generic/wifi/home" "$(search --class generic 'kSecAttrLabel=Home Wi-Fi')" "in one class"
# A value that begins with a combining character, which Swift takes for a part of the equals sign.
setfattr -n user.kSecAttrComment -v $'\u0301x' "$generic/wifi/home"
expect "$generic/wifi/home" "$(search $'comment=\u0301x')" "by a combining character"; setfattr -x user.kSecAttrComment "$generic/wifi/home"
expect "$generic/wifi/home" "$(search --class generic -i 'labl=home wi-fi')" "whatever the case"
expect_code 26 search 'label=home wi-fi' > /dev/null
expect "$internet/example.com,protocol=https,port=8443/home" "$(search protocol=HTTPS port=8443)" "by an enumeration and a number"
expect "$generic/mail/home" "$(search generic=0xff0041)" "by data"
expect "$generic/mail/home" "$(search accessible=AfterFirstUnlock)" "by class of protection"
expect "$MNT/synchronizable/generic-passwords/wifi/home" "$(search synchronizable=1)" "synchronizable"
expect "$MNT/access-groups/team.x/generic-passwords/wifi/home" "$(search accessgroup=team.x)" "of a group"
expect "$generic/mail/ä%2F%09b" "$(search "account=$(printf 'ä/\tb')")" "a name that is encoded"
expect canary-6 "$(search -0 "account=$(printf 'ä/\tb')" | xargs -0 cat)" "for xargs"
# Words: in the account, service, server, label or comment, case-insensitively; all words must match, and attributes
# too.
expect "$generic/wifi/home
$internet/example.com,protocol=https,port=8443/home" "$(search wi-fi)" "a word of a label"
expect "$generic/wifi/home" "$(search WI-FI service=wifi)" "a word and an attribute"
expect "$generic/mail/home" "$(search mail home)" "two words"
expect "$internet/example.com,protocol=https,port=8443/home" "$(search example)" "a part of a server"
expect_code 26 search canary-1 > /dev/null

# JSON: all attributes, no secret.
search --json service=wifi label='Home Wi-Fi' > "$CASE_DIR/json"
python3 -I - "$CASE_DIR/json" "$generic/wifi/home" <<'PYTHON'
import json, os, sys
items = json.load(open(sys.argv[1]))["items"]
assert len(items) == 1 and items[0]["path"] == sys.argv[2] and items[0]["class"] == "GenericPassword", items
attributes = items[0]["attributes"]
for name in ("Account", "Service", "Label", "Accessible", "AccessGroup"):
    value = os.getxattr(sys.argv[2], "user.kSecAttr" + name).decode()
    assert attributes["kSecAttr" + name] == value, (name, attributes)
assert attributes["kSecAttrSynchronizable"] is False, attributes
created = os.getxattr(sys.argv[2], "user.kSecAttrCreationDate").decode()
assert attributes["kSecAttrCreationDate"][:23] == created[:23], (attributes, created)
PYTHON
! search --json | grep -q canary || fail "a secret in the JSON"
search --json generic=0xff0041 | grep -q '"kSecAttrGeneric" : "0xff0041"' || fail "data in the JSON"

# Invalid terms, and items that do not exist.
for term in '' '=x' colour=red port=x accessible=Sometimes isinvisible=2; do expect_code 64 search "$term" > /dev/null; done
expect_code 64 search label=a labl=b > /dev/null
expect_code 64 search service=a server=b > /dev/null
expect_code 64 search --class generic server=b > /dev/null
expect_code 26 search server=none > /dev/null

# Locked: an unavailable item that may match ends the search; not mounted; stopped.
"$KEYCHAINFS" lock "$MNT"
expect_code 23 search label=x > /dev/null
expect "$generic/mail/home" "$(search accessible=AfterFirstUnlock)" "what is not locked"
"$KEYCHAINFS" unlock "$MNT"
pid=$(daemon)
stop_process "$pid"
expect_code 30 search > /dev/null || { kill -CONT "$pid"; exit 1; }
kill -CONT "$pid"
wait_until 20 search label='Home Wi-Fi' > /dev/null
unmount_keychain
expect_code 17 search > /dev/null
