# S3: WhenUnlockedUnlessOpen items added while locked are sealed as all others after the next unlock.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; setfattr -n user.kSecAttrAccessible -v WhenUnlockedUnlessOpen "$D"
printf before > "$D/before"

# The number of rows that are sealed for the class's public key; from a copy, because the daemon has the file locked.
ephemeral() {
    cp "$KEYCHAIN" "$CASE_DIR/copy"; rm -f "$CASE_DIR/copy-wal"; cp "$KEYCHAIN-wal" "$CASE_DIR/copy-wal"
    python3 -I -c '
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM item WHERE ephemeral IS NOT NULL OR mac IS NOT NULL").fetchone()[0])
' "$CASE_DIR/copy" 2> /dev/null
}
has_ephemeral() { [ "$(ephemeral)" = "$1" ]; }
contents() { local n=$1; if [ "$n" = 7 ]; then head -c 200000 /dev/zero | tr '\0' 7; else printf 'secret %s' "$n"; fi; }

# add_locked FIRST LAST: creates items while the keychain is locked.
add_locked() {
    "$KEYCHAINFS" lock "$MNT"
    for n in $(seq "$1" "$2"); do contents "$n" > "$D/new$n"; done
    expect_errno ENOKEY cat "$D/new$2"
}
check_contents() {
    for n in $(seq 1 "$1"); do contents "$n" | cmp - "$D/new$n" || fail "new$n after $2"; done
    expect before "$(cat "$D/before")" "the item from before, after $2"
}

add_locked 1 40
has_ephemeral 40 || fail "while locked: $(ephemeral) rows, not 40"
# Reads and changes while the items are resealed are always correct and never stale.
"$KEYCHAINFS" unlock "$MNT"
python3 - "$D" <<'PY'
import os, sys, threading
d, wrong = sys.argv[1], []
def reader(start):
    for i in range(120):
        n = (start + 7 * i) % 40 + 1
        if n == 7: continue
        got = open(f"{d}/new{n}", "rb").read()
        if got != b"secret %d" % n: wrong.append((n, got))
def writer():
    for n in range(1, 41, 3): os.chmod(f"{d}/new{n}", 0o640)
threads = [threading.Thread(target=reader, args=(s,)) for s in range(3)] + [threading.Thread(target=writer)]
for t in threads: t.start()
for t in threads: t.join()
assert not wrong, wrong
assert all(os.stat(f"{d}/new{n}").st_mode & 0o777 == 0o640 for n in range(1, 41, 3))
PY
wait_until 10 has_ephemeral 0
check_contents 40 "the unlock"
wait_until 10 bash -c "[ \"\$('$KEYCHAINFS' status --json '$MNT' | grep -c '\"integrity\" *: *\"verified\"')\" = 1 ]"
expect_code 0 "$KEYCHAINFS" check > /dev/null

# Descriptors of an item and of a staged value that were opened before a row is resealed keep working, after a lock as
# well.
add_locked 41 60
"$KEYCHAINFS" unlock "$MNT"
exec 5< "$D/new60" 6>> "$D/new59"
wait_until 10 has_ephemeral 0
"$KEYCHAINFS" lock "$MNT"
expect 'secret 60' "$(cat <&5)" "an open descriptor after the lock"
expect_errno ENOKEY cat "$D/new60"
# L1, L2: open files can be examined, written and committed while locked; their names fail.
printf ' and more' >&6
expect 18 "$(stat -L -c %s /dev/fd/6)" "the size of what is written while locked"
expect 9 "$(stat -L -c %s /dev/fd/5)" "the size of what is open"
expect WhenUnlockedUnlessOpen "$(getfattr -L --only-values -n user.kSecAttrAccessible /proc/self/fd/5 2> /dev/null)" "its class"
exec 5<&- 6>&-
for n in 59 60; do expect_errno ENOKEY stat "$D/new$n"; done
has_ephemeral 1 || fail "written while locked: $(ephemeral) rows"
"$KEYCHAINFS" unlock "$MNT"
expect 'secret 59 and more' "$(cat "$D/new59")" "appended through an open descriptor"
wait_until 10 has_ephemeral 0
expect 'secret 59 and more' "$(cat "$D/new59")" "and sealed anew"
printf 'secret 59' > "$D/new59"
check_contents 60 "the second unlock"

# Attributes: none is lost, no date changes.
add_locked 61 61; "$KEYCHAINFS" unlock "$MNT"
before=$(stat -c '%Y %Z %s %a %i' "$D/new61"); reference=$(attribute kSecAttrPersistentReference "$D/new61")
wait_until 10 has_ephemeral 0
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT"
expect "$before" "$(stat -c '%Y %Z %s %a %i' "$D/new61")" "what stat shows"
expect "$reference" "$(attribute kSecAttrPersistentReference "$D/new61")" "the persistent reference"

# An unlock by a mount is one too.
add_locked 62 64; unmount_keychain
expect 3 "$(python3 -I -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM item WHERE ephemeral IS NOT NULL").fetchone()[0])' "$KEYCHAIN")" "in the file between two mounts"
mount_keychain; wait_until 10 has_ephemeral 0
check_contents 64 "a mount"
unmount_keychain
expect_code 0 "$KEYCHAINFS" check > /dev/null
