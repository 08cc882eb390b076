# H4: a process that may not start a thread or another process reports its error and ends.
# users: user
# seconds: 3
. "${0%/*}/lib.sh"
create_keychain
# An unknown table: the database is opened, refused and closed.
cp "$KEYCHAIN" "$CASE_DIR/refused"
python3 - "$CASE_DIR/refused" << 'END'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("CREATE TABLE other (a)")
database.commit()
database.close()
END
# alone CODE COMMAND...: with no process or thread of this user allowed in addition, the command ends with that code in time.
alone() {
    local wanted=$1 code=0 said; shift
    said=$(timeout -s KILL 20 bash -c 'ulimit -u 1; exec "$@"' alone "$@" 2>&1 < /dev/null) || code=$?
    [ "$code" = "$wanted" ] || fail "'$*' ended with $code, not $wanted: $said"
    [ "$wanted" = 0 ] || [ -n "$said" ] || fail "'$*' failed without a message"
}
# The limit is in force.
alone 1 python3 -c 'import os; os.fork()'
alone 12 "$KEYCHAINFS" check --keychain "$CASE_DIR/refused"
alone 1 "$KEYCHAINFS" mount --keychain "$CASE_DIR/refused" "$MNT"
alone 1 "$KEYCHAINFS" mount "$MNT"
! is_mounted || fail "a mount is left"
alone 0 "$KEYCHAINFS" check

# Opened and then closed because another process has a lock on the file, with a descriptor that this command does not inherit.
exec 9< "$KEYCHAIN"; flock -s 9
alone 14 "$KEYCHAINFS" check --compact 9<&-
exec 9<&-

# A daemon that reaches the limit while it is mounted serves readers and a writer, and ends.
mount_keychain; mkdir "$MNT/generic-passwords/s"; printf before > "$MNT/generic-passwords/s/a"
prlimit --nproc=1 --pid "$(daemon)"
for i in {1..200}; do printf $i > "$MNT/generic-passwords/s/b"; done & writer=$!
for i in {1..200}; do expect before "$(cat "$MNT/generic-passwords/s/a")" "an item beside a writer"; done
wait "$writer"
expect 200 "$(cat "$MNT/generic-passwords/s/b")" "what was written last"
timeout -s KILL 20 "$KEYCHAINFS" unmount "$MNT" || fail "no end of the daemon"
mount_keychain; expect 200 "$(cat "$MNT/generic-passwords/s/b")" "what is in the file"; unmount_keychain
