# F1: a process that is killed while its asynchronous writes are in progress commits nothing, even if the daemon serves some of them
# after the FLUSH of the process.
# needs: PosixProbe
# seconds: 4
. "${0%/*}/lib.sh"
create_keychain; mount_keychain
mkdir "$MNT/generic-passwords/s"
PYTHONPATH="$CASE_DIR/PosixProbe" python3 -B - "$MNT/generic-passwords/s" "$(rounds 300)" <<'PY'
import os, signal, sys, time
path, rounds = sys.argv[1] + "/a", int(sys.argv[2])
from asynchronous import URING_ASYNC, URING_WRITE, Ring
from common import get, put
from ways import Memory

old = b"o" * 3000
for round in range(rounds):
    put(path, old)
    child = os.fork()
    if child == 0:
        # Opened here, so that its only descriptor ends with it.
        ring, fd, memory = Ring(), os.open(path, os.O_RDWR), Memory(4096)
        memory.map[0:3000] = b"n" * 3000
        for flags in (0, URING_ASYNC)[0 : 1 + round % 2]: ring.submit(URING_WRITE, fd, memory.address, 3000, 0, flags=flags)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    # The last close, which would commit, is served after the end of the process.
    time.sleep(0.02)
    value = get(path)
    assert value == old, f"round {round}: {value.count(b'n')} bytes of a killed process"
put(path, b"new"); assert get(path) == b"new"
PY
unmount_keychain
