"""Starts a program under ptrace(2) and prints whether its memory can be read at its first instruction: readable or refused.

traced_start.py PROGRAM [ARGUMENT…]
"""
import ctypes
import os
import sys

TRACEME, KILL = 0, 8
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

process = os.fork()
if process == 0:
    libc.ptrace(TRACEME, 0, None, None)
    os.execv(sys.argv[1], sys.argv[1:])
_, status = os.waitpid(process, 0)
if not os.WIFSTOPPED(status):
    sys.exit("the program did not stop at its start")
# It is stopped at the end of execve(2).
try:
    with open(f"/proc/{process}/mem", "rb") as memory, open(f"/proc/{process}/maps", encoding="ascii") as maps:
        address = int(maps.readline().split("-")[0], 16)
        memory.seek(address)
        memory.read(8)
    result = "readable"
except PermissionError:
    result = "refused"
libc.ptrace(KILL, process, None, None)
os.waitpid(process, 0)
print(result)
