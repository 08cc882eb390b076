# H4: SIGTERM ends a daemon whose disk does not respond while it opens the keychain, and leaves no mount.
# seconds: 4
. "${0%/*}/lib.sh"
create_keychain
# The disk: the mount of another keychain, whose daemon is stopped while the daemon under test is about to open its file.
DISK="$CASE_DIR/disk"; mkdir "$DISK"
"$KEYCHAINFS" create --kdf test --keychain "$CASE_DIR/outer"
"$KEYCHAINFS" mount --keychain "$CASE_DIR/outer" "$DISK"
mkdir "$DISK/generic-passwords/s"; cp "$KEYCHAIN" "$DISK/generic-passwords/s/a"
outer=$(MNT=$DISK daemon)
trap 'code=$?; kill -CONT "$outer" 2> /dev/null || true; cleanup "$code"' EXIT
mkfifo "$CASE_DIR/fifo"
# Ends the case if the daemon does not exit.
ended() { [ ! -e "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status"; }
for signal in TERM INT HUP; do
    env --default-signal "$KEYCHAINFS" mount --foreground --keychain "$DISK/generic-passwords/s/a" \
        --passphrase-file "$CASE_DIR/fifo" "$MNT" > "$CASE_DIR/said" 2>&1 & pid=$!
    exec 9> "$CASE_DIR/fifo"
    stop_process "$outer"
    printf 'correct horse\n' >&9; exec 9>&-
    # The daemon has blocked the signals before it opens the file, and waits for the disk.
    blocked() { [ $((0x$(awk '/^SigBlk/ { print $2 }' "/proc/$pid/status") & 0x4003)) = $((0x4003)) ]; }
    wait_until 20 blocked; sleep 0.3
    ! ended || fail "the daemon has ended: $(cat "$CASE_DIR/said")"
    kill -"$signal" "$pid"
    wait_until 5 ended
    code=0; wait "$pid" || code=$?
    expect $((128 + $(kill -l "$signal"))) "$code" "the exit status after SIG$signal"
    kill -CONT "$outer"
    ! is_mounted || fail "mounted after SIG$signal"
done
"$KEYCHAINFS" unmount "$DISK"
mount_keychain; unmount_keychain
