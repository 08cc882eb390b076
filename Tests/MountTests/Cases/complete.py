"""Types a line and a tab into a real shell on a terminal, presses Return, and prints the arguments that the command received.

complete.py SHELL SCRIPTS PATH LOG DIRECTORY TEXT: the shell loads its script from SCRIPTS, or finds it where a package installs it
if SCRIPTS is empty, and works in DIRECTORY; PATH begins with the directory of a `keychainfs` that writes its arguments to LOG, and a
byte to LOG.asked after each completion. LOG.shown has what the terminal showed.
"""
import os
import pty
import select
import sys
import time

shell, scripts, path, log, directory, text = sys.argv[1:]
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f"source {scripts}/keychainfs.bash; bind 'set bell-style none'"),
    "zsh": (["zsh", "-f", "-i"], f"fpath=({scripts} $fpath); autoload -Uz compinit; compinit -u -D; unsetopt beep"),
    "fish": (["fish", "--no-config", "-i"], f"function fish_prompt; echo 'R''EADY> '; end; source {scripts}/keychainfs.fish"),
}
PROMPT = b"READY> "

INSTALLED = {
    "bash": (SHELLS["bash"][0], "source /usr/share/bash-completion/bash_completion; bind 'set bell-style none'"),
    "zsh": (SHELLS["zsh"][0], "autoload -Uz compinit; compinit -u -D; unsetopt beep"),
    "fish": (["fish", "-i"], "function fish_prompt; echo 'R''EADY> '; end"),
}


def read(descriptor, until, seconds):
    """Reads until the text appears, for at most `seconds`."""
    shown, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and until not in shown:
        if select.select([descriptor], [], [], 0.1)[0]:
            try:
                shown += os.read(descriptor, 65536)
            except OSError:
                # The shell has ended (EIO, pty(7)).
                return shown
    return shown


def sleeps(process):
    """Returns whether all threads of the shell sleep and it has no children: it waits for input."""
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/stat") as stat, open(f"/proc/{process}/task/{thread}/children") as children:
                if stat.read().rpartition(")")[2].split()[0] != "S" or children.read():
                    return False
    except OSError:
        # A thread has exited in the meantime.
        return False
    return True


def read_until_idle(descriptor, process):
    """Reads until the shell has slept for half a second without output. On a busy machine a shell that has work is runnable."""
    shown, end, idle_samples = b"", time.monotonic() + 30, 0
    while time.monotonic() < end and idle_samples < 10:
        new = read(descriptor, b"\0", 0.05)
        shown += new
        idle_samples = idle_samples + 1 if not new and sleeps(process) else 0
    return shown


arguments, setup = (SHELLS if scripts else INSTALLED)[shell]
process, terminal = pty.fork()
if process == 0:
    os.chdir(directory)
    environment = dict(os.environ, PATH=path, TERM="dumb" if shell != "fish" else "xterm", PS1="", PROMPT="", INPUTRC="/dev/null")
    environment["fish_greeting"] = ""
    os.execvpe(arguments[0], arguments, environment)
os.write(terminal, setup.encode() + b"\n")
if shell != "fish":
    os.write(terminal, b"PS1='READY''> '\n")
if PROMPT not in read(terminal, PROMPT, 30):
    raise SystemExit(f"{shell} does not start")
read_until_idle(terminal, process)
os.write(terminal, text.encode() + b"\t")
# Each tab asks the program once; then the shell shows the result.
shown, end = b"", time.monotonic() + 30
while not os.path.exists(log + ".asked") or os.path.getsize(log + ".asked") < text.count("\t") + 1:
    if time.monotonic() > end:
        raise SystemExit(f"{shell} does not ask the program: {shown!r}")
    shown += read(terminal, b"\0", 0.1)
shown += read_until_idle(terminal, process)
os.write(terminal, b"\n")
end = time.monotonic() + 10
while not os.path.exists(log) and time.monotonic() < end:
    read(terminal, b"\0", 0.1)
os.close(terminal)
os.kill(process, 9)
os.waitpid(process, 0)
with open(log + ".shown", "wb") as file:
    file.write(shown)
if not os.path.exists(log):
    raise SystemExit(f"{shell} ran no command: {shown!r}")
sys.stdout.write(open(log, encoding="utf-8", newline="").read())
