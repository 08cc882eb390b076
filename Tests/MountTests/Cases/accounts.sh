# Two users A and B with a common supplementary group G, deleted at the end. Sourced after lib.sh, not executed; for
# root.
readonly A="kcfs-a-$$" B="kcfs-b-$$" G="kcfs-g-$$"

make_accounts() {
    trap remove_accounts EXIT
    delete_accounts # those of a case that was killed, with the same process number
    groupadd --system "$G"
    local user
    for user in "$A" "$B"; do useradd --system --no-create-home --user-group --groups "$G" --shell /bin/sh "$user"; done
}

delete_accounts() {
    local user
    for user in "$A" "$B"; do userdel --force "$user" > /dev/null 2>&1 || true; done
    groupdel "$G" > /dev/null 2>&1 || true
}

remove_accounts() {
    local code=$?
    delete_accounts
    if [ -n "$(getent passwd "$A" "$B" || true; getent group "$A" "$B" "$G" || true)" ]; then
        echo "FAIL: the case has left an account" >&2
        [ "$code" != 0 ] || code=1
    fi
    finish "$code"
}

# finish CODE: lib.sh's cleanup, which ends with the code it finds.
finish() { (exit "$1") || cleanup; cleanup; }

# as USER COMMAND...
as() { local user=$1; shift; runuser -u "$user" -- "$@"; }

# as_with_control USER COMMAND...: with root's open control file as descriptor 3.
as_with_control() { as "$@" 3<> "$MNT/.keychainfs/control"; }
