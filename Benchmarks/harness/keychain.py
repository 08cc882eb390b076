"""keychainfs itself, on throw-away keychains that are filled without a mount."""
import glob
import json
import os
import shutil
import subprocess
import time

from .machine import output
from .scratch import BenchmarkError
from .subject import Subject

SERVICE = "benchmark"
# What QueryBenchmark gives its keychains, and the key of the device that it says it is.
PASSPHRASE = "benchmark"
DEVICE_KEY = "\1" * 32


class Keychains:
    def __init__(self, bench):
        self._bench = bench
        self._filled = {}

    def filled(self, items):
        """The path of a keychain with `items` items, which must not be changed, and the duration of adding them in
        seconds."""
        if items not in self._filled:
            path = os.path.join(self._bench.scratch.make_directory("store"), f"{items}.keychain")
            environment = self._bench.scratch.environment(self._bench.scratch.directory)
            seconds = self._bench.scratch.run(self._bench.programs.filler, "fill", path, str(items), SERVICE,
                                              environment=environment, timeout=3600)
            self._filled[items] = path, float(seconds)
            self._add_key_file(path, path + ".key")
        return self._filled[items]

    def _add_key_file(self, path, key_file):
        """What unlocks without the derivation of a key, so that mount and unlock can be measured without it."""
        passphrase = write_private(path + ".passphrase", PASSPHRASE)
        self._bench.scratch.run(
            self._bench.programs.keychainfs, "slot", "add", "--keychain", path, "--passphrase-file", passphrase,
            "--kind", "keyfile", "--new-key-file", key_file,
            environment=environment_of_device(self._bench.scratch, os.path.dirname(path)))

    def copy(self, items):
        path, _ = self.filled(items)
        return Keychain(self._bench, path, items)

    def mount(self, items, spin=True):
        return self.copy(items).mount(spin)

    def has_spin(self):
        """Whether the receive loop of this version polls, and has an option not to."""
        program = self._bench.programs.keychainfs
        return "--no-spin" in output(program, "mount", "--help")


class Keychain:
    """A copy in a separate home, which contains the device key and the number of the last commit."""

    def __init__(self, bench, source, items):
        self._bench = bench
        self._items = items
        self.home = bench.scratch.make_directory("keychain")
        self.path = os.path.join(self.home, "store.keychain")
        subprocess.run(["cp", "--reflink=auto", source, self.path], check=True)
        self.mount_point = os.path.join(self.home, "mnt")
        os.mkdir(self.mount_point)
        self.key_file = source + ".key"
        self.environment = environment_of_device(bench.scratch, self.home, KEYCHAINFS_MOUNT=self.mount_point)
        for file in glob.glob(os.path.join(os.path.dirname(source), "keychainfs", "commit-number.*")):
            shutil.copy2(file, os.path.join(self.home, "keychainfs"))

    def mount(self, spin=True):
        command = [self._bench.programs.keychainfs, "mount", "--foreground", *self.mount_options,
                   *([] if spin else ["--no-spin"]), self.mount_point]
        process = self._bench.scratch.start(command, self.environment)
        self._bench.scratch.await_mount(self.mount_point, process)
        self.await_verified()
        return Subject(
            "keychainfs" if spin else "keychainfs --no-spin", self.directory, self.mount_point, process,
            attribute="user.kSecAttrLabel", store=[self.path, self.path + "-wal"], may_pause=spin)

    @property
    def mount_options(self):
        return ["--keychain", self.path, "--key-file", self.key_file]

    @property
    def directory(self):
        return os.path.join(self.mount_point, "generic-passwords", SERVICE)

    def run(self, *arguments):
        return self._bench.scratch.run(self._bench.programs.keychainfs, *arguments, environment=self.environment)

    def await_verified(self, seconds=1800):
        """The pass over all rows after an unlock would be measured too. Asked ever more rarely: answers are work."""
        deadline = time.monotonic() + seconds
        pause = 0.05
        while (integrity := self._integrity()) != "verified":
            if integrity == "damaged" or time.monotonic() > deadline:
                raise BenchmarkError(f"{self.path} is {integrity}")
            time.sleep(pause)
            pause = min(2 * pause, 10)

    def _integrity(self):
        try:
            return json.loads(self.run("status", "--json"))["integrity"]
        except BenchmarkError as error:
            # A busy daemon of a million items may not answer in time; the next call reports if it has ended.
            return f"not answering: {error}"


def environment_of_device(scratch, home, **more):
    """The state directory of a user at `home`, on the device where QueryBenchmark fills keychains: on another device
    they would have keys of two devices."""
    state = os.path.join(home, "keychainfs")
    os.makedirs(state, 0o700, exist_ok=True)
    write_private(os.path.join(state, "device.key"), DEVICE_KEY)
    return scratch.environment(home, XDG_DATA_HOME=home, XDG_STATE_HOME=home, XDG_CONFIG_HOME=home, **more)


def write_private(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(text)
    return path
