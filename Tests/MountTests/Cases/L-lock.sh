# After `lock` protected items fail with ENOKEY, after `unlock` they are available again (L1, L2 for WhenUnlocked).
# users: both
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
printf s3cret > a; printf later > b; setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock b
cat a > /dev/null; ls -l > /dev/null
exec 3< a 4>> a
"$KEYCHAINFS" lock "$MNT"; expect locked "$(status state)" state
expect_errno ENOKEY cat a; expect_errno ENOKEY stat a; expect_errno ENOKEY rm a; expect_errno ENOKEY mv a c
expect_errno ENOKEY getfattr -n user.kSecAttrLabel a; expect_errno ENOKEY touch new; expect_errno ENOKEY mv b a
expect_errno ENOENT cat none
expect later "$(cat b)" "AfterFirstUnlock goes on"
expect b "$(ls 2>/dev/null | xargs)" "a listing shows what is available"
expect_errno ENOKEY ls
expect_errno ENOKEY rmdir ../s; expect_errno ENOKEY mv ../s ../t
expect_errno ENOKEY bash -c 'cat <&3'
if printf x >&4 2>/dev/null; then fail "a locked descriptor took a write"; fi
expect_code 18 env KEYCHAINFS_PASSPHRASE_FILE=/dev/null "$KEYCHAINFS" unlock "$MNT" > /dev/null
printf wrong > "$CASE_DIR/wrong"; chmod 600 "$CASE_DIR/wrong"
expect_code 10 "$KEYCHAINFS" unlock --passphrase-file "$CASE_DIR/wrong" "$MNT" > /dev/null
expect locked "$(status state)" "after a wrong passphrase"
"$KEYCHAINFS" unlock "$MNT"; expect s3cret "$(cat a)" "after unlock"; expect 'a b' "$(ls | xargs)" "listing after unlock"
exec 3<&- 4>&-
echo lock > "$MNT/.keychainfs/control"; expect_errno ENOKEY cat a
"$KEYCHAINFS" unlock --passphrase-file - "$MNT" < "$PASSPHRASE"; expect s3cret "$(cat a)" "unlock from standard input"
grep -q '"state"' "$MNT/.keychainfs/status" || fail "the status file"
expect_errno EINVAL bash -c "echo nonsense > '$MNT/.keychainfs/control'"
