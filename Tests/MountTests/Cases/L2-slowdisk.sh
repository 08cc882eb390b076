# L2, S2: a lock does not wait for a slow disk: descriptors are refused and the command ends while each synchronization takes 60 s,
# also next to closes that wait for the disk and to calls that wait for the item that is being written. These are refused when the
# disk responds. The commit number is saved afterwards.
# users: user
# needs: SlowDisk
# seconds: 8
. "${0%/*}/lib.sh"
slow_disk
create_keychain; mount_slow
D="$MNT/generic-passwords/s"; mkdir "$D"; printf old > "$D/a"; printf old > "$D/b"
NUMBER=$(ls "$XDG_STATE_HOME"/keychainfs/commit-number.*); before=$(sha256sum "$NUMBER")
python3 -I - "$KEYCHAINFS" "$MNT" "$D" "$SLOW_DISK" <<'PY'
import errno, os, subprocess, sys, time
program, mount, directory, flag = sys.argv[1:]
file = os.open(f"{directory}/a", os.O_RDWR); os.pwrite(file, b"new", 0)
other = os.open(f"{directory}/b", os.O_RDONLY); assert os.pread(other, 3, 0) == b"old"
with open(flag, "w") as delay: delay.write("60000")
begin = time.monotonic()
lock = subprocess.Popen([program, "lock", mount], env={**os.environ, "LD_PRELOAD": ""})
def refused(read):
    while time.monotonic() < begin + 20:
        try: read()
        except OSError as error:
            assert error.errno == errno.ENOKEY, error
            return True
        time.sleep(0.005)
assert refused(lambda: os.pread(file, 3, 0)), "the staged value is readable"
assert refused(lambda: os.pread(other, 3, 0)), "an item is readable"
assert lock.wait(20) == 0, "lock"
try: os.close(file)
except OSError as error: assert error.errno == errno.ENOKEY, error
else: raise AssertionError("close did not report the lost value")
PY
expect "$before" "$(sha256sum "$NUMBER")" "the commit number while the disk is slow"
rm "$SLOW_DISK"
expect locked "$(status state)" "the state afterwards"
wait_until 20 eval '[ "$before" != "$(sha256sum "$NUMBER")" ]'
"$KEYCHAINFS" unlock "$MNT"; expect old "$(cat "$D/a")" "the item"
python3 -I - "$KEYCHAINFS" "$MNT" "$D" "$SLOW_DISK" <<'PY'
import collections, errno, os, subprocess, sys, threading, time
program, mount, directory, flag = sys.argv[1:]
results, closed = collections.Counter(), collections.Counter()

def attempt(counter, call, *arguments):
    try: call(*arguments)
    except OSError as error: counter[errno.errorcode[error.errno]] += 1
    else: counter["ok"] += 1

def started(counter, call, *arguments):
    thread = threading.Thread(target=attempt, args=(counter, call, *arguments), daemon=True)
    thread.start()
    return thread

def keychainfs(*arguments):
    begin = time.monotonic()
    code = subprocess.run([program, *arguments, mount], env={**os.environ, "LD_PRELOAD": ""}, stdout=subprocess.DEVNULL).returncode
    return code, time.monotonic() - begin

for calls, closes in [(1, 0), (8, 0), (300, 0), (8, 60)]:
    results.clear(); closed.clear()
    names = [f"{directory}/a"] + [f"{directory}/c{number}" for number in range(closes)]
    writers = [os.open(name, os.O_RDWR | os.O_CREAT) for name in names]
    for writer in writers: os.pwrite(writer, b"new", 0)
    reader = os.open(names[0], os.O_RDONLY)
    pipe = os.pipe()
    with open(flag, "w") as delay: delay.write("60000")
    try:
        waiting = [started(closed, os.close, writer) for writer in writers]
        time.sleep(0.5)
        waiting += [started(results, os.getxattr, names[0], "user.kSecAttrAccessible") for _ in range(calls)]
        # Through the page cache, of which the kernel keeps the page locked.
        waiting.append(started(results, os.sendfile, pipe[1], reader, 0, 3))
        time.sleep(1)
        assert not results, "a call does not wait for the item"
        code, seconds = keychainfs("lock")
        # On an idle machine 0.1 s: the release build is measured by scripts/benchmark.
        assert code == 0 and seconds < 5, (code, seconds)
        assert not closed, "the disk has responded"
        try: os.pread(reader, 3, 0)
        except OSError as error: assert error.errno == errno.ENOKEY, error
        else: raise AssertionError("an item is readable")
        code, seconds = keychainfs("status")
        assert code == 0 and seconds < 5, (code, seconds)
    finally: os.remove(flag)
    for thread in waiting: thread.join(30)
    assert not any(thread.is_alive() for thread in waiting), "a call does not end"
    assert results["ENOKEY"] >= calls and results["ENOKEY"] + results["ok"] == calls + 1, results
    # Closed with or without an error: the value is as it was acknowledged.
    assert sum(closed.values()) == len(writers), closed
    assert keychainfs("unlock")[0] == 0
    values = [open(name).read() if os.path.exists(name) else "" for name in names]
    assert values.count("new") >= closed["ok"], (values, closed)
    for name in names[1:]:
        if os.path.exists(name): os.remove(name)
    with open(names[0], "w") as item: item.write("old")
    for descriptor in (reader, *pipe): os.close(descriptor)
PY
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null
