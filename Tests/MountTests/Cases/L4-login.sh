# L4: locks before the system sleeps and when the screen is locked, as logind announces; without a bus the daemon
# reports that and continues.
. "${0%/*}/lib.sh"
BUS="$CASE_DIR/bus"; mkdir "$BUS"
login() { local command=$1; shift; /usr/bin/python3 -I "$CASE_DIR/login.py" "$command" "$BUS" "$@"; }
export DBUS_SYSTEM_BUS_ADDRESS="unix:path=$BUS/socket"
trap 'code=$?; login stop; cleanup $code' EXIT
is() { [ "$(status state)" = "$1" ]; }
hears() { [ "$("$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['automaticLock'].get('hearsLoginManager'))")" = "$1" ]; }
inhibitors() { [ "$(login inhibitors)" = "$1" ]; }
create_keychain
for word in "" nap suspend, screen,nap "suspend screen"; do
    expect_code 64 "$KEYCHAINFS" mount "$MNT" --lock-on "$word" | grep -q 'lock-on' || fail "lock-on '$word'"
done
expect_code 64 "$KEYCHAINFS" mount "$MNT" -o lock_on > /dev/null

# No bus: the mount is ready immediately, and its status shows which policy is not in effect.
"$KEYCHAINFS" mount "$MNT" --lock-on suspend,screen
wait_until 30 hears False
[[ "$("$KEYCHAINFS" status "$MNT")" == *"on suspend, when the screen is locked"*"warning: "*logind* ]] || fail "status without a bus"
mkdir "$MNT/generic-passwords/s"; printf s3cret > "$MNT/generic-passwords/s/a"

# A bus starts, and logind.
login bus; login logind; login session c1 "$(id -u)"; login session c2 "$(($(id -u) + 4711))"
wait_until 60 hears True
[[ "$("$KEYCHAINFS" status "$MNT")" != *logind* ]] || fail "a warning that is over"
expect unlocked "$(status state)" "after logind has come"
inhibitors 1 || fail "no inhibitor of sleep"
exec 3< "$MNT/generic-passwords/s/a"
login sleep true; wait_until 30 inhibitors 0
expect locked "$(status state)" "when the system may sleep"
expect_errno ENOKEY cat "$MNT/generic-passwords/s/a"; expect_errno ENOKEY bash -c 'cat <&3'; exec 3<&-
login sleep false; wait_until 30 inhibitors 1
expect locked "$(status state)" "after sleep"
"$KEYCHAINFS" unlock "$MNT"
login lock c2; login hint c2 true; login hint c1 false
login lock c1; wait_until 30 is locked
"$KEYCHAINFS" unlock "$MNT"; expect s3cret "$(cat "$MNT/generic-passwords/s/a")" "after the unlock"
login hint c1 true; wait_until 30 is locked
"$KEYCHAINFS" unlock "$MNT"

# The bus ends: the daemon keeps working. The bus returns: locks work again.
login stop; wait_until 30 hears False
expect unlocked "$(status state)" "a bus that died"
login bus; login logind; wait_until 60 hears True
login sleep true; wait_until 30 is locked
start=$SECONDS; unmount_keychain; [ $((SECONDS - start)) -lt 20 ] || fail "unmount waited for the bus"

# Only the requested event; as a mount option.
mount_keychain -o lock_on=screen; wait_until 30 hears True
inhibitors 0 || fail "sleep is held up for nothing"
login session c1 "$(id -u)"; login sleep true; sleep 1; expect unlocked "$(status state)" "sleep, which nobody asked for"
login lock c1; wait_until 30 is locked
