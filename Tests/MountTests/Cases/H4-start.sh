# H4, L4: a mount that cannot be made says why, within a bound, and leaves nothing; one that is interrupted is not made.
. "${0%/*}/lib.sh"
# The key derivation takes a moment: time to interrupt it.
"$KEYCHAINFS" create --keychain "$CASE_DIR/slow"; create_keychain
nobody() { ! pgrep -u "$(id -u)" -f "keychainfs (mount|guard) .*$MNT" > /dev/null; }
for signal in INT TERM HUP KILL; do
    env --default-signal setsid "$KEYCHAINFS" mount --keychain "$CASE_DIR/slow" "$MNT" > /dev/null 2>&1 & command=$!
    wait_until 20 pgrep -u "$(id -u)" -f "in-background .*$MNT" > /dev/null
    kill -$signal "$command"; wait "$command" 2> /dev/null || true
    wait_until 60 nobody
    ! is_mounted || fail "mounted after SIG$signal"
done

# limited LIMITS: a mount under these limits works, or says why not and leaves nothing.
limited() {
    local code=0 said
    said=$(bash -c "$1"'; exec timeout -s KILL 100 "$KEYCHAINFS" mount "$0"' "$MNT" 2>&1 < /dev/null) || code=$?
    [ "$code" != 137 ] || fail "$1: no end"
    if is_mounted && "$KEYCHAINFS" status "$MNT" > /dev/null 2>&1; then
        expect 0 "$code" "$1: mounted"
        mkdir -p "$MNT/generic-passwords/s"
        printf '%s' "$1" > "$MNT/generic-passwords/s/a" || fail "$1: a write"
        expect "$1" "$(cat "$MNT/generic-passwords/s/a")" "$1: a value"
        unmount_keychain
    else
        # A thread that finds no memory just after the mount was ready ends it: the log says so.
        [ "$code" = 0 ] || [ -n "$said" ] || fail "$1: exit code $code without a word"
    fi
    wait_until 20 nobody
    ! is_mounted || fail "$1: a mount is left"
}
for kilobytes in 60000 90000 100000 110000 130000 160000 200000 400000; do limited "ulimit -v $kilobytes"; done
for files in 4 8 10 12 16 24; do limited "ulimit -n $files"; done
for rest in "ulimit -l 0" "ulimit -f 0" "ulimit -f 32" "ulimit -s 128" "ulimit -c unlimited" "umask 0777" "unset HOME" \
    "export HOME=/proc/none" "export XDG_STATE_HOME=/dev/null" "cd /; export XDG_STATE_HOME=relative"; do limited "$rest"; done
# None of that has hurt it.
expect_code 0 "$KEYCHAINFS" check > /dev/null
umask 0777; mount_keychain; umask 022; printf x > "$MNT/generic-passwords/s/b"; unmount_keychain
expect 600 "$(stat -c %a "$KEYCHAIN")" "the mode of the keychain"

# Paths as long as the system takes them, with blanks, newlines and what is not ASCII.
for name in "$(printf 'd%.0s' {1..250})" $'a b\tc\nd' 'schlüssel #1\x'; do
    place="$CASE_DIR/$name"; mkdir "$place"; MNT=$place
    "$KEYCHAINFS" mount "$MNT" || fail "a mount at '$name'"
    "$KEYCHAINFS" status "$MNT" > /dev/null; expect_code 15 "$KEYCHAINFS" mount --keychain "$CASE_DIR/slow" "$MNT" > /dev/null
    "$KEYCHAINFS" unmount "$MNT" || fail "an unmount of '$name'"
done
MNT="$CASE_DIR/mnt"
# Many at once, each with a keychain of its own.
for i in $(seq 12); do create_keychain --keychain "$CASE_DIR/k$i" 2> /dev/null; mkdir "$CASE_DIR/m$i"; done
for i in $(seq 12); do "$KEYCHAINFS" mount --keychain "$CASE_DIR/k$i" "$CASE_DIR/m$i" & jobs+=($!); done
for job in "${jobs[@]}"; do wait "$job" || fail "one of many mounts"; done
for i in $(seq 12); do mkdir "$CASE_DIR/m$i/generic-passwords/s"; printf $i > "$CASE_DIR/m$i/generic-passwords/s/a"; done
for i in $(seq 12); do expect $i "$(cat "$CASE_DIR/m$i/generic-passwords/s/a")" "mount $i"; "$KEYCHAINFS" unmount "$CASE_DIR/m$i"; done

# Over a directory that is in use it is made; whoever was there is still below it, and cannot write there.
chmod 700 "$MNT"
(cd "$MNT"; "$KEYCHAINFS" mount "$MNT"; [ "$(id -u)" = 0 ] || expect_errno EACCES touch below; "$KEYCHAINFS" unmount "$MNT")
expect "" "$(ls -A "$MNT")" "what is left below"
