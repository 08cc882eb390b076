# E20: `add` and `get` are ordinary clients of the mount: permissions decide, a bind mount of a directory or of one file, without
# control files, suffices, and only the caller's mount, or that of --owner, gets a secret.
# users: root
# seconds: 8
. "${0%/*}/lib.sh"
private_mounts
. "${0%/*}/accounts.sh"
. "${0%/*}/items.sh"
make_accounts
create_keychain; mount_keychain -o allow_other; export KEYCHAINFS_MOUNT="$MNT"
P="$MNT/generic-passwords"; D="$P/web"; mkdir "$D"; printf geheim > "$D/amy"; printf 1 > "$D/bob"
chmod 711 "$CASE_DIR"
# Permissions: as for any program. Another user's mount gets no secret.
code 31 'No permission' as "$A" get web/amy; chmod 711 "$D"; code 31 'No permission' as "$A" get web/amy
chmod 644 "$D/amy"; code 0 '' as "$A" get web/amy; expect geheim "$(cat "$OUT")" "get by another user"
code 0 '' as "$A" run --env X=web/amy printenv X; expect geheim "$(cat "$OUT")" "run by another user"
code 31 'No permission' as "$A" run --env X=web/bob printenv X; code 31 'No permission' as "$A" run --env-folder web printenv X
chmod 666 "$D/amy"; for options in '' --replace; do code 17 'is the mount of another user' as "$A" add $options web/amy; done
code 17 'is the mount of another user' as "$A" add web/new; expect geheim "$(cat "$D/amy")" "after A's attempts"
code 64 '--owner is for root' as "$A" add --owner root web/new
# Root and the mount of A: only with --owner.
mkdir "$CASE_DIR/a"; chown "$A" "$CASE_DIR/a"
in_a() {
    as "$A" env HOME="$CASE_DIR/a" XDG_DATA_HOME="$CASE_DIR/a/data" XDG_STATE_HOME="$CASE_DIR/a/state" \
        KEYCHAINFS_PASSPHRASE_FILE="$CASE_DIR/a/pass" "$@"
}
in_a sh -c 'umask 077; echo correct horse > "$HOME/pass"; mkdir "$HOME/mnt"'
in_a "$KEYCHAINFS" create --kdf test
# Root can enter the mount only if /etc/fuse.conf permits that.
[ -e /etc/fuse.conf ] || fail "no /etc/fuse.conf"
echo user_allow_other > "$CASE_DIR/fuse.conf"; mount --bind "$CASE_DIR/fuse.conf" /etc/fuse.conf
in_a "$KEYCHAINFS" mount -o allow_root "$CASE_DIR/a/mnt"
AM="$CASE_DIR/a/mnt/generic-passwords"; in_a mkdir "$AM/s"; in_a sh -c 'printf of-a > "$0"' "$AM/s/item"
code 17 'is the mount of another user' add "$AM/s/new"; code 17 'is the mount of another user' add --replace "$AM/s/item"
code 0 '' get "$AM/s/item"; expect of-a "$(cat "$OUT")" "root reads the item of A"
code 0 '' add --owner "$A" "$AM/s/new"; code 0 '' add --owner "$(id -u "$A")" --replace "$AM/s/item"
expect "new new" "$(cat "$AM/s/new") $(cat "$AM/s/item")" "--owner"
printf x | KEYCHAINFS_MOUNT_OWNER="$A" "$KEYCHAINFS" add "$AM/s/third" || fail "KEYCHAINFS_MOUNT_OWNER"
code 64 'no user' add --owner nosuchuser "$AM/s/new"; in_a "$KEYCHAINFS" unmount "$CASE_DIR/a/mnt"

# A bind mount of a service, and of one file.
mkdir "$CASE_DIR/service"; mount --bind "$D" "$CASE_DIR/service"; touch "$CASE_DIR/file"; mount --bind "$D/bob" "$CASE_DIR/file"
code 0 '' get "$CASE_DIR/service/amy"; expect geheim "$(cat "$OUT")" "in a bind mount"
code 0 '' run --env-folder "$CASE_DIR/service" --env X="$CASE_DIR/file" sh -c 'echo "$amy$X"'
expect geheim1 "$(cat "$OUT")" "run in a bind mount"; code 0 '' get "$CASE_DIR/file"
expect 1 "$(cat "$OUT")" "a file that is mounted"
code 0 '' add "$CASE_DIR/service/added"; expect new "$(cat "$D/added")" "add in a bind mount"; code 20 exists add "$CASE_DIR/file"
code 0 '' add --replace "$CASE_DIR/file"; expect new "$(cat "$D/bob")" "replaced through a bind mount"
code 29 'SERVICE/NAME' add "$CASE_DIR/service/a/b"
code 17 'is the mount of another user' as "$A" add "$CASE_DIR/service/amy2"
umount "$CASE_DIR/service" "$CASE_DIR/file"
