# Two users A and B with a common supplementary group G, deleted at the end. Sourced after lib.sh, not executed; for
# root.
A="kcfs-a-$$" B="kcfs-b-$$" G="kcfs-g-$$"

make_accounts() {
    trap remove_accounts EXIT
    groupadd --system "$G"
    local user
    for user in "$A" "$B"; do useradd --system --no-create-home --user-group --groups "$G" --shell /bin/sh "$user"; done
}

remove_accounts() {
    local code=$?
    for account in "$A" "$B"; do userdel --force "$account" > /dev/null 2>&1 || true; done
    groupdel "$G" > /dev/null 2>&1 || true
    finish "$code"
}

# finish CODE: lib.sh's cleanup, which ends with the code it finds.
finish() { (exit "$1") || cleanup; cleanup; }

# as USER COMMAND...
as() { local user=$1; shift; runuser -u "$user" -- "$@"; }

# as_with_control USER COMMAND...: with root's open control file as descriptor 3.
as_with_control() { as "$@" 3<> "$MNT/.keychainfs/control"; }
