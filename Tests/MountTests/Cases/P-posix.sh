# T4, T5, F2, F6, F8: a mount gives the same results as a kernel file system, except those in docs/posix-differences.md.
# `Tests/Proofs/posix` runs all questions; these are the areas that the suites of ConformanceTests cover least.
# needs: PosixProbe
# seconds: 32
. "$(dirname "$0")/lib.sh"

parts="contents timestamps utimes modes descriptors directories inodes events"
reference=$(mktemp -d /dev/shm/keychainfs-posix.XXXXXXXX)
leave() { local code=$?; rm -rf "$reference"; cleanup "$code"; }
trap leave EXIT
expect tmpfs "$(stat -f -c %T "$reference")" "the file system of /dev/shm"

create_keychain
mount_keychain
probe() { python3 -B "$CASE_DIR/PosixProbe/probe.py" "$1" $parts; }
probe "$reference" > "$CASE_DIR/reference"
probe "$MNT/generic-passwords" > "$CASE_DIR/answers"
python3 -B "$CASE_DIR/PosixProbe/compare.py" "$CASE_DIR/reference" "$CASE_DIR/answers" \
    "$CASE_DIR/PosixProbe/differences.txt" --part || fail "answers that differ"
unmount_keychain
