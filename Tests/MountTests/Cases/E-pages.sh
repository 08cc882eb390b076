# C6: the commands that README.md and docs/guide.md offer to copy (blocks marked `sh`) work as pasted, and fail closed: locked, not mounted,
# and by another user.
# needs: pages
# needs: share
# users: both
# seconds: 40
. "${0%/*}/lib.sh"
. "${0%/*}/accounts.sh"
. "${0%/*}/pages.sh"
[ "$(id -u)" != 0 ] || make_accounts
create_keychain; mount_keychain
{ printf '## Example\n```sh\n'; sed -n '/^Add an item/,/^Lock it/s/^\.Dl \$ //p' "$CASE_DIR/share/man/keychainfs.1.in"; echo '```'; } \
    > "$CASE_DIR/manual.md"
run_page manual.md "" ""
[ -s "$MNT/generic-passwords/example.com/alice" ] || fail "the manual page has no example"; rm -r "${MNT:?}/generic-passwords/example.com"
run_page README.md "" ""
said="$CASE_DIR/said-1"
grep -q 'Required key not available' "$said" || fail "the tour shows no lock: $(cat "$said")"
grep -q 'user.kSecAttrLabel="Web shop"' "$said" || fail "the tour shows no attribute: $(cat "$said")"
expect 10 "$(block "$CASE_DIR/README.md" 1 | wc -l)" "lines of the tour"
run_page guide.md "Locking|Key slots|Backup and restore" "Key slots|Backup and restore"
paste_page README.md; paste_page guide.md

# A block that fails while it should succeed is noticed, and one that does not fail closed.
notices() {
    printf '## Planted\n```sh\n%s\n```\n' "$2" > "$CASE_DIR/planted.md"
    ! (trap - EXIT; run_page planted.md "" "") 2> "$CASE_DIR/noticed" || fail "unnoticed: $2"
    grep -q "$1" "$CASE_DIR/noticed" || fail "'$2' is noticed as $(cat "$CASE_DIR/noticed")"
    is_mounted || { rm -rf "${HOME:?}"/Keychain "${HOME:?}"/demo; mkdir "$MNT"; mount_keychain; }
    "$KEYCHAINFS" unlock "$MNT"
}
item='~/Keychain/generic-passwords/demo/item' other='~/Keychain/generic-passwords/demo/other'
recorded tool true
notices 'it succeeds' "true \"\$(cat $item)\""
notices 'without a message' "cat $item 2> /dev/null"
notices 'it starts tool' "tool \"\$(cat $item)\"; false"
notices 'pasted: it starts tool' "cat $item"$'\n''tool'
notices 'fails: ' "cat $item; false"
notices 'the home directory after' "mkdir -p ~/Keychain/generic-passwords/demo; echo x > $item; cat none"
notices 'the home directory after' "cd ~/Keychain/generic-passwords; mkdir -p demo; echo x > demo/item; cat none"
setfattr -n user.kSecAttrAccessible -v Always "$MNT/generic-passwords/demo"
notices 'items after' "cat $item; date > $other; false"
printf '## Planted\n```sh\n%s\n```\n' "cat > $item"$'\n'"cat $item" > "$CASE_DIR/planted.md"
! (trap - EXIT; paste_page planted.md) 2> /dev/null || fail "a block whose first line takes the next as its input is accepted"
echo x > "$MNT/generic-passwords/demo/other"
notices 'fails: ' "keychainfs lock"$'\n'"cat $other"
