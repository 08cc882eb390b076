# H3: a secret is given only to the control file of a mounted keychain of the caller; never to a directory or a mount that looks like it.
# users: root
# seconds: 12
. "${0%/*}/lib.sh"
. "${0%/*}/accounts.sh"
# The test replaces /etc/fuse.conf.
private_mounts
make_accounts
echo user_allow_other > "$CASE_DIR/fuse.conf"; chmod 644 "$CASE_DIR/fuse.conf"; mount --bind "$CASE_DIR/fuse.conf" /etc/fuse.conf
create_keychain; mount_keychain

# A directory of another user with a copied status and a control file that all users may write.
FAKE="$CASE_DIR/fake"; mkdir -p "$FAKE/.keychainfs"
"$KEYCHAINFS" status --json "$MNT" > "$FAKE/.keychainfs/status"
fake() { for file in control lock rpc; do rm -f "$FAKE/.keychainfs/$file"; : > "$FAKE/.keychainfs/$file"; done; chown -R "$B:" "$FAKE"; chmod -R 777 "$FAKE"; }
got_nothing() { [ ! -s "$FAKE/.keychainfs/control" ] && [ ! -s "$FAKE/.keychainfs/rpc" ] || fail "$1: the directory got $(cat "$FAKE/.keychainfs/"{control,rpc})"; }
refused() { # CODE WHAT COMMAND...
    local code=$1 what=$2; shift 2
    fake; expect_code "$code" "$@" > "$CASE_DIR/said"; got_nothing "$what"
}
printf 'another horse\n' > "$CASE_DIR/new"; chmod 600 "$CASE_DIR/new"
refused 17 unlock "$KEYCHAINFS" unlock "$FAKE"
grep -q "No keychain is mounted" "$CASE_DIR/said" || fail "what unlock says: $(cat "$CASE_DIR/said")"
refused 17 rekey "$KEYCHAINFS" rekey "$FAKE"
for command in "add --new-passphrase-file $CASE_DIR/new" "change 1 --new-passphrase-file $CASE_DIR/new" "remove 1"; do
    refused 17 "slot $command" "$KEYCHAINFS" slot $command "$FAKE"
done
refused 17 search "$KEYCHAINFS" search --mount "$FAKE"
refused 17 lock "$KEYCHAINFS" lock "$FAKE"

# Symbolic links: to the control directory of the user's own mount, and from a control file to an item, which would
# receive the passphrase.
I="$MNT/generic-passwords/s/i"; mkdir "${I%/i}"; printf v > "$I"
fake; ln -sf "$I" "$FAKE/.keychainfs/control"; expect_code 17 "$KEYCHAINFS" unlock "$FAKE" > /dev/null
expect v "$(cat "$I")" "an item behind a symbolic link"
mkdir "$CASE_DIR/links"; ln -s "$MNT/.keychainfs" "$CASE_DIR/links/.keychainfs"
expect_code 17 "$KEYCHAINFS" unlock "$CASE_DIR/links" > /dev/null
# The mount point itself may be a symbolic link: the commands work.
ln -s "$MNT" "$CASE_DIR/link"; "$KEYCHAINFS" lock "$CASE_DIR/link"; expect locked "$(status state)" "locked"
"$KEYCHAINFS" unlock "$CASE_DIR/link"; expect unlocked "$(status state)" "unlocked"
"$KEYCHAINFS" slot add "$MNT" --new-passphrase-file "$CASE_DIR/new" 2> /dev/null; "$KEYCHAINFS" rekey "$MNT" > /dev/null 2>&1
expect "generic-passwords/s/i" "$("$KEYCHAINFS" search --mount "$MNT" | sed "s|^$MNT/||")" "search"
# In a user namespace root is the user who mounted it.
unshare -Ur "$KEYCHAINFS" unlock "$MNT"

# The mounted keychain of another user: root names that user.
T="$CASE_DIR/theirs"; mkdir -p "$T/home" "$T/mnt"; cp "$PASSPHRASE" "$T/passphrase"; chown -R "$A:" "$T"
theirs() { as "$A" env HOME="$T/home" XDG_DATA_HOME="$T/home" XDG_STATE_HOME="$T/home" KEYCHAINFS_PASSPHRASE_FILE="$T/passphrase" "$KEYCHAINFS" "$@"; }
theirs create --kdf test; theirs mount "$T/mnt" -o allow_other
mkdir -p "$T/mnt/generic-passwords/s"; printf v > "$T/mnt/generic-passwords/s/i"
"$KEYCHAINFS" lock "$T/mnt"; theirs unlock "$T/mnt"
for command in unlock rekey "slot add --new-passphrase-file $CASE_DIR/new"; do
    expect_code 17 "$KEYCHAINFS" $command "$T/mnt" > "$CASE_DIR/said"; grep -q -- --owner "$CASE_DIR/said" || fail "$command: $(cat "$CASE_DIR/said")"
done
expect_code 17 "$KEYCHAINFS" search --mount "$T/mnt" > "$CASE_DIR/said"; grep -q KEYCHAINFS_MOUNT_OWNER "$CASE_DIR/said" || fail "search: $(cat "$CASE_DIR/said")"
expect 1 "$("$KEYCHAINFS" slot list --json "$T/mnt" | grep -c '"id"')" "slots of the other user's keychain"
"$KEYCHAINFS" lock "$T/mnt"; "$KEYCHAINFS" unlock --owner "$A" "$T/mnt"; "$KEYCHAINFS" rekey --owner "$(id -u "$A")" "$T/mnt" > /dev/null 2>&1
KEYCHAINFS_MOUNT_OWNER="$A" "$KEYCHAINFS" slot add --new-passphrase-file "$CASE_DIR/new" "$T/mnt" 2> /dev/null
expect 1 "$(KEYCHAINFS_MOUNT_OWNER="$A" "$KEYCHAINFS" search --mount "$T/mnt" | wc -l)" "search in another user's keychain"
rm "$T/mnt/generic-passwords/s/i"
expect_code 17 "$KEYCHAINFS" unlock --owner "$B" "$T/mnt" > /dev/null
expect_code 64 "$KEYCHAINFS" unlock --owner "no-such-user" "$T/mnt" > /dev/null
expect_code 64 as "$A" "$KEYCHAINFS" unlock --owner "$B" "$T/mnt" > /dev/null
theirs unmount "$T/mnt"

# Another user mounts a keychain with the path of root's keychain as its source: `check` and `backup` of root's keychain
# do not use that mount.
unmount_keychain
theirs mount "$T/mnt" -o "allow_other,fsname=$KEYCHAIN"
expect 1 "$("$KEYCHAINFS" check --json | grep -o '"items" : [0-9]*' | grep -o '[0-9]*$')" "items of root's keychain"
mount_keychain; expect v "$(cat "$I")" "root's keychain"
theirs unmount "$T/mnt"
