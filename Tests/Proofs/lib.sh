# Common parts of all proofs. Sourced, not executed: changes to the repository's directory and sets
#   ROOT, BUILD (the programs of the debug build), KEYCHAINFS (the program), WORK (a scratch directory, deleted at the exit),
#   PROOF_SECONDS (the allowed duration; 300 unless the caller sets it).
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$ROOT"
BUILD=$ROOT/.build/debug
KEYCHAINFS=$BUILD/keychainfs
: "${PROOF_SECONDS:=300}"
export LC_ALL=C.UTF-8
# Every argument, account and round (docs/testing.md).
export KEYCHAINFS_LANE=all
# Not /tmp: editors treat it differently, and it may be memory.
WORK=$(mktemp -d /var/tmp/keychainfs-proof.XXXXXXXX)
chmod 755 "$WORK"

# A proof that mounts replaces this, and calls it at its end.
leave() { rm -rf --one-file-system "$WORK"; }
trap leave EXIT

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    exit 1
}

# cases N: how many cases held; the last thing that a proof says.
cases() { printf 'cases: %s\n' "$1"; }
