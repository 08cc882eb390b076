# H1: a daemon that crashes leaves no core and prints no memory, and only root can inspect it.
. "${0%/*}/lib.sh"
create_keychain
ulimit -c unlimited 2>/dev/null || true
mkdir "$CASE_DIR/cores"; cd "$CASE_DIR/cores"
# A relative core_pattern writes into the working directory of the process; the daemon in the background works in /.
for signal in SEGV ABRT ILL; do
    "$KEYCHAINFS" mount --foreground "$MNT" > "$CASE_DIR/said" 2>&1 & pid=$!
    wait_until 20 is_mounted
    mkdir -p "$MNT/generic-passwords/s"; printf 'canary-%s-value' "$signal" > "$MNT/generic-passwords/s/a"
    cat "$MNT/generic-passwords/s/a" > /dev/null
    [ "$(awk '/^Max core file size/ {print $5, $6}' /proc/$pid/limits 2>/dev/null || echo '0 0')" = "0 0" ] ||
        fail "the limit of core files is not 0"
    if [ "$(id -u)" != 0 ]; then
        python3 -I - "$pid" <<'PY'
import ctypes, errno, os, sys
pid = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
for request in (16, 0x4206):     # PTRACE_ATTACH, PTRACE_SEIZE: what gdb and gcore begin with
    assert libc.ptrace(request, pid, None, None) == -1 and ctypes.get_errno() == errno.EPERM, request
for name in ("mem", "environ", "maps", "auxv"):
    try: open(f"/proc/{pid}/{name}", "rb").read(1)
    except PermissionError: continue
    raise SystemExit(f"/proc/PID/{name} can be read")
local = ctypes.create_string_buffer(8)
class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
parts = Part(ctypes.addressof(local), 8), Part(0x400000, 8)
assert libc.process_vm_readv(pid, ctypes.byref(parts[0]), 1, ctypes.byref(parts[1]), 1, 0) == -1
assert ctypes.get_errno() == errno.EPERM
PY
    fi
    code=0; kill -"$signal" "$pid"; wait "$pid" || code=$?
    [ "$code" -gt 128 ] || fail "the daemon did not die of SIG$signal: $code"
    wait_until 15 eval '! is_mounted'
    ! grep -Eiq 'canary|backtrace|registers|thread [0-9]+ |0x[0-9a-f]{8}' "$CASE_DIR/said" ||
        fail "the crash was told: $(cat "$CASE_DIR/said")"
    [ -z "$(find "$CASE_DIR/cores" -type f)" ] || fail "there is a core"
done
expect_code 0 "$KEYCHAINFS" check > /dev/null
