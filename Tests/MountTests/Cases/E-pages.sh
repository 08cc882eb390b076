# The commands that README.md, docs/guide.md and docs/recipes.md offer to copy (blocks marked `sh`) work as pasted.
# needs: pages
# seconds: 15
. "${0%/*}/lib.sh"
MNT="$HOME/Keychain"
mkdir -p "$MNT" "$CASE_DIR/bin"
ln -s "$KEYCHAINFS" "$CASE_DIR/bin/keychainfs"
export PATH="$CASE_DIR/bin:$PATH"
# block FILE N: the Nth block of the page; fails if it does not exist.
block() { awk -v wanted="$2" '/^```sh$/ { inside = ++count == wanted; next } /^```$/ { inside = 0 } inside { found = 1; print }
    END { exit !found }' "$1"; }
# run_page FILE: runs every block in a separate shell, in order. Input that a block requests is typed.
run_page() {
    local page="$CASE_DIR/$1" number=0 text
    while text=$(block "$page" $((number + 1))); do
        number=$((number + 1))
        (cd "$HOME" && bash -euo pipefail -c "$text" <<< 'typed secret') > "$CASE_DIR/said" 2>&1 ||
            fail "block $number of $1 fails: $(cat "$CASE_DIR/said")"
    done
    [ "$number" -gt 0 ] || fail "$1 has no block"
}
create_keychain; mount_keychain
run_page README.md
grep -q 'Required key not available' "$CASE_DIR/said" || fail "the tour shows no lock: $(cat "$CASE_DIR/said")"
grep -q 'user.kSecAttrLabel="Web shop"' "$CASE_DIR/said" || fail "the tour shows no attribute: $(cat "$CASE_DIR/said")"
expect 10 "$(block "$CASE_DIR/README.md" 1 | wc -l)" "lines of the tour"
run_page guide.md
run_page recipes.md
expect 'typed secret' "$(cat "$MNT/generic-passwords/example.com/alice")" "a secret that was read"
# A command that fails is noticed.
printf '```sh\nfalse\ntrue\n```\n' > "$CASE_DIR/bad.md"
! (run_page bad.md) 2> /dev/null || fail "a failing block goes unnoticed"
