# E4: `tree` prints services and items with their labels. Locked items and directories that cannot be read are left out, and end it with a failure.
# users: root
# seconds: 12
. "${0%/*}/lib.sh"
private_mounts
. "${0%/*}/accounts.sh"
. "${0%/*}/items.sh"
make_accounts
create_keychain; mount_keychain -o allow_other; export KEYCHAINFS_MOUNT="$MNT" LC_ALL=C
P="$MNT/generic-passwords"; D="$P/web"; mkdir "$D" "$P/empty" "$MNT/internet-passwords/h,protocol=https" "$MNT/access-groups/g"
printf geheim > "$D/amy"; printf x > "$D/\$(touch x)"; printf x > "$D/-rf"; printf x > "$D/a%0Ab"; printf x > "$D/bob"
printf x > "$MNT/internet-passwords/h,protocol=https/u"; mkdir "$MNT/access-groups/g/generic-passwords/s"
printf x > "$MNT/access-groups/g/generic-passwords/s/i"
setfattr -n user.kSecAttrLabel -v $'Amy\e[31m\xe2\x80\xae' "$D/amy"; setfattr -n user.kSecAttrLabel -v bob "$D/bob"
setfattr -n user.kSecAttrLabel -v 0xfffe "$D/-rf"
code 0 '' tree; cat > "$CASE_DIR/expected" <<EOF
$MNT
|-- access-groups
|   \`-- g
|       |-- generic-passwords
|       |   \`-- s
|       |       \`-- i
|       |-- internet-passwords
|       \`-- synchronizable
|           |-- generic-passwords
|           \`-- internet-passwords
|-- generic-passwords
|   |-- empty
|   \`-- web
|       |-- \$(touch x)
|       |-- -rf
|       |-- a%0Ab
|       |-- amy  (Amy\\u{1b}[31m\\u{202e})
|       \`-- bob
|-- internet-passwords
|   \`-- h,protocol=https
|       \`-- u
\`-- synchronizable
    |-- generic-passwords
    \`-- internet-passwords
EOF
diff "$CASE_DIR/expected" "$OUT" || fail "the tree"
# Forms of the argument.
web=$(LC_ALL=C.UTF-8 "$KEYCHAINFS" tree web); expect "└── bob" "${web##*$'\n'}" "the last line in UTF-8"
for name in web/ generic-passwords/web keychain:web "$D" "$D/"; do
    expect "$web" "$(LC_ALL=C.UTF-8 "$KEYCHAINFS" tree "$name")" "tree of $name"
done
(cd "$D"; expect "$web" "$(LC_ALL=C.UTF-8 "$KEYCHAINFS" tree .)" "tree of the working directory")
"$KEYCHAINFS" tree --json web | python3 -I -c '
import json, sys
value = json.load(sys.stdin); names = {item["name"]: item.get("label") for item in value["contents"]}
assert value["name"].endswith("/generic-passwords/web") and "label" not in value
assert names == {"$(touch x)": None, "-rf": None, "a%0Ab": None, "amy": "Amy\x1b[31m\u202e", "bob": "bob"}, names' || fail "the JSON"
code 29 'not a directory' tree web/amy; code 26 'There is no' tree none; code 29 'control files' tree "$MNT/.keychainfs"
code 29 '' tree keychain:; code 29 '' tree keychain:../x; code 17 'not in a mounted keychain' tree /etc; code 64 '' tree web x
got=0; "$KEYCHAINFS" tree > /dev/full 2> "$ERR" || got=$?; expect 1 "$got" "tree > /dev/full"
# A file system that is mounted in the keychain is not part of it.
mount --bind /etc "$P/empty"; expect 0 "$("$KEYCHAINFS" tree | grep -c -e passwd -e empty)" "another file system"; umount "$P/empty"
# Another user: what the modes permit, and a failure.
chmod 711 "$CASE_DIR"; chmod 755 "$D"; chmod 644 "$D/amy"
of_a() { # FOLDER: its tree for another user, which is incomplete
    got=0; as "$A" env KEYCHAINFS_MOUNT="$MNT" LC_ALL=C "$KEYCHAINFS" tree "$1" > "$OUT" 2> "$ERR" || got=$?
    expect 31 "$got" "the tree of another user ($(cat "$ERR"))"; grep -q 'No permission' "$ERR" || fail "$(cat "$ERR")"
}
of_a web; grep -qF 'amy  (Amy' "$OUT" || fail "a label that another user may read: $(cat "$OUT")"
expect 5 "$(grep -c -e '--' "$OUT")" "the items that another user sees"
of_a "$MNT"; grep -q generic-passwords "$OUT" || fail "the directories that another user sees: $(cat "$OUT")"; chmod 700 "$D"
code 31 'No permission' as "$A" tree generic-passwords
# A bind mount of a service.
mkdir "$CASE_DIR/bound"; mount --bind "$D" "$CASE_DIR/bound"
expect 5 "$("$KEYCHAINFS" tree "$CASE_DIR/bound" | grep -c -e '--')" "the items in a bind mount"; umount "$CASE_DIR/bound"
# Locked: the rest is printed.
setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock "$D/bob"; "$KEYCHAINFS" lock "$MNT"; got=0
"$KEYCHAINFS" tree web > "$OUT" 2> "$ERR" || got=$?; expect 23 "$got" "tree of a locked keychain"
expect "\`-- bob" "$(sed 1d "$OUT")" "what is not locked"; grep -q 'locked and left out' "$ERR" || fail "$(cat "$ERR")"
got=0; "$KEYCHAINFS" tree > "$OUT" 2> "$ERR" || got=$?; expect 23 "$got" "tree of the whole keychain"
grep -q bob "$OUT" && ! grep -q -e amy -e '\bu$' "$OUT" || fail "what is not locked: $(cat "$OUT")"
unmount_keychain
code 17 'not in a mounted keychain' tree; code 17 'No keychain is mounted' tree web
