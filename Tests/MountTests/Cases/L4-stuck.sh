# L4: every wait is bounded. A command that needs a daemon which is stopped, or which hangs during a request, ends with
# exit code 30 and states what to do. It leaves no process that cannot be killed, and works again when the daemon does.
# seconds: 54
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; printf s3cret > "$D/a"
pid=$(daemon)
trap 'code=$?; kill -CONT "$pid" 2> /dev/null || true; cleanup $code' EXIT
# bounded COMMAND...: ends with 30 within 40 s, in a pipe too, which a remaining process would hold open.
bounded() {
    local code=0 said start=$SECONDS
    said=$(timeout -s KILL 40 "$@" 2>&1 < /dev/null) || code=$?
    expect 30 "$code" "'$*' of a daemon that does not respond ($said)"
    [ $((SECONDS - start)) -le 35 ] || fail "'$*' took $((SECONDS - start)) s"
    [[ $said == *"does not respond"*"kill -CONT"* ]] || fail "'$*' said: $said"
}
# Paths that refer to the mount, even if it is only a component of the path.
ln -s "$D/a" "$CASE_DIR/item"; ln -s "${MNT##*/}" "$CASE_DIR/link"; ln -s ../link/generic-passwords/s "$CASE_DIR/deep"
mkdir "$CASE_DIR/dir"; mv "$CASE_DIR/deep" "$CASE_DIR/dir/"
for way in "$CASE_DIR/item" "$CASE_DIR/link/generic-passwords/s/a" "$CASE_DIR/dir/deep/../s/a"; do
    expect_code 0 "$KEYCHAINFS" show "$way" | grep -qx 'kSecAttrAccount: a' || fail "show $way"
done
stop_process "$pid"
# At the same time: they do not wait for each other.
for command in "status" "status --json" "lock" "unlock" "unmount"; do
    bounded "$KEYCHAINFS" $command "$MNT" & jobs+=($!)
done
bounded "$KEYCHAINFS" check & jobs+=($!)
for way in "$D/a" "$CASE_DIR/item" "$CASE_DIR/link/generic-passwords/s/a" "$CASE_DIR/dir/deep/a"; do
    bounded "$KEYCHAINFS" show "$way" & jobs+=($!)
done
(cd "$CASE_DIR/dir"; bounded "$KEYCHAINFS" show ../dir/deep/../s/a) & jobs+=($!)
(expect_code 1 timeout -s KILL 40 "$KEYCHAINFS" doctor "$MNT" | grep -q "does not respond") & jobs+=($!)
bounded "$KEYCHAINFS" slot list "$MNT" & jobs+=($!)
(code=0; said=$("$KEYCHAINFS" status --quiet "$MNT" 2>&1) || code=$?; expect 30 "$code" "status --quiet"; expect '' "$said" "its output") & jobs+=($!)
bounded "$KEYCHAINFS" mount --keychain "$CASE_DIR/other" --create "$MNT" & jobs+=($!)
for job in "${jobs[@]}"; do wait "$job" || fail "one of them is not bounded"; done
[ ! -e "$CASE_DIR/other" ] || fail "a keychain was made"
# That of the lock, and the process that it replaces every second so that no other one has to wait.
wait_until 5 eval '[ "$(helpers | wc -l)" -le 2 ]'
[ -n "$(helpers)" ] || fail "no process waits for the lock"
is_mounted || fail "an unmount that failed has unmounted"
kill -CONT "$pid"
wait_until 10 no_helpers
expect locked "$(status state)" "a daemon that continues: the lock has been done, and no other command that was given up"
"$KEYCHAINFS" unlock "$MNT"
expect s3cret "$(cat "$D/a")" "and its items"

# It has received the request and hangs: the kernel lets no process exit that waits for that reply. A key derivation is
# long enough.
"$KEYCHAINFS" unmount "$MNT"; rm "$KEYCHAIN"; "$KEYCHAINFS" create --kdf test-slow; mount_keychain; pid=$(daemon); "$KEYCHAINFS" lock "$MNT"
mkfifo "$CASE_DIR/fifo"; bounded "$KEYCHAINFS" unlock --passphrase-file "$CASE_DIR/fifo" "$MNT" & job=$!
cat "$PASSPHRASE" > "$CASE_DIR/fifo"; sleep 0.1; stop_process "$pid"
wait "$job" || fail "an unlock that was taken"
kill -CONT "$pid"; wait_until 60 no_helpers

# It is stopped only briefly: the waiting command gets its reply.
"$KEYCHAINFS" unlock "$MNT"
stop_process "$pid"; (sleep 2; kill -CONT "$pid") & "$KEYCHAINFS" lock "$MNT"; wait $!
expect locked "$(status state)" "a lock of a daemon that was slow"
"$KEYCHAINFS" unlock "$MNT"

# ^C and SIGTERM immediately end a command that waits.
stop_process "$pid"
"$KEYCHAINFS" status "$MNT" > /dev/null 2>&1 & client=$!; sleep 1; kill -TERM "$client"
start=$SECONDS; wait "$client" || true; [ $((SECONDS - start)) -le 3 ] || fail "SIGTERM waited"
kill -CONT "$pid"
wait_until 10 no_helpers
unmount_keychain

# Not a mounted keychain: exit code 17, without a delay.
for place in "$MNT" "$CASE_DIR" "$PASSPHRASE" "$CASE_DIR/none" /proc; do
    for command in lock unlock status unmount; do
        expect_code 17 "$KEYCHAINFS" $command "$place" > "$CASE_DIR/said"
        grep -q "$place" "$CASE_DIR/said" || fail "'$command $place' does not name it: $(cat "$CASE_DIR/said")"
    done
done
