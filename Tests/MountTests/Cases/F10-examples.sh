#!/usr/bin/env bash
# The programs of Examples: their output, and that a change by the API is immediately visible as a file with its
# attributes.
# needs: examples
. "$(dirname "$0")/lib.sh"
create_keychain
mount_keychain
export KEYCHAINFS_MOUNT="$MNT"
cd "$CASE_DIR"

# says PROGRAM ARGUMENT... <<< expected output
says() { expect "$(cat)" "$(timeout 60 "$CASE_DIR/$1" "${@:2}" 2>&1)" "$*"; }

says TokenStorage abc <<'TEXT'
Authorization: Bearer abc
created twice: The specified item already exists in the keychain.
after delete: none
TEXT
says TokenStorage xyz --keep <<'TEXT'
Authorization: Bearer xyz
created twice: The specified item already exists in the keychain.
TEXT
token="$MNT/generic-passwords/api.example.com/ci"
expect xyz "$(cat "$token")" "the token's file"
expect AfterFirstUnlock "$(attribute kSecAttrAccessible "$token")" "its class"
printf 'changed by a shell' > "$token"
says TokenStorage new <<'TEXT'
Authorization: Bearer new
created twice: The specified item already exists in the keychain.
after delete: none
TEXT
[ ! -e "$token" ] || fail "the token is there after its deletion"

says Credentials <<'TEXT'
added: Credentials(username: "amy", password: "first")
updated: Credentials(username: "amy@example.com", password: "second")
deleted
TEXT
says Credentials --until-update <<'TEXT'
added: Credentials(username: "amy", password: "first")
updated: Credentials(username: "amy@example.com", password: "second")
TEXT
expect second "$(cat "$MNT/internet-passwords/www.example.com,protocol=https/amy@example.com")" "the login's file"
[ ! -e "$MNT/internet-passwords/www.example.com,protocol=https/amy" ] || fail "the login has its old name too"

says QueryableStore <<'TEXT'
generic set: pwd_1235
generic removed: none
generic other: other
generic all removed: none
internet set: pwd_1235
internet removed: none
internet other: other
internet all removed: none
TEXT
says QueryableStore --keep <<'TEXT'
generic set: pwd_1235
internet set: pwd_1235
TEXT
expect pwd_1235 "$(cat "$MNT/generic-passwords/org.example.editor/genericPassword")" "a generic password"
expect other "$(cat "$MNT/internet-passwords/git.example.com,protocol=https,port=8443,path=%2Fapi/second")" "an internet password"

says NativeClient <<'TEXT'
the password has 13 bytes
the same: true
found: amy Example mail
removed
TEXT
says NativeClient --keep <<'TEXT'
the password has 13 bytes
the same: true
found: amy Example mail
TEXT
expect 'correct horse' "$(cat "$MNT/generic-passwords/org.example.mail/amy")" "what the native API has set"
expect 24 "$(stat -c %s "$MNT/internet-passwords/example.com,protocol=https,port=8443/amy")" "its other password"

# Locked, not mounted: an error that reports it, without a delay.
"$KEYCHAINFS" lock "$MNT"
case "$(timeout 20 "$CASE_DIR/NativeClient" 2>&1)" in *"is locked"*) ;; *) fail "locked: no word of it" ;; esac
unmount_keychain
case "$(timeout 20 "$CASE_DIR/NativeClient" 2>&1)" in *"No keychain is available"*) ;; *) fail "not mounted: no word of it" ;; esac
