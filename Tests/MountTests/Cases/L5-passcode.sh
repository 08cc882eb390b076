# L5, section 4: WhenPasscodeSetThisDeviceOnly is refused without a passphrase slot, gone with the last one, in no backup.
. "${0%/*}/lib.sh"
cd "$CASE_DIR"
slot() { timeout 60 "$KEYCHAINFS" slot "$@"; }
P=WhenPasscodeSetThisDeviceOnly
class() { getfattr --only-values -n user.kSecAttrAccessible "$1" 2> /dev/null; }
(umask 077; echo second > second)
create_keychain; mount_keychain; D="$MNT/generic-passwords/s"; mkdir "$D" "$MNT/generic-passwords/only"
printf keep > "$D/keep"
printf one > "$D/one"; setfattr -n user.kSecAttrAccessible -v $P "$D/one"; expect $P "$(class "$D/one")" "the class of an item"
setfattr -n user.kSecAttrAccessible -v $P "$MNT/generic-passwords/only"; printf two > "$MNT/generic-passwords/only/two"
expect two "$(cat "$MNT/generic-passwords/only/two")" "an item of a directory's default"; expect 3 "$(status items)" "items"
"$KEYCHAINFS" lock "$MNT"; expect_errno ENOKEY cat "$D/one"; "$KEYCHAINFS" unlock "$MNT"

# In no backup.
"$KEYCHAINFS" backup copy > said; grep -q 'In no backup (WhenPasscodeSetThisDeviceOnly): 2' said || fail "backup: $(cat said)"
"$KEYCHAINFS" restore --keychain ./restored copy; mkdir other; "$KEYCHAINFS" mount --keychain ./restored other
expect keep "$(ls other/generic-passwords/s)" "restored"; expect_errno ENOENT cat other/generic-passwords/s/one; "$KEYCHAINFS" unmount other

# The last passphrase slot: a terminal asks for confirmation; without one the removal is refused.
slot add --kind keyfile --key-file key "$MNT"
expect_code 25 slot remove 1 "$MNT" | grep -q "$P" || fail "not told what would go"
expect_code 25 slot change 1 --kind recovery "$MNT" > refused; expect one "$(cat "$D/one")" "after refusals"
expect "1 2" "$(slot list "$MNT" | cut -d' ' -f1 | tr '\n' ' ' | sed 's/ $//')" "slots after refusals"
cat > ask.py <<'PY'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b""
while b"Type 'yes'" not in shown:
    shown += os.read(terminal, 4096)
os.write(terminal, sys.argv[1].encode() + b"\n")
try:
    while os.read(terminal, 4096): pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
code=0; timeout 60 python3 -I ask.py no "$KEYCHAINFS" slot remove 1 "$MNT" || code=$?; expect 25 $code "answered no"
expect one "$(cat "$D/one")" "answered no"
# Open descriptors, a listing and a pending name of the class when its last slot is removed.
exec 5< "$D/one" 6> "$MNT/generic-passwords/only/staged" 7<> "$MNT/generic-passwords/only/two"; printf new >&6
cat "$D/one" > /dev/null; ls "$D" "$MNT/generic-passwords/only" > /dev/null
timeout 60 python3 -I ask.py yes "$KEYCHAINFS" slot remove 1 "$MNT" || fail "answered yes"
expect_errno ENOENT cat "$D/one"; expect_errno ENOENT stat "$D/one"; expect keep "$(ls "$D")" "the listing after"
expect "" "$(ls "$MNT/generic-passwords/only")" "the other directory after"; expect 1 "$(status items)" "items after"
if cat <&5 > leaked 2> /dev/null; then fail "an open descriptor reads $(cat leaked)"; fi
if cat <&7 > leaked 2> /dev/null; then fail "an open descriptor reads $(cat leaked)"; fi
if (printf x >&7) 2> /dev/null; then fail "an open descriptor writes"; fi
exec 5<&- 6>&- 7>&- || true
expect 1 "$(status items)" "items after the closes"; expect keep "$(cat "$D/keep")" "other classes"

# Without a passphrase slot: refused, and nothing changed.
expect_errno ENOKEY setfattr -n user.kSecAttrAccessible -v $P "$D/keep"; expect WhenUnlocked "$(class "$D/keep")" "the class after a refusal"
expect_errno ENOKEY bash -c "printf x > '$MNT/generic-passwords/only/three'"; expect "" "$(ls "$MNT/generic-passwords/only")" "nothing was made"
"$KEYCHAINFS" check --key-file key > /dev/null || fail "check"; unmount_keychain
"$KEYCHAINFS" check --key-file key > /dev/null || fail "check of the file"
mount_keychain --key-file key; expect_errno ENOKEY setfattr -n user.kSecAttrAccessible -v $P "$D/keep"

# A new passphrase slot makes the class available again, without the deleted items.
slot add --key-file key --new-passphrase-file second "$MNT"
setfattr -n user.kSecAttrAccessible -v $P "$D/keep"; printf three > "$MNT/generic-passwords/only/three"
expect_errno ENOENT cat "$D/one"; unmount_keychain; mount_keychain --passphrase-file second
expect "keep three" "$(cat "$D/keep") $(cat "$MNT/generic-passwords/only/three")" "items of the class that came back"
unmount_keychain
# The same in a file, with a warning first.
slot remove 3 --key-file key --yes 2> said; grep -q 'deleted 2 items' said || fail "removal in a file: $(cat said)"
"$KEYCHAINFS" check --key-file key > /dev/null
