# S2: `restore` refuses a backup with other keys than those of this device's keychain.
# seconds: 25
. "${0%/*}/lib.sh"
(umask 077; echo second > "$CASE_DIR/second"; echo third > "$CASE_DIR/third")
# attacker COMMAND...: on another device, with the secret of slot 2.
attacker() {
    XDG_STATE_HOME="$CASE_DIR/attacker" KEYCHAINFS_PASSPHRASE_FILE="$CASE_DIR/second" "$KEYCHAINFS" "$@" 2> /dev/null
}
# plant N FROM: N times new keys for the copy FROM, which the holder of slot 2 knows, wrapped for all slots of the copy.
plant() {
    cp "$2" "$CASE_DIR/forged"; rm -rf "$CASE_DIR/attacker"
    local round
    for ((round = 0; round < $1; round++)); do
        attacker slot change 2 --keychain "$CASE_DIR/forged" --new-passphrase-file "$CASE_DIR/second"
    done
}
restore() { "$KEYCHAINFS" restore --replace "$@" 2> "$CASE_DIR/said"; }
# refused WHAT: the forged backup is refused, and nothing is changed.
refused() {
    local before after
    before=$(state)
    expect_code 24 "$KEYCHAINFS" restore --replace "$CASE_DIR/forged" > "$CASE_DIR/said"
    grep -q 'slot that was removed' "$CASE_DIR/said" || fail "$1: $(cat "$CASE_DIR/said")"
    after=$(state); expect "$before" "$after" "$1: files after the refusal"
}
state() { (cd "$HOME" && find . -type f ! -name '*.lock' -exec sha256sum {} + | sort -k 2); }
number() { ls "$XDG_STATE_HOME"/keychainfs/commit-number.*; }

create_keychain 2> /dev/null
"$KEYCHAINFS" slot add --new-passphrase-file "$CASE_DIR/second" 2> /dev/null
mount_keychain; mkdir "$MNT/generic-passwords/s"; printf one > "$MNT/generic-passwords/s/a"
"$KEYCHAINFS" backup "$CASE_DIR/older" > /dev/null; unmount_keychain
"$KEYCHAINFS" slot remove 2 2> /dev/null
"$KEYCHAINFS" backup "$CASE_DIR/newest" > /dev/null

# Controls: the genuine backups are restored, the older one with a warning; the forged one is intact on another device.
restore "$CASE_DIR/newest"; ! grep -q warning "$CASE_DIR/said" || fail "a genuine backup: $(cat "$CASE_DIR/said")"
restore "$CASE_DIR/older"; grep -q 'key slots were removed or changed after' "$CASE_DIR/said" || fail "$(cat "$CASE_DIR/said")"
restore "$CASE_DIR/newest"
plant 1 "$CASE_DIR/older"; attacker backup --verify "$CASE_DIR/forged" > /dev/null || fail "the forged backup is damaged"

# Planted keys of the present generation, and of a later one.
refused "the present generation"
expect_code 24 "$KEYCHAINFS" restore --keychain "$CASE_DIR/elsewhere" "$CASE_DIR/forged" > /dev/null
[ ! -e "$CASE_DIR/elsewhere" ] || fail "restored at another path"
plant 2 "$CASE_DIR/older"; refused "a later generation"
rm "$KEYCHAIN"; refused "a later generation, without a keychain"; restore "$CASE_DIR/newest"
# Of an older generation: compared with the keychain that is replaced, and with nothing if that is lost.
"$KEYCHAINFS" slot add --new-passphrase-file "$CASE_DIR/third" 2> /dev/null; "$KEYCHAINFS" slot remove 2 2> /dev/null
plant 1 "$CASE_DIR/older"; refused "an older generation"
restore "$CASE_DIR/older" || fail "a genuine backup of the first generation: $(cat "$CASE_DIR/said")"
restore "$CASE_DIR/newest" || fail "a genuine backup of the second generation: $(cat "$CASE_DIR/said")"
# Without a state of this device: compared with the keychain that is replaced.
cp "$(number)" "$CASE_DIR/number"; NUMBER=$(number); rm "$NUMBER"; refused "without commit-number.*"
cp "$CASE_DIR/number" "$NUMBER"

# A damaged state of this device: refused until it is accepted, a genuine backup too.
: > "$NUMBER"; cp "$CASE_DIR/newest" "$CASE_DIR/forged"; refused "a damaged commit-number.*"
restore --accept-rollback "$CASE_DIR/newest" || fail "$(cat "$CASE_DIR/said")"
grep -q 'others may have them' "$CASE_DIR/said" || fail "no warning: $(cat "$CASE_DIR/said")"
mount_keychain; expect one "$(cat "$MNT/generic-passwords/s/a")" "the restored item"; unmount_keychain
# The forged one is restored if that is accepted; the next mount is quiet.
plant 1 "$CASE_DIR/older"; restore --accept-rollback "$CASE_DIR/forged"
grep -q 'others may have them' "$CASE_DIR/said" || fail "no warning: $(cat "$CASE_DIR/said")"
mount_keychain; unmount_keychain
