# S1, F9: a write that fails during a restore leaves the complete old or the complete restored keychain.
# users: root
# seconds: 30
. "${0%/*}/lib.sh"
store="$XDG_DATA_HOME/keychainfs"
create_keychain 2> /dev/null; mount_keychain; mkdir "$MNT/generic-passwords/s"; printf old > "$MNT/generic-passwords/s/a"
"$KEYCHAINFS" backup "$CASE_DIR/backup" > /dev/null; printf new > "$MNT/generic-passwords/s/a"; unmount_keychain
cp "$KEYCHAIN" "$CASE_DIR/newest"; NUMBER=$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*); cp "$NUMBER" "$CASE_DIR/number"
faults=0
for error in EIO ENOSPC; do
    for number in {1..40}; do
        cp "$CASE_DIR/newest" "$KEYCHAIN"; cp "$CASE_DIR/number" "$NUMBER"; code=0
        strace -f -o "$CASE_DIR/trace" -e trace=pwrite64 -e "inject=pwrite64:error=$error:when=$number+" \
            "$KEYCHAINFS" restore --replace "$CASE_DIR/backup" > "$CASE_DIR/said" 2>&1 || code=$?
        grep -q INJECTED "$CASE_DIR/trace" || break
        faults=$((faults + 1))
        "$KEYCHAINFS" check > "$CASE_DIR/checked" 2>&1 || fail "$error at $number (restore: $code): $(cat "$CASE_DIR/said" "$CASE_DIR/checked")"
        mount_keychain; value=$(cat "$MNT/generic-passwords/s/a"); unmount_keychain
        case "$code $value" in "0 old" | [1-9]*" old" | [1-9]*" new") ;; *) fail "$error at $number: $code, $value" ;; esac
        [ ! -e "$KEYCHAIN-wal" ] || fail "$error at $number: a log"
        rm -f "$store"/login.keychain.replaced-*
        expect login.keychain "$(ls -A "$store")" "$error at $number: files"
    done
done
[ "$faults" -ge 10 ] || fail "only $faults faults"
