# H5, H2: the daemon works and wipes its stacks with a small, an unlimited and the usual RLIMIT_STACK.
. "${0%/*}/lib.sh"
create_keychain
head -c 700000 /dev/urandom > "$CASE_DIR/data"
D="$MNT/generic-passwords/s"
for limit in 260 200 1024 unlimited; do
    (ulimit -s "$limit"; "$KEYCHAINFS" mount "$MNT") || fail "no mount with a stack of $limit"
    # The wipe before the daemon serves comes after the mount is reported.
    pid=$(daemon) || fail "the daemon is gone after a start with a stack of $limit"
    [ -d "$D" ] || mkdir "$D"
    printf 'value %s' "$limit" > "$D/a"; cat "$CASE_DIR/data" > "$D/big"
    expect "value $limit" "$(cat "$D/a")" "a value with a stack of $limit"
    setfattr -n user.kSecAttrLabel -v label "$D/a"; ls -lR "$MNT" > /dev/null
    "$KEYCHAINFS" lock "$MNT"
    expect_errno ENOKEY cat "$D/a"
    "$KEYCHAINFS" unlock "$MNT"
    cmp "$CASE_DIR/data" "$D/big" || fail "another value with a stack of $limit"
    "$KEYCHAINFS" check > /dev/null
    expect "$pid" "$(daemon)" "the daemon with a stack of $limit"
    unmount_keychain
done
