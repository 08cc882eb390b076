#!/usr/bin/env bash
# Mounts a keychain with the program, with requests that wait for each other. All other tests use the debug build, and a defect
# of the runtime that is linked into the optimized program shows only in use.
# Usage: optimized.sh PROGRAM
set -euo pipefail
program=$1
directory=$(mktemp -d)
mount=$directory/mount
item=$mount/generic-passwords/s/a
export HOME=$directory XDG_DATA_HOME=$directory XDG_STATE_HOME=$directory XDG_RUNTIME_DIR=$directory
leave() {
    ! grep -qs " $mount " /proc/self/mounts || "$program" unmount "$mount" || fusermount3 -uz "$mount"
    rm -rf --one-file-system "$directory"
}
trap leave EXIT

(umask 077 && echo passphrase >"$directory/passphrase")
mkdir "$mount"
"$program" create --passphrase-file "$directory/passphrase"
"$program" mount --passphrase-file "$directory/passphrase" "$mount"
mkdir "$mount/generic-passwords/s"
echo value >"$item"
writers=()
for _ in 1 2 3 4; do
    (for _ in {1..50}; do
        echo value >"$item"
        ls -l "$mount/generic-passwords/s"
    done >/dev/null) &
    writers+=($!)
done
for writer in "${writers[@]}"; do wait "$writer"; done
"$program" status "$mount"
"$program" unmount "$mount"
"$program" check --passphrase-file "$directory/passphrase"
