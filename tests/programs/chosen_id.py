"""Runs a command with a given process ID (clone3(2), set_tid) until the input ends.

It says "ready", starts the command once it gets a line and the ID is free, and says "started".
"""

import ctypes
import os
import signal
import sys
import time

CLONE3 = 435
PR_SET_PDEATHSIG = 1
# The child goes on in Python, so it has to hold the lock of the interpreter.
libc = ctypes.PyDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def fork_as(pid: int) -> int:
    """Fork as fork(2) does. Raises FileExistsError while the ID is in use."""
    ids = (ctypes.c_int * 1)(pid)
    arguments = (ctypes.c_uint64 * 11)()
    arguments[4], arguments[8], arguments[9] = signal.SIGCHLD, ctypes.addressof(ids), len(ids)
    found = libc.syscall(
        ctypes.c_long(CLONE3), arguments, ctypes.c_size_t(ctypes.sizeof(arguments))
    )
    if found == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(found)


def fork_when_free(pid: int) -> int:
    """Fork as soon as the ID is free."""
    while True:
        try:
            return fork_as(pid)
        except FileExistsError:
            time.sleep(0.001)


def start(pid: int, command: list[str]) -> None:
    """Start a command; return once it is executed."""
    reading, writing = os.pipe()
    if fork_when_free(pid) == 0:
        try:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            os.execvp(command[0], command)
        finally:
            os._exit(127)
    os.close(writing)
    # The other end closes at the execution.
    assert os.read(reading, 1) == b""
    os.close(reading)


def main() -> None:
    """Run the command of the arguments."""
    pid, command = int(sys.argv[1]), sys.argv[2:]
    print("ready", flush=True)
    sys.stdin.readline()
    start(pid, command)
    print("started", flush=True)
    sys.stdin.read()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
