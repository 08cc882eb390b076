# F1, L4: execve closes descriptors with FD_CLOEXEC and waits for the FLUSH: no process may wait for this process in
# turn.
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
D="$MNT/generic-passwords/s"; mkdir "$D"; cd "$D"
printf 'old' > a
# The staged value belongs to the parent: exec closes the child's copy of the descriptor.
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
# In a process that itself executes another program, exec closes the descriptor and commits.
pid = os.fork()
if pid == 0:
    fd = os.open("a", os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    os.write(fd, b"newer")
    os.execvp("true", ["true"])
assert os.waitpid(pid, 0)[1] == 0
assert open("a").read() == "newer"
PY
# vim expands `$%` by a shell while its swap file is open.
timeout -k 1 20 vim -es -u NONE -c 'w! $%' -c q a < /dev/null || true
timeout -k 1 20 "$KEYCHAINFS" status "$MNT" > /dev/null || fail "the mount hangs"
