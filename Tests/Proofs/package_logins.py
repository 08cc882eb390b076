#!/usr/bin/python3
"""Real logins in the container of the proof `package`, as root: on a terminal (login), by ssh, with sudo, su and a locked screen.

Usage: package_logins.py lingering | sessions | unit
  lingering  the user unit is enabled, the user lingers, the login script is enabled
  sessions   the login script alone
  unit       the user unit alone, without lingering
Prints `ok: TITLE` for each case that holds; ends with 1 at the first that does not.
"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

USER, PASSWORD, KEYCHAIN = "alice", "correct horse", "/home/alice/Keychain"
ITEM = KEYCHAIN + "/generic-passwords/example.com/bob"


def ok(title, holds, detail=""):
    if not holds:
        sys.exit(f"FAIL: {title}: {detail}")
    print(f"ok: {title}", flush=True)


def run(*command, user=USER):
    return subprocess.run(["runuser", "-u", user, "--", *command], capture_output=True, text=True)


def state():
    """`unlocked`, `locked`, or `unmounted`."""
    if not any(f" {KEYCHAIN} fuse.keychainfs " in line for line in open("/proc/self/mounts")):
        return "unmounted"
    code = run("keychainfs", "status", "--quiet", KEYCHAIN).returncode
    return {0: "unlocked", 23: "locked"}.get(code, f"status {code}")


def becomes(title, wanted, seconds=60):
    """The state is `wanted` within some seconds, and still after another one."""
    end = time.monotonic() + seconds
    while state() != wanted and time.monotonic() < end:
        time.sleep(0.2)
    time.sleep(1)
    ok(title, state() == wanted, f"{state()}, not {wanted}")


def stays(title, wanted):
    time.sleep(3)
    ok(title, state() == wanted, f"{state()}, not {wanted}")


class Session:
    """A login on a new terminal, until `end`."""

    def __init__(self, *command, password=PASSWORD):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.environ["TERM"] = "dumb"
            os.execvp(command[0], command)
        self.seen = ""
        self.answer(r"[Pp]assword: ?", password)

    @staticmethod
    def console(**options):
        return Session("login", USER, **options)

    @staticmethod
    def ssh(**options):
        return Session("ssh", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", f"{USER}@127.0.0.1", **options)

    def wait(self, pattern, seconds=90):
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.seen)):
            if time.monotonic() > end:
                sys.exit(f"FAIL: no {pattern!r} on the terminal: {self.seen[-2000:]!r}")
            if select.select([self.terminal], [], [], 0.5)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    # login hangs up its terminal and opens it again: between the two no process has it open.
                    if self.has_ended():
                        sys.exit(f"FAIL: the terminal ended before {pattern!r}: {self.seen[-2000:]!r}")
                    time.sleep(0.05)
        self.seen = self.seen[found.end():]
        return found

    def has_ended(self):
        return os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def answer(self, pattern, text):
        self.wait(pattern)
        # login and sudo discard the input from before they turned the echo off.
        time.sleep(0.3)
        os.write(self.terminal, (text + "\n").encode())

    def type(self, line):
        os.write(self.terminal, (line + "\n").encode())

    def run(self, command, *answers):
        """Runs a command of the shell, which asks for `answers`; returns its exit code and output."""
        self.type(f"{command} > ~/output 2>&1; echo \"<$?>\"" if not answers else f"{command}; echo \"<$?>\"")
        for pattern, text in answers:
            self.answer(pattern, text)
        code = int(self.wait(r"<(\d+)>").group(1))
        return code, open(f"/home/{USER}/output").read() if not answers else ""

    def expect(self, title, command, *answers, output=None):
        code, said = self.run(command, *answers)
        ok(title, code == 0 and (output is None or said.strip() == output), f"{command}: {code}, {said}")

    def end(self):
        self.type("exit")
        end = time.monotonic() + 90
        while time.monotonic() < end:
            if os.waitpid(self.process, os.WNOHANG)[0]:
                os.close(self.terminal)
                return
            if select.select([self.terminal], [], [], 0.2)[0]:
                try:
                    os.read(self.terminal, 65536)
                except OSError:
                    time.sleep(0.1)
        sys.exit("FAIL: the session does not end")


def session_of(user):
    return run("loginctl", "show-user", user, "--property=Display", "--value", user="root").stdout.strip()


def unit_property(name, unit="keychainfs@login"):
    return run("env", f"XDG_RUNTIME_DIR=/run/user/{os.stat('/home/alice').st_uid}", "systemctl", "--user", "show",
               f"--property={name}", "--value", unit).stdout.strip()


def lingering():
    ok("after a reboot the unit has mounted it, locked", state() == "locked", state())
    first = Session.console()
    becomes("a login unlocks what the unit has mounted", "unlocked")
    first.expect("an item after the login", f"cat {ITEM}", output="new")
    first.end()
    becomes("the last logout of a user who lingers locks it", "locked")
    ok("the unit is active", unit_property("ActiveState") == "active", unit_property("ActiveState"))


def sessions():
    ok("nothing is mounted before the login", state() == "unmounted", state())
    first = Session.console()
    becomes("a login mounts and unlocks", "unlocked")
    first.expect("an item after the login", f"cat {ITEM}", output="new")
    first.expect("the user locks by hand", "keychainfs lock")
    first.expect("sudo takes the password", "sudo -k true", (r"password for alice: ?", PASSWORD))
    stays("and unlocks nothing", "locked")
    first.expect("su takes the password", "su -c true alice", (r"Password: ?", PASSWORD))
    stays("and unlocks nothing", "locked")

    second = Session.ssh()
    becomes("a second login, by ssh, unlocks", "unlocked")
    second.end()
    stays("the end of the second session leaves it unlocked", "unlocked")

    run("loginctl", "lock-session", session_of(USER), user="root")
    becomes("the locked screen locks it", "locked")
    first.type("vlock -c; echo \"<$?>\"")
    first.wait(r"press \[?ENTER\]? to unlock")
    first.type("")
    first.answer(r"[Pp]assword: ?", PASSWORD)
    ok("the screen is unlocked", first.wait(r"<(\d+)>").group(1) == "0")
    becomes("and the keychain with it", "unlocked")

    second = Session.ssh()
    second.wait(r"\$ ")
    first.end()
    stays("the end of the first session leaves it unlocked", "unlocked")
    second.expect("the second session reads an item", f"cat {ITEM}", output="new")
    second.end()
    becomes("the last logout unmounts it", "unmounted")

    wrong = Session.console(password="wrong horse")
    wrong.wait("Login incorrect")
    os.kill(wrong.process, signal.SIGKILL)
    os.waitpid(wrong.process, 0)
    stays("a wrong password mounts nothing", "unmounted")

    first = Session.ssh()
    becomes("a login by ssh mounts and unlocks", "unlocked")
    first.expect("a program remains in the mount", f"(cd {KEYCHAIN} && exec setsid nohup sleep 1000 > /dev/null 2>&1 < /dev/null &)")
    first.end()
    becomes("the last logout locks a keychain that is in use", "locked")
    code = run("cat", ITEM)
    ok("an item after it", "Required key not available" in code.stderr, code)
    first = Session.console()
    becomes("the next login unlocks it", "unlocked")
    first.expect("the program ends", "pkill -x sleep")
    first.end()
    becomes("and the last logout unmounts it", "unmounted")


def unit():
    """With the script too if it is enabled, which the caller has decided."""
    first = Session.console()
    first.wait(r"\$ ")
    has_script = subprocess.run(["grep", "-q", "keychainfs-login", "/etc/pam.d/common-auth"]).returncode == 0
    if has_script:
        becomes("the login script and the unit: unlocked", "unlocked")
        # The manager of the user starts it after the login.
        end = time.monotonic() + 30
        while unit_property("Result") != "exec-condition" and time.monotonic() < end:
            time.sleep(0.2)
        ok("the unit is skipped", unit_property("Result") == "exec-condition" and unit_property("ActiveState") == "inactive",
           unit_property("Result") + unit_property("ActiveState"))
    else:
        becomes("the unit alone: locked", "locked")
    time.sleep(4)
    ok("no restart", unit_property("NRestarts") == "0", unit_property("NRestarts"))
    code, said = first.run("systemctl --user start keychainfs@absent")
    ok("without a keychain the unit fails", code != 0, said)
    time.sleep(4)
    ok("once", unit_property("NRestarts", "keychainfs@absent") == "0" and unit_property("ActiveState", "keychainfs@absent") == "failed",
       unit_property("NRestarts", "keychainfs@absent"))
    message, said = "Make one with 'keychainfs create --keychain absent'", ""
    # The journal takes the lines of the process and those of the manager from two sockets.
    end = time.monotonic() + 30
    while message not in said and time.monotonic() < end:
        _, said = first.run("systemctl --user status --no-pager -l keychainfs@absent")
    ok("its status shows the message", message in said, said)
    first.end()
    becomes("the last logout unmounts it", "unmounted")


{"lingering": lingering, "sessions": sessions, "unit": unit}[sys.argv[1]]()
