# F1: ^C during a write destroys nothing, before the first byte and after it.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
printf precious > a

# killed SIGNAL FILE BYTES: a writer that has written BYTES is killed while it waits; then its last descriptor is
# closed.
killed() {
    local fifo="$CASE_DIR/fifo" pid
    rm -f "$fifo"; mkfifo "$fifo"
    bash -c "exec python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)    # a background job of a shell ignores it
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
os.write(fd, b\"x\" * int(sys.argv[2]))
open(sys.argv[3], \"w\").write(\"ready\")
import time; time.sleep(60)
' '$2' $3 '$fifo'" &
    pid=$!
    read -r _ < "$fifo" || true
    kill -"$1" "$pid"; wait "$pid" 2>/dev/null || true
}
for signal in INT TERM KILL; do
    before=$(commits)
    killed $signal a 0;    expect precious "$(cat a)" "SIG$signal before the first byte"
    killed $signal a 5000; expect precious "$(cat a)" "SIG$signal after some bytes"
    killed $signal new 7;  [ ! -e new ] || fail "SIG$signal left a new name behind"
    ! ls | grep -q new || fail "SIG$signal left a new name in the listing"
    expect "$before" "$(commits)" "commits of killed writers"
done
# The shell's redirection opened the file and a killed child wrote to it.
(ulimit -c 0; bash -c 'sh -c "printf half; kill -INT \$\$" > a' || true)
expect precious "$(cat a)" "a killed child of a shell"
# A normal exit still commits after another process was killed.
{ sh -c 'printf x; kill -TERM $$' || true; printf whole; } > b 2>/dev/null || true
case "$(cat b)" in *whole) ;; *) fail "a later writer did not take the value up: $(cat b)" ;; esac
# A refused write keeps the old value too, and close reports it.
python3 - <<'PY'
import errno, os
fd = os.open("a", os.O_WRONLY | os.O_TRUNC)
os.write(fd, b"y" * (1 << 20))
for call in (lambda: os.write(fd, b"y"), lambda: os.close(fd)):
    try: call()
    except OSError as e: assert e.errno == errno.EFBIG, e
    else: raise SystemExit("F9: more than 1 MiB was taken")
PY
expect precious "$(cat a)" "after a refused write"
head -c 1048576 /dev/urandom > "$CASE_DIR/big"; cp "$CASE_DIR/big" big; cmp "$CASE_DIR/big" big
expect_errno EFBIG dd if=/dev/zero of=big bs=64K count=17 status=none
cmp "$CASE_DIR/big" big || fail "F9: a value over the limit destroyed the old one"
# Killed inside open(2), at 300 different times: the last close comes without a FLUSH, and nothing may remain.
python3 - <<'PY'
import os, signal, time
for i in range(300):
    name = "a" if i % 2 else f"open-{i}"
    child = os.fork()
    if child == 0:
        os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        time.sleep(60)
    time.sleep(i * 20e-6)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
left = [n for n in os.listdir(".") if n.startswith("open-")]
assert not left, f"F1: {len(left)} items left by killed opens"
PY
expect precious "$(cat a)" "killed inside open(O_TRUNC)"
touch c; : > d
[ -f c ] && [ -f d ] || fail "F1: touch or : > made nothing"
# A rename in between, by name or by attribute, does not commit a value that ^C discards.
for how in 'mv "$1" "$2"' 'setfattr -n user.kSecAttrAccount -v "$2" "$1"'; do
    printf precious > s; rm -f s2
    (timeout -s INT 0.5 sh -c 'sleep 3' > s || true) & sleep 0.2
    sh -c "$how" x s s2; wait
    expect precious "$(cat s2)" "renamed by $how while it was truncated, then ^C"
done
# F2, F5: a reader that opens by name during renames and truncations sees committed values, never an empty one.
python3 - <<'PY'
import collections, os, time
def put(name, value):
    with open(name, "wb") as f: f.write(value)
put("t", b"OLD")
end, children = time.time() + 3, []
for kind in (0, 1):
    children.append(os.fork())
    if children[-1] == 0:
        while time.time() < end:
            if kind == 0: put("t", b"WR")
            else: put("t1", b"REN"); os.rename("t1", "t")
        os._exit(0)
seen = collections.Counter()
while time.time() < end: seen[open("t", "rb").read()] += 1
for child in children: assert os.waitpid(child, 0)[1] == 0
assert sum(seen.values()) > 100 and set(seen) <= {b"OLD", b"WR", b"REN"}, seen
PY
