# F1, F2: when a value is committed, measured by the number of commits and the value that a reader gets.
# seconds: 15
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"

for shell in bash dash; do
    commits_of 1 "$shell -c 'printf x > a-$shell'"; expect x "$(cat a-$shell)" "a-$shell"
    commits_of 1 "$shell -c '/usr/bin/printf y > b-$shell'"; expect y "$(cat b-$shell)" "b-$shell"
    commits_of 1 "$shell -c 'printf z >> b-$shell'"; expect yz "$(cat b-$shell)" "b-$shell after >>"
    commits_of 1 "$shell -c ': > b-$shell'"; expect '' "$(cat b-$shell)" "b-$shell after :"
    commits_of 1 "$shell -c '/bin/cat /dev/null > c-$shell'"; expect 0 "$(stat -c %s c-$shell)" "size of c-$shell"
    # Each external command that has written commits when it exits; true inherits the descriptor and writes nothing.
    commits_of 2 "$shell -c '{ /usr/bin/printf 1; /bin/true; /usr/bin/printf 2; } > d-$shell'"
    expect 12 "$(cat d-$shell)" "d-$shell"
    # A process that exits without closing its descriptor: the kernel closes it, which commits.
    commits_of 1 "$shell -c 'printf x' > e-$shell"; expect x "$(cat e-$shell)" "e-$shell"
done
for end in 'os._exit(0)' 'os._exit(3)' 'sys.exit(1)' 'raise SystemExit' \
    'threading.Thread(target=lambda: os._exit(0)).start(); time.sleep(9)'; do
    commits_of 1 "python3 -c 'import os, sys, threading, time
fd = os.open(\"end\", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
os.write(fd, b\"by \" + sys.argv[1].encode()); $end' '${end:0:9}' || true"
    expect "by ${end:0:9}" "$(cat end)" "the exit of a process that has not closed: $end"
done
commits_of 1 "touch t"; expect 0 "$(stat -c %s t)" "size after touch"
commits_of 1 "printf one | tee u > /dev/null"; expect one "$(cat u)" tee
commits_of 1 "printf two | tee -a u > /dev/null"; expect onetwo "$(cat u)" "tee -a"
commits_of 3 "printf abc | dd of=v bs=1 oflag=sync status=none"; expect abc "$(cat v)" "dd oflag=sync"
commits_of 3 "printf abc | dd of=v bs=1 oflag=dsync status=none"
commits_of 1 "printf abc | dd of=v bs=1 conv=fsync status=none"
commits_of 1 "truncate -s 2 v"; expect ab "$(cat v)" "truncate(1)"
commits_of 0 "cat v u t > /dev/null; ls -l > /dev/null; stat v > /dev/null"

# Until the commit readers get the old value (F2), and all processes see the staged size.
printf old > w
python3 - <<'PY'
import os
fd = os.open("w", os.O_WRONLY | os.O_TRUNC)
assert open("w").read() == "old"
os.write(fd, b"newer")
assert open("w").read() == "old", "a reader saw an uncommitted value"
assert os.stat("w").st_size == 5 and os.fstat(fd).st_size == 5
os.fsync(fd)
assert open("w").read() == "newer"
os.write(fd, b"!")
os.close(fd)
assert open("w").read() == "newer!"
# All processes see a new name from its creation; a read returns the value that was staged at the open.
fd = os.open("x", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
assert "x" in os.listdir(".") and os.stat("x").st_size == 0
os.write(fd, b"a")
snapshot = os.open("x", os.O_RDONLY)
os.write(fd, b"b")
assert os.read(snapshot, 9) == b"a", "one value per descriptor (F3)"
os.close(fd)
assert os.pread(snapshot, 9, 0) == b"a" and open("x").read() == "ab"
# Concurrent appends lose nothing (F3).
a, b = (os.open("x", os.O_WRONLY | os.O_APPEND) for _ in range(2))
for i in range(50):
    os.write(a, b"A"); os.write(b, b"B")
os.close(a); os.close(b)
assert sorted(open("x").read()) == sorted("ab" + "AB" * 50)
PY
# The same with several processes that open and close a separate descriptor for each byte.
rm -f x; for i in 1 2 3 4; do (for _ in $(seq 40); do printf $i >> x; done) & done; wait
expect "40 40 40 40" "$(fold -w1 x | sort | uniq -c | awk '{ print $1 }' | xargs)" "concurrent appends"

# F1: a truncation or a creation alone is durable after fsync. Without fsync, a daemon that dies immediately after close(2) leaves
# the old or the new state, complete.
cd /
# killed_after_close fsync|none: truncates `item` and creates `new`, calls fsync or not, closes both and kills the daemon.
killed_after_close() {
    printf old > "$D/item"; rm -f "$D/new"
    python3 - "$(daemon)" "$D" "$1" <<'PY'
import os, signal, sys
pid, directory, syncs = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "fsync"
descriptors = [os.open(f"{directory}/{name}", flags, 0o600) for name, flags in
    (("item", os.O_WRONLY | os.O_TRUNC), ("new", os.O_WRONLY | os.O_CREAT))]
for fd in descriptors:
    if syncs: os.fsync(fd)
for fd in descriptors: os.close(fd)
os.kill(pid, signal.SIGKILL)
PY
    wait_until 15 eval '! is_mounted'
    expect_code 0 "$KEYCHAINFS" check > /dev/null
    mount_keychain
}
for _ in 1 2 3; do
    killed_after_close fsync
    expect '' "$(cat "$D/item")" "a truncation after fsync"
    expect 0 "$(stat -c %s "$D/new")" "the size of a new item after fsync"
done
for _ in $(seq "$(rounds 9)"); do
    killed_after_close none
    value=$(cat "$D/item"); case "$value" in '' | old) ;; *) fail "a truncation without fsync left '$value'" ;; esac
    [ ! -e "$D/new" ] || expect 0 "$(stat -c %s "$D/new")" "the size of a new item without fsync"
    printf next > "$D/item"; expect next "$(cat "$D/item")" "a write after the crash"
    printf next > "$D/new"; expect next "$(cat "$D/new")" "a new item after the crash"
done
