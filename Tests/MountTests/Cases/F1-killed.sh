# F1, S3, S1: names of new files are durable before anything relies on them; a killed command leaves no file behind.
# users: root
. "${0%/*}/lib.sh"
state="$XDG_STATE_HOME/keychainfs"; store="$XDG_DATA_HOME/keychainfs"
# killed WHEN COMMAND...: strace kills the command at that system call.
killed() {
    local call=${1%:*} number=${1#*:} code=0; shift
    strace -f -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$number" "$@" > /dev/null 2>&1 || code=$?
    [ "$code" -ge 128 ] || fail "'$*' was not killed at $call $number: $code"
}

for point in pwrite64:3 fdatasync:4 fsync:1; do killed "$point" "$KEYCHAINFS" create --kdf test; done
strace -f -y -o "$CASE_DIR/trace" -e trace=mkdir,link,rename,renameat2,fsync "$KEYCHAINFS" create --kdf test 2> /dev/null
expect login.keychain "$(ls -A "$store")" "what killed creations leave"
expect "commit-number device.key" "$(ls -A "$state" | sed -E 's/\.[0-9a-f]{32}$//' | xargs)" "the same next to the device key"

rm -r "$XDG_STATE_HOME" "$XDG_DATA_HOME"
strace -f -y -o "$CASE_DIR/trace" -e trace=mkdir,link,rename,renameat2,fsync "$KEYCHAINFS" create --kdf test 2> /dev/null
python3 -I - "$CASE_DIR/trace" "$XDG_STATE_HOME" <<'PY' || fail "$(cat "$CASE_DIR/trace")"
import os, re, sys
lines = [line for line in open(sys.argv[1]) if line.rstrip().endswith(" = 0") or "fsync" in line]
state = sys.argv[2]
keychain = next(i for i, line in enumerate(lines) if '/login.keychain"' in line)
def synced(name, directory):
    """That name comes to be, and its directory is synchronized behind it, before the keychain has its name."""
    made = max(i for i, line in enumerate(lines) if f'{name}"' in line)
    assert any(re.search(rf"fsync\(\d+<{re.escape(directory)}>\) += 0", line) for line in lines[made:keychain]), name
synced(state, state.rpartition("/")[0])
synced(state + "/keychainfs", state)
synced(state + "/keychainfs/device.key", state + "/keychainfs")
[number] = [name for name in os.listdir(state + "/keychainfs") if name.startswith("commit-number.")]
synced(f"{state}/keychainfs/{number}", state + "/keychainfs")
PY

mount_keychain; mkdir "$MNT/generic-passwords/s"; printf old > "$MNT/generic-passwords/s/a"; unmount_keychain
"$KEYCHAINFS" backup "$CASE_DIR/backup" 2> /dev/null
mount_keychain; printf new > "$MNT/generic-passwords/s/a"; unmount_keychain
# At each change of a name: the keychain is the old one or the new one, never an older copy.
for point in link:1 renameat2:1 rename:1 rename:2 rename:3; do
    strace -f -o /dev/null -e "trace=${point%:*}" -e "inject=${point%:*}:signal=KILL:when=${point#*:}" \
        "$KEYCHAINFS" restore --replace "$CASE_DIR/backup" > /dev/null 2>&1 || true
    "$KEYCHAINFS" check > /dev/null || fail "after a restore that was killed at $point"
    mount_keychain
    case "$(cat "$MNT/generic-passwords/s/a")" in old|new) ;; *) fail "a restore killed at $point" ;; esac
    unmount_keychain
    for kept in "$store"/login.keychain.replaced-*; do
        [ ! "$kept" -ef "$store/login.keychain" ] || fail "a second name after $point"
        [ ! -e "$kept" ] || mv "$kept" "$CASE_DIR"
    done
    expect login.keychain "$(ls -A "$store")" "what is left after $point"
done
"$KEYCHAINFS" restore --replace "$CASE_DIR/backup" > /dev/null
mount_keychain; expect old "$(cat "$MNT/generic-passwords/s/a")" "after all"
