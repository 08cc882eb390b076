# What every case needs: a home of its own, a keychain, a mount that is gone afterwards. Sourced, never run.
# CASE_DIR is an empty directory outside /tmp (editors treat /tmp differently); KEYCHAINFS is the program.
set -euo pipefail
: "${KEYCHAINFS:?}" "${CASE_DIR:?}"

export HOME="$CASE_DIR/home" XDG_DATA_HOME="$CASE_DIR/home/data" XDG_STATE_HOME="$CASE_DIR/home/state"
export LC_ALL=C.UTF-8
KEYCHAIN="$XDG_DATA_HOME/keychainfs/login.keychain"
MNT="$CASE_DIR/mnt"
PASSPHRASE="$CASE_DIR/passphrase"
export KEYCHAINFS_PASSPHRASE_FILE="$PASSPHRASE"
mkdir -p "$HOME" "$MNT"
(umask 077; printf 'correct horse\n' > "$PASSPHRASE")

fail() { echo "FAIL: $*" >&2; exit 1; }

# expect WANTED GOT WHAT
expect() { [ "$1" = "$2" ] || fail "$3: wanted '$1', got '$2'"; }

# expect_code CODE COMMAND...: the command ends with that exit code, and says something if it is not 0.
expect_code() {
    local wanted=$1 code=0 said; shift
    said=$("$@" 2>&1 </dev/null) || code=$?
    [ "$code" = "$wanted" ] || fail "'$*' ended with $code, not $wanted: $said"
    [ "$wanted" = 0 ] || [ -n "$said" ] || fail "'$*' failed without a word"
    # A `grep -q` behind it ends at the first match; bash writes line by line.
    (trap '' PIPE; echo "$said" 2> /dev/null) || true
}

# expect_errno NAME COMMAND...: the tool fails with strerror(NAME) in what it says.
expect_errno() {
    local name=$1 said text; shift
    text=$(python3 -I -c "import errno, os; print(os.strerror(errno.$name))")
    if said=$("$@" 2>&1 </dev/null); then fail "'$*' succeeded, wanted $name"; fi
    case "$said" in *"$text"*) ;; *) fail "'$*' did not say '$text': $said" ;; esac
}

create_keychain() { "$KEYCHAINFS" create --kdf test "$@"; }
mount_keychain() { "$KEYCHAINFS" mount "$MNT" "$@"; }
unmount_keychain() { "$KEYCHAINFS" unmount "$MNT"; }
status() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['$1'])"; }
daemon() { status pid; }
commits() { status commits; }
is_mounted() { grep -q " $MNT fuse\.[^ ]* " /proc/self/mounts; }    # of any subtype

# commits_of N COMMAND...: the shell command makes exactly N commits.
commits_of() {
    local wanted=$1 before; shift
    before=$(commits)
    eval "$@"
    expect "$wanted" "$(( $(commits) - before ))" "commits of $*"
}

# wait_until SECONDS COMMAND...: polls until the command succeeds.
wait_until() {
    local deadline=$((SECONDS + $1)); shift
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || fail "still not so: $*"
        sleep 0.05
    done
}

# cleanup [CODE]: a trap of a case's own gives the exit code that it began with, or a failure is lost.
cleanup() {
    local code=${1:-$?}
    cd /
    if is_mounted; then
        "$KEYCHAINFS" unmount "$MNT" || fusermount3 -uz "$MNT" || umount -l "$MNT" || true
    fi
    exit "$code"
}
trap cleanup EXIT

# Items with everything that a save must not lose.
attribute() { getfattr --only-values -n "user.$1" "$2" 2>/dev/null | od -An -c | tr -d ' \n'; }

# make_item: `a` holds 'old', with a label, a class of its own and another attribute.
make_item() {
    printf 'old\n' > a
    setfattr -n user.kSecAttrLabel -v 'Home Wi-Fi' a
    setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock a
    setfattr -n user.color -v blue a
    created=$(attribute kSecAttrCreationDate a); reference=$(attribute kSecAttrPersistentReference a)
    [ -n "$created" ] && [ -n "$reference" ] || fail "an item without a creation date or a reference"
}

# same_identity WHAT: `a` is still that item, and no other one has its reference.
same_identity() {
    expect "$reference" "$(attribute kSecAttrPersistentReference a)" "$1: persistent reference"
    expect "$created" "$(attribute kSecAttrCreationDate a)" "$1: creation date"
    local name
    for name in .[!.]* *; do
        [ "$name" != a ] && [ -e "$name" ] || continue
        [ "$reference" != "$(attribute kSecAttrPersistentReference "$name")" ] || fail "$1: $name has the reference too"
    done
}

# same_item WHAT: and it has its attributes.
same_item() {
    same_identity "$1"
    expect HomeWi-Fi "$(attribute kSecAttrLabel a)" "$1: label"
    expect AfterFirstUnlock "$(attribute kSecAttrAccessible a)" "$1: class"
    expect blue "$(attribute color a)" "$1: other attribute"
}

# new_item WHAT: `a` is another item.
new_item() {
    [ "$reference" != "$(attribute kSecAttrPersistentReference a)" ] || fail "$1: the reference was kept"
    [ "$created" != "$(attribute kSecAttrCreationDate a)" ] || fail "$1: the creation date was kept"
    expect '' "$(attribute kSecAttrLabel a)" "$1: label"
    expect WhenUnlocked "$(attribute kSecAttrAccessible a)" "$1: class"
}
