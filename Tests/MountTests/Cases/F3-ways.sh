# F1, F3: every way to read and to write (read, preadv2, libaio, io_uring with fixed buffers and files, splice, sendfile, mappings)
# gives the same bytes as a kernel file system, with buffers shorter and longer than the secret, and many at the same time.
# needs: PosixProbe
# seconds: 10
. "$(dirname "$0")/lib.sh"

reference=$(mktemp -d /dev/shm/keychainfs-ways.XXXXXXXX)
leave() { local code=$?; rm -rf "$reference"; cleanup "$code"; }
trap leave EXIT
expect tmpfs "$(stat -f -c %T "$reference")" "the file system of /dev/shm"

create_keychain
mount_keychain
probe() { python3 -B "$CASE_DIR/PosixProbe/probe.py" "$1" reads writes; }
probe "$reference" > "$CASE_DIR/reference"
probe "$MNT/generic-passwords" > "$CASE_DIR/answers"
python3 -B "$CASE_DIR/PosixProbe/compare.py" "$CASE_DIR/reference" "$CASE_DIR/answers" \
    "$CASE_DIR/PosixProbe/differences.txt" --part > "$CASE_DIR/comparison" ||
    fail "answers that differ: $(head -n 12 "$CASE_DIR/comparison" | cut -c1-400; tail -n 1 "$CASE_DIR/comparison")"
unmount_keychain
