"""The state after crashes of the program: its commands on separate keychains, and the conditions that must hold after
them.

Used by the proofs `killed-program` and `power-cut-program`, and by a case of the tests. Needs root and strace(1)."""
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHANGING = ("write,pwrite64,writev,fsync,fdatasync,ftruncate,fallocate,openat,rename,renameat,renameat2,link,linkat,"
            "unlink,unlinkat,mkdir,mkdirat,rmdir,chmod,fchmod")
# Of SQLite; and of the loader, before the program starts.
READING = "pread64"
ITEMS = {"mail/a": b"first", "mail/b": b"second" * 500, "work/c": b""}


class Wrong(Exception):
    """Something that must not be so after a crash."""


class Home:
    """A user's directories, and the program in them."""

    def __init__(self, program, path):
        self.program, self.path = str(program), Path(path)
        # The exit code and the output of the last command.
        self.last = (0, "")
        self.keychain = self.path / "data/keychainfs/login.keychain"
        self.state = self.path / "state/keychainfs"
        self.mountpoint = self.path / "mnt"

    def make(self):
        for name in ("data", "state", "mnt", "other"):
            (self.path / name).mkdir(parents=True)
        for name, text in (("pass", "correct horse\n"), ("pass2", "another horse\n")):
            (self.path / name).write_text(text)
            (self.path / name).chmod(0o600)
        return self

    def copy(self, path):
        shutil.copytree(self.path, path, symlinks=True)
        return Home(self.program, path)

    @property
    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.path), "XDG_DATA_HOME": str(self.path / "data"),
                "XDG_STATE_HOME": str(self.path / "state"), "LC_ALL": "C.UTF-8"}

    def command(self, *arguments):
        return [self.program, *map(str, arguments)]

    def run(self, *arguments, codes=(0,), prefix=(), text=None):
        """The exit code and the output."""
        result = subprocess.run([*prefix, *self.command(*arguments)], env=self.environment, input=text, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        self.last = (result.returncode, result.stdout)
        if codes and result.returncode not in codes:
            raise Wrong(f"{arguments[0]} ended with {result.returncode}: {result.stdout.strip()}")
        return result.returncode, result.stdout

    def secret(self, number=1):
        return ("--passphrase-file", self.path / ("pass" if number == 1 else "pass2"))

    def create(self):
        self.run("create", "--kdf", "test", *self.secret())

    # The mount

    def mount(self, number=1):
        self.run("mount", self.mountpoint, *self.secret(number))

    def is_mounted(self):
        return f" {self.mountpoint} fuse." in Path("/proc/self/mounts").read_text()

    def unmount(self):
        if self.is_mounted():
            self.run("unmount", self.mountpoint, codes=None)
        if self.is_mounted():
            subprocess.run(["fusermount3", "-uz", str(self.mountpoint)])

    def item(self, name):
        return self.mountpoint / "generic-passwords" / name

    def fill(self):
        self.mount()
        for name, value in ITEMS.items():
            self.item(name).parent.mkdir(exist_ok=True)
            self.item(name).write_bytes(value)
        os.setxattr(self.item("mail/a"), "user.kSecAttrAccessible", b"WhenUnlockedThisDeviceOnly")
        self.unmount()

    def contents(self):
        """Of all items, by their names."""
        base = self.mountpoint / "generic-passwords"
        return {str(p.relative_to(base)): p.read_bytes() for p in base.glob("*/*")}

    def opens(self, number):
        """Whether that passphrase opens it; the keychain must be intact."""
        code, said = self.run("check", *self.secret(number), codes=(0, 10))
        return code == 0

    # What there must be

    def expect_items(self, *possible, number=1):
        """The keychain contains one of these sets of items, and there are no other files next to it or in the state
        directory."""
        if not self.opens(number):
            raise Wrong(f"passphrase {number} does not open it")
        self.mount(number)
        try:
            found = self.contents()
            if found not in possible:
                names = sorted({n for p in possible for n in p.keys() | found.keys() if p.get(n) != found.get(n)})
                sizes = {n: (len(found[n]) if n in found else None, [len(p[n]) if n in p else None for p in possible])
                         for n in names}
                raise Wrong(f"items that are neither old nor new: sizes found and possible {sizes}")
        finally:
            self.unmount()

    def expect_clean(self, *allowed):
        for directory, pattern in ((self.keychain.parent, r"login\.keychain"),
                                   (self.state, r"device\.key|commit-number\.[0-9a-f]{32}|rekey\.[0-9a-f]{32}")):
            names = [p.name for p in directory.iterdir()] if directory.is_dir() else []
            left = [n for n in names if not re.fullmatch(pattern, n) and not any(re.fullmatch(a, n) for a in allowed)]
            if left:
                raise Wrong(f"left behind in {directory.name}: {left}")


class Scenario:
    """A command: the state before it, the operation, and the allowed states after a crash."""

    def __init__(self, name, prepare, run, verify):
        self.name, self.prepare, self.run, self.verify = name, prepare, run, verify


def filled(home):
    home.create()
    home.fill()


def create_verify(home, is_done):
    if is_done or home.keychain.exists():
        # What is bound to this device is lost without it.
        if not (home.state / "device.key").exists():
            raise Wrong("the device key is gone")
        home.expect_items({})
    else:
        home.create()
        home.expect_items({})
    home.expect_clean()


def same_items(home, is_done):
    home.expect_items(ITEMS)
    home.expect_clean()


def key_file_verify(home, is_done):
    """A slot that exists can be used: its key file exists and is complete."""
    _, text = home.run("slot", "list", "--json", "--keychain", home.keychain)
    kinds = [slot["kind"] for slot in json.loads(text)["slots"]]
    key = home.path / "other/key"
    if "keyfile" in kinds:
        home.run("check", "--key-file", key)
    elif is_done:
        raise Wrong("the slot was acknowledged and is not there")
    elif key.exists():
        home.run("slot", "add", "--kind", "keyfile", "--key-file", key, *home.secret(), "--keychain", home.keychain)
        home.run("check", "--key-file", key)
    same_items(home, is_done)


def change_verify(home, is_done):
    old, new = home.opens(1), home.opens(2)
    if old == new or is_done and old:
        raise Wrong(f"after a change of the passphrase: the old one opens {old}, the new one {new}")
    home.expect_items(ITEMS, number=2 if new else 1)
    home.expect_clean()


def with_key_file(home):
    filled(home)
    home.run("slot", "add", "--kind", "keyfile", "--key-file", home.path / "other/key", *home.secret(),
             "--keychain", home.keychain)


def remove_verify(home, is_done):
    code, _ = home.run("check", "--key-file", home.path / "other/key", codes=(0, 10))
    if is_done and code == 0:
        raise Wrong("a removed slot opens it")
    same_items(home, is_done)


def backup_verify(home, is_done):
    backup = home.path / "other/backup"
    if backup.exists():
        home.run("backup", "--verify", backup, *home.secret())
    elif is_done:
        raise Wrong("the backup was acknowledged and is not there")
    else:
        home.run("backup", backup, *home.secret())
        home.run("backup", "--verify", backup, *home.secret())
    # What could not be removed goes with the next backup there.
    again = home.path / "other/again"
    home.run("backup", again, *home.secret())
    again.unlink()
    left = [p.name for p in (home.path / "other").iterdir() if p.name != "backup"]
    if left:
        raise Wrong(f"left behind beside the backup: {left}")
    same_items(home, is_done)


NEWER = dict(ITEMS, **{"mail/new": b"newer"})


def with_backup(home):
    filled(home)
    home.run("backup", home.path / "other/backup", *home.secret())
    home.mount()
    home.item("mail/new").write_bytes(NEWER["mail/new"])
    home.unmount()


def restore(home, prefix):
    code, said = home.run("restore", "--replace", home.path / "other/backup", *home.secret(), codes=None, prefix=prefix)
    if "may need --accept-rollback" in said:
        # The command has restored the backup, and reported that it could not record that on this device.
        home.run("mount", home.mountpoint, "--accept-rollback", *home.secret())
        home.unmount()
    return code == 0


def restore_verify(home, is_done):
    home.expect_items(ITEMS if is_done else NEWER, ITEMS)
    kept = list(home.keychain.parent.glob("login.keychain.replaced-*"))
    if any(os.path.samefile(path, home.keychain) for path in kept):
        raise Wrong("the keychain has a second name")
    home.expect_clean(r"login\.keychain\.replaced-\w+")


LARGE = 300_000


def with_free_pages(home):
    """The file is larger than its items: one was removed."""
    filled(home)
    home.mount()
    home.item("mail/large").write_bytes(bytes(LARGE))
    home.item("mail/large").unlink()
    home.unmount()


def compact_verify(home, is_done):
    """The complete old file or the complete new file; a second compaction makes it small."""
    if not home.keychain.exists():
        raise Wrong("there is no keychain")
    if is_done and home.keychain.stat().st_size > LARGE:
        raise Wrong("the compaction was acknowledged and the file is not smaller")
    same_items(home, is_done)
    home.run("check", "--compact", *home.secret())
    if home.keychain.stat().st_size > LARGE:
        raise Wrong("a compaction after a crash does not make the file smaller")
    same_items(home, is_done)


SAVED = {name: value for name, value in ITEMS.items() if name != "mail/b"}


def execute(home, sql):
    database = sqlite3.connect(home.keychain, isolation_level=None)
    found = database.execute(sql).fetchone()
    database.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{home.keychain}{suffix}").unlink(missing_ok=True)
    return found


def with_damaged_row(home):
    """The item mail/b does not verify."""
    filled(home)
    home.mount()
    row = home.item("mail/b").stat().st_ino
    home.unmount()
    execute(home, f"UPDATE item SET metadata = zeroblob(64) WHERE id = {row}")
    shutil.copy(home.keychain, home.path / "other/damaged")


def with_damaged_pages(home):
    """The tree of an index is damaged too: rows are searched page by page."""
    with_damaged_row(home)
    root, = execute(home, "SELECT rootpage FROM sqlite_schema WHERE name = 'item_tag'")
    with open(home.keychain, "r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(bytes(4096))
    shutil.copy(home.keychain, home.path / "other/damaged")


def sealed(path):
    """The file without the parts of SQLite's header that concern the log and changes."""
    contents = bytearray(path.read_bytes())
    for first, last in ((18, 20), (24, 28), (92, 100)):
        contents[first:last] = bytes(last - first)
    return contents


def repair_verify(home, is_done):
    """The damaged keychain or the repaired one; the renamed file is the complete damaged one; a second repair
    completes."""
    code, said = home.run("check", *home.secret(), codes=(0, 21))
    damaged = sealed(home.path / "other/damaged")
    if code == 21:
        if is_done:
            raise Wrong("it said that it was repaired")
        if sealed(home.keychain) != damaged:
            raise Wrong("a damaged keychain that is another one")
        home.run("check", "--repair", "--yes", *home.secret())
    home.expect_items(SAVED)
    aside = [path for path in home.keychain.parent.glob("login.keychain.damaged-*")]
    if not aside:
        raise Wrong("the damaged keychain is not kept")
    for path in aside:
        if sealed(path) != damaged:
            raise Wrong(f"{path.name} is not what the damaged keychain was")
    code, said = home.run("check", "--repair", "--yes", *home.secret())
    if "Nothing was changed" not in said:
        raise Wrong(f"a repaired keychain is repaired again: {said}")
    home.expect_clean(r"login\.keychain\.damaged-[\w-]+")


class Writing:
    """A mount in the foreground in which items are written until it ends; acknowledged changes are recorded."""

    WRITES = [("mail/a", b"changed"), ("mail/d", b"new" * 3000), ("work/c", b"no longer empty"), ("mail/b", b"")]

    def __call__(self, home, prefix):
        # A change that was not acknowledged is old or new: the last close retries a commit that failed before.
        self.acknowledged, self.attempted = dict(ITEMS), {}
        command = [*prefix, *home.command("mount", home.mountpoint, "--foreground", *home.secret())]
        daemon = subprocess.Popen(command, env=home.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while not home.is_mounted() and daemon.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            self.write(home)
            if daemon.poll() is None:
                subprocess.run(home.command("unmount", home.mountpoint), env=home.environment, timeout=60,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return daemon.wait(timeout=60) == 0
        finally:
            if daemon.poll() is None:
                daemon.kill()
            deadline = time.monotonic() + 20
            while home.is_mounted() and time.monotonic() < deadline:
                time.sleep(0.05)
            home.unmount()

    def write(self, home):
        base = home.mountpoint / "generic-passwords"
        for name, value in self.WRITES:
            if not home.is_mounted():
                return
            self.attempted[name] = value
            try:
                descriptor = os.open(base / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                try:
                    os.write(descriptor, value)
                    if not value:
                        # The open has truncated it: the last close commits that, and no caller gets its error.
                        os.fsync(descriptor)
                finally:
                    os.close(descriptor)
            except OSError:
                continue
            self.acknowledged[name] = self.attempted.pop(name)


writing = Writing()


def writing_verify(home, is_done):
    possible = [writing.acknowledged]
    for name, value in writing.attempted.items():
        possible += [{**items, name: value} for items in possible]
    home.expect_items(*possible)
    home.expect_clean()


class Rekeying(Writing):
    """New keys for all items while a mount is in use."""

    WRITES = []

    def write(self, home):
        if home.is_mounted():
            home.run("rekey", home.mountpoint, *home.secret(), codes=None)


def command(*arguments):
    def run(home, prefix):
        resolved = [a(home) if callable(a) else a for a in arguments]
        return home.run(*resolved, *home.secret(), codes=None, prefix=prefix)[0] == 0
    return run


def keychain(home):
    return home.keychain


def other(name):
    return lambda home: home.path / "other" / name


SCENARIOS = [
    Scenario("create", lambda home: None, command("create", "--kdf", "test"), create_verify),
    Scenario("slot add", filled, command("slot", "add", "--kind", "keyfile", "--key-file", other("key"), "--keychain",
                                         keychain), key_file_verify),
    Scenario("slot change", filled, command("slot", "change", "1", "--keychain", keychain, "--new-passphrase-file",
                                            lambda home: home.path / "pass2"), change_verify),
    Scenario("slot remove", with_key_file, command("slot", "remove", "2", "--keychain", keychain), remove_verify),
    Scenario("backup", filled, command("backup", other("backup")), backup_verify),
    Scenario("restore", with_backup, restore, restore_verify),
    Scenario("compact", with_free_pages, command("check", "--compact"), compact_verify),
    Scenario("repair", with_damaged_row, command("check", "--repair", "--yes"), repair_verify),
    Scenario("repair pages", with_damaged_pages, command("check", "--repair", "--yes"), repair_verify),
    Scenario("rekey", filled, Rekeying(), same_items),
    Scenario("mount and write", filled, writing, writing_verify),
]


class Bench:
    """Runs scenarios: each case on a copy of the scenario's initial state."""

    def __init__(self, program, work):
        self.program, self.work, self.count = program, Path(work), 0
        self.begun = {}

    def home(self, scenario):
        if scenario.name not in self.begun:
            home = Home(self.program, self.work / f"begin-{len(self.begun)}").make()
            scenario.prepare(home)
            self.begun[scenario.name] = home
        self.count += 1
        return self.begun[scenario.name].copy(self.work / f"case-{self.count}")

    @staticmethod
    def remove(home):
        home.unmount()
        shutil.rmtree(home.path, ignore_errors=True)
