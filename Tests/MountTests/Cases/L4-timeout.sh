# L4: the kernel's time limit for requests is read at the mount and shown by status; commands work under it.
# users: root
# seconds: 3
. "${0%/*}/lib.sh"
SETTING=/proc/sys/fs/fuse/default_request_timeout
# An hour, which disturbs no mount of another case. It applies to mounts that are created while it is set.
if [ -e "$SETTING" ]; then
    before=$(cat "$SETTING"); restore() { echo "$before" > "$SETTING"; }
    trap 'code=$?; restore; cleanup $code' EXIT
    echo 3600 > "$SETTING"; wanted=3600
else
    restore() { :; }; wanted=
fi
create_keychain; mount_keychain; restore
expect "$wanted" "$(status requestTimeout || true)" "the limit in status --json"
expect "$([ -n "$wanted" ] && echo 1 || echo 0)" "$("$KEYCHAINFS" status "$MNT" | grep -c '^time limit: .* takes 3600 s$' || true)" "the limit in status"
D="$MNT/generic-passwords/s"; mkdir "$D"; printf value > "$D/a"
"$KEYCHAINFS" check | grep -qx 'The keychain is intact.' || fail "check"
"$KEYCHAINFS" backup "$CASE_DIR/copy" > /dev/null
"$KEYCHAINFS" slot add --kind keyfile --new-key-file "$CASE_DIR/key" 2> /dev/null
"$KEYCHAINFS" lock "$MNT"; expect_errno ENOKEY cat "$D/a"
printf 'wrong\n' > "$CASE_DIR/wrong"; chmod 600 "$CASE_DIR/wrong"
expect_code 10 "$KEYCHAINFS" unlock --passphrase-file "$CASE_DIR/wrong" "$MNT" > /dev/null
"$KEYCHAINFS" unlock --key-file "$CASE_DIR/key" "$MNT"; expect value "$(cat "$D/a")" "after the unlock"
unmount_keychain
mount_keychain
[ "${before:-0}" != 0 ] || expect "" "$(status requestTimeout || true)" "without a limit"
unmount_keychain
