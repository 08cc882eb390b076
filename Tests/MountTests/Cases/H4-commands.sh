# H4, S1, L5: an unmount, a lazy unmount and a signal during a backup, a check and a rekey. The command completes or reports that the
# daemon has ended, a backup is complete or missing, no other file remains, and the keychain is intact.
# users: user
# seconds: 15
. "${0%/*}/lib.sh"
gone() { [ ! -e "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status"; }
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; B="$CASE_DIR/backups"; mkdir "$D" "$B"
# Large enough for a command to take some time.
for i in $(seq 24); do head -c 900000 /dev/zero > "$D/$i"; done
round=0
for way in command lazy signal; do
    for work in backup check rekey; do
        for pause in 0.05 0.2; do
            is_mounted || mount_keychain
            pid=$(daemon); round=$((round + 1)); copy="$B/$round"; code=0
            case $work in
            backup) set -- "$copy" ;; check) set -- ;; rekey) set -- "$MNT" ;;
            esac
            "$KEYCHAINFS" $work "$@" > "$CASE_DIR/said" 2>&1 & job=$!
            sleep $pause
            case $way in
            # The command may use the mount for longer than a second.
            command) wait_until 20 "$KEYCHAINFS" unmount "$MNT" > /dev/null 2>&1 ;;
            lazy) fusermount3 -uz "$MNT" ;;
            signal) kill -TERM "$pid" ;;
            esac
            wait_until 8 gone
            wait "$job" || code=$?
            # 14: it began after the unmount, when the daemon still had the file. 23: it met the lock of the daemon's end.
            case $code in
            0) [ $work != backup ] || "$KEYCHAINFS" backup --verify "$copy" > /dev/null || fail "a backup" ;;
            14 | 17 | 23) [ ! -e "$copy" ] || fail "a part of a backup" ;;
            *) fail "$work during $way ended with $code: $(cat "$CASE_DIR/said")" ;;
            esac
            expect "" "$(ls -A "$B" "${KEYCHAIN%/*}" | grep -E '^\.|keychainfs-backup' || true)" "files after $work during $way"
            rm -f "$copy"
        done
    done
done
# The daemon ends, and removes its copy, before the backup has opened the copy.
copies() { ls -d "${KEYCHAIN%/*}"/.keychainfs-backup-* 2> /dev/null; }
has_begun() { [ -n "$(copies)" ] || ! kill -0 "$job" 2> /dev/null; }
for try in $(seq 20); do
    is_mounted || mount_keychain
    pid=$(daemon); "$KEYCHAINFS" backup "$B/late" > "$CASE_DIR/said" 2>&1 & job=$!
    until has_begun; do :; done
    kill -STOP "$job" 2> /dev/null || { wait "$job"; rm "$B/late"; continue; }
    wait_until 10 no_helpers
    # Otherwise it was stopped too late: it has opened and removed the copy.
    [ -z "$(copies)" ] || break
    kill -CONT "$job"; wait "$job"; rm "$B/late"
done
[ -n "$(copies)" ] || fail "no backup could be stopped"
fusermount3 -uz "$MNT"; wait_until 8 gone; expect "" "$(copies)" "copies after the daemon's end"
kill -CONT "$job"; code=0; wait "$job" || code=$?
expect 17 "$code" "a backup whose copy was removed: $(cat "$CASE_DIR/said")"; expect "" "$(ls -A "$B")" "its files"
# An open that waits for a daemon which ends.
is_mounted || mount_keychain
pid=$(daemon); stop_process "$pid"
"$KEYCHAINFS" status "$MNT" > "$CASE_DIR/said" 2>&1 & job=$!
wait_until 10 eval '[ -n "$(helpers)" ]'; sleep 0.3
kill -KILL "$pid"; code=0; wait "$job" || code=$?
expect 17 "$code" "status of a daemon that was killed: $(cat "$CASE_DIR/said")"
wait_until 10 eval '! is_mounted'
expect_code 0 "$KEYCHAINFS" check | grep -q "is intact" || fail "the keychain"
mount_keychain; for i in $(seq 24); do expect 900000 "$(stat -c %s "$D/$i")" "an item"; done
