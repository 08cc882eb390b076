# C13: `lock --all` locks every keychain that the caller has mounted, and no other. A daemon that does not respond delays no other lock, and
# gives 30 at the end; one that has ended counts as locked; a mount that cannot be reached is reported.
# users: root
# seconds: 45
. "${0%/*}/lib.sh"
private_mounts
. "${0%/*}/accounts.sh"
make_accounts
cd "$CASE_DIR"; chmod 755 .
for user in "$A" "$B"; do install -m 400 -o "$user" "$PASSPHRASE" "$CASE_DIR/passphrase-$user"; done
# keychain USER NAME: a keychain of that user, mounted at NAME.
keychain() {
    install -d -m 700 -o "$1" "$CASE_DIR/$2" "$CASE_DIR/$2.home"
    run "$1" "$2" create --kdf test --keychain ./k; run "$1" "$2" mount ./k "$CASE_DIR/$2"
}
# run USER NAME WORD…: the program as that user.
run() {
    local user=$1 home="$CASE_DIR/$2.home"; shift 2
    (cd "$home" && as "$user" env HOME="$home" XDG_STATE_HOME="$home/state" \
        KEYCHAINFS_PASSPHRASE_FILE="$CASE_DIR/passphrase-$user" "$KEYCHAINFS" "$@" 2>&1)
}
state() { run "$1" "$2" status --json "$CASE_DIR/$2" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['$3'])"; }
# states NAME=STATE…: of the keychains of A.
states() { for pair; do expect "${pair#*=}" "$(state "$A" "${pair%=*}" state)" "$what: ${pair%=*}"; done; }
done_with() {
    local code=$? name
    kill -CONT ${stopped_pid:-} 2> /dev/null || true
    umount "$CASE_DIR/a.view" 2> /dev/null || true
    for name in a b stopped dead; do umount -l "$CASE_DIR/$name" 2> /dev/null || true; done
    wait_until 10 no_helpers; (exit "$code") || remove_accounts; remove_accounts
}
trap done_with EXIT
install -d -m 700 -o "$A" a.home
what="no mount"; run "$A" a lock --all || fail "no mount is not a failure"
code=0; run "$A" a lock --all "$CASE_DIR/a" > "$CASE_DIR/said" || code=$?; expect 64 "$code" "--all and a mount point"
for name in a stopped dead; do keychain "$A" $name; done; keychain "$B" b
what="all respond"; run "$A" a lock --all; states a=locked stopped=locked dead=locked
expect unlocked "$(state "$B" b state)" "a keychain of another user"
what="root"; (cd /; "$KEYCHAINFS" lock --all); expect unlocked "$(state "$B" b state)" "a keychain of another user, by root"

# One does not respond, one has died without an unmount.
for name in a stopped dead; do run "$A" $name unlock "$CASE_DIR/$name"; done
stopped_pid=$(state "$A" stopped pid); dead_pid=$(state "$A" dead pid); stop_process "$stopped_pid"
guard=$(pgrep -f "guard.*$CASE_DIR/dead\$"); kill -STOP "$guard" "$dead_pid"; kill -KILL "$guard" "$dead_pid"
grep -q " $CASE_DIR/dead fuse" /proc/self/mounts || fail "the dead mount is removed"
begin=$SECONDS; (code=0; run "$A" a lock --all > "$CASE_DIR/said" || code=$?; echo "$code" > "$CASE_DIR/code") & client=$!
is_locked() { [ "$(state "$A" a state)" = locked ]; }
wait_until 5 is_locked; [ ! -e "$CASE_DIR/code" ] || fail "it did not wait for the stopped daemon"
wait "$client"; [ $((SECONDS - begin)) -le 28 ] || fail "lock --all took $((SECONDS - begin)) s"
expect 30 "$(cat "$CASE_DIR/code")" "exit code of a daemon that does not respond"
grep -q "The daemon of $CASE_DIR/stopped does not respond" "$CASE_DIR/said" || fail "$(cat "$CASE_DIR/said")"
expect 1 "$(wc -l < "$CASE_DIR/said")" "messages"
kill -CONT "$stopped_pid"; stopped_pid=
is_locked() { [ "$(state "$A" stopped state)" = locked ]; }
wait_until 10 is_locked

# Another view is used if the mount point is hidden; without one it is a failure.
what="hidden"; run "$A" a unlock "$CASE_DIR/a"; run "$A" stopped unlock "$CASE_DIR/stopped"
mkdir "$CASE_DIR/a.view"; mount --bind "$CASE_DIR/a" "$CASE_DIR/a.view"
for name in a stopped; do mount -t tmpfs none "$CASE_DIR/$name"; done
code=0; run "$A" dead lock --all > "$CASE_DIR/said" || code=$?; expect 1 "$code" "a mount that cannot be reached"
grep -q "^keychainfs: $CASE_DIR/stopped cannot be reached.*may still be unlocked" "$CASE_DIR/said" || fail "$(cat "$CASE_DIR/said")"
expect 1 "$(wc -l < "$CASE_DIR/said")" "messages"
umount "$CASE_DIR/a" "$CASE_DIR/stopped" "$CASE_DIR/a.view"
states a=locked stopped=unlocked
