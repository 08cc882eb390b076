# A service: notifies systemd when it is ready and when it ends (sd_notify(3)); systemd accepts the unit. C9: no unit restarts after an exit
# code, and the user unit is skipped if its keychain is mounted.
# needs: share
# needs: pages
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

# In the journal, which adds the time, a line of the log has its priority instead; elsewhere it has its time.
for stream in same other; do
    file="$CASE_DIR/journal"; : > "$file"; variable=$(stat -c %d:%i "$file"); [ "$stream" = same ] || variable=1:2
    JOURNAL_STREAM=$variable "$KEYCHAINFS" mount --foreground "$MNT" 2>> "$file" & pid=$!
    wait_until 30 is_mounted; wait_until 30 "$KEYCHAINFS" status "$MNT" > /dev/null; kill "$pid"; wait "$pid" || fail "$stream"
    [ -s "$file" ] || fail "no log"
    ! grep -vqE "$([ "$stream" = same ] && echo '^<[3-6]>[a-z]' || echo '^20[0-9T:+-]+')" "$file" || fail "the log: $(cat "$file")"
done

# restarts FILE: whether systemd starts the unit again after an exit code (systemd.service(5)).
restarts() {
    grep -qE '^RestartForceExitStatus=.' "$1" ||
        { grep '^Restart=' "$1" || true; } | grep -qvE '=(no|on-abnormal|on-abort|on-watchdog)?$'
}
for setting in Restart=always Restart=on-failure Restart=on-success RestartForceExitStatus=11; do
    echo "$setting" > "$CASE_DIR/unit"; restarts "$CASE_DIR/unit" || fail "$setting is accepted"
done
count=0
for unit in "$CASE_DIR"/share/systemd/*/*; do
    if restarts "$unit"; then fail "$unit restarts after an exit code"; fi
    count=$((count + 1))
done
expect 2 "$count" "units"

# The units, with this program instead of the installed one, and without its manual page. unit KIND FILE: writes the
# unit of share/systemd.
unit() {
    sed "s|^ExecStart=keychainfs|ExecStart=$KEYCHAINFS|; s|! keychainfs |! $KEYCHAINFS |; /^Documentation=/d" \
        "$CASE_DIR/share/systemd/$1/keychainfs@.service" > "$2"
}
mkdir "$CASE_DIR/units"; unit system "$CASE_DIR/units/keychainfs@app.service"
said=$(systemd-analyze --system verify "$CASE_DIR/units/keychainfs@app.service" 2>&1) || fail "systemd-analyze: $said"
[[ $said != *keychainfs@* ]] || fail "systemd-analyze: $said"
if [ "$(id -u)" = 0 ]; then exit 0; fi
mkdir -p "$HOME/units"; unit user "$HOME/units/keychainfs@login.service"
export XDG_RUNTIME_DIR="$CASE_DIR/run"; mkdir -m 700 "$XDG_RUNTIME_DIR"
said=$(systemd-analyze --user verify "$HOME/units/keychainfs@login.service" 2>&1) || fail "systemd-analyze: $said"
[[ $said != *keychainfs@* ]] || fail "systemd-analyze: $said"
# Its command, and the one with another automatic lock by which docs/guide.md replaces it, as systemd would run them.
runs() {
    local command said
    command=$(sed -n 's/^ExecStart=\(.\)/\1/p' "$1"); [ -n "$command" ] || fail "no command in $1"
    command=${command/#keychainfs/"$KEYCHAINFS"}; command=${command//'${KEYCHAIN}'/"$KEYCHAIN"}; command=${command//'${MOUNTPOINT}'/"$MNT"}
    said=$(python3 -I "$CASE_DIR/notify.py" "$CASE_DIR/notify" "'$KEYCHAINFS' unlock '$MNT' && $2" $command 2> "$CASE_DIR/log") ||
        fail "$1: $(cat "$CASE_DIR/log")"
    expect "READY=1 STOPPING=1 ended 0" "$(echo $said)" "the command of $1"; rm -f "$CASE_DIR/notify"
}
runs "$HOME/units/keychainfs@login.service" true
runs "$CASE_DIR/guide.md" "'$KEYCHAINFS' status '$MNT' | grep -q '^locks: *after 15m'"

# Its condition: `$$` is a `$` there, and ${KEYCHAIN} one word.
condition=$(sed -n 's/^ExecCondition=//p' "$HOME/units/keychainfs@login.service" |
    sed "s|\\\$\\\$|\$|g; s|\\\${KEYCHAIN}|'$KEYCHAIN'|")
[ -n "$condition" ] || fail "the user unit has no condition"
holds() { bash -c "$condition"; }
holds || fail "the unit is skipped without a mount"
mkdir "$CASE_DIR/elsewhere"; "$KEYCHAINFS" mount "$CASE_DIR/elsewhere"; if holds; then fail "the unit is started twice"; fi
"$KEYCHAINFS" lock "$CASE_DIR/elsewhere"; if holds; then fail "the unit is started over a locked mount"; fi
"$KEYCHAINFS" create --kdf test --keychain other; "$KEYCHAINFS" unmount "$CASE_DIR/elsewhere"
"$KEYCHAINFS" mount other "$CASE_DIR/elsewhere"
holds || fail "the unit is skipped because of another keychain"; "$KEYCHAINFS" unmount "$CASE_DIR/elsewhere"
