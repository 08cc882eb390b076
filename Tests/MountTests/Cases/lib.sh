# Common functions of all cases: a separate home, a keychain, and a mount that is removed at the end. Sourced, not
# executed. CASE_DIR is an empty directory outside /tmp (editors treat /tmp differently); KEYCHAINFS is the program.
set -euo pipefail
: "${KEYCHAINFS:?}" "${CASE_DIR:?}"

export HOME="$CASE_DIR/home" XDG_DATA_HOME="$CASE_DIR/home/data" XDG_STATE_HOME="$CASE_DIR/home/state"
export LC_ALL=C.UTF-8
# Ordinary programs first: a version manager's shim takes ten times as long as the python3 that it starts.
export PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH"
KEYCHAIN="$XDG_DATA_HOME/keychainfs/login.keychain"
MNT="$CASE_DIR/mnt"
PASSPHRASE="$CASE_DIR/passphrase"
export KEYCHAINFS_PASSPHRASE_FILE="$PASSPHRASE"
mkdir -p "$HOME" "$MNT"
(umask 077; printf 'correct horse\n' > "$PASSPHRASE")

fail() { echo "FAIL: $*" >&2; exit 1; }

# expect WANTED GOT WHAT
expect() { [ "$1" = "$2" ] || fail "$3: wanted '$1', got '$2'"; }

# expect_code CODE COMMAND...: the command ends with that exit code, and prints a message if it is not 0.
expect_code() {
    local wanted=$1 code=0 said; shift
    [ "$1" != "$KEYCHAINFS" ] || require_documented "$wanted"
    said=$("$@" 2>&1 </dev/null) || code=$?
    [ "$code" = "$wanted" ] || fail "'$*' ended with $code, not $wanted: $said"
    [ "$wanted" = 0 ] || [ -n "$said" ] || fail "'$*' failed without a word"
    # A `grep -q` behind it ends at the first match; bash writes line by line.
    (trap '' PIPE; echo "$said" 2> /dev/null) || true
}
# require_documented CODE: no command has an exit code that the page does not list.
require_documented() { grep -q "^| $1 | " "$CASE_DIR/exit-codes.md" || fail "docs/exit-codes.md has no exit code $1"; }

# strerror(3) in the C locale.
declare -A ERROR_TEXTS=(
    [EACCES]="Permission denied" [EBADMSG]="Bad message" [EBUSY]="Device or resource busy" [EFBIG]="File too large"
    [EINVAL]="Invalid argument" [ENODEV]="No such device" [ENOENT]="No such file or directory"
    [ENOKEY]="Required key not available" [ENOSPC]="No space left on device" [ENOTEMPTY]="Directory not empty"
    [EPERM]="Operation not permitted" [EROFS]="Read-only file system" [EXDEV]="Invalid cross-device link"
)

# expect_errno NAME COMMAND...: the tool fails, and its message contains strerror(NAME).
expect_errno() {
    local name=$1 said text; shift
    text=${ERROR_TEXTS[$name]:-}
    [ -n "$text" ] || fail "lib.sh does not know the text of $name"
    if said=$("$@" 2>&1 </dev/null); then fail "'$*' succeeded, wanted $name"; fi
    case "$said" in *"$text"*) ;; *) fail "'$*' did not say '$text': $said" ;; esac
}

# install_device FIXTURE N: this is device N of those that created the fixture.
install_device() {
    local state="$XDG_STATE_HOME/keychainfs" store
    mkdir -p "$state"; chmod 700 "$state"
    store=$(python3 -I -c '
import sqlite3, sys
print(sqlite3.connect(f"file:{sys.argv[1]}?mode=ro&immutable=1", uri=True).execute("SELECT identifier FROM store").fetchone()[0].hex())' \
        "$1/login.keychain")
    install -m 600 "$1/device-$2.key" "$state/device.key"
    install -m 600 "$1/device-$2.commit-number" "$state/commit-number.$store"
}

create_keychain() { "$KEYCHAINFS" create --kdf test "$@"; }
mount_keychain() { "$KEYCHAINFS" mount "$MNT" "$@"; }
unmount_keychain() { "$KEYCHAINFS" unmount "$MNT"; }

# compile_library NAME: compiles $CASE_DIR/NAME.c into NAME.so, a library to preload.
compile_library() {
    local compiler
    compiler=$(command -v cc || command -v clang || command -v gcc) || fail "no C compiler"
    "$compiler" -D_GNU_SOURCE -shared -fPIC -o "$CASE_DIR/$1.so" "$CASE_DIR/$1.c"
}

# slow_disk: for a case that needs SlowDisk. While $SLOW_DISK exists, each synchronization by the daemon of mount_slow takes as many
# milliseconds longer as the file says.
slow_disk() { compile_library slow_disk; SLOW_DISK="$CASE_DIR/slow"; }
mount_slow() { env LD_PRELOAD="$CASE_DIR/slow_disk.so" SLOW_DISK="$SLOW_DISK" "$KEYCHAINFS" mount "$MNT" "$@"; }

# status KEY: a number or text at the top of the output of `status --json`. Without another process: cases call it a
# thousand times.
status() {
    local line value=
    while IFS= read -r line; do
        if [[ $line == "  \"$1\" : "* ]]; then value=${line#*\" : } value=${value%,}; fi
    done < <("$KEYCHAINFS" status --json "$MNT")
    [ -n "$value" ] || return 1
    value=${value#\"}; echo "${value%\"}"
}
daemon() { status pid; }
commits() { status commits; }
is_mounted() { grep -q " $MNT fuse\.keychainfs " /proc/self/mounts; }

# helpers: the processes that make requests to the daemon for commands, one on each line.
helpers() {
    local helper
    for helper in $(pgrep -u "$(id -u)" -x keychainfs-ask); do ! grep -q "$MNT" "/proc/$helper/cmdline" 2> /dev/null || echo "$helper"; done
}
no_helpers() { [ -z "$(helpers)" ]; }

# commits_of N COMMAND...: the shell command makes exactly N commits.
commits_of() {
    local wanted=$1 before; shift
    before=$(commits)
    eval "$@"
    expect "$wanted" "$(( $(commits) - before ))" "commits of $*"
}

# wait_until SECONDS COMMAND...: polls until the command succeeds, less often as time passes: other cases need the processors.
wait_until() {
    local deadline=$((SECONDS + $1)) pause=1; shift
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || fail "still not so: $*"
        sleep "0.0$((pause < 10 ? pause : 9))"
        pause=$((pause + 1))
    done
}

# rounds N: the number of rounds of a case that tries random times: N in the lane of all tests, otherwise a third of it.
rounds() { if [ "${KEYCHAINFS_LANE:-all}" = all ]; then echo "$1"; else echo $((($1 + 2) / 3)); fi; }

# stop_process PID: stops it, and returns when every thread has stopped. A thread that is still running may receive a
# request, and a process that waits for the reply to that request cannot be killed.
stop_process() { kill -STOP "$1"; wait_until 10 is_stopped "$1"; }
is_stopped() { ! sed 's/.*) //' /proc/"$1"/task/*/stat 2> /dev/null | grep -qv '^T'; }

# private_mounts: continues this script in a separate mount namespace. Its copies of other cases' mounts are detached
# immediately: they would keep the daemons of those mounts running.
private_mounts() {
    [ -n "${KEYCHAINFS_PRIVATE_MOUNTS:-}" ] || KEYCHAINFS_PRIVATE_MOUNTS=1 exec unshare --mount --propagation private bash "$0"
    local point
    # A mount vanishes here, too, when another case removes its mount point: the kernel detaches it in all namespaces.
    while read -r point; do
        umount -l "$point" || ! grep -qF " $point fuse." /proc/self/mounts || fail "$point stays mounted"
    done < <(awk '$3 ~ /^fuse\.keychainfs/ { print $2 }' /proc/self/mounts)
}

# daemons: the processes of this case that run the program, regardless of who started them.
daemons() {
    local directory arguments
    for directory in $(grep -l '^keychainfs' /proc/[0-9]*/comm 2> /dev/null); do
        directory=${directory%/comm}
        ! grep -qs '^State:.*Z' "$directory/status" || continue
        arguments=$(cat "$directory/cmdline" 2> /dev/null | tr '\0' ' ')
        [[ $arguments != *"$CASE_DIR"* ]] || echo "${directory#/proc/}"
    done
}

no_daemons() { [ -z "$(daemons)" ]; }

# report_daemons: the processes that remain, and the mount namespaces in which the mount still exists.
report_daemons() {
    echo "FAIL: processes of the case that do not end:"
    ps -o pid,ppid,stat,wchan:20,args -p "$(daemons | paste -sd,)" || true
    local directory namespace seen=" "
    for directory in /proc/[0-9]*; do
        # Kernel threads have no command line.
        [ -n "$(cat "$directory/cmdline" 2> /dev/null | tr -d '\0')" ] || continue
        namespace=$(readlink "$directory/ns/mnt" 2> /dev/null) || continue
        [[ $seen != *" $namespace "* ]] || continue
        seen+="$namespace "
        grep -qs " $CASE_DIR/[^ ]* .* - fuse" "$directory/mountinfo" || continue
        echo "The mount exists in $namespace, the namespace of process ${directory#/proc/} ($(cat "$directory/comm"))."
    done
}

# cleanup [CODE]: a case's own trap passes the exit code that it got, or a failure is lost. A daemon that has lost its
# mount must end.
cleanup() {
    local code=${1:-$?} deadline=$((SECONDS + 30)) point process
    set +e
    cd /
    if is_mounted; then
        "$KEYCHAINFS" unmount "$MNT" || fusermount3 -uz "$MNT" || umount -l "$MNT"
    fi
    for point in $(awk -v below="$CASE_DIR/" '$3 ~ /^fuse/ && index($2, below) == 1 { print $2 }' /proc/self/mounts); do
        echo "FAIL: the case has left a mount at $point" >&2
        fusermount3 -uz "$point" || umount -l "$point"
        [ "$code" != 0 ] || code=1
    done
    until no_daemons || [ "$SECONDS" -ge "$deadline" ]; do sleep 0.05; done
    if ! no_daemons; then
        report_daemons >&2
        for process in $(daemons); do kill -KILL "$process"; done
        [ "$code" != 0 ] || code=1
    fi
    exit "$code"
}
trap cleanup EXIT

# Items with all data that a save must preserve.
attribute() { getfattr --only-values -n "user.$1" "$2" 2>/dev/null | od -An -c | tr -d ' \n'; }

# make_item: `a` contains 'old', with a label, another class than the default and another attribute.
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

# same_item WHAT: the same, with its attributes.
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
