# L4: while a disk hangs, `status`, `show`, the files of `.keychainfs` and other items are served: next to 60 closes that wait for the disk,
# and next to 900 calls that wait for an item that is being committed.
# users: user
# needs: SlowDisk
# seconds: 4
. "${0%/*}/lib.sh"
slow_disk
create_keychain; mount_slow
D="$MNT/generic-passwords/s"; mkdir "$D" "$MNT/generic-passwords/t"; printf value > "$D/other"; printf value > "$MNT/generic-passwords/t/a"
python3 -I - "$KEYCHAINFS" "$MNT" "$D" "$SLOW_DISK" <<'PY'
import os, subprocess, sys, threading, time
program, mount, directory, flag = sys.argv[1:]
control = f"{mount}/.keychainfs"
failures = []
threading.excepthook = failures.append

def read(path):
    with open(path, "rb", buffering=0) as file: assert file.read(), path
def command(*arguments):
    result = subprocess.run([program, *arguments], capture_output=True, timeout=30)
    assert result.returncode == 0, (arguments, result.returncode, result.stderr)
operations = {
    "read status": lambda: read(f"{control}/status"),
    "open control": lambda: os.close(os.open(f"{control}/control", os.O_RDWR | os.O_TRUNC)),
    "list": lambda: os.listdir(control),
    "stat": lambda: os.stat(f"{control}/lock"),
    "status": lambda: command("status", mount),
    "status --json": lambda: command("status", "--json", mount),
    "show": lambda: command("show", f"{directory}/other"),
    "read another item": lambda: read(f"{directory}/other"),
    "list another directory": lambda: [entry.stat() for entry in os.scandir(f"{directory}/../t")],
    "open another item for writing": lambda: os.open(f"{directory}/other", os.O_WRONLY),
}
def served(background):
    """Whether every operation is served while the others wait for the disk."""
    with open(flag, "w") as delay: delay.write("60000")
    others = [threading.Thread(target=call, daemon=True) for call in background]
    for other in others: other.start()
    time.sleep(0.5)
    try:
        for name, operation in operations.items():
            thread = threading.Thread(target=operation, daemon=True)
            thread.start(); thread.join(5)
            assert not thread.is_alive(), f"{name} waits"
        assert all(other.is_alive() for other in others), "a call did not wait for the disk"
    finally: os.unlink(flag)
    for other in others: other.join(30)
    assert not any(other.is_alive() for other in others), "a call does not end"
    assert not failures, failures

files = [os.open(f"{directory}/{number}", os.O_WRONLY | os.O_CREAT) for number in range(60)]
for file in files: os.write(file, b"new")
served([lambda file=file: os.close(file) for file in files])

busy = f"{directory}/busy"
file = os.open(busy, os.O_WRONLY | os.O_CREAT); os.write(file, b"new")
def ask(number):
    time.sleep(0.2)
    if number % 3 == 0: os.listxattr(busy)
    elif number % 3 == 1: os.getxattr(busy, "user.kSecAttrAccount")
    else: os.close(os.open(busy, os.O_RDONLY))
served([lambda: os.close(file)] + [lambda number=number: ask(number) for number in range(900)])
PY
for name in 0 59 busy; do expect new "$(cat "$D/$name")" "an item"; done
unmount_keychain; expect_code 0 "$KEYCHAINFS" check > /dev/null
