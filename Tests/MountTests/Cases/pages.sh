# Runs the blocks of pages that a reader copies (marked `sh`), in each state in which a reader may paste them. Sourced after lib.sh, not
# executed. The keychain is at ~/Keychain. Only the pages' own programs are started: wrappers in $CASE_DIR/bin record them.
MNT="$HOME/Keychain"
mkdir -p "$MNT" "$CASE_DIR/bin"
ln -s "$KEYCHAINFS" "$CASE_DIR/bin/keychainfs"
export PATH="$CASE_DIR/bin:$PATH" STARTED="$CASE_DIR/started"

# recorded NAME COMMAND...: a program that records its start, and then executes the command with its arguments.
recorded() {
    local name=$1; shift
    printf '#!/bin/sh\necho %s >> "$STARTED"\n%s "$@"\n' "$name" "$*" > "$CASE_DIR/bin/$name"
    chmod 755 "$CASE_DIR/bin/$name"
}

# block PAGE N [LANGUAGE]: the Nth block of the page in a language (sh). heading PAGE N: the heading above it. Both fail without one.
block() { awk -v wanted="$2" -v fence="\`\`\`${3:-sh}" '$0 == fence { inside = ++count == wanted; next } /^```$/ { inside = 0 }
    inside { found = 1; print } END { exit !found }' "$1"; }
heading() { awk -v wanted="$2" -v heading=Introduction '/^## / { heading = substr($0, 4) }
    $0 == "```sh" && ++count == wanted { found = 1; print heading; exit } END { exit !found }' "$1"; }
# block_under PAGE HEADING [N [LANGUAGE]]: the Nth block below a heading.
block_under() {
    awk -v heading="$2" '/^## / { inside = substr($0, 4) == heading } inside' "$1" > "$CASE_DIR/section"
    block "$CASE_DIR/section" "${3:-1}" "${4:-sh}" || fail "$1 has no block ${3:-1} under '$2'"
}

strict='bash -euo pipefail'
# run_block SHELL TEXT [COMMAND...]: runs a block, by another command if one is given. Input that it requests is typed. A `cat` directly
# after `keychainfs lock` must fail, as the page says. Removes the backups of earlier blocks, which are never replaced.
run_block() {
    local shell=$1 text; text=$(sed '/^keychainfs lock$/{n;s/^cat .*/! & || exit 9/}' <<< "$2"); shift 2
    rm -rf "$STARTED" "$HOME/backups"
    (cd "$HOME" && "$@" timeout 60 $shell -c "$text" <<< 'typed secret') > "$CASE_DIR/said" 2>&1
}
# started: the programs of a page that the last block has started.
started() { [ ! -e "$STARTED" ] || cat "$STARTED"; }

# fails_closed WHAT EXCEPTIONS TEXT [COMMAND...]: the block fails with a message and starts no program, also if its lines are pasted into
# a shell, which continues after an error. If WHAT is one of the exceptions, it succeeds.
fails_closed() {
    local what=$1 exceptions=$2 text=$3; shift 3
    if [[ "|$exceptions|" == *"|${what%:*}|"* ]]; then
        run_block "$strict" "$text" "$@" || fail "$what: it fails: $(cat "$CASE_DIR/said")"
        return
    fi
    ! run_block "$strict" "$text" "$@" || fail "$what: it succeeds: $(cat "$CASE_DIR/said")"
    [ -s "$CASE_DIR/said" ] || fail "$what: it fails without a message"
    [ -z "$(started)" ] || fail "$what: it starts $(started)"
    run_block bash "$text" "$@" || true
    [ -z "$(started)" ] || fail "$what, pasted: it starts $(started)"
}

# items: every item with its contents and times. A locked keychain may get new, empty services.
items() { (cd "$MNT"; find . -type f -printf '%p %T@\n' -exec sha256sum {} \;); }
# while_locked WHAT EXCEPTIONS TEXT: no item is stored or changed while the keychain is locked.
while_locked() {
    local before; before=$(items)
    "$KEYCHAINFS" lock "$MNT"; fails_closed "$1" "$2" "$3"; "$KEYCHAINFS" unlock "$MNT"
    expect "$before" "$(items)" "items after $1"
    (cd "$MNT"; find generic-passwords internet-passwords -mindepth 1 -type d -empty -delete)
}
# on_disk: every file and directory of the home directory, except the keychain file, the state directory and encrypted backups.
on_disk() {
    find "$HOME" -mindepth 1 \( -path "$XDG_DATA_HOME" -o -path "$XDG_STATE_HOME" -o -path "$HOME/backups" \) -prune -o -print | sort
}
# while_unmounted WHAT EXCEPTIONS TEXT: no secret gets onto the disk, neither after an unmount nor before the first mount.
while_unmounted() {
    local before
    unmount_keychain
    for before in exists missing; do
        if [ "$before" = missing ]; then rmdir "$MNT"; fi
        before=$(on_disk); fails_closed "$1" "$2" "$3"
        expect "$before" "$(on_disk)" "the home directory after $1"
    done
    mkdir "$MNT"; mount_keychain
}
# by_another_user WHAT EXCEPTIONS TEXT: a foreign user who names the same home directory gets nothing. For root with accounts.sh.
by_another_user() { [ "$(id -u)" != 0 ] || fails_closed "$1" "$2" "$3" runuser -u "$B" -- env HOME="$HOME" PATH="$PATH"; }

# run_page PAGE LOCKED UNMOUNTED: every block in order, in each state: an unlocked keychain, and those in which it fails, except under
# the headings that are given, separated by `|`.
run_page() {
    local page="$CASE_DIR/$1" number=0 text title what
    while text=$(block "$page" $((number + 1))); do
        number=$((number + 1)); title=$(heading "$page" "$number")
        while_locked "$title: locked, block $number of $1" "$2" "$text"
        while_unmounted "$title: not mounted, block $number of $1" "$3" "$text"
        by_another_user "$title: another user, block $number of $1" "" "$text"
        run_block "$strict" "$text" || fail "block $number of $1 ($title) fails: $(cat "$CASE_DIR/said")"
        cp "$CASE_DIR/said" "$CASE_DIR/said-$number"
        while_locked "$title: locked again, block $number of $1" "$2" "$text"
    done
    [ "$number" -gt 0 ] || fail "$1 has no block"
}
# paste_page PAGE: no program takes lines of a block as its input, as if all lines were pasted into a shell.
paste_page() {
    local number=0 text
    while text=$(block "$CASE_DIR/$1" $((number + 1))); do
        number=$((number + 1)); rm -rf "$HOME/backups"
        (cd "$HOME" && timeout 60 bash <<< "$text"$'\necho pasted') > "$CASE_DIR/said" 2>&1 || true
        expect pasted "$(tail -n 1 "$CASE_DIR/said")" "the end of block $number of $1, pasted"
    done
}
