# F1, L4: execve closes descriptors with FD_CLOEXEC, and waits for the FLUSH: nobody may wait for it in turn.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
printf 'old' > a
# What is staged belongs to the parent: a child's copy of the descriptor is closed as it becomes another program.
timeout -k 1 20 python3 - <<'PY' || fail "execve waits for ever"
import os
fd = os.open("a", os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
os.write(fd, b"new")
for _ in range(3):
    pid = os.fork()
    if pid == 0: os.execvp("true", ["true"])
    assert os.waitpid(pid, 0)[1] == 0
assert open("a").read() == "old"
os.close(fd)
assert open("a").read() == "new"
# In a process that becomes another program itself, it is a close like any other.
pid = os.fork()
if pid == 0:
    fd = os.open("a", os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    os.write(fd, b"newer")
    os.execvp("true", ["true"])
assert os.waitpid(pid, 0)[1] == 0
assert open("a").read() == "newer"
PY
# vim asks a shell what `$%` is while its swap file is open.
timeout -k 1 20 vim -es -u NONE -c 'w! $%' -c q a < /dev/null || true
timeout -k 1 20 "$KEYCHAINFS" status "$MNT" > /dev/null || fail "the mount hangs"
