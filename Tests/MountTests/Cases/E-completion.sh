# Completion in real bash, zsh and fish: commands, options, slot numbers and paths, also inside the mount; names that a shell would
# interpret are quoted and executed by none; nothing and no wait while the keychain is locked or its daemon hangs.
# users: user
# needs: share
# seconds: 50
. "${0%/*}/lib.sh"
create_keychain 2> /dev/null; mount_keychain
mkdir "$CASE_DIR/bin" "$CASE_DIR/work"
cat > "$CASE_DIR/bin/keychainfs" << 'WRAPPER'
#!/bin/bash
if [ "$1" = complete ]; then "$KEYCHAINFS" "$@"; code=$?; printf x >> "$LOG.asked"; exit $code; fi
printf '[%s]' "$@" > "$LOG.new"; mv "$LOG.new" "$LOG"
WRAPPER
chmod +x "$CASE_DIR/bin/keychainfs"
export KEYCHAINFS_MOUNT="$MNT"
# typed SHELL TEXT: the arguments that the shell passes after a tab.
typed() {
    local log; log=$(mktemp -u "$CASE_DIR/log.XXXXXX")
    LOG="$log" python3 -I "${0%/*}/complete.py" "$1" "$CASE_DIR/share/completions" "$CASE_DIR/bin:$PATH" "$log" "$CASE_DIR/work" "$2"
}
# complete SHELL WANTED TEXT: at the same time as others, since most of it is waiting; joined reports the first failure.
jobs=()
# On a busy machine the program may exceed its time limit of 0.8 s, and then has no candidates: a user presses the key again.
attempt() { [ "$(typed "$1" "$3" 2> /dev/null)" = "$2" ]; }
complete() {
    (attempt "$@" || expect "$2" "$(typed "$1" "$3")" "'$3' in $1") & jobs+=($!)
    [ "${#jobs[@]}" -lt 6 ] || joined
}
joined() {
    local job failed=''
    for job in "${jobs[@]}"; do wait "$job" || failed=1; done
    jobs=(); [ -z "$failed" ] || fail "a completion differs"
}
# completes WANTED TEXT: in every shell.
completes() { local shell; for shell in bash zsh fish; do complete "$shell" "$@"; done; }
G="$MNT/generic-passwords"
# Names that a shell would interpret, each alone in its service.
names=('$(touch x)' '`touch x`' 'a b' "it's" '"q"' '-dash' '~tilde' 'a;touch x' 'a&b' 'ä ö' '*' '$HOME' 'back\slash' '#hash' '[x]' '{a,b}' '!1')
for index in "${!names[@]}"; do mkdir "$G/s$index"; printf x > "$G/s$index/${names[$index]}"; done
mkdir "$G/-s"
completes '[unmount]' 'keychainfs unm'
completes '[slot][remove]' 'keychainfs slot rem'
completes '[show][--json]' 'keychainfs show --js'
completes '[create][--kdf][sensitive]' 'keychainfs create --kdf sen'
completes '[search][label=x]' $'keychainfs search la\tx'
completes '[slot][remove][1]' 'keychainfs slot remove '
# bash appends a slash to the name of a directory.
complete bash "[lock][$MNT/]" "keychainfs lock ${MNT%nt}"
for shell in zsh fish; do complete "$shell" "[lock][$MNT]" "keychainfs lock ${MNT%nt}"; done
# An item, in each form of its name.
completes '[get][s2/a b]' $'keychainfs get s2/\t'
completes '[otp][s2/a b]' $'keychainfs otp s2/\t'
completes '[run][--env][A=s2/a b]' $'keychainfs run --env A=s2/\t'
completes '[copy][s2/a b]' $'keychainfs copy s2/\t'; completes '[why][s2/a b]' $'keychainfs why s2/\t'
for shell in bash fish; do complete "$shell" '[tree][s2/]' $'keychainfs tree s2\t'; done; complete zsh '[tree][s2]' $'keychainfs tree s2\t'
for shell in bash fish; do complete "$shell" '[run][--env-folder][s2/]' $'keychainfs run --env-folder s2\t'; done
complete zsh '[run][--env-folder][s2]' $'keychainfs run --env-folder s2\t'
completes '[add][keychain:s2/a b]' $'keychainfs add keychain:s2/\t'
completes '[get][--wait][s2/a b]' $'keychainfs get --wait s2/\t'
for shell in bash fish; do complete "$shell" '[add][--accessible][Always][internet-passwords/]' $'keychainfs add --accessible Always internet-\t'; done
complete bash '[get][generic-passwords/s2/a b]' "cd $MNT; keychainfs get gen"$'\ts2\t'
complete zsh '[add][--accessible][Always][internet-passwords]' $'keychainfs add --accessible Always internet-\t'
completes "[get][$G/s2/a b]" "keychainfs get $G/s2/"
complete bash '[get][keychain:-s/x]' $'keychainfs get keychain:-\tx'
completes "[show][$G/s2/a b]" "keychainfs show $MNT/gen"$'\t's2$'\t'
for index in "${!names[@]}"; do
    # One shell each, in turn; each shell gets the substitutions, the quotes and the dash.
    shells=(bash zsh fish); [ "$index" -le 5 ] || shells=("${shells[index % 3]}")
    for shell in "${shells[@]}"; do
        complete "$shell" "[show][$G/s$index/${names[$index]}]" "keychainfs show $G/s$index/"
    done
done
# A name whose quotes are open, and relative names: a leading dash does not begin an option, and a newline does not end
# a name.
for shell in bash zsh; do
    complete "$shell" "[show][$G/s0/\$(touch x)]" "keychainfs show '$G/s0/\$(to"
done
printf x > "$CASE_DIR/work/-dash"; completes '[show][./-dash]' 'keychainfs show ./'
completes '[run][cat][./-dash]' 'keychainfs run cat ./'
# fish hides words with a leading dot until a dot is typed.
for shell in bash zsh; do complete "$shell" '[show][./-dash]' 'keychainfs show '; done
joined; rm "$CASE_DIR/work/-dash"
printf x > "$CASE_DIR/work/new
line"; completes '[show][new
line]' 'keychainfs show n'
mkdir -p "$MNT/internet-passwords/example.com,protocol=https"; printf x > "$MNT/internet-passwords/example.com,protocol=https/alice"
completes "[show][$MNT/internet-passwords/example.com,protocol=https/alice]" "keychainfs show $MNT/internet-passwords/example.com,protocol=https/a"
joined
[ ! -e "$CASE_DIR/work/x" ] && [ ! -e x ] || fail "a completion executed the name of an item"
# Names of keychains and directories; files only after a slash (C11).
mkdir "$CASE_DIR/work/sub"; touch "$CASE_DIR/work/plain" "${KEYCHAIN%/*}/work.keychain"
keychains() { cd "$CASE_DIR/work"; "$KEYCHAINFS" complete bash "keychainfs $1" "${1##* }" | tr '\n' ' '; }
expect 'login work ' "$(keychains 'check --keychain ' | tr ' ' '\n' | grep -v sub | tr '\n' ' ')" "names of keychains"
[[ "$(keychains 'mount ')" == *'login work '*sub' '* ]] || fail "the first argument of mount: $(keychains 'mount ')"
expect './plain ' "$(keychains 'check --keychain ./p')" "a path"; expect '' "$(keychains 'check --keychain p')" "a file without a path"
[[ "$(keychains 'slot remove --keychain login ')" == 1* ]] || fail "the slots of a named keychain"
rm -r "$CASE_DIR/work/"{sub,plain} "${KEYCHAIN%/*}/work.keychain"
# A list of directories has one slash after each.
mkdir -p "$CASE_DIR/work/Keychain/sub" "$CASE_DIR/work/Keychain-two"
complete bash '[show][Keychain/sub/]' $'keychainfs show Keychain/'; joined
LOG="$CASE_DIR/list" python3 -I "${0%/*}/complete.py" bash "$CASE_DIR/share/completions" "$CASE_DIR/bin:$PATH" "$CASE_DIR/list" \
    "$CASE_DIR/work" $'keychainfs show Key\t\t' > /dev/null
grep -aq 'Keychain-two/' "$CASE_DIR/list.shown" && ! grep -aq '//' "$CASE_DIR/list.shown" || fail "a list: $(cat "$CASE_DIR/list.shown")"
rm -r "$CASE_DIR/work/"Keychain*
# Locked and hung: no candidates, no message, no wait.
candidates() { "$KEYCHAINFS" complete bash "keychainfs show $1" "$1" 2>&1; }
expect "$G/s2/a b" "$(candidates "$G/s2/")" "candidates while unlocked"
"$KEYCHAINFS" lock "$MNT"; expect '' "$(candidates "$G/s2/")" "candidates while locked"; "$KEYCHAINFS" unlock "$MNT"
pid=$(daemon); trap 'code=$?; kill -CONT "$pid" 2> /dev/null || true; cleanup $code' EXIT
stop_process "$pid"
for query in "show $G/s2/" "slot remove --keychain $KEYCHAIN "; do
    start=${EPOCHREALTIME/[.,]/}
    expect '' "$("$KEYCHAINFS" complete bash "keychainfs $query" "${query##* }" 2>&1)" "candidates while the daemon hangs"
    [ $((${EPOCHREALTIME/[.,]/} - start)) -lt 5000000 ] || fail "the completion of '$query' waits for a daemon that hangs"
done
kill -CONT "$pid"
no_lists() { ! pgrep -u "$(id -u)" -f "complete list paths $G" > /dev/null; }
wait_until 10 no_lists
