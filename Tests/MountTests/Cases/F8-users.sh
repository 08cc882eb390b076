# F8 with allow_other: mode and owner of each item decide, for the mounting user (root) and two others.
# users: root
. "${0%/*}/lib.sh"
. "${0%/*}/accounts.sh"
make_accounts
create_keychain; mount_keychain -o allow_other
C="$MNT/generic-passwords"; D="$C/shared"; mkdir "$D"; printf root > "$D/r"

# The directories that no user has created can be traversed but not listed, and no entry can be created in them.
expect "755 711 0" "$(stat -c %a "$MNT") $(stat -c '%a %u' "$C")" "upper directories"
as "$A" ls "$MNT" > /dev/null
expect_errno EACCES as "$A" ls "$C"
expect_errno EACCES as "$A" mkdir "$C/mine"
expect_errno EACCES as "$A" rmdir "$D"
expect_errno EACCES as "$A" mv "$D" "$C/other"
expect_errno EACCES as "$A" stat "$D/r"

# Other users' access to an item of root.
chmod 711 "$D"; as "$A" stat "$D/r" > /dev/null
expect_errno EACCES as "$A" cat "$D/r"
expect_errno EACCES as "$A" getfattr -n user.kSecAttrLabel "$D/r"
expect_errno EACCES as "$A" ls "$D"
chmod 644 "$D/r"; expect root "$(as "$A" cat "$D/r")" "read by others"
expect_errno EACCES as "$A" sh -c 'printf x >> "$0"' "$D/r"
expect_errno EACCES as "$A" setfattr -n user.kSecAttrLabel -v x "$D/r"
expect_errno EPERM as "$A" chmod 666 "$D/r"
expect_errno EPERM as "$A" chown "$A" "$D/r"
expect_errno EPERM as "$A" python3 -I -c 'import os, sys; os.utime(sys.argv[1], (1, 1))' "$D/r"
expect_errno EACCES as "$A" rm -f "$D/r"
expect_errno EACCES as "$A" mv "$D/r" "$D/q"
expect root "$(cat "$D/r")" "the item after refusals"

# An item given to A.
chown "$A:" "$D/r"; chmod 600 "$D/r"
expect root "$(as "$A" cat "$D/r")" "read by its owner"
as "$A" sh -c 'printf A > "$0"' "$D/r"; as "$A" touch -d 2001-01-01 "$D/r"
as "$A" setfattr -n user.kSecAttrLabel -v ours "$D/r"
expect_errno EACCES as "$B" cat "$D/r"
expect_errno EPERM as "$A" chown "$B" "$D/r"
expect_errno EPERM as "$A" chgrp root "$D/r"
# A supplementary group of A, which B has too.
as "$A" chgrp "$G" "$D/r"; as "$A" chmod 640 "$D/r"
expect A "$(as "$B" cat "$D/r")" "read by the group"
expect_errno EACCES as "$B" sh -c 'printf x > "$0"' "$D/r"
as "$A" chmod 660 "$D/r"; as "$B" sh -c 'printf B > "$0"' "$D/r"
expect "B $A $G 660" "$(cat "$D/r") $(stat -c '%U %G %a' "$D/r")" "written by the group, owned as before"

# Permission to write an item does not include changing its name by an attribute.
chmod 666 "$D/r"
expect_errno EACCES as "$B" setfattr -n user.kSecAttrAccount -v stolen "$D/r"
expect_errno EACCES as "$B" setfattr -n user.kSecAttrService -v elsewhere "$D/r"
[ ! -e "$C/elsewhere" ] || fail "B has made a directory"
# Nor its class, nor the default class of a directory for other users' items.
expect_errno EPERM as "$B" setfattr -n user.kSecAttrAccessible -v Always "$D/r"
chmod 777 "$D"; expect_errno EPERM as "$B" setfattr -n user.kSecAttrAccessible -v Always "$D"; chmod 755 "$D"
as "$B" setfattr -n user.note -v B "$D/r"; setfattr -x user.note "$D/r"
as "$A" setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock "$D/r"
expect_errno EPERM as "$B" setfattr -x user.kSecAttrAccessible "$D/r"
setfattr -x user.kSecAttrAccessible "$D/r"
setfattr -n user.kSecAttrAccount -v r2 "$D/r"; setfattr -n user.kSecAttrAccount -v r "$D/r2"

# A directory given to A: the user who creates an item owns it.
chown "$A:" "$D"; chmod 755 "$D"
as "$A" sh -c 'umask 022; printf new > "$0"; mkdir "$0.d" 2>/dev/null || true' "$D/n"
expect "$A $A 600" "$(stat -c '%U %G %a' "$D/n")" "an item that A has made"
chmod 777 "$D"; as "$B" sh -c 'printf b > "$0"' "$D/b"; chmod 755 "$D"
expect "$B" "$(stat -c %U "$D/b")" "an item that B has made in A's directory"
as "$B" ls "$D" > /dev/null; expect_errno EACCES as "$B" touch "$D/b2"
expect_errno EACCES as "$B" rm -f "$D/b"
as "$A" mv "$D/n" "$D/b"; expect "$A new" "$(stat -c %U "$D/b") $(cat "$D/b")" "A's file over B's, in A's directory"
as "$A" rm -f "$D/b"; expect_errno EACCES as "$A" rmdir "$D"

# F5: a user who may not read an item does not get its attributes by creating an item under its name.
S="$C/taken"; mkdir "$S"; chown "$A:" "$S"; chmod 755 "$S"
for name in removed replaced readable; do
    printf root > "$S/$name"; setfattr -n user.kSecAttrComment -v private "$S/$name"; setfattr -n user.note -v private "$S/$name"
done
chmod 644 "$S/readable"
as "$A" python3 -I - "$S" <<'PY'
import os, sys
os.chdir(sys.argv[1])
os.unlink("removed")
for name in ("removed", "mine", "yours"):
    with open(name, "w") as file:
        file.write("mine")
os.rename("mine", "replaced")
os.rename("yours", "readable")
PY
for name in removed replaced; do
    expect mine "$(as "$A" cat "$S/$name")" "$name by A"
    as "$A" getfattr -m - "$S/$name" > "$CASE_DIR/listed"; [ ! -s "$CASE_DIR/listed" ] || fail "$name: $(cat "$CASE_DIR/listed")"
    ! as "$A" getfattr -n user.kSecAttrComment "$S/$name" 2>/dev/null || fail "$name: A reads a comment"
done
expect private "$(as "$A" getfattr --only-values -n user.kSecAttrComment "$S/readable" 2>/dev/null)" "what A could read before"

# Control files are for the mounting user and root, even through an inherited descriptor.
expect_errno EACCES as "$A" cat "$MNT/.keychainfs/status"
expect_code 17 as "$A" "$KEYCHAINFS" lock "$MNT" > /dev/null
expect_errno EACCES as "$A" sh -c 'printf lock > "$0"' "$MNT/.keychainfs/control"
expect_errno EACCES as_with_control "$A" python3 -I -c 'import os; os.write(3, b"lock\n")'
expect unlocked "$(status state)" "the keychain after others' commands"

# Mode and owner are stored with the item or directory.
owner=$(stat -c '%U %G %a' "$D" "$D/r"); unmount_keychain; mount_keychain -o allow_other
expect "$owner" "$(stat -c '%U %G %a' "$D" "$D/r")" "after another mount"
unmount_keychain; mount_keychain
expect_errno EACCES as "$A" ls "$MNT"
expect 700 "$(stat -c %a "$MNT")" "the root without allow_other"
