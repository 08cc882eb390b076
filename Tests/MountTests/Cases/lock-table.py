# The result of each operation for an item of each protection class in each lock state, on a real mount. Usage:
# lock-table.py prepare|cold|over-lock|print MOUNTPOINT FILE, in this order; results are stored in FILE. `over-lock`
# creates FILE.unlocked when it has tried all operations while unlocked, and continues when FILE.locked exists.
import errno, json, os, sys, time

CLASSES = [
    "WhenUnlocked", "WhenUnlockedThisDeviceOnly", "WhenPasscodeSetThisDeviceOnly", "AfterFirstUnlock",
    "AfterFirstUnlockThisDeviceOnly", "Always", "AlwaysThisDeviceOnly", "WhenUnlockedUnlessOpen",
]
STATES = ["before first unlock", "unlocked", "locked"]
OPERATIONS = [
    "open", "read (open descriptor)", "write (open descriptor)", "fstat (open descriptor)",
    "fgetxattr (open descriptor)", "fsetxattr (open descriptor)", "create", "stat",
    "stat (no such name)", "list", "getxattr", "setxattr", "rename", "unlink",
]
NONE = "–"


def directory(mount, name): return f"{mount}/generic-passwords/{name}"


def prepare(mount):
    for name in CLASSES:
        here = directory(mount, name)
        os.mkdir(here)
        os.setxattr(here, "user.kSecAttrAccessible", name.encode())
        for file in ["item"] + [f"unlinked {number}" for number in range(len(STATES))]:
            with open(f"{here}/{file}", "w") as item: item.write("value")
            os.setxattr(f"{here}/{file}", "user.kSecAttrLabel", b"label")


def answer(operation):
    try:
        operation()
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]


def descriptor(path, flags):
    try: return os.open(path, flags)
    except OSError: return None


def on(file, operation): return NONE if file is None else answer(lambda: operation(file))


def write(file):
    os.pwrite(file, b"VALUE", 0)
    os.fsync(file)


def read(file):
    if os.pread(file, 100, 0).lower() != b"value": raise SystemExit("another value than the item's")


def create(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def listing(here):
    if "item" not in os.listdir(here): raise SystemExit(f"a clean listing of {here} without its item")


def rename(path):
    os.rename(path, path + " moved")
    os.rename(path + " moved", path)


def results(here, state, reader, writer):
    """For one class. Operations that remove the name come last."""
    item, number = here + "/item", STATES.index(state)
    return {
        "open": answer(lambda: os.close(os.open(item, os.O_RDONLY))),
        "read (open descriptor)": on(reader, read),
        "write (open descriptor)": on(writer, write),
        "fstat (open descriptor)": on(reader, os.fstat),
        "fgetxattr (open descriptor)": on(reader, lambda file: os.getxattr(file, "user.kSecAttrLabel")),
        "fsetxattr (open descriptor)": on(writer, lambda file: os.setxattr(file, "user.color", b"blue")),
        "create": answer(lambda: create(f"{here}/created {number}")),
        "stat": answer(lambda: os.stat(item)),
        "stat (no such name)": answer(lambda: os.stat(here + "/none")),
        "list": answer(lambda: listing(here)),
        "getxattr": answer(lambda: os.getxattr(item, "user.kSecAttrLabel")),
        "setxattr": answer(lambda: os.setxattr(item, "user.kSecAttrComment", b"comment")),
        "rename": answer(lambda: rename(item)),
        "unlink": answer(lambda: os.unlink(f"{here}/unlinked {number}")),
    }


def open_all(mount):
    paths = {name: directory(mount, name) + "/item" for name in CLASSES}
    return {name: (descriptor(path, os.O_RDONLY), descriptor(path, os.O_RDWR)) for name, path in paths.items()}


def close_all(files):
    for file in (file for pair in files.values() for file in pair if file is not None):
        try: os.close(file)
        except OSError: pass


def try_all(mount, state, files): return {name: results(directory(mount, name), state, *files[name]) for name in CLASSES}


def try_state(mount, table, path):
    files = open_all(mount)
    table["before first unlock"] = try_all(mount, "before first unlock", files)
    close_all(files)


def try_over_lock(mount, table, path):
    files = open_all(mount)
    table["unlocked"] = try_all(mount, "unlocked", files)
    open(path + ".unlocked", "w").close()
    while not os.path.exists(path + ".locked"): time.sleep(0.05)
    table["locked"] = try_all(mount, "locked", files)
    close_all(files)


def text(table):
    """As Markdown; classes with the same results share a table."""
    of_class = {name: [[table[state][name][operation] for state in STATES] for operation in OPERATIONS] for name in CLASSES}
    lines = []
    for name in CLASSES:
        alike = [other for other in CLASSES if of_class[other] == of_class[name]]
        if alike[0] != name: continue
        lines += ["### " + ", ".join(alike), "", "| | " + " | ".join(STATES) + " |", "|---" * (1 + len(STATES)) + "|"]
        for operation, answers in zip(OPERATIONS, of_class[name]):
            lines.append(f"| {operation} | " + " | ".join(answers) + " |")
        lines.append("")
    return "\n".join(lines)


def main(what, mount, path):
    if what == "prepare": return prepare(mount)
    table = json.load(open(path)) if os.path.exists(path) else {}
    if what == "print": return print(text(table))
    {"cold": try_state, "over-lock": try_over_lock}[what](mount, table, path)
    with open(path, "w") as file: json.dump(table, file)


main(*sys.argv[1:])
