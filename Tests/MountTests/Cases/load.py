"""Many processes use one mount: no acknowledged change is lost, no process waits forever, no resource use grows.

  load.py run MOUNT SECONDS PROCESSES KEYCHAINFS JOURNAL    works, and writes the acknowledged changes to JOURNAL
  load.py verify MOUNT JOURNAL                              compares it with a later mount
"""
import collections
import ctypes
import errno
import hashlib
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time

import rpc

DIRECTORY = "generic-passwords/load"
SHARED = "generic-passwords/shared"
LABEL = "user.kSecAttrLabel"
# The longest time that an operation may take before it is reported as stuck.
PATIENCE = 120
SLOT = struct.Struct("d24s")


class Failure(Exception):
    pass


def value(owner, number, size):
    """Contains its owner and its size, so that a mixture is detected."""
    body = (b"%d %d " % (owner, number)) * (size // 8)
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def is_whole(data):
    digest, _, body = data.partition(b"\n")
    return hashlib.sha256(body).hexdigest().encode() == digest


class Worker:
    """A process with its own names, whose values it knows, and with names that all processes share."""

    def __init__(self, mount, number, slots, deadline):
        self.number, self.slots, self.deadline = number, slots, deadline
        self.directory, self.shared = f"{mount}/{DIRECTORY}", f"{mount}/{SHARED}"
        self.random = random.Random(number)
        # Acknowledged changes by name: the value and its label.
        self.journal = {}
        # The name and the value of a write whose close has failed with ENOKEY.
        self.unsure = None
        # The last steps, with the names that they used, for the report of a failure.
        self.steps = collections.deque(maxlen=60)
        self.serial, self.last_name = 0, 0
        self.counts = collections.Counter()
        self.client = rpc.Client(mount)

    def begin(self, what):
        SLOT.pack_into(self.slots, self.number * SLOT.size, time.time(), what.encode()[:24])

    def work(self):
        steps = [self.write] * 4 + [self.read] * 4 + [self.rename] * 2 + [
            self.append, self.remove, self.exchange, self.list, self.label, self.add, self.find, self.update, self.delete,
            self.write_shared, self.write_shared, self.read_shared, self.read_shared]
        while time.time() < self.deadline or self.unsure:
            step = self.settle if self.unsure else self.random.choice(steps)
            self.begin(step.__name__)
            self.steps.append([step.__name__])
            try:
                step()
                self.counts[step.__name__] += 1
            except OSError as error:
                self.steps[-1].append(errno.errorcode.get(error.errno, str(error)))
                # Locked; or, after a second without space for it, no memory for a value (contract, H1).
                if error.errno not in (errno.ENOKEY, errno.ENOMEM):
                    raise Failure(f"{step.__name__}: {error}") from error
                self.counts[errno.errorcode[error.errno]] += 1
                time.sleep(0.02)
        self.begin("")

    # Its own names.

    def path(self, name):
        self.steps[-1].append(name)
        return f"{self.directory}/{name}"

    def name(self):
        """An existing name, or a new one. None is used again: it would be the former item (contract, F5)."""
        if len(self.journal) >= 6 or self.journal and self.random.randrange(2):
            return self.known()
        self.last_name += 1
        return f"{self.number}-{self.last_name}"

    def known(self):
        return self.random.choice(sorted(self.journal)) if self.journal else None

    def new_value(self):
        self.serial += 1
        size = self.random.choice([8, 100, 1000, 5000, 5000, 200_000])
        return value(self.number, self.serial, size)

    @staticmethod
    def store(path, data, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
        file = os.open(path, flags, 0o600)
        try:
            os.write(file, data)
        except OSError:
            try:
                os.close(file)
            except OSError:
                pass
            raise
        os.close(file)

    @staticmethod
    def load(path):
        with open(path, "rb", buffering=0) as file:
            return b"".join(iter(lambda: file.read(65536), b""))

    def expect(self, name, data):
        if data != self.journal[name][0]:
            raise Failure(f"{name} holds {len(data)} bytes that are not the {len(self.journal[name][0])} acknowledged ones")

    def write(self):
        name, data = self.name(), self.new_value()
        self.change(name, data, lambda: self.store(self.path(name), data))

    def append(self):
        if name := self.known():
            data = self.journal[name][0] + b"+"
            self.change(name, data, lambda: self.store(self.path(name), b"+", os.O_WRONLY | os.O_APPEND))

    def change(self, name, data, call):
        """A close or a request that fails with ENOKEY may have committed: a lock can come between the commit and the reply.
        data: the new value; None if the item is deleted."""
        try:
            call()
        except OSError as error:
            if error.errno == errno.ENOKEY:
                self.unsure = (name, data)
            raise
        self.acknowledge(name, data)

    def acknowledge(self, name, data):
        if data is None:
            self.journal.pop(name, None)
        else:
            self.journal[name] = (data, self.journal.get(name, (b"", ""))[1])

    def settle(self):
        """After such a failure: the new value or the old one, and nothing else."""
        name, data = self.unsure
        try:
            found = self.load(self.path(name))
        except FileNotFoundError:
            found = None
        if found == data:
            self.acknowledge(name, data)
        elif found != self.journal.get(name, (None, ""))[0]:
            raise Failure(f"{name} holds neither the value before a change that failed with ENOKEY nor the one after it")
        self.unsure = None

    def read(self):
        if name := self.known():
            self.expect(name, self.load(self.path(name)))

    def rename(self):
        source, target = self.known(), self.name()
        if source and source != target:
            os.rename(self.path(source), self.path(target))
            data, label = self.journal.pop(source)
            # The item follows the name, unless the source lists its own attributes (contract, F5).
            self.journal[target] = (data, label or self.journal.get(target, (b"", ""))[1])

    def exchange(self):
        if (name := self.known()) and (other := self.known()) != name:
            exchange_names(self.path(name), self.path(other))
            self.journal[name], self.journal[other] = self.journal[other], self.journal[name]

    def remove(self):
        if name := self.known():
            os.unlink(self.path(name))
            del self.journal[name]

    def label(self):
        if name := self.known():
            text = f"label {self.random.randrange(100)}"
            os.setxattr(self.path(name), LABEL, text.encode())
            self.journal[name] = (self.journal[name][0], text)

    def list(self):
        # Names that others swap concurrently may appear twice or not at all; its own must be exact.
        own = sorted(name for name in os.listdir(self.directory) if name.startswith(f"{self.number}-"))
        if own != sorted(self.journal):
            raise Failure(f"a listing has {own}, acknowledged were {sorted(self.journal)}")

    # The same through the API.

    @staticmethod
    def answered(status, what):
        if status == rpc.LOCKED:
            raise OSError(errno.ENOKEY, what)
        if status != 0:
            raise Failure(f"{what}: status {status}")

    def add(self):
        name, data = self.name(), self.new_value()
        self.steps[-1].append(name)
        if name in self.journal:
            status = self.client.add(data, svce="load", acct=name)
            if status != rpc.DUPLICATE:
                self.answered(status, f"add of {name}, which is there")
                raise Failure(f"{name} could be added twice")
        else:
            self.change(name, data, lambda: self.answered(self.client.add(data, svce="load", acct=name), f"add {name}"))

    def find(self):
        if name := self.known():
            found = self.client.value(svce="load", acct=name)
            if not isinstance(found, bytes):
                return self.answered(found, f"find {name}")
            self.expect(name, found)

    def update(self):
        if name := self.known():
            data = self.new_value()
            self.steps[-1].append(name)
            self.change(name, data, lambda: self.answered(
                self.client.update({"svce": "load", "acct": name}, {}, data), f"update {name}"))

    def delete(self):
        if name := self.known():
            self.steps[-1].append(name)
            self.change(name, None, lambda: self.answered(
                self.client.delete(svce="load", acct=name), f"delete {name}"))

    # Shared names: each value is complete, and a process has written it.

    def write_shared(self):
        draft = f"{self.shared}/draft-{self.number}"
        self.store(draft, self.new_value())
        os.rename(draft, f"{self.shared}/{self.random.randrange(4)}")

    def read_shared(self):
        try:
            data = self.load(f"{self.shared}/{self.random.randrange(4)}")
        except FileNotFoundError:
            return
        if not is_whole(data):
            raise Failure(f"a shared value of {len(data)} bytes is a mixture")


def exchange_names(first, second):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, first.encode(), -100, second.encode(), 2) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class Daemon:
    """The process that serves a mount, measured from outside."""

    def __init__(self, process):
        self.process = process
        self.samples = []

    def sample(self):
        with open(f"/proc/{self.process}/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        memory, threads = int(fields["VmRSS"].split()[0]), int(fields["Threads"])
        try:
            descriptors = len(os.listdir(f"/proc/{self.process}/fd"))
        except PermissionError:
            descriptors = 0
        self.samples.append((time.time(), memory, threads, descriptors))

    def check_flat(self):
        """The last third is compared with the second; the first one is warm-up."""
        count = len(self.samples) // 3
        before, after = self.samples[count:2 * count], self.samples[2 * count:]
        for index, what, slack in ((1, "KiB of memory", 16_384), (2, "threads", 4), (3, "descriptors", 8)):
            old, new = (max(sample[index] for sample in part) for part in (before, after))
            print(f"load: at most {old}, then {new} {what}")
            if new > old * 1.1 + slack:
                raise Failure(f"{what} grew from {old} to {new}")


def read_quietly(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError as error:
        return str(error)


def tell_stuck(process, daemon):
    for owner in (process, daemon):
        for task in sorted(os.listdir(f"/proc/{owner}/task")):
            folder = f"/proc/{owner}/task/{task}"
            print(f"{owner}/{task} {read_quietly(folder + '/comm')} {read_quietly(folder + '/wchan')} "
                  f"{read_quietly(folder + '/syscall')}\n{read_quietly(folder + '/stack')}", file=sys.stderr)


def start(mount, number, slots, deadline, journal):
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        worker = Worker(mount, number, slots, deadline)
        worker.work()
        kept = {name: [hashlib.sha256(data).hexdigest(), label] for name, (data, label) in worker.journal.items()}
        with open(f"{journal}.{number}", "w") as file:
            json.dump({"items": kept, "counts": worker.counts}, file)
        code = 0
    except Failure as failure:
        steps = "; ".join(" ".join(step) for step in worker.steps)
        print(f"load: process {number}: {failure}\nload: its last steps: {steps}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        os._exit(code)


def lock_and_unlock(keychainfs, mount, is_locked):
    command = "unlock" if is_locked else "lock"
    done = subprocess.run([keychainfs, command, mount], timeout=PATIENCE, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{command}: {done.stderr}")


def watch(workers, slots, daemon, deadline, keychainfs, mount):
    """Locks now and then, measures the daemon, and waits for the workers for a bounded time."""
    is_locked, next_lock = False, time.time() + 2
    running = dict(workers)
    while running:
        time.sleep(0.2)
        daemon.sample()
        if is_locked or time.time() > next_lock and time.time() < deadline:
            lock_and_unlock(keychainfs, mount, is_locked)
            is_locked = not is_locked
            next_lock = time.time() + random.uniform(1, 4)
        for process, number in list(running.items()):
            if os.waitpid(process, os.WNOHANG)[0]:
                del running[process]
                continue
            begun, what = SLOT.unpack_from(slots, number * SLOT.size)
            if begun and time.time() - begun > PATIENCE:
                print(f"load: process {number} is stuck in {what.rstrip(bytes(1)).decode()}", file=sys.stderr)
                tell_stuck(process, daemon.process)
                raise Failure("somebody waits for ever")
    if is_locked:
        lock_and_unlock(keychainfs, mount, is_locked)


def main_run(mount, seconds, count, keychainfs, journal):
    deadline = time.time() + seconds
    for directory in (DIRECTORY, SHARED):
        os.makedirs(f"{mount}/{directory}", exist_ok=True)
    with open(f"{mount}/.keychainfs/status") as file:
        daemon = Daemon(json.load(file)["pid"])
    slots = mmap.mmap(-1, count * SLOT.size)
    workers = {start(mount, number, slots, deadline, journal): number for number in range(count)}
    try:
        watch(workers, slots, daemon, deadline, keychainfs, mount)
    except BaseException:
        for process in workers:
            os.kill(process, signal.SIGKILL)
        raise
    daemon.check_flat()
    join(count, journal)


def join(count, journal):
    """One journal for all; a worker that failed has written none."""
    items, counts = {}, collections.Counter()
    for number in range(count):
        try:
            with open(f"{journal}.{number}") as file:
                kept = json.load(file)
        except FileNotFoundError:
            raise Failure(f"process {number} failed")
        items |= kept["items"]
        counts += collections.Counter(kept["counts"])
    with open(journal, "w") as file:
        json.dump({"items": items, "operations": sum(counts.values())}, file)
    print(f"load: {dict(sorted(counts.items()))}")


def main_verify(mount, journal):
    with open(journal) as file:
        kept = json.load(file)
    directory = f"{mount}/{DIRECTORY}"
    names = set(os.listdir(directory))
    if names != set(kept["items"]):
        raise Failure(f"names that differ: {sorted(names ^ set(kept['items']))}")
    for name, (digest, label) in kept["items"].items():
        if hashlib.sha256(Worker.load(f"{directory}/{name}")).hexdigest() != digest:
            raise Failure(f"{name} does not hold what was acknowledged")
        attributes = os.listxattr(f"{directory}/{name}")
        if label != (os.getxattr(f"{directory}/{name}", LABEL).decode() if LABEL in attributes else ""):
            raise Failure(f"{name} has another label than was acknowledged")
    print(f"operations: {kept['operations']}")


if __name__ == "__main__":
    try:
        if sys.argv[1] == "run":
            main_run(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6])
        else:
            main_verify(sys.argv[2], sys.argv[3])
    except Failure as failure:
        print(f"load: {failure}", file=sys.stderr)
        sys.exit(1)
