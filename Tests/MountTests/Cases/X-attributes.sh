# X1-X4: attributes as xattrs, and tools that copy them.
# seconds: 18
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
printf s3cret > a
expect '' "$(getfattr -d a)" "nothing is listed that nobody set"
python3 - <<'PY'
import errno, os
def refused(code, call, *args):
    try: call(*args)
    except OSError as e: assert e.errno == code, (e, args)
    else: raise SystemExit("not refused: %r" % (args,))
n = lambda k: "user.kSecAttr" + k
sx = lambda k, v, *f: os.setxattr("a", n(k), v, *f)
sx("Label", b"Home"); sx("Comment", "Gr\u00fc\u00dfe".encode()); sx("Generic", b"\x00\xff"); sx("IsInvisible", b"1")
sx("Creator", b"aapl"); os.setxattr("a", "user.other", b"\x01\x00"); sx("Accessible", b"AfterFirstUnlock")
assert set(os.listxattr("a")) == {n("Label"), n("Comment"), n("Generic"), n("IsInvisible"), n("Creator"), n("Accessible"), "user.other"}
gx = lambda k: os.getxattr("a", n(k))
assert (gx("Label"), gx("Creator"), gx("Accessible"), gx("Service"), gx("Account"), gx("AccessGroup")) == \
    (b"Home", b"1633775724", b"AfterFirstUnlock", b"s", b"a", b"default")
os.removexattr("a", n("Accessible")); assert gx("Accessible") == b"WhenUnlocked"
sx("Account", b"a")                                  # already the name: no change
sx("Account", b"b"); assert os.listdir(".") == ["b"] and open("b").read() == "s3cret"
open("a", "w").write("taken"); refused(errno.EEXIST, os.setxattr, "b", n("Account"), b"a"); os.unlink("a")
os.setxattr("b", n("Service"), b"t"); assert os.listdir(".") == [] and open("../t/b").read() == "s3cret"
os.rename("../t/b", "a"); os.rmdir("../t")
sx("CreationDate", b"2001-01-01T00:00:00Z"); assert gx("CreationDate") == b"2001-01-01T00:00:00Z"
refused(errno.EPERM, sx, "ModificationDate", b"x"); refused(errno.EOPNOTSUPP, sx, "Server", b"x")
refused(errno.EINVAL, sx, "Accessible", b"Never"); refused(errno.EINVAL, sx, "TokenID", b"x")
refused(errno.ENODATA, gx, "Alias"); refused(errno.ENODATA, os.removexattr, "a", n("ModificationDate"))
refused(errno.EEXIST, sx, "Label", b"x", os.XATTR_CREATE); refused(errno.ENODATA, sx, "Alias", b"x", os.XATTR_REPLACE)
# An ordinary user sees no trusted.* attribute on any file system.
for k in ["security.x", "system.posix_acl_access"] + (["trusted.x"] if os.getuid() == 0 else []): refused(errno.EOPNOTSUPP, os.getxattr, "a", k)
refused(errno.E2BIG, os.setxattr, "a", "user.big1", b"x" * 65536)
os.removexattr("a", "user.other")
PY
attributes() { getfattr -d --absolute-names "$1" | grep -v '^# file'; }
wanted=$(attributes a)
same() { expect "$wanted" "$(attributes "$1")" "$2"; expect s3cret "$(cat "$1")" "$2: contents"; }
cp -a a b; same b "cp -a"
mkdir "$CASE_DIR/out"
rsync -aX a "$CASE_DIR/out/" ; same "$CASE_DIR/out/a" "rsync -aX out"
rsync -aX "$CASE_DIR/out/a" c; same c "rsync -aX in"
tar --xattrs -cf "$CASE_DIR/t.tar" a; mkdir "$CASE_DIR/tar"; tar --xattrs -C "$CASE_DIR/tar" -xf "$CASE_DIR/t.tar"
same "$CASE_DIR/tar/a" "tar --xattrs out"
mkdir ../u; tar --xattrs -C ../u -xf "$CASE_DIR/t.tar"; same ../u/a "tar --xattrs in"
rsync -aX "$D/" ../v; same ../v/b "rsync -aX of a directory"
before=$(commits); rsync -aX "$D/" ../v; expect "$before" "$(commits)" "a second rsync has nothing to do"
# Without a message, from any directory of a class to any other one of it, regardless of their defaults.
silent() { "$@" > "$CASE_DIR/said" 2>&1 || fail "'$*' failed: $(cat "$CASE_DIR/said")"; expect '' "$(cat "$CASE_DIR/said")" "what '$*' says"; }
mkdir "$MNT/access-groups/team"
places=("$MNT/generic-passwords/w" "$MNT/synchronizable/generic-passwords/s" "$MNT/access-groups/team/generic-passwords/s")
mkdir "${places[@]}"; setfattr -n user.kSecAttrAccessible -v AfterFirstUnlock "${places[2]}"
for class in WhenUnlocked AfterFirstUnlock AlwaysThisDeviceOnly; do
    setfattr -n user.kSecAttrAccessible -v $class a
    for place in "${places[@]}"; do
        for copy in "cp -a $D/a" "rsync -aX $D/a" "cp -a --remove-destination $D/a"; do
            silent $copy "$place/"
            expect s3cret "$(cat "$place/a")" "$copy"; expect "$(stat -c '%a %y %s' a)" "$(stat -c '%a %y %s' "$place/a")" "$copy: stat"
            for name in Label Comment Generic IsInvisible Creator; do
                expect "$(getfattr --only-values -n user.kSecAttr$name a | od -c)" \
                    "$(getfattr --only-values -n user.kSecAttr$name "$place/a" | od -c)" "$copy: $name in $place"
            done
            # A WhenUnlocked that is the default of its directory is not listed, so the item gets the default of the
            # other one.
            wanted=$class; [ $class != WhenUnlocked ] || [ "$place" != "${places[2]}" ] || wanted=AfterFirstUnlock
            expect $wanted "$(getfattr --only-values -n user.kSecAttrAccessible "$place/a")" "$copy: class in $place"
            before=$(commits); silent rsync -aX "$D/a" "$place/"; [ $class = WhenUnlocked ] || expect "$before" "$(commits)" "rsync -aX again"
            rm "$place/a"
        done
    done
    silent tar --xattrs -cf "$CASE_DIR/t.tar" a; for place in "${places[@]}"; do
        silent tar --xattrs -C "$place" -xf "$CASE_DIR/t.tar"; expect Home "$(getfattr --only-values -n user.kSecAttrLabel "$place/a")" tar
        rm "$place/a"
    done
done
setfattr -n user.kSecAttrAccessible -v WhenUnlocked a
"$KEYCHAINFS" show a > "$CASE_DIR/shown"
grep -qx 'kSecAttrLabel: Home' "$CASE_DIR/shown" && grep -qx 'kSecAttrService: s' "$CASE_DIR/shown" || fail "show: $(cat "$CASE_DIR/shown")"
! grep -q s3cret "$CASE_DIR/shown" || fail "show told the secret"
if [ -d /dev/shm ]; then ls -l > /dev/null; fi
