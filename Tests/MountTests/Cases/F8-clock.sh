# F8, F5, L4, S2: the clock is set back or forward: st_ctime never decreases, automatic locks come in time, a save
# within ten seconds keeps the item, commit numbers are unaffected.
# users: user
# seconds: 14
. "${0%/*}/lib.sh"
# Sets the wall clock of the daemon and of no other process.
cat > "$CASE_DIR/skew.c" <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, id, time);
    const char *path = getenv("CLOCK_OFFSET");
    if (result == 0 && path && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        char text[32] = {0};
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file >= 0) { if (read(file, text, 31) > 0) time->tv_sec += atol(text); close(file); }
    }
    return result;
}
C
compile_library skew
set_days() { printf '%s\n' $(($1 * 86400)) > "$CASE_DIR/offset"; }
mount_skewed() { env LD_PRELOAD="$CASE_DIR/skew.so" CLOCK_OFFSET="$CASE_DIR/offset" "$KEYCHAINFS" mount "$@" "$MNT"; }
changed() { stat -c %.9Z "$D/a"; }
later() { python3 -I -c 'import sys; from decimal import Decimal; sys.exit(not Decimal(sys.argv[1]) > Decimal(sys.argv[2]))' "$1" "$2"; }
create_keychain; set_days 0; mount_skewed --lock-after 6s
D="$MNT/generic-passwords/s"; mkdir "$D"; printf v > "$D/a"; last=$(changed)
set_days -400; [ "$(date -d "$(stat -c %y "$MNT/.keychainfs/status")" +%s)" -gt 0 ]
for change in "printf w > '$D/a'" "chmod 640 '$D/a'" "setfattr -n user.x -v y '$D/a'" "touch '$D/a'" "setfattr -n user.kSecAttrLabel -v l '$D/a'"; do
    eval "$change"; now=$(changed)
    later "$now" "$last" || fail "st_ctime went from $last to $now by: $change"
    last=$now
done
# The clock does go back for new items, so the daemon's clock is the modified one.
printf n > "$D/new"; later "$last" "$(stat -c %.9Z "$D/new")" || fail "the daemon has another clock than it was given"
mv "$D/new" "$D/a"; now=$(changed); later "$now" "$last" || fail "st_ctime went back by a rename over it"
[ "$(getfattr --only-values -n user.kSecAttrModificationDate "$D/a" 2> /dev/null)" != "" ] || fail "no modification date"
last=$now
# Automatic locks use a clock that cannot be set.
set_days 40000; cat "$D/a" > /dev/null; sleep 1; expect unlocked "$(status state)" "a clock set forth 100 years is no time without use"
set_days -10000; wait_until 60 eval '[ "$(status state)" = locked ]'
"$KEYCHAINFS" unlock "$MNT"
# The clock is set during a save.
python3 -I - "$D" "$CASE_DIR/offset" <<'PY'
import os, sys
directory, offset = sys.argv[1:]
def put(name, text):
    with open(f"{directory}/{name}", "w") as file: file.write(text)
for days in (-10000, -10400, -9000, -10000):
    put("f", "1"); os.setxattr(f"{directory}/f", "user.kSecAttrLabel", b"L")
    reference = os.getxattr(f"{directory}/f", "user.kSecAttrPersistentReference")
    os.rename(f"{directory}/f", f"{directory}/f~")
    with open(offset, "w") as file: file.write(str(days * 86400))
    put("f", "2")
    assert os.getxattr(f"{directory}/f", "user.kSecAttrPersistentReference") == reference, days
    os.unlink(f"{directory}/f"); os.unlink(f"{directory}/f~")
PY
unmount_keychain
# Dates before 1970 and beyond 32 bits; commit numbers increase, so that no keychain looks like an older copy.
for days in -30000 40000 0; do
    set_days $days; mount_skewed; printf '%s' "$days" > "$D/a"; now=$(changed)
    later "$now" "$last" || fail "st_ctime went from $last to $now by a mount"
    last=$now; unmount_keychain
done
mount_keychain; expect 0 "$(cat "$D/a")" "the last value"; unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null
