# F8: a keychain that another user has written, for instance the same user with another user ID on another machine.
# users: root
. "${0%/*}/lib.sh"
. "${0%/*}/accounts.sh"
make_accounts
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; printf one > "$D/a"; chmod 600 "$D/a"; chown "$B:" "$D/a"
mkdir "$MNT/access-groups/team"
expect "root $B" "$(stat -c %U "$D") $(stat -c %U "$D/a")" "root sees who owns what"
unmount_keychain
chown -R "$A:" "$HOME" "$MNT" "$PASSPHRASE"; chmod 711 "$CASE_DIR"

# Without allow_other every item belongs to the mounting user.
as "$A" "$KEYCHAINFS" mount "$MNT"
expect "$A $A 700" "$(as "$A" stat -c '%U %G %a' "$D")" "a directory"
expect "$A $A 600" "$(as "$A" stat -c '%U %G %a' "$D/a")" "an item"
expect "$A" "$(as "$A" stat -c %U "$MNT/access-groups/team")" "a group"
expect "$A" "$(as "$A" ls -l "$D" | awk '/ a$/ { print $3 }')" "an item in a listing"
expect one "$(as "$A" cat "$D/a")" "contents"
as "$A" sh -c 'printf two > "$0"; chmod 640 "$0"; touch "$0"; printf new > "$0.new"' "$D/a"
as "$A" mv "$D/a.new" "$D/b"
expect "two 640" "$(as "$A" cat "$D/a") $(as "$A" stat -c %a "$D/a")" "changed"
as "$A" "$KEYCHAINFS" unmount "$MNT"

# With allow_other the stored owner counts.
chown -R root: "$HOME" "$MNT" "$PASSPHRASE"
mount_keychain -o allow_other
expect "$B $A root" "$(stat -c %U "$D/a") $(stat -c %U "$D/b") $(stat -c %U "$D")" "kept owners"
