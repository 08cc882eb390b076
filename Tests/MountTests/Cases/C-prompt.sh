# Section 8: each prompt names the keychain, a new passphrase that can be guessed is reported before it is repeated, and ^C there
# creates nothing.
# users: user
# seconds: 10
. "${0%/*}/lib.sh"
unset KEYCHAINFS_PASSPHRASE_FILE
# talk CODE COMMAND… -- (PROMPT ANSWER)…
talk() {
    local wanted=$1 code=0; shift
    timeout 100 python3 -I "${0%/*}/terminal.py" "$KEYCHAINFS" "$@" > "$CASE_DIR/said" 2>&1 || code=$?
    expect "$wanted" "$code" "exit code of '$*' ($(cat "$CASE_DIR/said"))"
}
said() { grep -qF -- "$1" "$CASE_DIR/said" || fail "no '$1' in: $(cat "$CASE_DIR/said")"; }
P='correct horse'
talk 18 create --kdf test -- 'New passphrase for login: ' "$P" 'Again: ' 'another one'; [ ! -e "$KEYCHAIN" ] || fail "a keychain from two passphrases"
# ^C ends it as in other programs, after the warning, and nothing exists.
talk 126 create --kdf test -- 'New passphrase for login: ' a 'Again: ' '^C'; said 'warning: the passphrase has fewer than 8 characters, and'
[ ! -e "$KEYCHAIN" ] || fail "a keychain after ^C"
talk 0 create --kdf test -- 'New passphrase for login: ' "$P" 'Again: ' "$P"; ! grep -q warning "$CASE_DIR/said" || fail "a warning: $(cat "$CASE_DIR/said")"
talk 0 mount "$MNT" -- 'Passphrase for login: ' "$P"
"$KEYCHAINFS" lock "$MNT"; talk 0 unlock "$MNT" -- "Passphrase for the keychain at $MNT: " "$P"
talk 0 slot add "$MNT" -- "Passphrase for the keychain at $MNT: " "$P" "New passphrase for the keychain at $MNT: " aaaaaaaaaa 'Again: ' aaaaaaaaaa
said 'warning: the passphrase repeats one character, and'
talk 0 rekey "$MNT" -- "Passphrase for the keychain at $MNT: " "$P"; unmount_keychain
talk 0 slot add -- 'Passphrase for login: ' "$P" 'New passphrase for login: ' 'another one' 'Again: ' 'another one'
talk 0 check -- 'Passphrase for login: ' "$P"; talk 0 backup "$CASE_DIR/copy" -- 'Passphrase for login: ' "$P"
talk 10 check --recovery -- 'Recovery key for login: ' x
talk 0 restore --keychain copy "$CASE_DIR/copy" -- "Passphrase for $CASE_DIR/copy: " "$P"
talk 0 create --keychain work --kdf test -- 'New passphrase for work: ' "$P" 'Again: ' "$P"
# A path, without its control characters.
file="$CASE_DIR/"$'a\e[7mb'
talk 0 create --keychain "$file" --kdf test -- "New passphrase for $CASE_DIR/a\\u{1b}[7mb: " "$P" 'Again: ' "$P"
[ -f "$file" ] || fail "no keychain at the path"
# A file of a passphrase: the same warning.
(umask 077; echo a > "$CASE_DIR/short"); "$KEYCHAINFS" create --keychain short --kdf test --passphrase-file "$CASE_DIR/short" 2> "$CASE_DIR/said"
said 'warning: the passphrase has fewer than 8 characters, and'
