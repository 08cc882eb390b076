# S6: a store of every released version opens, with every item, name, attribute and time, and takes changes.
# needs: StoreFormat
# seconds: 14
. "${0%/*}/lib.sh"
FORMAT="$CASE_DIR/StoreFormat"
KEYCHAIN="$CASE_DIR/fixture.keychain"

# device N FIXTURE: this is device N of those that created the fixture.
device() {
    export XDG_STATE_HOME="$CASE_DIR/state-$1"
    install_device "$2" "$1"
}
compare() {
    python3 -I "$FORMAT/show-mount" "$MNT" > "$CASE_DIR/shown.json"
    diff "$1/contents.json" "$CASE_DIR/shown.json" > "$CASE_DIR/difference" || fail "$2: $(head -n 40 "$CASE_DIR/difference")"
}
mount_fixture() { mount_keychain --keychain "$KEYCHAIN" "$@"; }
sound() { "$KEYCHAINFS" check --keychain "$KEYCHAIN" > "$CASE_DIR/said" || fail "$1: $(cat "$CASE_DIR/said")"; }

found=0
for fixture in "$FORMAT"/fixtures/format-*/; do
    fixture=${fixture%/}; name=${fixture##*/}; found=$((found + 1))
    rm -rf "$CASE_DIR"/state-*
    install -m 600 "$fixture/login.keychain" "$KEYCHAIN"
    install -m 600 "$fixture/passphrase" "$PASSPHRASE"
    device 1 "$fixture"
    sound "$name"
    mount_fixture -o ro; compare "$fixture" "$name, read-only"
    expect 1 "$("$KEYCHAINFS" status --json "$MNT" | python3 -I -c 'import json, sys; print(json.load(sys.stdin)["device"]["foreignItems"])')" \
        "$name: items of the second device"
    expect_errno ENOKEY cat "$MNT/generic-passwords/classes/second device"; unmount_keychain
    cmp "$fixture/login.keychain" "$KEYCHAIN" || fail "$name: a read-only mount has changed it"

    mount_fixture; compare "$fixture" "$name"
    printf 'a new value' > "$MNT/generic-passwords/mail/alice"; printf new > "$MNT/generic-passwords/mail/new"
    chmod 640 "$MNT/generic-passwords/sizes/131073 bytes"
    mv "$MNT/access-groups/TEAM.app" "$MNT/access-groups/TEAM.other"
    unmount_keychain; sound "$name, changed"
    mount_fixture
    expect 'a new value' "$(cat "$MNT/generic-passwords/mail/alice")" "$name: a change"
    expect Mail "$(getfattr --only-values -n user.kSecAttrLabel "$MNT/generic-passwords/mail/alice")" "$name: its label"
    expect new "$(cat "$MNT/generic-passwords/mail/new")" "$name: an addition"
    expect 131073 "$(wc -c < "$MNT/generic-passwords/sizes/131073 bytes")" "$name: long contents"
    expect both "$(cat "$MNT/access-groups/TEAM.other/synchronizable/internet-passwords/example.net/frank")" "$name: a renamed group"
    unmount_keychain

    # On the second device.
    device 2 "$fixture"; mount_fixture
    expect 'of the second device' "$(cat "$MNT/generic-passwords/classes/second device")" "$name, second device"
    expect_errno ENOKEY cat "$MNT/generic-passwords/classes/WhenUnlockedThisDeviceOnly"
    expect WhenUnlocked "$(cat "$MNT/generic-passwords/classes/WhenUnlocked")" "$name, second device"
    unmount_keychain; sound "$name, second device"
done
[ "$found" -gt 0 ] || fail "there is no fixture"
