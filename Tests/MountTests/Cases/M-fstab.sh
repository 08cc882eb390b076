# Section 8: fstab(5), mount(8), umount(8) and findmnt(8), through /sbin/mount.fuse and through the program's own mount
# helper.
# users: root
. "${0%/*}/lib.sh"
# mount(8) resets PATH and HOME, so the program must be in a directory that /bin/sh searches.
private_mounts
mkdir "$CASE_DIR/sbin"; ln "$KEYCHAINFS" "$CASE_DIR/sbin/keychainfs"; mount --bind "$CASE_DIR/sbin" /usr/local/sbin
create_keychain
unset KEYCHAINFS_PASSPHRASE_FILE
FSTAB="$CASE_DIR/fstab"; table() { printf '%s %s fuse.keychainfs %s 0 0\n' "$KEYCHAIN" "$MNT" "$1" > "$FSTAB"; }
# daemon_of [AS...]: the process ID from the status, read as a user who has access.
daemon_of() { "$@" python3 -I -c "import json; print(json.load(open('$MNT/.keychainfs/status'))['pid'])"; }
# ended PID: the daemon exits on its own and leaves the keychain closed.
ended() { wait_until 10 sh -c '! kill -0 "$0" 2>/dev/null || grep -q "^State:.Z" "/proc/$0/status"' "$1"; [ ! -e "$KEYCHAIN-wal" ] || fail "the keychain was not closed"; }

mount -t fuse.keychainfs "$KEYCHAIN" "$MNT" -o "passphrase_file=$PASSPHRASE,noexec,noatime"
expect "$KEYCHAIN fuse.keychainfs" "$(findmnt -no SOURCE,FSTYPE "$MNT")" "findmnt"
for option in nosuid nodev noexec default_permissions; do findmnt -no OPTIONS "$MNT" | tr , '\n' | grep -qx $option || fail "no $option"; done
mkdir "$MNT/generic-passwords/s"; printf '#!/bin/sh\n' > "$MNT/generic-passwords/s/i"; chmod 700 "$MNT/generic-passwords/s/i"
expect_errno EACCES "$MNT/generic-passwords/s/i"
pid=$(daemon_of); umount "$MNT"; ended "$pid"

# A line of fstab with all options that other programs use, for mount -a and for mount MOUNTPOINT.
table "defaults,noauto,nofail,user,_netdev,x-systemd.automount,x-systemd.requires-mounts-for=/var,comment=keys,relatime,dev,suid,exec,passphrase_file=$PASSPHRASE"
mount -T "$FSTAB" -a; ! is_mounted || fail "noauto"
mount -T "$FSTAB" "$MNT"; is_mounted || fail "not mounted from fstab"
expect '#!/bin/sh' "$(cat "$MNT/generic-passwords/s/i")" "an item"
for option in nosuid nodev; do findmnt -no OPTIONS "$MNT" | tr , '\n' | grep -qx $option || fail "$option with dev,suid"; done
pid=$(daemon_of); umount "$MNT"; ended "$pid"
table "ro,nofail,passphrase_file=$PASSPHRASE"
mount -T "$FSTAB" -a; is_mounted || fail "mount -a"
mount -T "$FSTAB" -a || fail "mount -a where it is mounted already"
expect_errno EROFS touch "$MNT/generic-passwords/s/i"
umount "$MNT"

# Another source in the table: every command still finds the mount, and a dead one is cleaned up.
table "fsname=my\\\\054keys,passphrase_file=$PASSPHRASE"
"$KEYCHAINFS" mount "$MNT" --keychain "$KEYCHAIN" -o "fsname=my\\,keys,passphrase_file=$PASSPHRASE"
expect "my,keys fuse.keychainfs" "$(findmnt -no SOURCE,FSTYPE "$MNT")" "fsname"
"$KEYCHAINFS" status "$MNT" > /dev/null
pid=$(daemon_of); kill -9 "$pid"
wait_until 10 sh -c '! findmnt "$0" > /dev/null' "$MNT"
"$KEYCHAINFS" mount "$MNT" --keychain "$KEYCHAIN" -o "fsname=vault,passphrase_file=$PASSPHRASE"
"$KEYCHAINFS" unmount "$MNT"; expect_code 17 "$KEYCHAINFS" unmount "$MNT" > /dev/null

# The mount helper's own name, as mount(8) calls it if /sbin/mount.fuse.keychainfs exists.
ln -s keychainfs "$CASE_DIR/mount.fuse.keychainfs"; HELPER="$CASE_DIR/mount.fuse.keychainfs"
"$HELPER" "$KEYCHAIN" "$MNT" -f -o "rw,passphrase_file=$PASSPHRASE"; ! is_mounted || fail "-f has mounted"
"$HELPER" "$KEYCHAIN" "$MNT" -s -v -n -t fuse.keychainfs -o "rw,nonsense,passphrase_file=$PASSPHRASE"; is_mounted || fail "the helper"
umount "$MNT"
expect_code 64 "$HELPER" "$KEYCHAIN" "$MNT" -o rw,nonsense > "$CASE_DIR/said"; grep -q "'nonsense'" "$CASE_DIR/said" || fail "unknown option"

# Without a terminal: refusals are clear, and nothing is mounted.
refused() { local code=$1 text=$2; shift 2; expect_code "$code" "$@" > "$CASE_DIR/said"; grep -q -- "$text" "$CASE_DIR/said" || fail "'$*' said: $(cat "$CASE_DIR/said")"; ! is_mounted || fail "mounted"; }
by_mount() { refused "$1" "$2" mount -t fuse.keychainfs "$KEYCHAIN" "$MNT" -o "$3"; }
by_mount 18 passphrase_file= rw
chmod 640 "$PASSPHRASE"; by_mount 18 'chmod 600' "passphrase_file=$PASSPHRASE"
chmod 602 "$PASSPHRASE"; by_mount 18 'chmod 600' "passphrase_file=$PASSPHRASE"
chmod 600 "$PASSPHRASE"; chown nobody "$PASSPHRASE"; by_mount 18 'root or of the mounting user' "passphrase_file=$PASSPHRASE"; chown 0 "$PASSPHRASE"
by_mount 18 'regular file' passphrase_file=/dev/null
by_mount 18 'cannot be read' "passphrase_file=$CASE_DIR/none"
by_mount 64 'absolute path' passphrase_file=relative
by_mount 64 "'nonempty'" "nonempty,passphrase_file=$PASSPHRASE"
for option in allow_other,allow_root fsname= subtype=a/b subtype=; do refused 64 "" "$KEYCHAINFS" mount "$MNT" -o "$option"; done
refused 64 "/sbin/mount.fuse" "$KEYCHAINFS" mount "$MNT" -o setuid=nobody
refused 11 'no keychain' mount -t fuse.keychainfs "$CASE_DIR/absent" "$MNT" -o "passphrase_file=$PASSPHRASE"

# setuid=USER of mount.fuse: the user mounts, with a separate home for the device key, not root's.
user="kcfs-m-$$"; useradd --system --create-home --home-dir "$CASE_DIR/$user" --user-group --shell /bin/sh "$user"
trap 'code=$?; userdel --force "$user" > /dev/null 2>&1 || true; (exit $code) || cleanup; cleanup' EXIT
mkdir "$CASE_DIR/theirs"; mv "$KEYCHAIN" "$CASE_DIR/theirs/k"; chown -R "$user:" "$CASE_DIR/theirs" "$MNT" "$PASSPHRASE"
chmod 666 /dev/fuse
mount -t fuse.keychainfs "$CASE_DIR/theirs/k" "$MNT" -o "setuid=$user,passphrase_file=$PASSPHRASE"
expect_errno EACCES ls "$MNT/."
runuser -u "$user" -- mkdir "$MNT/generic-passwords/theirs"
expect "$user" "$(runuser -u "$user" -- stat -c %U "$MNT/generic-passwords/theirs")" "the user's mount"
[ -s "$CASE_DIR/$user/.local/state/keychainfs/device.key" ] || fail "the device key of the user"
pid=$(daemon_of runuser -u "$user" --); umount "$MNT"; ended "$pid"
# HOME is another user's (sudo): the user's own home is used.
rm -r "$CASE_DIR/$user/.local"
runuser -u "$user" -- env HOME="$HOME" "$HELPER" "$CASE_DIR/theirs/k" "$MNT" -o "rw,passphrase_file=$PASSPHRASE"
[ -s "$CASE_DIR/$user/.local/state/keychainfs/device.key" ] || fail "the device key with another's HOME"
pid=$(daemon_of runuser -u "$user" --); umount "$MNT"; ended "$pid"
