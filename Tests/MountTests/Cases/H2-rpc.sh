# H2, H1, L2: data that passes through `rpc` is sealed between two system calls, and after a lock none of it is in the
# daemon's memory: requests that are half written or not executed, responses that are half read, names in queries.
# users: root
# seconds: 12
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
canary() { python3 -I -c "import secrets; print('$1-' + secrets.token_hex(12))"; }
declare -A C
for name in added label queried collected whole renamed updated half; do C[$name]=$(canary "$name"); done
for name in "${!C[@]}"; do printf '%s\t%s\n' "$name" "${C[$name]}"; done > "$CASE_DIR/canaries"
pid=$(daemon)
scan() { for name in "$@"; do printf '%s\t%s\n' "$name" "${C[$name]}"; done | python3 -I "${0%/*}/scan.py" "$pid"; }

cat > "$CASE_DIR/use.py" <<'PY'
import os, sys, time
mount, base = sys.argv[1:]; sys.path.insert(0, base); import rpc
C = dict(line.rstrip("\n").split("\t") for line in open(base + "/canaries"))
api = rpc.Client(mount)
assert api.add(C["added"].encode() * 50, svce="s", acct="a", labl=C["label"]) == 0 and api.value(labl=C["label"]) == C["added"].encode() * 50
for n in range(200): assert api.add(C["half"].encode() * 20, svce="half", acct=f"{n}", labl=C["half"]) == 0
assert api.value(svce="s", desc=C["queried"]) == rpc.NOT_FOUND
assert api.update({"acct": "a"}, {"acct": C["renamed"]}, C["updated"].encode() * 9000) == 0 and len(api.value(acct=C["renamed"])) > 90_000
def begun(): return rpc.Client(mount)
collected, whole, half = begun(), begun(), begun()
def request(name):
    query = {"svce": "s", "acct": C[name], "v_Data": rpc.plistlib.UID(0)}
    return rpc.frame(collected.request("add", query), C[name].encode() * 900)
collected.send(request("collected")[:-10])
whole.send(request("whole"))
half.send(rpc.frame(half.request("copyMatching", {"svce": "half", "m_Limit": "m_LimitAll", "r_Data": True, "r_Attributes": True})))
half.read(3000)
open(base + "/used", "w").close()
while not os.path.exists(base + "/locked"): time.sleep(0.05)
for client in (collected, whole, half):
    try: os.read(client.fd, 10)
    except OSError as error: assert error.errno == 126, error
    else: assert False, "a lock left something"
assert api.value(acct=C["renamed"]) == rpc.LOCKED
PY
timeout 60 python3 -I "$CASE_DIR/use.py" "$MNT" "$CASE_DIR" & user=$!
wait_until 40 test -e "$CASE_DIR/used"
exec 3< "$MNT/generic-passwords/s/${C[renamed]}"; getfattr -d "$MNT/generic-passwords/s/${C[renamed]}" > /dev/null
found=$(scan label)
[ -n "$found" ] || fail "before the lock the scan finds no label: it cannot find anything"
found=$(scan added updated collected whole)
[ -z "$found" ] || fail "between requests the daemon's memory has contents: $found"
"$KEYCHAINFS" lock "$MNT"
found=$(scan added label queried collected whole renamed updated half)
[ -z "$found" ] || fail "after the lock the daemon's memory still has: $found"
exec 3<&-; touch "$CASE_DIR/locked"
wait "$user" || fail "the client"
unmount_keychain
