# E2: `generate` prints one secret of its recipe; `add --generate` stores one and reads nothing.
. "${0%/*}/lib.sh"
. "${0%/*}/items.sh"
# is PATTERN RECIPE…: two secrets, which differ.
is() {
    local pattern=$1 first second; shift
    first=$("$KEYCHAINFS" generate "$@" 2> "$ERR"); second=$("$KEYCHAINFS" generate "$@" 2>> "$ERR")
    [ ! -s "$ERR" ] || fail "generate $* said: $(cat "$ERR")"
    [[ $first =~ ^$pattern$ ]] && [[ $second =~ ^$pattern$ ]] && [ "$first" != "$second" ] || fail "generate $*: $first $second"
}
# Nothing needs to be mounted.
is '[A-Za-z0-9]{24}'; is '[A-Za-z0-9]{40}' 40; is '[^ ]{32}' 32+symbols; is '([a-z-]+-){5}[a-z-]+' words
is '([a-z-]+-){9}[a-z-]+' words:10
is '[0-9]{12}' pin:12; is '[0-9a-f]{32}' hex:16
"$KEYCHAINFS" generate pin:6 | od -An -c | grep -q ' [0-9] *\\n$' || fail "no line feed at the end"
for recipe in 3 words:0 hex:x 24+ 100000000000000000000 '' 'pin:6 '; do code 64 recipe generate "$recipe"; done
code 64 '' generate 24 24
got=0; "$KEYCHAINFS" generate > /dev/full 2> "$ERR" || got=$?; expect 1 "$got" "generate > /dev/full ($(cat "$ERR"))"
got=0; "$KEYCHAINFS" generate >&- 2> "$ERR" || got=$?; expect 1 "$got" "generate with a closed standard output ($(cat "$ERR"))"
# The entropy is for people.
python3 -I "${0%/*}/terminal.py" "$KEYCHAINFS" generate words:6 -- > "$CASE_DIR/said"
grep -q '^keychainfs: entropy: 77 bits' "$CASE_DIR/said" || fail "no entropy: $(cat "$CASE_DIR/said")"

create_keychain; mount_keychain; export KEYCHAINFS_MOUNT="$MNT"; G="$MNT/generic-passwords"
expect input "$({ "$KEYCHAINFS" add --generate web/a && cat; } <<< input)" "standard input is not read"
[[ $(cat "$G/web/a"; echo .) =~ ^[A-Za-z0-9]{24}\.$ ]] || fail "add --generate"
for recipe in 12 64+symbols words:7 pin:8 hex:20; do "$KEYCHAINFS" add "--generate=$recipe" --label L "web/$recipe"; done
[[ $(cat "$G/web/12") =~ ^[A-Za-z0-9]{12}$ ]] && [[ $(cat "$G/web/words:7") =~ ^([a-z-]+-){6}[a-z-]+$ ]] || fail "recipes of add"
expect "64 8 40" "$(stat -c %s "$G/web/64+symbols" "$G/web/pin:8" "$G/web/hex:20" | paste -sd' ')" "sizes"
expect L "$(getfattr --absolute-names --only-values -n user.kSecAttrLabel "$G/web/pin:8")" "a label"
old=$(cat "$G/web/a"); code 20 exists add --generate web/a; expect "$old" "$(cat "$G/web/a")" "an item that exists"
commits_of 1 code 0 "''" add --generate --replace web/a; [ "$old" != "$(cat "$G/web/a")" ] || fail "not replaced"
code 64 recipe add --generate=3 web/new; code 64 exclude add --generate --no-newline web/new; code 64 '' add --generate=words
[ ! -e "$G/web/new" ] || fail "an item"
"$KEYCHAINFS" lock "$MNT"; code 23 unlock add --generate web/new
