# H2: another process of the same user does not get the passphrase while the daemon starts.
. "${0%/*}/lib.sh"
create_keychain
# Opens every descriptor of a starting daemon that /proc allows, keeps it open, and reads from it.
cat > "$CASE_DIR/thief.py" <<'PY'
import os, sys, time
case, stop, held, seen, stolen = sys.argv[1].encode(), sys.argv[2], [], set(), False
print("ready", flush=True)
while not os.path.exists(stop):
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = open(f"/proc/{process}/cmdline", "rb").read()
            if b"--in-background" not in line or case not in line: continue
            seen.add(process)
            for number in os.listdir(f"/proc/{process}/fd"):
                if not os.readlink(f"/proc/{process}/fd/{number}").startswith(("pipe:", "socket:")): continue
                held.append(os.open(f"/proc/{process}/fd/{number}", os.O_RDONLY | os.O_NONBLOCK))
        except OSError: pass
    for file in held:
        try:
            if b"correct horse" in os.read(file, 65536): stolen = True
        except OSError: pass
print("stolen" if stolen else "nothing", len(seen), flush=True)
PY
python3 "$CASE_DIR/thief.py" "$CASE_DIR" "$CASE_DIR/stop" > "$CASE_DIR/thief" & thief=$!
wait_until 10 grep -q ready "$CASE_DIR/thief"
for _ in 1 2 3 4 5; do
    mount_keychain; expect unlocked "$(status state)" "the mounted keychain"
    unmount_keychain
done
: > "$CASE_DIR/stop"; wait "$thief"
said=$(tail -n 1 "$CASE_DIR/thief")
[[ $said == "nothing "* ]] || fail "the passphrase was read from a descriptor of the daemon: $said"
[ "${said#* }" -ge 3 ] || fail "the other process saw too few daemons start: $said"
# Without a secret there is nothing to intercept.
mount_keychain --locked; expect before-first-unlock "$(status state)" "mounted without a passphrase"
