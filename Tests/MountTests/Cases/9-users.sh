# Design section 9 with allow_other: users other than the mounting user (root) are refused when they open the file, and
# when they use a descriptor that they inherited. Security returns errSecMissingEntitlement for the first.
# users: root
. "${0%/*}/lib.sh"
. "${0%/*}/accounts.sh"
make_accounts
create_keychain; mount_keychain -o allow_other
chmod 644 "$CASE_DIR/rpc.py"
expect_errno EACCES as "$A" cat "$MNT/.keychainfs/rpc"
expect_errno EACCES as "$A" python3 -I -c 'import os, sys; os.open(sys.argv[1], os.O_RDWR)' "$MNT/.keychainfs/rpc"
timeout 60 python3 - "$MNT" "$CASE_DIR" "$(id -u "$A")" <<'PY' || fail "a descriptor in other hands"
import errno, os, sys
sys.path.insert(0, sys.argv[2]); import rpc
api = rpc.Client(sys.argv[1])
assert api.add(b"v", svce="s", acct="a") == 0
request = rpc.frame(api.request("copyMatching", {"acct": "a", "r_Data": True}))
def in_other_hands(call):
    child = os.fork()
    if not child:
        os.setgroups([]); os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[3]))
        try: call()
        except OSError as e: os._exit(1 if e.errno == errno.EACCES else 2)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert in_other_hands(lambda: os.write(api.fd, request)) == 1
api.send(request)
assert in_other_hands(lambda: os.read(api.fd, 99)) == 1
assert api.answer() == (0, b"v")
PY
