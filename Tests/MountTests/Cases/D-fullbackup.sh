# S1: a backup without free space leaves nothing on either disk; a killed backup leaves nothing under its name.
# users: root
. "${0%/*}/lib.sh"
mkdir "$CASE_DIR/small" "$CASE_DIR/store"
mount -t tmpfs -o size=40k tmpfs "$CASE_DIR/small"; mount -t tmpfs -o size=3m tmpfs "$CASE_DIR/store"
full_cleanup() {
    local code=$?
    (exit $code) || true; is_mounted && "$KEYCHAINFS" unmount "$MNT"
    umount "$CASE_DIR/small" "$CASE_DIR/store"; exit $code
}
trap full_cleanup EXIT
K="$CASE_DIR/store/k"
create_keychain --keychain "$K"; mount_keychain --keychain "$K"
mkdir "$MNT/generic-passwords/s"; head -c 200000 /dev/urandom > "$MNT/generic-passwords/s/a"
for state in mounted unmounted; do
    [ $state = mounted ] || unmount_keychain
    expect_code 19 "$KEYCHAINFS" backup --keychain "$K" "$CASE_DIR/small/b" > /dev/null
    expect "" "$(ls -A "$CASE_DIR/small")" "what is left on the full disk ($state)"
    expect "k" "$(ls -A "$CASE_DIR/store" | grep -v -e '^k-')" "what is left beside the keychain ($state)"
    # SIGXFSZ ends the command during the copy.
    if (ulimit -f 64; "$KEYCHAINFS" backup --keychain "$K" "$CASE_DIR/b") > /dev/null 2>&1; then fail "a copy beyond the limit"; fi
    [ ! -e "$CASE_DIR/b" ] || fail "half a backup ($state)"
    "$KEYCHAINFS" backup --keychain "$K" "$CASE_DIR/b" > /dev/null; "$KEYCHAINFS" backup --verify "$CASE_DIR/b" > /dev/null
    rm -f "$CASE_DIR"/b "$CASE_DIR"/.keychainfs-new-*
done
# The disk of a mounted keychain is full: the daemon reports it and continues.
mount_keychain --keychain "$K"; head -c 3000000 /dev/zero > "$CASE_DIR/store/filler" 2>/dev/null || true
expect_code 19 "$KEYCHAINFS" backup --keychain "$K" "$CASE_DIR/b" > /dev/null
expect "filler k" "$(ls -A "$CASE_DIR/store" | grep -v -e '^k-' | xargs)" "what is left on the keychain's disk"
expect 200000 "$(stat -c %s "$MNT/generic-passwords/s/a")" "the mount goes on"
rm "$CASE_DIR/store/filler"; "$KEYCHAINFS" backup --keychain "$K" "$CASE_DIR/b" > /dev/null
# A restore without free space leaves the old keychain.
unmount_keychain; before=$(sha256sum "$K"); head -c 3000000 /dev/zero > "$CASE_DIR/store/filler" 2>/dev/null || true
expect_code 19 "$KEYCHAINFS" restore --replace --keychain "$K" "$CASE_DIR/b" > /dev/null
expect "$before" "$(sha256sum "$K")" "the old keychain"
expect "filler k" "$(ls -A "$CASE_DIR/store" | xargs)" "what a refused restoration leaves"
