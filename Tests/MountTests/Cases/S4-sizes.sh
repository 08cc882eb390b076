# S4: the size of a value is limited before it is read (store-format.md, R4 to R6). A value of 24 MiB in any column, or in the
# schema, costs 16 MiB at most, and what it belongs to is damaged. A key of an index costs twice its size in each of two connections.
# seconds: 50
. "${0%/*}/lib.sh"
create_keychain; mount_keychain; S="$MNT/generic-passwords/s"
mkdir "$S" "$MNT/generic-passwords/always"; setfattr -n user.kSecAttrAccessible -v Always "$MNT/generic-passwords/always"
printf one > "$S/a"; head -c 3000 /dev/urandom > "$S/long"; printf two > "$MNT/generic-passwords/always/a"
unmount_keychain
cat > "$CASE_DIR/sizes.py" <<'PY'
import json, os, shutil, sqlite3, subprocess, sys
program, keychain, mount = sys.argv[1:]
SIZE, LIMIT = 24 << 20, 16 << 10   # bytes; KiB
genuine = keychain + ".genuine"
shutil.copy(keychain, genuine)

def run(*arguments):
    """Returns the exit code, and the peak of memory in KiB."""
    process = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss

def mounted(*options):
    """Mounts and reads every file. Returns the exit code of the mount, and the peak of memory of the command or the daemon."""
    code, peak = run("mount", mount, *options)
    if code:
        return code, peak
    status = subprocess.run([program, "status", "--json", mount], capture_output=True, text=True).stdout
    for directory, names, files in os.walk(mount):
        names[:] = [name for name in names if name != ".keychainfs"]
        for name in files:
            try:
                open(os.path.join(directory, name), "rb").read()
            except OSError:
                pass
    with open(f"/proc/{json.loads(status)['pid']}/status") as lines:
        peak = max(peak, next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")))
    assert run("unmount", mount)[0] == 0, "unmount"
    return code, peak

commands = {"slot list": lambda: run("slot", "list"), "check": lambda: run("check"), "mount": mounted, "mount --locked": lambda: mounted("--locked")}
usual = {}
for name, command in commands.items():
    code, usual[name] = command()
    assert code == 0, name

def edit(*steps):
    """Changes a copy of the keychain. In a child, because the peak of a child's memory begins at that of its parent. Each step is
    a connection: SQLite reads the schema once."""
    shutil.copy(genuine, keychain)
    script = ("import sqlite3, sys\n"
              "for step in sys.argv[2:]:\n"
              "    connection = sqlite3.connect(sys.argv[1]); connection.executescript(step); connection.close()")
    subprocess.run([sys.executable, "-I", "-c", script, keychain, *steps], check=True)

def measure(what, names, expected, limit=LIMIT):
    """Runs commands on the changed copy: their exit codes, and their peak of memory above the usual one."""
    for name in names:
        code, peak = commands[name]()
        assert code in expected, f"{what}: {name}: {code}"
        assert peak - usual[name] < limit, f"{what}: {name}: {peak - usual[name]} KiB"

connection = sqlite3.connect(genuine)
tables = [name for name, in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")]
columns = [(table, row[1]) for table in tables for row in connection.execute(f"PRAGMA table_info({table})") if row[2] == "BLOB"]
columns = [(table, column) for table, column in columns
           if connection.execute(f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL").fetchone()[0]]
connection.close()
assert len(columns) > 20, columns
for table, column in columns:
    edit(f"UPDATE {table} SET {column} = zeroblob({SIZE}) WHERE {column} = (SELECT max({column}) FROM {table})")
    of_keys = table in ("store", "slot", "device", "class_key", "user_key")
    # An index, or a table that is one.
    is_key = table == "class_key" or column in ("tag", "always_tag") and table != "device"
    measure(f"{table}.{column}", ("slot list", "check", "mount") if of_keys else ("check", "mount"), (0, 10, 12, 21), 5 * SIZE >> 10 if is_key else LIMIT)

# A slot that was added next to the owner's: the rows of keys are not those of the header.
edit(f"INSERT INTO slot SELECT 9, kind, user_key_generation, ephemeral, zeroblob({SIZE}), user_key_seal, user_key, recipient_seal, recipient FROM slot")
measure("another slot", ("slot list", "mount --locked"), (0,))
measure("another slot", ("mount",), (12,))

# Text instead of bytes, whose number of characters SQLite would have to count.
strict = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = {} WHERE sql LIKE '%STRICT%'"
loose, again = strict.format("replace(sql, ' STRICT', ' /**/')"), "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ' /**/', ' STRICT')"
text = f"CAST(zeroblob({SIZE}) AS TEXT)"
for table, column in (("slot", "parameters"), ("device", "tag"), ("item", "metadata"), ("item", "secret"), ("secret", "ciphertext")):
    edit(loose, f"UPDATE {table} SET {column} = {text}", again)
    measure(f"text in {table}.{column}", ("check", "mount --locked"), (0, 10, 12, 21))

edit(f"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = {text} WHERE name = 'secret'")
measure("the schema", commands, (12,))
shutil.copy(genuine, keychain)
measure("the genuine keychain", commands, (0,))
PY
python3 -I "$CASE_DIR/sizes.py" "$KEYCHAINFS" "$KEYCHAIN" "$MNT" || fail "a value of the file determined the memory"
