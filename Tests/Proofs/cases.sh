# What a proof needs that repeats cases of Tests/MountTests/Cases. Sourced after lib.sh.

# run_case SCRIPT ACCOUNT [VARIABLE=VALUE…]: runs a case as CaseTests does, in a separate directory; ACCOUNT is root or
# user.
run_case() {
    local script=$1 account=$2 directory as=() code=0
    shift 2
    directory=$(mktemp -d "$WORK/case.XXXXXX")
    chmod 755 "$directory"
    cp "$ROOT"/Tests/MountTests/Cases/* "$ROOT"/docs/{locking,exit-codes}.md "$directory"
    [ -e "$directory/${script##*/}" ] || cp "$script" "$directory"
    cp -r "$ROOT/Tests/StoreFormat" "$ROOT/share" "$BUILD/SecItemProgram" "$KEYCHAINFS" "$directory"
    if [ "$account" = user ] && [ "$(id -u)" = 0 ]; then
        getent passwd keychainfs-test > /dev/null || flock /etc useradd -m keychainfs-test
        chown keychainfs-test "$directory"
        as=(runuser -u keychainfs-test --)
    fi
    env --chdir="$directory" KEYCHAINFS="$directory/keychainfs" CASE_DIR="$directory" "$@" setsid --wait \
        timeout -k 5 $((PROOF_SECONDS + 900)) "${as[@]}" bash "$directory/${script##*/}" \
        < /dev/null > "$WORK/said" 2>&1 || code=$?
    if [ "$code" != 0 ]; then
        cat "$WORK/said" >&2
        fail "${script##*/} ($account $*): exit code $code"
    fi
    rm -rf --one-file-system "$directory"
}

# accounts SCRIPT: the accounts that run it here. `users: user` in a script saves time in scripts/test only.
accounts() {
    if [ "$(id -u)" != 0 ]; then echo user
    elif grep -q 'users: root' "$1"; then echo root
    else echo root user; fi
}
