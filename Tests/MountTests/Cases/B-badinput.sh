# Bad input: each command prints one clear message, ends with a documented exit code and changes nothing.
# seconds: 18
. "${0%/*}/lib.sh"
expect_code 11 "$KEYCHAINFS" mount "$MNT" > /dev/null
[ ! -e "$KEYCHAIN" ] || fail "a keychain was made"
create_keychain; sum=$(sha256sum < "$KEYCHAIN")
expect_code 20 "$KEYCHAINFS" create --kdf test > /dev/null
printf 'wrong' > "$CASE_DIR/wrong"; chmod 600 "$CASE_DIR/wrong"
chmod 755 "$MNT"; expect_code 10 "$KEYCHAINFS" mount --passphrase-file "$CASE_DIR/wrong" "$MNT" > /dev/null
expect 755 "$(stat -c %a "$MNT")" "mode of the mount point after a wrong passphrase"
expect_code 18 "$KEYCHAINFS" mount --passphrase-file "$CASE_DIR/none" "$MNT" > /dev/null
: > "$CASE_DIR/empty"; expect_code 18 "$KEYCHAINFS" mount --passphrase-file "$CASE_DIR/empty" "$MNT" > /dev/null
expect_code 15 "$KEYCHAINFS" mount "$CASE_DIR/missing" > /dev/null
: > "$CASE_DIR/file"; expect_code 15 "$KEYCHAINFS" mount "$CASE_DIR/file" > /dev/null
mkdir "$CASE_DIR/full"; : > "$CASE_DIR/full/x"; expect_code 15 "$KEYCHAINFS" mount "$CASE_DIR/full" > /dev/null
expect_code 64 "$KEYCHAINFS" mount -o nonsense "$MNT" > /dev/null
expect_code 64 "$KEYCHAINFS" nonsense > /dev/null
LONG="$CASE_DIR/$(printf 'd%.0s' {1..200})"; LONG="$LONG/$(printf 'd%.0s' {1..200})"; mkdir -p "$LONG"
expect_code 64 "$KEYCHAINFS" create --kdf test --keychain "$LONG/$(printf 'k%.0s' {1..150})" | grep -q 'longer than' || fail "a long path"
for command in lock unlock status unmount; do expect_code 17 "$KEYCHAINFS" $command "$MNT" > /dev/null; done
expect "$sum" "$(sha256sum < "$KEYCHAIN")" "the keychain after refusals"
# Files that are not keychains.
bad() { expect_code "$1" "$KEYCHAINFS" mount --keychain "$CASE_DIR/bad" "$MNT" > "$CASE_DIR/said"; }
printf 'this is no keychain, just some text that is long enough to be looked at' > "$CASE_DIR/bad"; bad 12
: > "$CASE_DIR/bad"; bad 12
head -c 6000 "$KEYCHAIN" > "$CASE_DIR/bad"; bad 12
cp "$KEYCHAIN" "$CASE_DIR/bad"; python3 -c "
import sqlite3; db = sqlite3.connect('$CASE_DIR/bad'); db.execute('PRAGMA user_version = 99'); db.commit()"; bad 13
grep -q 99 "$CASE_DIR/said" || fail "the message does not name the format"
# S6: a file of an unreleased version is refused by every command, and it and its neighbors stay unchanged.
rm -f "$CASE_DIR/bad"*; cp "$KEYCHAIN" "$CASE_DIR/bad"; python3 -I -c '
import sys
with open(sys.argv[1], "r+b") as file: file.seek(60); file.write((1).to_bytes(4, "big"))' "$CASE_DIR/bad"
printf 'any log' > "$CASE_DIR/bad-wal"; before=$(cat "$CASE_DIR/bad" "$CASE_DIR/bad-wal" | sha256sum; ls "$XDG_STATE_HOME/keychainfs")
bad 13
for command in check 'check --repair' 'slot list' 'slot add' 'backup --keychain' 'restore --replace'; do
    target=(--keychain "$CASE_DIR/bad"); [ "$command" != 'restore --replace' ] || target=("$CASE_DIR/bad")
    [ "$command" != 'backup --keychain' ] || { command=backup; target+=("$CASE_DIR/copy"); }
    expect_code 13 "$KEYCHAINFS" $command "${target[@]}" > "$CASE_DIR/said" < /dev/null
    grep -q 'unreleased version of keychainfs (store format 1). .*cp -a' "$CASE_DIR/said" || fail "$command: $(cat "$CASE_DIR/said")"
done
expect "$before" "$(cat "$CASE_DIR/bad" "$CASE_DIR/bad-wal" | sha256sum; ls "$XDG_STATE_HOME/keychainfs")" "the file, its log and the state"
rm -f "$CASE_DIR/bad-wal"
rm "$CASE_DIR/bad"; mkdir "$CASE_DIR/bad"; bad 12; rmdir "$CASE_DIR/bad"
# A passphrase file that others can read is a warning.
chmod 644 "$PASSPHRASE"
"$KEYCHAINFS" mount "$MNT" 2> "$CASE_DIR/said"; grep -qi 'read by others' "$CASE_DIR/said" || fail "no warning"
expect_code 15 "$KEYCHAINFS" mount "$MNT" > /dev/null
mkdir "$MNT/generic-passwords/inner"
expect_code 15 "$KEYCHAINFS" mount --keychain "$CASE_DIR/other" --create "$MNT/generic-passwords/inner" > /dev/null
[ ! -e "$CASE_DIR/other" ] || fail "a keychain was made for a mount point in another one"
rmdir "$MNT/generic-passwords/inner"
# A closed or full standard output does not crash the program.
code=0; "$KEYCHAINFS" status "$MNT" > /dev/full 2>/dev/null || code=$?; expect 1 "$code" "status to a full device"
code=0; "$KEYCHAINFS" status "$MNT" >&- 2>&- || code=$?; [ "$code" -le 1 ] || fail "closed output: $code"
unmount_keychain
"$KEYCHAINFS" mount "$MNT" <&- >&- 2>&- || fail "mount with closed descriptors"
unmount_keychain
# H3: nothing can be written into the mount point by mistake.
if [ "$(id -u)" != 0 ]; then expect_errno EACCES touch "$MNT/x"; fi
expect_code 17 "$KEYCHAINFS" unmount "$MNT" > /dev/null
# --create creates the missing directories and the keychain; standard input can be the passphrase file.
printf 'other\n' | "$KEYCHAINFS" mount --keychain "$CASE_DIR/new.keychain" --passphrase-file - --create "$MNT"
unmount_keychain; [ -s "$CASE_DIR/new.keychain" ] || fail "--create made nothing"
for command in create mount unmount lock unlock status show check; do "$KEYCHAINFS" $command --help | grep -q USAGE || fail "$command --help"; done
