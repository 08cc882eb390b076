# F9, S8: when the disk becomes full, Keychain Services refuse additions and leave the space that a deletion needs.
# users: root
. "${0%/*}/lib.sh"
mkdir "$CASE_DIR/small"; mount -t tmpfs -o size=6m tmpfs "$CASE_DIR/small"
small_cleanup() { local code=$?; (exit $code) || true; cd /; is_mounted && "$KEYCHAINFS" unmount "$MNT"; umount "$CASE_DIR/small"; exit $code; }
trap small_cleanup EXIT
K="$CASE_DIR/small/k"
create_keychain --keychain "$K"; mount_keychain --keychain "$K"
timeout 60 python3 - "$MNT" "$CASE_DIR" <<'PY' || fail "a full disk"
import os, sys
sys.path.insert(0, sys.argv[2]); import rpc
FULL = -34
api = rpc.Client(sys.argv[1])
value = os.urandom(60_000); made = []
for n in range(300):
    status = api.add(value, svce="s", acct=f"{n}")
    if status: break
    made.append(n)
assert status == FULL and len(made) > 10, (status, len(made))
assert api.update({"acct": "0"}, {"labl": "L"}, value) == FULL and api.value(acct="0") == value and api.value(labl="L") == rpc.NOT_FOUND
for n in made: assert api.value(acct=f"{n}") == value, n
assert api.value(acct=f"{len(made)}") == rpc.NOT_FOUND
for n in made[: len(made) // 2]: assert api.delete(acct=f"{n}") == 0, n
assert api.add(value, svce="s", acct="again") == 0 and api.value(acct="again") == value
assert sorted(os.listdir(sys.argv[1] + "/generic-passwords/s")) == sorted([f"{n}" for n in made[len(made) // 2:]] + ["again"])
PY
unmount_keychain
expect_code 0 "$KEYCHAINFS" check --keychain "$K" > /dev/null
