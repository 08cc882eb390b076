# H4, L4: a failed mount states its reason within a bounded time and leaves nothing behind; an interrupted one does not
# mount.
# users: user
# seconds: 38
. "${0%/*}/lib.sh"
# The key derivation takes long enough to interrupt it.
"$KEYCHAINFS" create --kdf test-slow --keychain "$CASE_DIR/slow"; create_keychain
mount_keychain; mkdir "$MNT/generic-passwords/s"; unmount_keychain
nobody() { ! pgrep -u "$(id -u)" -f "keychainfs (mount|guard) .*$MNT" > /dev/null; }
for signal in INT TERM HUP KILL; do
    env --default-signal setsid "$KEYCHAINFS" mount --keychain "$CASE_DIR/slow" "$MNT" > /dev/null 2>&1 & command=$!
    wait_until 20 pgrep -u "$(id -u)" -f "in-background .*$MNT" > /dev/null
    kill -$signal "$command"; wait "$command" 2> /dev/null || true
    wait_until 60 nobody
    ! is_mounted || fail "mounted after SIG$signal"
done

# starved LIMITS: a mount under these limits works, states why not, or ends without memory; it leaves nothing behind,
# and acknowledged changes are kept. `works`: the value that was read back.
acknowledged=
starved() {
    local code=0 said
    said=$(bash -c "$1"'; exec timeout -s KILL 100 "$KEYCHAINFS" mount "$0"' "$MNT" 2>&1 < /dev/null) || code=$?
    [ "$code" != 137 ] || fail "$1: no end"
    [ "$code" = 0 ] || [ -n "$said" ] || fail "$1: exit code $code without a word"
    if [ "$code" = 0 ] && stat "$MNT/.keychainfs/status" > /dev/null 2>&1; then use "$1"; fi
    ! is_mounted || "$KEYCHAINFS" unmount "$MNT" > /dev/null 2>&1 || wait_until 30 eval '! is_mounted'
    wait_until 30 nobody; ! is_mounted || fail "$1: a mount is left"
}
use() {
    # An external program, because bash's own printf ignores the error of close.
    if env printf '%s' "$1" > "$MNT/generic-passwords/s/a"; then acknowledged=$1; fi
    works=$(cat "$MNT/generic-passwords/s/a") || true
} 2> /dev/null
for kilobytes in 60000 90000 100000 110000 130000 160000; do works=; starved "ulimit -v $kilobytes"; done
for files in 4 8 10 12 16 64; do works=; starved "ulimit -n $files"; done
mount_keychain; [ -z "$acknowledged" ] || expect "$acknowledged" "$(cat "$MNT/generic-passwords/s/a")" "what was acknowledged"; unmount_keychain
for rest in "ulimit -v 400000" "ulimit -n 128" "ulimit -l 0" "ulimit -s 128" "ulimit -c unlimited" "umask 0777" "unset HOME" \
    "export HOME=/proc/none" "export XDG_STATE_HOME=/dev/null" "cd /; export XDG_STATE_HOME=relative" "ulimit -f 0" "ulimit -f 32"; do
    works=; starved "$rest"
    case $rest in
    # Neither a device key nor any other file can be written.
    *XDG_STATE_HOME=/dev/null | "ulimit -f"*) [ "$works" = "$rest" ] || [ -z "$works" ] || fail "$rest: $works" ;;
    *) expect "$rest" "$works" "a value under: $rest" ;;
    esac
done
# The keychain is undamaged.
expect_code 0 "$KEYCHAINFS" check > /dev/null
(umask 0777; create_keychain --keychain "$CASE_DIR/masked"; "$KEYCHAINFS" mount --keychain "$CASE_DIR/masked" "$MNT"); mkdir "$MNT/generic-passwords/s"; printf x > "$MNT/generic-passwords/s/b"
unmount_keychain; "$KEYCHAINFS" mount --keychain "$CASE_DIR/masked" "$MNT"; expect x "$(cat "$MNT/generic-passwords/s/b")" "made under umask 0777"; unmount_keychain
expect 600 "$(stat -c %a "$CASE_DIR/masked")" "the mode of the keychain"

# Paths of the maximum length, with blanks, newlines and non-ASCII characters.
for name in "$(printf 'd%.0s' {1..250})" $'a b\tc\nd' 'schlüssel #1\x'; do
    place="$CASE_DIR/$name"; mkdir "$place"; MNT=$place
    "$KEYCHAINFS" mount "$MNT" || fail "a mount at '$name'"
    "$KEYCHAINFS" status "$MNT" > /dev/null; expect_code 15 "$KEYCHAINFS" mount --keychain "$CASE_DIR/slow" "$MNT" > /dev/null
    "$KEYCHAINFS" unmount "$MNT" || fail "an unmount of '$name'"
done
MNT="$CASE_DIR/mnt"
# Many at the same time, each with a separate keychain.
for i in $(seq 12); do create_keychain --keychain "$CASE_DIR/k$i" 2> /dev/null; mkdir "$CASE_DIR/m$i"; done
for i in $(seq 12); do "$KEYCHAINFS" mount --keychain "$CASE_DIR/k$i" "$CASE_DIR/m$i" & jobs+=($!); done
for job in "${jobs[@]}"; do wait "$job" || fail "one of many mounts"; done
for i in $(seq 12); do mkdir "$CASE_DIR/m$i/generic-passwords/s"; printf $i > "$CASE_DIR/m$i/generic-passwords/s/a"; done
for i in $(seq 12); do expect $i "$(cat "$CASE_DIR/m$i/generic-passwords/s/a")" "mount $i"; "$KEYCHAINFS" unmount "$CASE_DIR/m$i"; done

# Mounting over a directory in use works; a process whose working directory it was is still below the mount and cannot
# write there.
chmod 700 "$MNT"
(cd "$MNT"; "$KEYCHAINFS" mount "$MNT"; [ "$(id -u)" = 0 ] || expect_errno EACCES touch below; "$KEYCHAINFS" unmount "$MNT")
expect "" "$(ls -A "$MNT")" "what is left below"
