# S1: regardless of the name of a mount, `check` and `backup` use its daemon, and a second mount reports where the first
# one is.
. "${0%/*}/lib.sh"
create_keychain
for options in fsname=vault "fsname=$CASE_DIR/nothing"; do
    mount_keychain -o "$options"
    mkdir -p "$MNT/generic-passwords/s"; printf x > "$MNT/generic-passwords/s/a"
    # Without a passphrase: only the daemon can check the keychain.
    expect_code 0 env KEYCHAINFS_PASSPHRASE_FILE=/dev/null "$KEYCHAINFS" check | grep -q 'is intact' || fail "check ($options)"
    env KEYCHAINFS_PASSPHRASE_FILE=/dev/null "$KEYCHAINFS" backup "$CASE_DIR/b" > /dev/null || fail "backup ($options)"
    [ -s "$CASE_DIR/b" ] || fail "no backup ($options)"; rm "$CASE_DIR/b"
    mkdir -p "$MNT.second"; expect_code 14 "$KEYCHAINFS" mount "$MNT.second" > "$CASE_DIR/said"
    grep -q "$(status pid)" "$CASE_DIR/said" && grep -q "$MNT" "$CASE_DIR/said" || fail "who holds it ($options): $(cat "$CASE_DIR/said")"
    # By another path to the same file.
    ln -sfn "$KEYCHAIN" "$CASE_DIR/link"
    expect_code 0 env KEYCHAINFS_PASSPHRASE_FILE=/dev/null "$KEYCHAINFS" check --keychain "$CASE_DIR/link" > /dev/null
    unmount_keychain
    expect_code 0 "$KEYCHAINFS" check | grep -q 'is intact' || fail "check after the unmount ($options)"
done
# With two mounted keychains each command uses the right daemon.
"$KEYCHAINFS" create --kdf test --keychain "$CASE_DIR/other.keychain"
mount_keychain -o fsname=vault; mkdir -p "$MNT.second"; "$KEYCHAINFS" mount --keychain "$CASE_DIR/other.keychain" -o fsname=vault "$MNT.second"
items() { "$KEYCHAINFS" check --json "$@" | python3 -I -c 'import json, sys; print(json.load(sys.stdin)["items"])'; }
one=$(items); other=$(items --keychain "$CASE_DIR/other.keychain"); "$KEYCHAINFS" unmount "$MNT.second"
expect "1 0" "$one $other" "items of each"
