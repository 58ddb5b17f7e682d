"""Starts the collector for `tidscope up`, and restarts it, with the required privileges.

`tidscope up` drops root's privileges; this small process keeps those of a collector. Root fixes the
command before. An attacker who takes over `tidscope up` can therefore only start and end the
collector.

`python -m tidscope_backend.collector_launcher DESCRIPTOR` reads a line of JSON from a socket (the
command and its environment), followed by bytes START, TERMINATE and KILL. It writes lines: the
process ID of a started collector, and `ended CODE`, negative for a signal. It ends with the
collector when the socket's other end is closed.

Backend and launcher are confined here. The backend keeps no capability, the launcher those of a
collector's set-up.
"""

import errno
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from tidscope_confinement import capabilities, seccomp
from tidscope_wire.readiness import is_readable

from tidscope_backend.processes import exec_program, terminate_with_parent

START, TERMINATE, KILL = b"s", b"t", b"k"
END_SECONDS = 15.0
"""Time a collector may take to end before it is killed, in seconds."""


class _Launcher:
    def __init__(
        self, control: socket.socket, command: Sequence[str], environ: dict[str, str]
    ) -> None:
        self._control = control
        self._command = command
        self._environ = environ
        self._pid = 0
        self._pidfd = -1

    def serve(self) -> None:
        """Execute commands until the socket's other end is closed."""
        asked = b"-"
        while asked:
            waited = select.poll()
            waited.register(self._control, select.POLLIN)
            if self._pid:
                waited.register(self._pidfd, select.POLLIN)
            ready = {descriptor for descriptor, _ in waited.poll()}
            if self._pid and self._pidfd in ready:
                self._ended()
            if self._control.fileno() in ready:
                asked = self._control.recv(1)
                self._obey(asked)
        if self._pid:
            os.kill(self._pid, signal.SIGTERM)
            if not is_readable(self._pidfd, END_SECONDS):
                os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def _obey(self, asked: bytes) -> None:
        if asked == START and not self._pid:
            self._start()
        elif asked in (TERMINATE, KILL) and self._pid:
            os.kill(self._pid, signal.SIGTERM if asked == TERMINATE else signal.SIGKILL)

    def _start(self) -> None:
        own = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            self._become_collector(own)
        self._pidfd = os.pidfd_open(self._pid)
        self._say(str(self._pid))

    def _become_collector(self, launcher: int) -> NoReturn:
        try:
            os.setsid()
            terminate_with_parent(launcher)
            with Path(os.devnull).open("rb") as empty:
                os.dup2(empty.fileno(), 0)
            exec_program(self._command, environ=self._environ)
        except Exception as error:
            sys.stderr.write(f"the collector cannot be started: {error}\n")
            sys.stderr.flush()
        os._exit(127)

    def _ended(self) -> None:
        _, status = os.waitpid(self._pid, 0)
        os.close(self._pidfd)
        self._pid, self._pidfd = 0, -1
        self._say(f"ended {os.waitstatus_to_exitcode(status)}")

    def _say(self, line: str) -> None:
        # The other end may be closed already.
        with suppress(OSError):
            self._control.sendall(f"{line}\n".encode())


def main() -> int:
    """Execute commands from the socket."""
    # Terminal signals must reach `tidscope up` only, which ends its children.
    os.setsid()
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    line = b""
    while not line.endswith(b"\n"):
        received = control.recv(65_536)
        if not received:
            return 0
        line += received
    orders = json.loads(line)
    gap = confine_launcher()
    if gap:
        sys.stderr.write(f"tidscope: launcher of the collector: {gap}\n")
    control.sendall(b"ready\n")
    _Launcher(control, orders["command"], orders["environ"]).serve()
    return 0


_REFUSED = """
    ptrace process_vm_writev pidfd_getfd open_by_handle_at mount umount2 pivot_root chroot
    move_mount open_tree fsopen fsmount fsconfig mount_setattr setns unshare init_module
    finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff userfaultfd
    io_uring_setup add_key keyctl request_key
"""
"""System calls that neither a backend nor a collector ever needs."""
_OF_COLLECTORS = "bpf perf_event_open process_vm_readv"
"""System calls that a collector needs for its set-up, and the program that takes stacks."""
_NAMESPACES = 0x7E020080  # CLONE_NEW*, sched.h

LAUNCHER = frozenset({*capabilities.NAMES, capabilities.SETGID, capabilities.SETPCAP})
"""Capabilities of the launcher: a collector's for its set-up, and two for dropping others."""


def confine_backend() -> str:
    """Permanently drop all capabilities and the system calls that no backend needs. Idempotent.

    The process must be single-threaded.

    Returns:
        Why system calls are not filtered, or "".

    Raises:
        OSError: capabilities cannot be dropped.
    """
    capabilities.harden()
    capabilities.keep(frozenset())
    return _filter(f"{_REFUSED} {_OF_COLLECTORS}")


def confine_launcher() -> str:
    """Keep the capabilities of LAUNCHER; otherwise as `confine_backend`."""
    capabilities.harden(LAUNCHER)
    capabilities.keep(LAUNCHER)
    return _filter(_REFUSED)


def _filter(refused: str) -> str:
    try:
        seccomp.install(
            seccomp.Calls(
                conditional={
                    "clone": seccomp.Rule(((seccomp.Argument(0, 0, _NAMESPACES),),)),
                },
                # The C library falls back to clone, whose flags a filter can inspect.
                refused=dict.fromkeys(refused.split(), errno.EPERM) | {"clone3": errno.ENOSYS},
                otherwise=seccomp.ALLOW,
            )
        )
    except (OSError, seccomp.UnsupportedProcessorError) as error:
        return f"system calls are not filtered: {error}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
