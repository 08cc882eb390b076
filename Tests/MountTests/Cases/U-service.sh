# A service: notifies systemd when it is ready and when it ends (sd_notify(3)); systemd accepts the unit.
# needs: share
# seconds: 22
. "${0%/*}/lib.sh"
# The key derivation takes long enough to detect a notification that comes before the service is ready.
"$KEYCHAINFS" create
cat > "$CASE_DIR/notify.py" <<'P'
"""Runs a command as systemd does: prints what it says on its notification socket; at READY=1 does the rest of argv[2]."""
import os, signal, socket, subprocess, sys
path, check = sys.argv[1], sys.argv[2]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind("\0" + path[1:] if path.startswith("@") else path)
listener.settimeout(60)
service = subprocess.Popen(sys.argv[3:], env=dict(os.environ, NOTIFY_SOCKET=path))
print(listener.recv(4096).decode(), flush=True)
isRight = subprocess.run(["bash", "-c", check]).returncode == 0
service.send_signal(signal.SIGTERM)
print(listener.recv(4096).decode(), flush=True)
print("ended" if isRight else "not as it should be", service.wait(60), flush=True)
P
for place in "$CASE_DIR/notify" "@keychainfs-test-$$"; do
    # Ready means usable.
    said=$(python3 -I "$CASE_DIR/notify.py" "$place" "'$KEYCHAINFS' status '$MNT' | grep -q '^state: *unlocked'" \
        "$KEYCHAINFS" mount --foreground "$MNT" 2> "$CASE_DIR/log") || fail "$(cat "$CASE_DIR/log")"
    expect "READY=1 STOPPING=1 ended 0" "$(echo $said)" "what the service manager is told through $place"
    if is_mounted; then fail "still mounted"; fi
    rm -f "$CASE_DIR/notify"
done
# A missing listener or socket is not an error.
for place in "$CASE_DIR/none" nonsense "" "$(printf '/%.0s' {1..200})"; do
    NOTIFY_SOCKET="$place" "$KEYCHAINFS" mount --foreground "$MNT" 2> /dev/null & pid=$!
    wait_until 30 is_mounted; wait_until 30 "$KEYCHAINFS" status "$MNT" > /dev/null; kill "$pid"; wait "$pid" || fail "'$place'"
done

# The units, with this program instead of the installed one, and without its manual page. unit KIND FILE: writes the
# unit of share/systemd.
unit() { sed "s|^ExecStart=keychainfs|ExecStart=$KEYCHAINFS|; /^Documentation=/d" "$CASE_DIR/share/systemd/$1/keychainfs@.service" > "$2"; }
mkdir "$CASE_DIR/units"; unit system "$CASE_DIR/units/keychainfs@app.service"
said=$(systemd-analyze --system verify "$CASE_DIR/units/keychainfs@app.service" 2>&1) || fail "systemd-analyze: $said"
[[ $said != *keychainfs@* ]] || fail "systemd-analyze: $said"
if [ "$(id -u)" = 0 ]; then exit 0; fi
mkdir -p "$HOME/units"; unit user "$HOME/units/keychainfs@login.service"
export XDG_RUNTIME_DIR="$CASE_DIR/run"; mkdir -m 700 "$XDG_RUNTIME_DIR"
said=$(systemd-analyze --user verify "$HOME/units/keychainfs@login.service" 2>&1) || fail "systemd-analyze: $said"
[[ $said != *keychainfs@* ]] || fail "systemd-analyze: $said"
# Its command, as systemd would run it.
command=$(sed -n 's/^ExecStart=//p' "$HOME/units/keychainfs@login.service")
command=${command//'${KEYCHAIN}'/"$KEYCHAIN"}; command=${command//'${MOUNTPOINT}'/"$MNT"}
said=$(python3 -I "$CASE_DIR/notify.py" "$CASE_DIR/notify" "'$KEYCHAINFS' unlock '$MNT'" $command 2> "$CASE_DIR/log") ||
    fail "$(cat "$CASE_DIR/log")"
expect "READY=1 STOPPING=1 ended 0" "$(echo $said)" "the unit's command"
