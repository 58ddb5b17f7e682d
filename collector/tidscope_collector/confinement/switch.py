"""Helper that sets kernel.task_delayacct, the collector's only process with CAP_SYS_ADMIN.

The kernel requires that capability at each write to the switch. The helper is forked at the start
with the file open, and can only write 0 or 1 to it.
"""

import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from tidscope_confinement import capabilities, seccomp

from tidscope_collector.confinement.calls import switch_calls

VALUES = (b"0", b"1")
_ANSWER_BYTES = 4


class SwitchHelper:
    """The collector's connection to the helper. Thread-safe.

    Args:
        connection: connection to the helper.
        pid: process ID of the helper.
    """

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self._connection = connection
        self.pid = pid
        self._lock = threading.Lock()

    def write(self, value: bytes) -> None:
        """Write a value to the switch.

        Raises:
            OSError: the kernel's error; EPIPE or ECONNRESET if the helper has ended.
        """
        with self._lock:
            self._connection.sendall(value)
            answer = self._connection.recv(_ANSWER_BYTES)
        if len(answer) != _ANSWER_BYTES:
            raise ConnectionResetError("the helper that sets the switch has ended")
        code = int.from_bytes(answer, "little")
        if code:
            raise OSError(code, os.strerror(code))

    def close(self) -> None:
        """Close the connection, which ends the helper, and wait for its end."""
        self._connection.close()
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def start_switch_helper(path: str) -> SwitchHelper | None:
    """Fork the helper. Return None if this process may not set the switch.

    Call it while the process has one thread.

    Args:
        path: path of the switch.
    """
    if capabilities.SYS_ADMIN not in capabilities.held():
        return None
    try:
        switch = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return None
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            _become_helper(theirs, switch)
        finally:
            os._exit(1)
    theirs.close()
    os.close(switch)
    return SwitchHelper(ours, pid)


def _become_helper(connection: socket.socket, switch: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the helper ends with the collector, not before
    capabilities.harden()
    capabilities.keep(frozenset({capabilities.SYS_ADMIN}))
    with suppress(seccomp.UnsupportedProcessorError, OSError):
        seccomp.install(switch_calls())
    serve(connection.recv, connection.sendall, lambda value: os.pwrite(switch, value, 0))


def serve(
    receive: Callable[[int], bytes],
    send: Callable[[bytes], None],
    write: Callable[[bytes], object],
) -> None:
    """Write each requested value if it is valid for the switch, and answer with an errno or 0."""
    while value := receive(1):
        code = 0
        try:
            if value not in VALUES:
                break
            write(value)
        except OSError as error:
            code = error.errno or 1
        send(code.to_bytes(_ANSWER_BYTES, "little"))
