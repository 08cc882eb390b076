"""Processes that are started in a scratch directory end with it, and no file or process remains."""
import os
import signal
import tempfile
import time
import unittest

from harness.scratch import BenchmarkError, Interrupted, Scratch


class ScratchTests(unittest.TestCase):
    def setUp(self):
        parent = tempfile.TemporaryDirectory()
        self.addCleanup(parent.cleanup)
        self.parent = parent.name

    def assert_gone(self, process):
        self.assertIsNotNone(process.poll())
        self.assertEqual(os.listdir(self.parent), [])

    def start_two(self, scratch):
        """A shell and its child."""
        pipe = os.path.join(scratch.directory, "pipe")
        os.mkfifo(pipe)
        process = scratch.start(["sh", "-c", f"sleep 60 & echo $! > {pipe}; wait"], scratch.environment())
        with open(pipe) as numbers:
            return process, int(numbers.read())

    def test_processes_end_with_it(self):
        with Scratch(self.parent) as scratch:
            process, child = self.start_two(scratch)
        self.assert_gone(process)
        self.assertTrue(ends(child))

    def test_a_signal_ends_everything(self):
        before = signal.getsignal(signal.SIGTERM)
        with self.assertRaises(Interrupted), Scratch(self.parent) as scratch:
            process, child = self.start_two(scratch)
            os.kill(os.getpid(), signal.SIGTERM)
        self.assert_gone(process)
        self.assertTrue(ends(child))
        self.assertEqual(signal.getsignal(signal.SIGTERM), before)

    def test_a_signal_waits_until_what_was_begun_is_on_record(self):
        recorded = False
        with self.assertRaises(Interrupted), Scratch(self.parent) as scratch:
            with scratch._uninterrupted():
                os.kill(os.getpid(), signal.SIGINT)
                recorded = True
        self.assertTrue(recorded)

    def test_a_command_that_fails_says_so(self):
        with Scratch(self.parent) as scratch:
            with self.assertRaisesRegex(BenchmarkError, r"failed \(3\): no such luck"):
                scratch.run("sh", "-c", "echo no such luck >&2; exit 3", environment=scratch.environment())
            self.assertEqual(scratch.run("cat", environment=scratch.environment(), text="given"), "given")

    def test_nothing_of_the_caller_reaches_a_command(self):
        os.environ["GNUPGHOME"] = "elsewhere"
        self.addCleanup(os.environ.pop, "GNUPGHOME")
        with Scratch(self.parent) as scratch:
            output = scratch.run("sh", "-c", 'echo "$HOME $GNUPGHOME"', environment=scratch.environment())
            self.assertEqual(output.strip(), scratch.directory)


def ends(process, seconds=20):
    """Whether the process ends within `seconds`."""
    deadline = time.monotonic() + seconds
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(process)


def is_running(process):
    """A process that has ended may wait for its new parent to look."""
    try:
        with open(f"/proc/{process}/stat") as status:
            return status.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    unittest.main()
