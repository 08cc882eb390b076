"""Commands with which users store single secrets. Each gets a separate home and secrets s000000, … of 32 bytes."""
import os
import shutil
import subprocess
import time

from .scratch import BenchmarkError

SECRET = "x" * 32
# The key that pass encrypts to.
USER = "benchmark@localhost"


class SecretStore:
    """A command, which prints a secret with the output of `secret` as its last argument."""
    name = ""
    programs = ()
    command = ()
    environment = None

    def prepare(self, scratch, count):
        raise NotImplementedError

    def secret(self, number):
        raise NotImplementedError


class Pass(SecretStore):
    """A GnuPG key without a passphrase: no prompt, and the agent derives no key."""
    name = "pass show"
    programs = ("pass", "gpg", "gpgconf")
    command = ("pass", "show")
    prepared = None

    def prepare(self, scratch, count):
        home = scratch.make_directory("pass")
        self.environment = scratch.environment(home, GNUPGHOME=home, PASSWORD_STORE_DIR=os.path.join(home, "store"))
        scratch.at_end(self._end_agent)
        key = ["--passphrase", "", "--quick-generate-key", USER, "future-default", "default", "never"]
        scratch.run("gpg", "--batch", "--quiet", *key, environment=self.environment)
        scratch.run("pass", "init", USER, environment=self.environment)
        for number in range(count):
            scratch.run("pass", "insert", "--multiline", self.secret(number), environment=self.environment, text=SECRET)

    def _end_agent(self):
        subprocess.run(["gpgconf", "--kill", "all"], env=self.environment, stderr=subprocess.DEVNULL)

    def secret(self, number):
        return f"benchmark/s{number:06}"


class Age(SecretStore):
    name = "age -d"
    programs = ("age", "age-keygen")

    def prepare(self, scratch, count):
        self._home = scratch.make_directory("age")
        self.environment = scratch.environment(self._home)
        key = os.path.join(self._home, "key")
        scratch.run("age-keygen", "-o", key, environment=self.environment)
        recipient = scratch.run("age-keygen", "-y", key, environment=self.environment).strip()
        self.command = ("age", "-d", "-i", key)
        for number in range(count):
            scratch.run("age", "-r", recipient, "-o", self.secret(number), environment=self.environment, text=SECRET)

    def secret(self, number):
        return os.path.join(self._home, f"s{number:06}.age")


class SecretTool(SecretStore):
    """GNOME's keyring behind the Secret Service, on a separate bus."""
    name = "secret-tool lookup"
    programs = ("secret-tool", "dbus-daemon", "gnome-keyring-daemon")
    command = ("secret-tool", "lookup", "item")

    def prepare(self, scratch, count):
        self._scratch = scratch
        home = scratch.make_directory("keyring")
        bus = os.path.join(home, "bus")
        self.environment = scratch.environment(
            home, XDG_RUNTIME_DIR=home, XDG_DATA_HOME=home, DBUS_SESSION_BUS_ADDRESS=f"unix:path={bus}")
        address = f"--address=unix:path={bus}"
        scratch.start(["dbus-daemon", "--session", "--nofork", "--nopidfile", address], self.environment)
        wait_for(lambda: os.path.exists(bus), "dbus-daemon")
        keyring = ["gnome-keyring-daemon", "--foreground", "--components=secrets", "--unlock"]
        scratch.start(keyring, self.environment, "benchmark")
        wait_for(lambda: self._store(0), "gnome-keyring-daemon")
        for number in range(1, count):
            if not self._store(number):
                raise BenchmarkError("secret-tool store failed")

    def _store(self, number):
        command = ["secret-tool", "store", "--label=benchmark", "item", self.secret(number)]
        try:
            self._scratch.run(*command, environment=self.environment, text=SECRET, timeout=10)
        except (BenchmarkError, subprocess.TimeoutExpired):
            return False
        return True

    def secret(self, number):
        return f"s{number:06}"


STORES = (Pass, Age, SecretTool)


def installed_stores():
    return [store() for store in STORES if all(shutil.which(program) for program in store.programs)]


def wait_for(condition, what, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise BenchmarkError(f"{what} did not come up")
        time.sleep(0.1)
