# T1-T6: names, directories and impossible operations.
# users: both
# seconds: 28
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
cd "$MNT"
expect 'access-groups generic-passwords internet-passwords synchronizable' "$(ls -A | xargs)" "what the root lists, and nothing else"
[ -e .keychainfs/status ] || fail "control files are found by name"
cd generic-passwords; mkdir s
python3 - <<'PY'
import errno, os
def refused(code, call, *args):
    try: call(*args)
    except OSError as e: assert e.errno == code, (e, args)
    else: raise SystemExit("not refused: %r" % (args,))
make = lambda p: os.close(os.open(p, os.O_CREAT | os.O_WRONLY))
for name in ("%41", "a%", "%2f", "%zz"): refused(errno.EINVAL, make, "s/" + name)
refused(errno.EILSEQ, make, b"s/a\xff")
refused(errno.ENAMETOOLONG, make, "s/" + "a" * 256)
refused(errno.ENAMETOOLONG, make, "s/" + "a" * 221 + "%~" + "0" * 32)
for name in ("Grüße 🔑", "a%2Fb", "%", "%2E%2E", "50%25", "a" * 255): make("s/" + name)
assert sorted(os.listdir("s")) == sorted(["Grüße 🔑", "a%2Fb", "%", "%2E%2E", "50%25", "a" * 255])
assert os.getxattr("s/%2E%2E", "user.kSecAttrAccount") == b".."
# A cut name: created through an attribute, found and listed under the cut name, its complete value in the attributes.
os.setxattr("s/" + "a" * 255, "user.kSecAttrAccount", b"b" * 300)
cut = [n for n in os.listdir("s") if "%~" in n][0]
assert len(cut.encode()) == 255 and os.getxattr("s/" + cut, "user.kSecAttrAccount") == b"b" * 300
assert os.listxattr("s/" + cut) == ["user.kSecAttrAccount"]
os.unlink("s/" + cut)
refused(errno.EPERM, make, "file"); refused(errno.EPERM, os.mkdir, "s/dir"); refused(errno.EPERM, os.mkdir, "../other")
refused(errno.EPERM, os.symlink, "x", "s/link"); refused(errno.EPERM, os.link, "s/%", "s/hard")
refused(errno.EPERM, os.mkfifo, "s/fifo"); refused(errno.EPERM, os.rename, "s/%", "moved")
refused(errno.EPERM, os.rmdir, "../generic-passwords"); refused(errno.EISDIR, os.unlink, "s")
refused(errno.ENOTEMPTY, os.rmdir, "s"); refused(errno.EEXIST, os.mkdir, "s"); refused(errno.ENOTDIR, os.listdir, "s/%")
os.mknod("s/node"); assert os.stat("s/node").st_size == 0
inet = "../internet-passwords/"
d = inet + "example.com,protocol=https,port=8443,path=%2Fa%2Cb,auth=httpbasic"
os.mkdir(d); make(d + "/me")
get = lambda k: os.getxattr(d + "/me", "user.kSecAttr" + k).decode()
assert [get(k) for k in ("Server", "Protocol", "Port", "Path", "AuthenticationType", "Account")] == \
    ["example.com", "HTTPS", "8443", "/a,b", "HTTPBasic", "me"]
for name in ("h,port=0", "h,protocol=HTTPS", "h,port=1,protocol=ssh", "h,foo=1"): refused(errno.EINVAL, os.mkdir, inet + name)
# T6: entries that are created and removed during a listing neither repeat nor hide others.
os.mkdir("many")
names = ["n%04d" % i for i in range(1500)]
for n in names: make("many/" + n)
seen, dropped = [], set()
with os.scandir("many") as entries:
    for i, e in enumerate(entries):
        assert e.is_file(follow_symlinks=False)
        seen.append(e.name)
        if i % 10 == 0:
            make("many/extra%d" % i)
            if i + 700 < len(names): os.unlink("many/" + names[i + 700]); dropped.add(names[i + 700])
assert len(seen) == len(set(seen)), "repeated"
assert set(names) - dropped <= set(seen), "hidden"
PY
ls -l many > /dev/null
for n in s many; do rm -r $n; done
mkdir empty; cd /; unmount_keychain; mount_keychain; [ -d "$MNT/generic-passwords/empty" ] || fail "T4: an empty service is gone"
rmdir "$MNT/generic-passwords/empty"
