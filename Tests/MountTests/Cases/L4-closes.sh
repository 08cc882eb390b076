# L4: every command and every operation on `.keychainfs` is served next to 60 closes that wait for a disk that hangs; a close of a
# descriptor of a control file waits for none of them.
# users: user
# needs: SlowDisk
# seconds: 4
. "${0%/*}/lib.sh"
slow_disk
create_keychain; mount_slow
D="$MNT/generic-passwords/s"; mkdir "$D"; printf value > "$D/other"
python3 -I - "$KEYCHAINFS" "$MNT" "$D" "$SLOW_DISK" <<'PY'
import os, subprocess, sys, threading, time
program, mount, directory, flag = sys.argv[1:]
control = f"{mount}/.keychainfs"
files = [os.open(f"{directory}/{number}", os.O_WRONLY | os.O_CREAT) for number in range(60)]
for file in files: os.write(file, b"new")
with open(flag, "w") as delay: delay.write("60000")
closers = [threading.Thread(target=os.close, args=(file,)) for file in files]
for closer in closers: closer.start()
time.sleep(0.5)
failures = []
threading.excepthook = failures.append
def read_status():
    with open(f"{control}/status", "rb", buffering=0) as file: assert file.read(), "status"
def command(*arguments):
    result = subprocess.run([program, *arguments], capture_output=True, timeout=30)
    assert result.returncode == 0, (arguments, result.returncode, result.stderr)
operations = {
    "read status": read_status,
    "open control": lambda: os.close(os.open(f"{control}/control", os.O_RDWR | os.O_TRUNC)),
    "list": lambda: os.listdir(control),
    "stat": lambda: os.stat(f"{control}/lock"),
    "status": lambda: command("status", mount),
    "status --json": lambda: command("status", "--json", mount),
    "show": lambda: command("show", f"{directory}/other"),
}
try:
    for name, operation in operations.items():
        served = threading.Thread(target=operation, daemon=True)
        served.start(); served.join(5)
        assert not served.is_alive(), f"{name} waits"
    assert all(closer.is_alive() for closer in closers), "a close did not wait for the disk"
finally: os.unlink(flag)
assert not failures, failures
for closer in closers: closer.join(30)
assert not any(closer.is_alive() for closer in closers), "a close waits"
PY
for number in 0 59; do expect new "$(cat "$D/$number")" "an item"; done
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null
