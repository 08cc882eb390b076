"""terminal.py COMMAND… -- (PROMPT ANSWER)…: runs the command at a terminal, waits for each prompt and types the answer and Return, unless
the answer ends with Ctrl-D, Ctrl-X or Return (of programs that read single keys). Prints all output and ends with the code of the command."""
import os, pty, select, sys, time
split = sys.argv.index("--")
command, talk = sys.argv[1:split], sys.argv[split + 1:]
child, terminal = pty.fork()
if child == 0: os.execv(command[0], command)
output, deadline, seen = b"", time.monotonic() + 60, 0
def read():
    global output
    if not select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]: sys.exit(f"no end: {output!r}")
    try: new = os.read(terminal, 4096)
    except OSError: new = b""
    output += new
    return new
for prompt, answer in zip(talk[::2], talk[1::2]):
    while prompt.encode() not in output[seen:]:
        if not read(): sys.exit(f"no prompt {prompt!r} in {output!r}")
    seen = output.index(prompt.encode(), seen) + len(prompt.encode())
    os.write(terminal, b"\x03" if answer == "^C" else answer.encode() + (b"" if answer.endswith(("\x04", "\r", "\x18")) else b"\n"))
while read(): pass
sys.stdout.buffer.write(output.replace(b"\r", b""))
status = os.waitpid(child, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) & 0x7F)
