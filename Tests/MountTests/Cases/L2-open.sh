# L2, S3: open files of WhenUnlockedUnlessOpen during a loop of lock and unlock: nothing is lost, no call on them fails.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; setfattr -n user.kSecAttrAccessible -v WhenUnlockedUnlessOpen "$D"
cat > "$CASE_DIR/stress.py" <<'PY'
import errno, os, random, subprocess, sys, threading, time
mnt, program = sys.argv[1:3]
d = mnt + "/generic-passwords/s"
stop = time.time() + 6
ack, bad, counts = {}, [], {}
lock = threading.Lock()
def count(k):
    with lock: counts[k] = counts.get(k, 0) + 1
def writer(w):
    g = random.Random(w); n = 0
    while time.time() < stop:
        name = f"w{w}n{n}"; n += 1
        value = b"%s %d " % (name.encode(), 0) * g.choice([1, 50, 2000])
        try:
            f = os.open(f"{d}/{name}", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as e: bad.append(("create", name, e)); continue
        try:
            os.write(f, value); os.fsync(f); ack[name] = value
            for i in range(1, g.choice([1, 2, 6])):
                time.sleep(g.random() * 0.02)
                value = b"%s %d " % (name.encode(), i) * g.choice([1, 50, 2000])
                os.ftruncate(f, 0); os.pwrite(f, value, 0)
                if g.random() < .3: os.fchmod(f, 0o600 + 8 * i)
                if g.random() < .3: os.setxattr(f, "user.i", b"%d" % i)
                got = os.pread(f, 1 << 20, 0)
                if got != value: bad.append(("pread", name, len(got), len(value)))
                os.fsync(f); ack[name] = value
            count("written")
        except OSError as e:
            bad.append(("write", name, e))
        finally:
            try: os.close(f)
            except OSError as e: bad.append(("close", name, e))
def reader(r):
    g = random.Random(100 + r)
    while time.time() < stop:
        if not ack: continue
        name = g.choice(list(ack))
        try:
            got = open(f"{d}/{name}", "rb").read()
            if not got.startswith(name.encode() + b" "): bad.append(("read", name, got[:30]))
            count("read")
        except OSError as e:
            if e.errno != errno.ENOKEY: bad.append(("read", name, e))
            else: count("read ENOKEY"); time.sleep(.005)
def locker():
    while time.time() < stop:
        subprocess.run([program, "lock", mnt], check=True); time.sleep(random.random() * .2)
        subprocess.run([program, "unlock", mnt], check=True); time.sleep(random.random() * .1)
        count("locks")
ts = [threading.Thread(target=writer, args=(i,)) for i in range(5)] + [threading.Thread(target=reader, args=(i,)) for i in range(3)] + [threading.Thread(target=locker)]
for t in ts: t.start()
for t in ts: t.join()
assert not bad, (len(bad), bad[:8])
assert counts["locks"] > 2 and counts["written"] > 50, counts
for n, v in ack.items():
    got = open(f"{d}/{n}", "rb").read()
    if got != v: bad.append(("final", n, got[:40], v[:40]))
assert not bad, (len(bad), bad[:8])
assert len(os.listdir(d)) == len(ack)
PY
python3 "$CASE_DIR/stress.py" "$MNT" "$KEYCHAINFS"
expect_code 0 "$KEYCHAINFS" check > /dev/null
# The next unlock seals every row that was sealed while locked like all others: one may have been committed immediately
# after the last unlock.
"$KEYCHAINFS" lock "$MNT"; "$KEYCHAINFS" unlock "$MNT"
sealed_anew() {
    cp "$KEYCHAIN" "$CASE_DIR/copy"; cp "$KEYCHAIN-wal" "$CASE_DIR/copy-wal"
    [ "$(python3 -I -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM item WHERE ephemeral IS NOT NULL").fetchone()[0])' "$CASE_DIR/copy" 2> /dev/null)" = 0 ]
}
wait_until 10 sealed_anew
# While locked, tools that open a new name and continue to use the descriptor work.
"$KEYCHAINFS" lock "$MNT"; echo data > "$CASE_DIR/src"; setfattr -n user.color -v red "$CASE_DIR/src"
cp -a "$CASE_DIR/src" "$D/cpa"; touch "$D/touched"; dd if="$CASE_DIR/src" of="$D/dd" status=none; tee "$D/tee" < "$CASE_DIR/src" > /dev/null
"$KEYCHAINFS" unlock "$MNT"
for name in cpa dd tee; do expect data "$(cat "$D/$name")" "$name while locked"; done
expect red "$(attribute color "$D/cpa")" "cp -a while locked"; expect 0 "$(stat -c %s "$D/touched")" "touch while locked"
