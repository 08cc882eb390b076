"""A directory of this run, with its processes and mounts, all of which are removed at the end, even after an error."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """A signal asked for the end."""


class BenchmarkError(Exception):
    """An error that ends the run, with a message for the user."""


class Scratch:
    def __init__(self, parent):
        self._parent = parent
        self.directory = None
        # Processes that keep running, and their mount points; None without a mount.
        self._processes = {}
        # Mount points of daemons that are not children of this process.
        self._mounts = []
        self._farewells = []
        self._numbers = {}
        self._is_recording = False
        self._pending = None

    def __enter__(self):
        self._handlers = {number: signal.signal(number, self._interrupt) for number in SIGNALS}
        with self._uninterrupted():
            self.directory = tempfile.mkdtemp(prefix="keychainfs-benchmark.", dir=self._parent)
        return self

    def __exit__(self, *_):
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        for farewell in reversed(self._farewells):
            farewell()
        for mount_point in reversed(self._mounts):
            unmount(mount_point)
        for process in reversed(list(self._processes)):
            self.end(process)
        self._remove()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _interrupt(self, number, _):
        if self._is_recording:
            self._pending = number
        else:
            raise Interrupted(signal.Signals(number).name)

    @contextlib.contextmanager
    def _uninterrupted(self):
        """A signal is handled when the current operation has been recorded."""
        self._is_recording = True
        try:
            yield
        finally:
            self._is_recording = False
        if self._pending is not None:
            raise Interrupted(signal.Signals(self._pending).name)

    def path(self, name):
        return os.path.join(self.directory, name)

    def make_directory(self, stem):
        """A new one."""
        number = self._numbers[stem] = self._numbers.get(stem, 0) + 1
        path = self.path(f"{stem}.{number}")
        os.mkdir(path, 0o700)
        return path

    def environment(self, home=None, **more):
        """The caller's search paths of programs, without the rest of its environment."""
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
        return {**kept, "LC_ALL": "C.UTF-8", "HOME": home or self.directory, **more}

    def _spawn(self, command, environment, **files):
        """In a separate session, which the terminal's ^C does not reach: this process ends it."""
        with self._uninterrupted():
            process = subprocess.Popen(command, env=environment, start_new_session=True, **files)
            self._processes[process] = None
        return process

    def start(self, command, environment, text=None):
        """A process that stays."""
        with open(self.path("daemon.log"), "ab") as log:
            stdin = subprocess.PIPE if text else subprocess.DEVNULL
            process = self._spawn(command, environment, stdin=stdin, stdout=log, stderr=log)
        if text:
            with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
                pipe.write(text.encode())
        return process

    def run(self, *command, environment, text="", timeout=600):
        """A command that has to succeed; what it prints."""
        pipe = subprocess.PIPE
        process = self._spawn(command, environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        try:
            output, errors = process.communicate(text, timeout)
        except BaseException:
            self.end(process)
            raise
        self._processes.pop(process)
        if process.returncode:
            raise BenchmarkError(f"{' '.join(command[:4])}… failed ({process.returncode}): {errors.strip()}")
        return output

    def run_aloud(self, *command):
        """Runs a command that must succeed, in the caller's environment; its output goes to the progress output."""
        environment = {**os.environ, "TMPDIR": self.directory}
        process = self._spawn(command, environment, stdin=subprocess.DEVNULL, stdout=sys.stderr)
        try:
            process.wait()
        except BaseException:
            self.end(process)
            raise
        self._processes.pop(process)
        if process.returncode:
            raise BenchmarkError(f"{' '.join(command[:4])}… failed ({process.returncode})")

    def await_mount(self, mount_point, process, seconds=300):
        """Waits until the process has mounted its file system."""
        self._processes[process] = mount_point
        deadline = time.monotonic() + seconds
        while not is_mounted(mount_point):
            if process.poll() is not None or time.monotonic() > deadline:
                raise BenchmarkError(f"{process.args[0]} did not mount: {self._end_of_log()}")
            time.sleep(0.005)

    def expect_mount(self, mount_point):
        """A command is about to mount there, and to leave its daemon in the background."""
        self._mounts.append(mount_point)

    def at_end(self, farewell):
        """Something to do before processes are ended; it must not raise."""
        self._farewells.append(farewell)

    def end(self, process):
        """Unmounts its file system, after which a daemon exits; ends a process without a mount."""
        mount_point = self._processes.get(process)
        if mount_point:
            unmount(mount_point)
        for number in (None if mount_point else signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            if number:
                signal_group(process, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
                break
        self._processes.pop(process, None)

    def _end_of_log(self):
        with open(self.path("daemon.log"), errors="replace") as log:
            return log.read()[-500:].strip()

    def _remove(self):
        if not self.directory:
            return
        # A mount that would not go keeps its directory: nothing is removed through it.
        with open("/proc/self/mounts") as mounts:
            mounted = self.directory in mounts.read()
        if not mounted:
            shutil.rmtree(self.directory, ignore_errors=True)
        if os.path.exists(self.directory):
            print(f"benchmark: {self.directory} is left; remove it by hand", file=sys.stderr)


def signal_group(process, number):
    """Ends the process and its descendants."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def is_mounted(path):
    with open("/proc/self/mountinfo") as mounts:
        return any(line.split()[4] == path for line in mounts)


def unmount(mount_point):
    """Immediately, if it is busy for more than two seconds."""
    for attempt in range(20):
        if not is_mounted(mount_point):
            return
        lazy = ["-z"] if attempt == 19 else []
        subprocess.run(["fusermount3", "-u", *lazy, mount_point], stderr=subprocess.DEVNULL, start_new_session=True)
        if is_mounted(mount_point):
            time.sleep(0.1)
