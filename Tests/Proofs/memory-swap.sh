# H1: memory that the system swaps out of the daemon under memory pressure contains no secret, no passphrase and no
# attribute value of a locked class. Another process shows that the search finds swapped-out data.
. "${0%/*}/lib.sh"
TOKEN=$(python3 -I -c "import secrets; print('Canary' + secrets.token_hex(8) + '-')")
install -m 600 /dev/null "$PASSPHRASE"; printf '%spassphrase' "$TOKEN" > "$PASSPHRASE"
create_keychain
GROUP=/sys/fs/cgroup/memory; LIMIT=memory.limit_in_bytes
[ -e "$GROUP/$LIMIT" ] || { GROUP=/sys/fs/cgroup; LIMIT=memory.max; }
HERE_GROUP="$GROUP/keychainfs-$$"; AREA="$CASE_DIR/area"; helper=
swap_cleanup() {
    local code=$?
    exec 7>&- 8<&- || true
    [ -z "$helper" ] || kill "$helper" 2> /dev/null || true
    release
    for member in $(cat "$HERE_GROUP/cgroup.procs" 2> /dev/null); do echo "$member" > "$GROUP/cgroup.procs" 2> /dev/null || true; done
    ! grep -q "^$AREA " /proc/swaps || swapoff "$AREA"
    rmdir "$HERE_GROUP" 2> /dev/null || true
    cleanup $code
}
release() { echo -1 > "$HERE_GROUP/$LIMIT" 2> /dev/null || echo max > "$HERE_GROUP/$LIMIT" 2> /dev/null || true; }
trap swap_cleanup EXIT
dd if=/dev/zero of="$AREA" bs=1M count=192 status=none; chmod 600 "$AREA"; mkswap -q "$AREA"; swapon -p 100 "$AREA"
# In the group from the first page on: pages that a process has before stay charged to another group, and are not swapped out.
mkdir "$HERE_GROUP"; in_group() { bash -c 'echo $$ > "$0/cgroup.procs"; exec "$@"' "$HERE_GROUP" "$@"; }
in_group "$KEYCHAINFS" mount "$MNT"
pid=$(daemon); D="$MNT/generic-passwords/s"; mkdir "$D"
# Staged, open for reading, and only just used; the helper has the same in ordinary memory.
for i in $(seq 40); do printf '%scontent' "$TOKEN" > "$D/item$i"; setfattr -n user.kSecAttrComment -v "${TOKEN}comment" "$D/item$i"; done
in_group python3 -I -c '
import sys, time
kept = [(sys.argv[1] + "control").encode() * 100 for _ in range(2000)]
time.sleep(600)' "$TOKEN" & helper=$!
sleep 1
cat "$D"/* > /dev/null; getfattr -d -m- "$D"/* > /dev/null 2>&1; ls -lR "$MNT" > /dev/null
exec 7<> "$D/staged"; printf '%scontent' "$TOKEN" >&7; exec 8< "$D/item1"; head -c 3 <&8 > /dev/null
search() { sync; dd if="$AREA" iflag=direct bs=1M status=none | grep -aoE "$TOKEN[a-z]+" | sort | uniq -c || true; }    # some cut at the end of a page
for state in unlocked locked; do
    [ $state = unlocked ] || "$KEYCHAINFS" lock "$MNT"
    for megabytes in 64 48 32 24 16 12 8 6 4; do    # no lower than necessary: below its locked memory the daemon would be killed
        echo $((megabytes << 20)) > "$HERE_GROUP/$LIMIT" 2> /dev/null || true
        swapped=$(sed -n 's/^VmSwap:[[:space:]]*//p' "/proc/$pid/status")
        ! { [ "${swapped%% *}" -gt 100 ] && search | grep -q control; } || break
    done
    wait_until 60 eval 'search | grep -q control'
    [ "${swapped%% *}" -gt 100 ] || fail "nothing of the daemon was swapped out: $swapped"
    found=$(search); echo "$state: $swapped of the daemon in the swap area; found: $(echo $found)"
    ! grep -q -e content -e passphrase <<< "$found" || fail "$state: in the swap area: $found"
    release
done
echo "swap: nothing of it in $swapped of the daemon"
