# Section 8: fifty wrong command lines. Each message is on standard error and states the refused part, the reason and the remedy;
# standard output is empty.
# users: user
# seconds: 15
. "${0%/*}/lib.sh"
create_keychain > /dev/null 2>&1; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; printf x > "$D/a"; mkdir "$CASE_DIR/full"; touch "$CASE_DIR/full/file"
printf 'readable text\n' > "$CASE_DIR/text"; chmod 600 "$CASE_DIR/text"; seq 100 > "$CASE_DIR/long"; chmod 600 "$CASE_DIR/long"; printf 'wrong\n' > "$CASE_DIR/wrong"; chmod 600 "$CASE_DIR/wrong"
export MNT CASE_DIR KEYCHAIN HOME D KEYCHAINFS_MOUNT="$MNT"
count=0
# Exit code | command line, which the shell expands | text that the message must contain
while IFS='|' read -r wanted line text; do
    [ -n "$wanted" ] || continue
    count=$((count + 1)) code=0
    eval "set -- $line"; text=$(eval "printf %s \"$text\"")
    "$KEYCHAINFS" "$@" > "$CASE_DIR/out" 2> "$CASE_DIR/err" < /dev/null || code=$?
    expect "$wanted" "$code" "exit code of '$line' ($(cat "$CASE_DIR/err"))"; require_documented "$code"
    head -1 "$CASE_DIR/err" | grep -q '^keychainfs: ' || fail "'$line': $(cat "$CASE_DIR/err")"
    grep -qF -- "$text" "$CASE_DIR/err" || fail "'$line' does not say '$text': $(cat "$CASE_DIR/err")"
    [ ! -s "$CASE_DIR/out" ] || fail "'$line' wrote to standard output: $(cat "$CASE_DIR/out")"
done << 'TABLE'
64|umount|There is no command 'umount'. Unmount a keychain with 'keychainfs unmount'.
64|ls|A mounted keychain is a directory: 'ls $MNT', or 'keychainfs tree'.
64|list|A mounted keychain is a directory
64|cat x|Print the secret of an item with 'keychainfs get SERVICE/NAME', or 'cat $MNT/generic-passwords/SERVICE/ACCOUNT'.
64|exec x|Run a program with secrets in its environment: 'keychainfs run --env NAME=SERVICE/NAME PROGRAM'.
64|clip web/amy|Copy a secret to the clipboard with 'keychainfs copy SERVICE/NAME'.
64|explain x|'keychainfs why SERVICE/NAME'
64|gen|Print a random secret with 'keychainfs generate'
64|insert web/shop|Add an item with 'keychainfs add SERVICE/NAME', or write its file.
64|init|Create a keychain with 'keychainfs create'.
64|rm x|Delete the file of an item
64|passwd|'slot change'
64|fsck|'keychainfs check'
64|find x|'keychainfs search'
64|mont|Did you mean 'keychainfs mount'?
64|unmuont|Did you mean 'keychainfs unmount'?
64|help stauts|Did you mean 'keychainfs status'?
64|slot lst|Did you mean 'keychainfs slot list'?
64|slot frobnicate|lists the commands: list, add, change, remove
64|frobnicate|lists the commands: create, mount,
64|mount --lokced|Did you mean '--locked'?
64|check --repiar|Did you mean '--repair'?
64|lock --frobnicate|Unknown option '--frobnicate'
64|status a b|Unexpected argument 'b'
64|show|Missing expected argument '<file>'
64|slot remove|Missing expected argument '<id>'
64|slot remove one|The slot's number, of 'slot list'.
64|create --kdf huge|Please provide one of 'moderate', 'sensitive'
64|mount --keychain|Missing value for '--keychain
64|mount --keychain a b c|The keychain is named twice
64|mount --locked --recovery|--locked unlocks nothing: leave out
64|mount -o frobnicate|The mount option 'frobnicate' is unknown. Options: ro, rw,
64|mount --lock-after soon|needs a duration such as 90s, 15m
64|mount --lock-on lunch|needs 'suspend', 'screen'
64|mount -o allow_root,allow_other|exclude each other
64|mount -o staged_limit=1|needs a number of MiB from 8
64|unlock --recovery --key-file x|--key-file and --recovery exclude each other.
64|check --yes|--yes and --accept-rollback belong to --repair.
64|check --repair --compact|Use either --repair or --compact.
64|lock --all x|--all and a mount point exclude each other.
64|status --json --quiet|--json and --quiet exclude each other.
64|search --json -0|--json and -0 exclude each other.
64|search lable=x|There is no attribute 'lable' to search for. There are: account,
64|search port=x|port cannot have that value.
64|search port=1 port=2|is given twice
64|search port=1 service=x|No class of items has all of these attributes.
26|search nowhere|No item in the keychain at $MNT matches.
15|mount --keychain $CASE_DIR/text $CASE_DIR/missing|$CASE_DIR/missing does not exist. Create it with 'mkdir $CASE_DIR/missing'.
15|mount $KEYCHAIN|if this is the keychain, name its mount point too: 'keychainfs mount $KEYCHAIN MOUNTPOINT'.
15|mount $KEYCHAIN $CASE_DIR/full|is not empty. Name an empty directory
11|check --keychain $CASE_DIR/none|There is no keychain at $CASE_DIR/none. Make one with 'keychainfs create --keychain $CASE_DIR/none'
12|slot list --keychain $CASE_DIR/text|is not a keychain. Name another file with --keychain.
20|create|$KEYCHAIN exists already, and was not changed. It is mounted at $MNT. For a new one, name another file with --keychain.
20|create --keychain $CASE_DIR/text|If it is your keychain, mount it with 'keychainfs mount --keychain $CASE_DIR/text'.
14|restore $KEYCHAIN|'keychainfs unmount' it before it is replaced.
20|restore --keychain $CASE_DIR/text $KEYCHAIN|Replace it with --replace
1|create --keychain /proc/none/k|There is no directory /proc/none for the keychain, and it cannot be created.
1|create --keychain $CASE_DIR/text/k|There is no directory $CASE_DIR/text for the keychain
64|search ""|A word of the search is empty.
10|unlock --passphrase-file $CASE_DIR/wrong|does not open the keychain at $MNT.
17|lock $CASE_DIR/full|No keychain is mounted at $CASE_DIR/full. Mount one with 'keychainfs mount'.
17|status $CASE_DIR/full|Mount one with 'keychainfs mount'.
18|slot add --kind keyfile --key-file $CASE_DIR/text|has 14 bytes, and one of fewer than 32 can be guessed. For a new slot, name a file that does not exist
18|slot add --kind keyfile --key-file $CASE_DIR/long|it is printable text, which may be guessed
17|show $CASE_DIR/text|is not in a mounted keychain. 'keychainfs mount' mounts one
1|show $D/..|is neither an item nor a service.
26|show $D/none|There is no $D/none.
TABLE
[ "$count" -ge 50 ] || fail "only $count command lines"

# The next step after a success.
says() { grep -qF -- "$1" "$CASE_DIR/err" || fail "no '$1' in: $(cat "$CASE_DIR/err")"; }
"$KEYCHAINFS" create --kdf test --keychain "$CASE_DIR/a b" 2> "$CASE_DIR/err"; says "Mount it with 'keychainfs mount --keychain '$CASE_DIR/a b''."
"$KEYCHAINFS" backup --keychain "$CASE_DIR/a b" "$CASE_DIR/copy" > /dev/null 2>&1
"$KEYCHAINFS" restore --keychain "$CASE_DIR/c" "$CASE_DIR/copy" 2> "$CASE_DIR/err"; says "Mount it with 'keychainfs mount --keychain $CASE_DIR/c'."
# As with mount(8): the keychain, then the mount point.
mkdir "$CASE_DIR/other"; "$KEYCHAINFS" mount "$CASE_DIR/c" "$CASE_DIR/other"
"$KEYCHAINFS" status "$CASE_DIR/other" | grep -qF "keychain:    $CASE_DIR/c" || fail "mount FILE DIR mounted something else"
"$KEYCHAINFS" unmount "$CASE_DIR/other"

# Exit codes of status --quiet, which prints nothing: 30 is in L4-stuck.
quiet() {
    local code=0
    "$KEYCHAINFS" status --quiet "$2" > "$CASE_DIR/out" 2>&1 || code=$?
    expect "$1" "$code" "status --quiet $2"; [ ! -s "$CASE_DIR/out" ] || fail "status --quiet prints $(cat "$CASE_DIR/out")"
}
quiet 0 "$MNT"; "$KEYCHAINFS" lock "$MNT"; quiet 23 "$MNT"; quiet 17 "$CASE_DIR/full"
# The check of a locked keychain prints its result, and says that it is not complete.
expect_code 23 "$KEYCHAINFS" check | grep -q '1 row was not examined' || fail "check of a locked keychain"

# Without a command: help for scripts; on a terminal the mounted keychains and the next commands.
expect_code 0 "$KEYCHAINFS" | grep -q '^USAGE: keychainfs' || fail "no help without a terminal"
overview() { script -qec "$KEYCHAINFS" /dev/null < /dev/null | tr -d '\r' > "$CASE_DIR/err"; }
# Other cases may have mounts with longer names.
shows() { grep -qE "^  $MNT +$1" "$CASE_DIR/err" || fail "no '$1' in: $(cat "$CASE_DIR/err")"; }
overview; shows locked; says "Next:"
"$KEYCHAINFS" unlock "$MNT"; overview; shows 'unlocked, 1 item$'
unmount_keychain; unset KEYCHAINFS_MOUNT; overview; ! grep -qF "$MNT" "$CASE_DIR/err" || fail "an unmounted keychain is shown"

# C1: `create` leads to the existing keychain, and changes no file.
cp "$KEYCHAIN" "$CASE_DIR/before"
expect_code 20 "$KEYCHAINFS" create | grep -qF "If it is your keychain, mount it with 'keychainfs mount'. For a new one" || fail "create is a dead end"
cmp "$KEYCHAIN" "$CASE_DIR/before"; expect 'readable text' "$(cat "$CASE_DIR/text")" "a file that is not a keychain"

# The default mount point needs no mkdir.
"$KEYCHAINFS" mount
expect 700 "$(stat -c %a "$HOME/Keychain")" "mode of the mount's root"
"$KEYCHAINFS" unmount
