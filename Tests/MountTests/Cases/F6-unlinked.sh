# F6: an open does not fail because its name is unlinked or renamed over at the same time, and a file without a name can
# be opened as on any file system.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"
timeout 60 python3 - "$D" <<'PY' || fail "what has no name does not open"
import os, sys
path = sys.argv[1] + "/a"
with open(path, "w") as f: f.write("old")
held = os.open(path, os.O_PATH); os.unlink(path)
again = f"/proc/self/fd/{held}"
with open(again) as f: assert f.read() == "old"
with open(again, "r+") as f: f.write("new")
with open(again, "w") as f: f.write("newer")
assert os.fstat(held).st_nlink == 0 and not os.path.exists(path)
PY
cat > "$CASE_DIR/opener.py" <<'PY'
import os, random, sys, time
directory, kind, deadline = sys.argv[1], sys.argv[2], time.time() + 4
target, draft, done = directory + "/a", f"{directory}/draft{os.getpid()}", 0
def put(path, text):
    with open(path, "w") as f: f.write(text)
while time.time() < deadline:
    if kind == "replace": put(draft, "replaced"); os.rename(draft, target)
    elif kind == "write": put(target, "written")
    elif kind == "unlink":
        try: os.unlink(target)
        except FileNotFoundError: pass
    else:
        try:
            with open(target) as f: assert f.read() in ("", "replaced", "written")
        except FileNotFoundError: pass
    done += 1
assert done > 5, (kind, done)
PY
pids=()
for kind in replace replace unlink write write read read; do
    timeout 60 python3 "$CASE_DIR/opener.py" "$D" $kind & pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "an open failed or hung"; done
unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null
