# L4: a keychain, device key or key file that other users may write is refused; a file that they may read causes a warning.
# users: root
# seconds: 15
. "${0%/*}/lib.sh"
. "${0%/*}/accounts.sh"
make_accounts
create_keychain
DEVICE="$XDG_STATE_HOME/keychainfs/device.key" KEY="$CASE_DIR/key"
"$KEYCHAINFS" slot add --kind keyfile --new-key-file "$KEY" 2> /dev/null
cp -p "$KEYCHAIN" "$CASE_DIR/backup"
refused() { # CODE NAME COMMAND...
    local code=$1 name=$2; shift 2
    expect_code "$code" "$KEYCHAINFS" "$@" > "$CASE_DIR/said"
    grep -q "$name.* is refused: other users may write to it" "$CASE_DIR/said" || fail "$*: $(cat "$CASE_DIR/said")"
    ! is_mounted || fail "mounted"
}
works() { "$KEYCHAINFS" check --key-file "$KEY" > "$CASE_DIR/said" 2>&1 || fail "$1: $(cat "$CASE_DIR/said")"; }
changes() { # FILE: each way in which another user may write to it, undone by restore_owner
    case $way in
    group) chmod 0620 "$1";; others) chmod 0602 "$1";; owner) chown "$A" "$1";; list) setfacl -m "u:$A:rw" "$1";;
    esac
}
restore_owner() { setfacl -b "$1"; chown root: "$1"; chmod 0600 "$1"; }
for way in group others owner list; do
    before=$(sha256sum "$KEYCHAIN" "$DEVICE" "$KEY")
    changes "$KEYCHAIN"
    for command in "mount $MNT" "mount --locked $MNT" "mount -o ro $MNT" check "backup $CASE_DIR/copy" "slot list" "slot add --new-key-file $CASE_DIR/new" "check --repair" "check --compact"; do
        refused 1 "$KEYCHAIN" $command
    done
    expect "$before" "$(sha256sum "$KEYCHAIN" "$DEVICE" "$KEY")" "nothing was written ($way)"
    [ ! -e "$CASE_DIR/copy" ] && [ ! -e "$CASE_DIR/new" ] || fail "files of refused commands"
    restore_owner "$KEYCHAIN"; works "the keychain ($way)"
    changes "$DEVICE"
    for command in "mount $MNT" "mount --locked $MNT" check "create --keychain $CASE_DIR/other"; do refused 1 "$DEVICE" $command; done
    restore_owner "$DEVICE"; works "the device key ($way)"
    changes "$KEY"
    for command in "mount --key-file $KEY $MNT" "check --key-file $KEY" "slot change 2 --new-key-file $KEY"; do refused 18 "$KEY" $command; done
    mount_keychain --locked; expect_code 18 "$KEYCHAINFS" unlock --key-file "$KEY" "$MNT" | grep -q "is refused: other users may write" || fail unlock
    unmount_keychain
    restore_owner "$KEY"; works "the key file ($way)"
    # Backups can be read.
    changes "$CASE_DIR/backup"; "$KEYCHAINFS" backup --verify "$CASE_DIR/backup" > /dev/null
    XDG_STATE_HOME="$CASE_DIR/elsewhere" "$KEYCHAINFS" restore --keychain "$CASE_DIR/restored" "$CASE_DIR/backup" 2> /dev/null || fail "a backup ($way)"
    expect "600 root" "$(stat -c '%a %U' "$CASE_DIR/restored")" "the restored keychain"; rm "$CASE_DIR/restored"; restore_owner "$CASE_DIR/backup"
done

# A keychain in use is not replaced, although others may write to it and its mount has another name.
mount_keychain -o fsname=other; mkdir "$MNT/generic-passwords/s"; printf kept > "$MNT/generic-passwords/s/kept"
chmod 0666 "$KEYCHAIN"; before=$(stat -c %i "$KEYCHAIN")
expect_code 14 "$KEYCHAINFS" restore --replace "$CASE_DIR/backup" > /dev/null; expect "$before" "$(stat -c %i "$KEYCHAIN")" "the keychain in use"
chmod 0600 "$KEYCHAIN"; expect kept "$(cat "$MNT/generic-passwords/s/kept")" "the item"; unmount_keychain; works "the keychain in use"

# A file that others may read is used, with a warning; with mode 0600 without one.
for file in "$KEYCHAIN" "$DEVICE" "$KEY"; do
    for mode in 0640 0604 0600; do
        chmod $mode "$file"; "$KEYCHAINFS" mount --key-file "$KEY" "$MNT" 2> "$CASE_DIR/said"
        warnings=$(grep -c "warning: $file can be read by others" "$CASE_DIR/said" || true)
        expect $([ $mode = 0600 ] && echo 0 || echo 1) "$warnings" "warnings of $file, $mode"; expect "" "$(grep -v "warning: $file" "$CASE_DIR/said")" "messages"
        unmount_keychain
    done
done
# The files of root are used by another user.
chmod 0644 "$KEY"; chmod 711 "$CASE_DIR"; mkdir "$CASE_DIR/home-a"; chown "$A" "$CASE_DIR/home-a"
as "$A" env -u KEYCHAINFS_KEYCHAIN -u XDG_DATA_HOME -u XDG_STATE_HOME HOME="$CASE_DIR/home-a" sh -c '
    umask 077; printf "horse\n" > "$HOME/passphrase"; "$1" create --passphrase-file "$HOME/passphrase" 2> "$HOME/said" &&
    "$1" slot add --passphrase-file "$HOME/passphrase" --new-key-file "$2" && "$1" check --key-file "$2" > /dev/null' \
    sh "$KEYCHAINFS" "$KEY" 2> /dev/null || fail "a key file of root: $(cat "$CASE_DIR/home-a/said")"
