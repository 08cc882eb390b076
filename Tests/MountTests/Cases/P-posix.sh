# T4, T5, F2, F6, F8: a mount answers what a file system of the kernel answers, but for docs/posix-differences.md.
# needs: PosixProbe
# `Tests/Proofs/posix` asks everything; these are the parts that the suites of ConformanceTests have least of.
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
