# C: a command acts or fails with a message, also without /proc (a chroot), with a /proc without lists (a service with ProcSubset=pid),
# and when its processes are in another PID namespace. None takes what it cannot see for absent.
# users: root
. "${0%/*}/lib.sh"
create_keychain; mount_keychain; S="$MNT/generic-passwords/s"; mkdir "$S"; printf one > "$S/a"

# As a child, because a mount namespace keeps the mount until it ends.
without_proc() { unshare --mount --propagation private bash -c 'umount -l /proc && exec "$@"' - "$@"; }
only_processes() { unshare --mount --propagation private bash -c 'umount -l /proc && mount -t proc -o subset=pid proc /proc && exec "$@"' - "$@"; }
# Neither the mount nor its daemon is visible, but the file is.
elsewhere() { unshare --mount --propagation private --pid --fork --mount-proc bash -c 'umount -l "$0" && "$@"' "$MNT" "$@"; }

without_proc bash -c '[ ! -e /proc/self ]' || fail "/proc is still there"
expect "$("$KEYCHAINFS" --version)" "$(without_proc "$KEYCHAINFS" --version)" "the version"
expect_code 64 without_proc "$KEYCHAINFS" bogus | grep -q "no command 'bogus'" || fail "an unknown command"
expect_code 64 without_proc "$KEYCHAINFS" lock --bogus | grep -q "bogus" || fail "an unknown option"
without_proc "$KEYCHAINFS" lock --help | grep -q 'USAGE: keychainfs lock' || fail "the help of a command"
for words in lock unlock status doctor check "check --repair" mount unmount "slot list" "slot add --recovery" "rekey --yes" "search a" \
    "backup $CASE_DIR/copy" "restore $CASE_DIR/none" "create --kdf test --keychain $CASE_DIR/new"; do
    # shellcheck disable=SC2086
    expect_code 1 without_proc "$KEYCHAINFS" $words | grep -q '^keychainfs: /proc is not mounted' || fail "$words without /proc"
done
for words in "show $S/a" "get $S/a" "get --wait $S/a" "add $S/b" "add --replace $S/a"; do
    # shellcheck disable=SC2086
    expect_code 17 without_proc "$KEYCHAINFS" $words | grep -q '^keychainfs: /proc is not mounted' || fail "$words without /proc"
done
[ ! -e "$CASE_DIR/copy" ] && [ ! -e "$CASE_DIR/new" ] || fail "a command without /proc made a file"
expect unlocked "$(status state)" "locked without a command"
is_mounted || fail "unmounted without a command"

only_processes bash -c '[ -e /proc/self/mountinfo ] && [ ! -e /proc/locks ] && [ ! -e /proc/swaps ]' || fail "/proc has its lists"
only_processes "$KEYCHAINFS" lock "$MNT"; expect locked "$(status state)" "lock"
only_processes "$KEYCHAINFS" unlock "$MNT"; expect one "$(cat "$S/a")" "unlock"
said=$(only_processes "$KEYCHAINFS" doctor) || true
grep -q 'warning It is unknown whether there is swap' <<< "$said" || fail "doctor about swap: $said"
grep -q 'warning The version of Linux is unknown' <<< "$said" || fail "doctor about the kernel: $said"

# The file is in use, and no other process reads it.
for words in "slot list" check "backup $CASE_DIR/copy"; do
    # shellcheck disable=SC2086
    expect_code 14 elsewhere "$KEYCHAINFS" $words | grep -q 'in use' || fail "$words next to a daemon in another namespace"
done
[ ! -e "$CASE_DIR/copy" ] || fail "a copy of a file that is in use"
unmount_keychain
elsewhere() { unshare --mount --propagation private --pid --fork --mount-proc "$@"; }
elsewhere "$KEYCHAINFS" slot list > /dev/null || fail "a file that is not in use"

# A reader that the list of locks does not contain keeps a writer out.
python3 -I -c '
import fcntl, sys, time
file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_SH); print("locked", flush=True); time.sleep(60)' \
    "$KEYCHAIN" > "$CASE_DIR/reader" & reader=$!
wait_until 10 grep -q locked "$CASE_DIR/reader"
expect_code 14 only_processes "$KEYCHAINFS" mount "$MNT" | grep -q 'in use' || fail "mounted next to a reader, without the list"
expect_code 14 elsewhere "$KEYCHAINFS" mount "$MNT" | grep -q 'in use' || fail "mounted next to a reader of another namespace"
kill "$reader"; wait "$reader" || true
mount_keychain; expect one "$(cat "$S/a")" "after the reader"

# A file system without locks has no writer; another error of the question is reported, not taken for "not in use".
unmount_keychain
cat > "$CASE_DIR/no_locks.c" <<'C'
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int fcntl(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (command != F_OFD_GETLK) return (int)syscall(SYS_fcntl, descriptor, command, argument);
    errno = atoi(getenv("LOCK_ERROR"));
    return -1;
}
int fcntl64(int descriptor, int command, ...) __attribute__((alias("fcntl")));
C
compile_library no_locks
no_locks() { LOCK_ERROR=$1 LD_PRELOAD="$CASE_DIR/no_locks.so" "$KEYCHAINFS" slot list; }
for error in 37 22 95 38; do no_locks $error > /dev/null || fail "errno $error of F_OFD_GETLK"; done
expect_code 1 no_locks 5 | grep -q 'cannot be read or written' || fail "EIO of F_OFD_GETLK"
