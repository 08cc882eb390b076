# L4: locks automatically when no secret was read or written for a duration, and a duration after the unlock. As after
# the command, descriptors and names fail with ENOKEY. Invalid durations are refused.
# seconds: 27
. "${0%/*}/lib.sh"
create_keychain
for word in 0s -5m 15 5w 1h1h 99999999999999999999d; do
    for option in --lock-after --lock-at-most; do
        said=$(expect_code 64 "$KEYCHAINFS" mount "$MNT" "$option=$word"); [[ $said == *"$option"* ]] || fail "$said"
    done
    expect_code 64 "$KEYCHAINFS" mount "$MNT" -o "lock_after=$word" > /dev/null
done
if is_mounted; then fail "mounted"; fi
automatic() { "$KEYCHAINFS" status --json "$MNT" | python3 -I -c "import json, sys; print(json.load(sys.stdin)['automaticLock'].get('$1'))"; }
is_locked() { [ "$(status state)" = locked ]; }

# Not used: examining metadata is not a use, reading is, through an old descriptor too.
mount_keychain --lock-after 3s -o lock_at_most=1h
expect "3 3600" "$(automatic after) $(automatic atMost)" "status"
left=$(automatic remaining); [ "$left" -ge 1 ] && [ "$left" -le 3 ] || fail "remaining: $left"
[[ "$("$KEYCHAINFS" status "$MNT")" == *"after 3s without use, 1h after the unlock; next in"* ]] || fail "status for a person"
D="$MNT/generic-passwords/s"; mkdir "$D"; printf s3cret > "$D/a"
exec 3< "$D/a"
for _ in {1..10}; do sleep 0.5; dd bs=1 count=1 <&3 > /dev/null 2>&1; done
expect unlocked "$(status state)" "in use for 5 s"
start=$SECONDS
until is_locked; do
    ls -l "$D" > /dev/null 2>&1 || true
    [ $((SECONDS - start)) -lt 30 ] || fail "looking at it kept it unlocked"
    sleep 0.2
done
[ $((SECONDS - start)) -ge 2 ] || fail "locked too early"
expect_errno ENOKEY cat "$D/a"; expect_errno ENOKEY bash -c 'cat <&3'; expect_errno ENOKEY ls "$D"
expect None "$(automatic remaining)" "remaining while locked"
exec 3<&-
"$KEYCHAINFS" unlock "$MNT"; expect s3cret "$(cat "$D/a")" "after the unlock"
wait_until 30 is_locked
# Staged data is discarded, and close reports it.
"$KEYCHAINFS" unlock "$MNT"
python3 -I - "$D/a" <<'P' || fail "a write across a lock by time"
import errno, os, sys, time
file = os.open(sys.argv[1], os.O_WRONLY)
os.write(file, b"half")
time.sleep(5)
try:
    os.write(file, b"more")
    sys.exit(1)
except OSError as error:
    assert error.errno == errno.ENOKEY, error
P
unmount_keychain

# In use or idle; by options of fstab.
mount_keychain -o lock_at_most=3s
expect "None 3" "$(automatic after) $(automatic atMost)" "status"
start=$SECONDS
until is_locked; do cat "$D/a" > /dev/null 2>&1 || true; [ $((SECONDS - start)) -lt 30 ] || fail "use kept it unlocked"; done
[ $((SECONDS - start)) -ge 2 ] || fail "locked too early: $((SECONDS - start)) s"
unmount_keychain
# Without these options the status shows no policy.
mount_keychain; [[ "$("$KEYCHAINFS" status "$MNT")" != *locks:* ]] || fail "a policy that nobody gave"
