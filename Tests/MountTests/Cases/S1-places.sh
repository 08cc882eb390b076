# S1, F1: a keychain is in use once, regardless of its path; changes that would be written to an unreachable file are
# refused.
# users: root
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D" "$MNT.second"; printf old > "$D/a"; pid=$(daemon)
changes_fail() {
    expect_errno ENODEV bash -c "printf new > '$D/a'"; expect_errno ENODEV bash -c "printf new > '$D/new'"
    expect_errno ENODEV mv "$D/a" "$D/b"; expect_errno ENODEV setfattr -n user.x -v y "$D/a"
    expect old "$(cat "$D/a")" "$1: the old value"
    "$KEYCHAINFS" status "$MNT" | grep -q '^warning: .*removed' || fail "$1: status does not say so"
}

# By a symbolic link, another name, another mount of the file or its directory: refused, naming the user of the file.
ln -s "$KEYCHAIN" "$CASE_DIR/link"; places=("$CASE_DIR/link"); views=()
if [ "$(id -u)" = 0 ]; then
    touch "$CASE_DIR/bound"; mkdir "$CASE_DIR/directory"; views=("$CASE_DIR/bound" "$CASE_DIR/directory")
    trap 'code=$?; for view in "${views[@]}"; do umount "$view" 2> /dev/null || true; done; cleanup $code' EXIT
    mount --bind "$KEYCHAIN" "$CASE_DIR/bound"; mount --bind "${KEYCHAIN%/*}" "$CASE_DIR/directory"
    places+=("$CASE_DIR/bound" "$CASE_DIR/directory/${KEYCHAIN##*/}")
fi
for place in "${places[@]}"; do
    for options in rw ro; do
        expect_code 14 "$KEYCHAINFS" mount --keychain "$place" -o $options "$MNT.second" | grep -q "at $MNT by process $pid" ||
            fail "who has $place ($options)"
    done
    expect_code 0 "$KEYCHAINFS" check --keychain "$place" > /dev/null
done
for view in "${views[@]}"; do umount "$view"; done

# Another name (a hard link) is refused, mounted or not: the log belongs to one name only.
ln "$KEYCHAIN" "$CASE_DIR/other"; cp "$KEYCHAIN" "$CASE_DIR/copy"
umask 022
refused() { expect_code "$1" "$KEYCHAINFS" mount --keychain "$2" "$MNT.second" > "$CASE_DIR/said"; }
refused 14 "$CASE_DIR/other"
printf acknowledged > "$D/last"; kill -9 "$pid"; wait_until 15 eval '! is_mounted'
[ -s "$KEYCHAIN-wal" ] || fail "no log beside the keychain: nothing to be shown"
for place in "$CASE_DIR/other" "$KEYCHAIN"; do
    refused 1 "$place"; grep -q 'hard link' "$CASE_DIR/said" || fail "$(cat "$CASE_DIR/said")"
done
# The command of the message, for either name, loses nothing.
remedy=$(sed -n "s/.*('\(cp .*NAME\)').*/\1/p" "$CASE_DIR/said"); [ -n "$remedy" ] || fail "no remedy: $(cat "$CASE_DIR/said")"
apply() { (cd "${1%/*}" && eval "${remedy//NAME/${1##*/}}"); expect "1 600" "$(stat -c '%h %a' "$1")" "names and mode of $1"; }
apply "$KEYCHAIN"; ln -f "$KEYCHAIN" "$CASE_DIR/other"; refused 1 "$KEYCHAIN"; apply "$CASE_DIR/other"
# A temporary name that an interrupted creation has left is removed automatically.
ln "$KEYCHAIN" "${KEYCHAIN%/*}/.keychainfs-new-1234"; cp "$CASE_DIR/copy" "${KEYCHAIN%/*}/.keychainfs-new-5678"
# Another process is using the other file.
exec 8< "${KEYCHAIN%/*}/.keychainfs-new-5678"; flock -s 8
mount_keychain; expect acknowledged "$(cat "$D/last")" "what was acknowledged before the crash"
[ ! -e "${KEYCHAIN%/*}/.keychainfs-new-1234" ] || fail "the name stayed"
[ -e "${KEYCHAIN%/*}/.keychainfs-new-5678" ] || fail "another file went"
exec 8<&-; rm "${KEYCHAIN%/*}/.keychainfs-new-5678"

# The log is removed or replaced: a crash would lose the data in it.
rm "$KEYCHAIN-wal"; changes_fail "without its log"
unmount_keychain; mount_keychain; printf old > "$D/a"
cp "$KEYCHAIN-wal" "$CASE_DIR/wal"; mv "$CASE_DIR/wal" "$KEYCHAIN-wal"; changes_fail "with another log"
unmount_keychain; rm -f "$KEYCHAIN-wal"; mount_keychain; expect old "$(cat "$D/a")" "after the next mount"

# The file is moved: refused until it is back.
mv "$KEYCHAIN" "$KEYCHAIN.moved"; changes_fail "moved"
mv "$KEYCHAIN.moved" "$KEYCHAIN"; printf back > "$D/a"; expect back "$(cat "$D/a")" "when it is back"; printf old > "$D/a"
# Replaced: the original file is still read, and can be backed up.
cp "$KEYCHAIN" "$KEYCHAIN.new"; mv "$KEYCHAIN" "$KEYCHAIN.old"; mv "$KEYCHAIN.new" "$KEYCHAIN"; changes_fail "replaced"
rm "$KEYCHAIN"; changes_fail "removed"
expect_code 0 "$KEYCHAINFS" unmount "$MNT" > /dev/null; mv "$KEYCHAIN.old" "$KEYCHAIN"
expect_code 0 "$KEYCHAINFS" check > /dev/null

# Its file system is lazily unmounted under the daemon, which continues to read, refuses changes, and ends on request.
[ "$(id -u)" = 0 ] || exit 0
mkdir "$CASE_DIR/disk"; mount -t tmpfs -o size=8m tmpfs "$CASE_DIR/disk"
create_keychain --keychain "$CASE_DIR/disk/k"; mount_keychain --keychain "$CASE_DIR/disk/k"
mkdir "$D"; printf old > "$D/a"
umount -l "$CASE_DIR/disk"; changes_fail "its disk is gone"
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT"; expect old "$(cat "$D/a")" "without a disk, after an unlock"
expect_code 0 timeout 60 "$KEYCHAINFS" unmount "$MNT" > /dev/null
