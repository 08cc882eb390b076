# F7, F8: modes, owners and times belong to the item; sizes are exact.
# users: both
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
umask 0; printf 12345 > a; expect 600 "$(stat -c %a a)" "creation modes are masked with 0700"
mkdir ../t; expect 700 "$(stat -c %a ../t)" "of directories too"; rmdir ../t
expect "5 1 $(id -u) $(id -g)" "$(stat -c '%s %h %u %g' a)" "size, links, owner"
chmod 640 a; expect 640 "$(stat -c %a a)" chmod
touch -d '2001-02-03 04:05:06.123456789 UTC' a
expect '2001-02-03 04:05:06.123456789' "$(TZ=UTC stat -c %y a | cut -c1-29)" "mtime to the nanosecond"
before=$(stat -c %Z%z a); chmod 600 a; [ "$before" != "$(stat -c %Z%z a)" ] || fail "ctime did not move"
before=$(stat -c '%x %y %z' a); cat a > /dev/null; sleep 0.01; expect "$before" "$(stat -c '%x %y %z' a)" "reading changes no time"
expect "$(stat -c %z a | cut -c1-19)" \
    "$(date -d "$(getfattr --only-values -n user.kSecAttrModificationDate a)" '+%Y-%m-%d %H:%M:%S')" "kSecAttrModificationDate is ctime"
if [ "$(id -u)" = 0 ]; then chown 12:34 a; expect 12:34 "$(stat -c %u:%g a)" chown; else expect_errno EPERM chown 0 a; fi
inode=$(stat -c %i a); times=$(stat -c '%y %z %a' a); dir=$(stat -c %i .)
cd /; unmount_keychain; mount_keychain; cd "$D"
expect "$inode $times $dir" "$(stat -c '%i %y %z %a' a) $(stat -c %i .)" "after another mount"
expect_errno ENODEV python3 -c 'import mmap; f = open("a", "r+b"); mmap.mmap(f.fileno(), 0)'

# Directories that no user has created cannot be changed; a request without an effect succeeds.
C="$MNT/generic-passwords"; before=$(stat -c '%a %u %y' "$C")
touch -d 2001-01-01 "$C"; chmod 700 "$C"; chown "$(id -u):$(id -g)" "$C"
expect_errno EPERM chmod 755 "$C"; [ "$(id -u)" != 0 ] || expect_errno EPERM chown 12 "$C"
expect "$before" "$(stat -c '%a %u %y' "$C")" "a class directory"
(umask 077; mkdir -p "$CASE_DIR/tree/generic-passwords/from-disk"); printf tree > "$CASE_DIR/tree/generic-passwords/from-disk/t"
rsync -a "$CASE_DIR/tree/" "$MNT/"; expect tree "$(cat "$C/from-disk/t")" "rsync -a of a whole tree"
tar -C "$CASE_DIR/tree" -cf - . | tar -C "$MNT" -xf -
cp -a "$CASE_DIR/tree/." "$MNT/"
