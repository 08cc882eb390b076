# H3: only the mounting user reaches a mount, not even root; allow_root and allow_other of an ordinary user; the directory below.
# users: root
. "${0%/*}/lib.sh"
. "${0%/*}/accounts.sh"
# The test replaces /etc/fuse.conf.
private_mounts
make_accounts
chown -R "$A:" "$HOME" "$MNT" "$PASSPHRASE"; mkdir "$CASE_DIR/below"
fuse_conf() { printf '%s\n' "$1" > "$CASE_DIR/fuse.conf"; chmod 644 "$CASE_DIR/fuse.conf"; mount --bind "$CASE_DIR/fuse.conf" /etc/fuse.conf; }
mounted() { as "$A" "$KEYCHAINFS" mount "$MNT" "$@"; as "$A" mkdir -p "$MNT/generic-passwords/s"; as "$A" sh -c 'printf v > "$0"' "$MNT/generic-passwords/s/i"; }
as "$A" "$KEYCHAINFS" create --kdf test
I="$MNT/generic-passwords/s/i"

fuse_conf ''
mounted
expect v "$(as "$A" cat "$I")" "read by the mounting user"
for command in ls stat; do expect_errno EACCES $command "$MNT/."; expect_errno EACCES as "$B" $command "$MNT/."; done
expect_errno EACCES cat "$I"; expect_errno EACCES as "$B" cat "$I"
expect_code 17 "$KEYCHAINFS" status "$MNT" > /dev/null
grep " $MNT " /proc/self/mountinfo | grep -q 'nosuid,nodev.*default_permissions' || fail "nosuid, nodev, default_permissions"
mount --bind "$CASE_DIR" "$CASE_DIR/below"; expect 500 "$(stat -c %a "$CASE_DIR/below/mnt")" "the directory below the mount"
# A process opens it in the meantime through another path: the unmount closes it again.
chmod 700 "$CASE_DIR/below/mnt"; umount "$CASE_DIR/below"
# A mount that root cannot use is a mount.
as "$A" "$KEYCHAINFS" backup "$HOME/copy" > /dev/null
expect_code 14 "$KEYCHAINFS" restore --replace "$HOME/copy" | grep -qF "is mounted at $MNT" || fail "restore by root below a mount of another user"
as "$A" "$KEYCHAINFS" unmount "$MNT"; expect 500 "$(stat -c %a "$MNT")" "the directory after the mount"
expect_errno EACCES as "$A" touch "$MNT/x"

# Without user_allow_other both are refused, with advice; the mount point is as before.
for option in allow_other allow_root; do
    expect_code 16 as "$A" "$KEYCHAINFS" mount "$MNT" -o $option > "$CASE_DIR/said"
    grep -q "user_allow_other.*/etc/fuse.conf" "$CASE_DIR/said" || fail "$option: $(cat "$CASE_DIR/said")"
done
expect 500 "$(stat -c %a "$MNT")" "the mount point after a refusal"
umount /etc/fuse.conf; fuse_conf user_allow_other

mounted -o allow_root
expect v "$(cat "$I")" "read by root with allow_root"
expect_errno EACCES as "$B" ls "$MNT/."
"$KEYCHAINFS" status "$MNT" > /dev/null || fail "root's status with allow_root"
expect 700 "$(stat -c %a "$MNT")" "the root with allow_root"
as "$A" "$KEYCHAINFS" unmount "$MNT"

mounted -o allow_other
expect_errno EACCES as "$B" cat "$I"
as "$A" chmod 644 "$I"; as "$A" chmod 711 "${I%/*}"
expect v "$(as "$B" cat "$I")" "read by another user with allow_other"
expect_errno EPERM as "$A" chown "$B" "$I"
expect_errno EACCES as "$B" cat "$MNT/.keychainfs/status"
expect_code 17 as "$B" "$KEYCHAINFS" lock "$MNT" > /dev/null
"$KEYCHAINFS" lock "$MNT"; expect_errno ENOKEY as "$B" cat "$I"
as "$A" "$KEYCHAINFS" unmount "$MNT"
