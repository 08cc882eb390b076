# F7, L1, L4: find, grep, tar, du, ls, rsync, cp and updatedb over a mount in each lock state while other processes
# write: each ends, fails with a message if something is left out, and the writers lose nothing.
# users: user
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
for service in a b; do
    mkdir "$MNT/generic-passwords/$service"
    for i in $(seq 15); do head -c $((i * 331)) /dev/urandom > "$MNT/generic-passwords/$service/$i"; done
done
printf always > "$MNT/generic-passwords/a/always"; setfattr -n user.kSecAttrAccessible -v Always "$MNT/generic-passwords/a/always"
cat > "$CASE_DIR/writer.py" <<'PY'
import errno, os, sys
directory, stop, number = sys.argv[1], sys.argv[2], 0
os.makedirs(directory, exist_ok=True)
value = None
while not os.path.exists(stop):
    number += 1
    try:
        for slot in range(3):
            with open(f"{directory}/x{slot}", "w") as file: file.write(f"{number}\n")
            value = number if slot == 2 else value
        os.rename(f"{directory}/x0", f"{directory}/y0"); os.unlink(f"{directory}/y0")
    except OSError as error:
        if error.errno not in (errno.ENOKEY, errno.ENOENT): raise
print(value)
PY
# crawl STATE: each crawler's exit code is 0 if nothing is left out, and not 0 if something is.
crawl() {
    local state=$1 code command
    for command in "find $MNT -ls" "grep -r needle $MNT" "tar -cf $CASE_DIR/tar $MNT" "du -a $MNT" "ls -lR $MNT" \
        "rsync -aX $MNT/ $CASE_DIR/copy.$state/" "cp -a $MNT $CASE_DIR/cp.$state"; do
        code=0; timeout -s KILL 60 $command > "$CASE_DIR/out" 2> "$CASE_DIR/err" || code=$?
        [ "$code" != 137 ] || fail "$state: '$command' does not end"
        if [ "$state" = unlocked ]; then
            # Names appear and disappear during the run; grep finds nothing and returns 1. fstat shows the size of a
            # value that is not committed yet and a read the old value (F2): tar reports a file that shrank.
            ! grep -v -e 'vanished' -e 'File shrank' -e 'No such file' -e 'file changed' -e 'Removed' -e 'Removing' -e 'removed before' -e 'some files' -e 'Exiting' "$CASE_DIR/err" ||
                fail "$state: '$command': $(cat "$CASE_DIR/err")"
        else
            [ "$code" != 0 ] || fail "$state: '$command' ended well, though it cannot have seen everything"
            grep -q 'Required key not available' "$CASE_DIR/err" || fail "$state: '$command' said: $(cat "$CASE_DIR/err")"
        fi
    done
    for command in "df $MNT" "stat -f $MNT" "stat $MNT"; do timeout 60 $command > /dev/null || fail "$state: $command"; done
    # locate finds no more than the crawler may see.
    if command -v updatedb > /dev/null; then
        timeout -s KILL 60 updatedb -l 0 -U "$CASE_DIR" -o "$CASE_DIR/db.$state" --prunefs= --prunepaths= --prune-bind-mounts=no ||
            fail "$state: updatedb"
        rm -f "$CASE_DIR/db.$state"
    fi
}
python3 -I "$CASE_DIR/writer.py" "$MNT/generic-passwords/w" "$CASE_DIR/stop" > "$CASE_DIR/last" & writer=$!
wait_until 30 test -e "$MNT/generic-passwords/w/x2"
crawl unlocked
[ "$(find "$MNT/generic-passwords/a" "$MNT/generic-passwords/b" -type f | wc -l)" = 31 ] || fail "find misses something"
diff -r "$MNT/generic-passwords/b" "$CASE_DIR/copy.unlocked/generic-passwords/b" || fail "rsync copied something else"
diff -r "$MNT/generic-passwords/b" "$CASE_DIR/cp.unlocked/generic-passwords/b" || fail "cp copied something else"
"$KEYCHAINFS" lock "$MNT"; crawl locked; "$KEYCHAINFS" unlock "$MNT"
touch "$CASE_DIR/stop"; wait "$writer" || fail "the writer"
expect "$(cat "$CASE_DIR/last")" "$(cat "$MNT/generic-passwords/w/x2")" "the writer's last value"
unmount_keychain
"$KEYCHAINFS" mount --locked "$MNT"; crawl cold; expect always "$(cat "$MNT/generic-passwords/a/always")" "an Always item"
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null
