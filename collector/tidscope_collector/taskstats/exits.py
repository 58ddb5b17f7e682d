"""Listeners for the totals of threads that exit: one socket a CPU, registered with the kernel.

The kernel sends a record for each exiting thread to whoever registered for its CPU. The sampler
reads the sockets, and counts what the kernel dropped.
"""

import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tidscope_collector.taskstats.link import Kernel, TaskstatsUnavailableError, open_socket
from tidscope_collector.taskstats.messages import (
    ATTR_DEREGISTER_CPUMASK,
    ATTR_REGISTER_CPUMASK,
    command,
    error_code,
    parse,
)
from tidscope_collector.taskstats.refusals import MalformedReplyError

EXIT_BUFFER_BYTES = 64 * 1024 * 1024
_REGISTER_S = 2.0
_MESSAGE_BYTES = 64 * 1024
_SELF_TEST_S = 60.0


def parse_cpu_list(text: str) -> list[int]:
    """The CPUs of a list such as 0-3,8.

    Raises:
        ValueError: it is no such list.
    """
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, dash, last = part.partition("-")
        cpus += range(int(first), int(last if dash else first) + 1)
    return cpus


def possible_cpus(sys: Path = Path("/sys")) -> list[int]:
    """CPUs that may exist: the kernel refuses a mask that names another (ERANGE)."""
    return parse_cpu_list((sys / "devices/system/cpu/possible").read_text())


class ExitSockets:
    """One registered socket a CPU.

    Args:
        kernel: what the probe found.
        cpus: whose exits are wanted.
        buffer_bytes: receive buffer of each socket.
        open_link: makes a socket with a receive buffer of so many bytes.

    Raises:
        TaskstatsUnavailableError: the kernel refused to register us.
    """

    def __init__(
        self,
        kernel: Kernel,
        cpus: Sequence[int],
        buffer_bytes: int = EXIT_BUFFER_BYTES,
        open_link: Callable[[int], socket.socket] = open_socket,
    ) -> None:
        self._kernel = kernel
        self._sockets: dict[int, socket.socket] = {}
        try:
            for cpu in cpus:
                link = self._sockets[cpu] = open_link(buffer_bytes)
                self._register(link, cpu)
                link.setblocking(False)
        except OSError as error:
            self.close()
            raise TaskstatsUnavailableError(
                f"exit records are not available: {error}; they need the initial PID and "
                "network namespaces and CAP_NET_ADMIN"
            ) from error

    def _register(self, link: socket.socket, cpu: int) -> None:
        link.settimeout(_REGISTER_S)
        link.send(command(self._kernel.family, ATTR_REGISTER_CPUMASK, f"{cpu}\0".encode(), 1))
        code = None
        while code is None:  # records may come before the answer
            code = error_code(link.recv(_MESSAGE_BYTES))
        if code:
            raise OSError(code, os.strerror(code))

    @property
    def links(self) -> list[tuple[int, int]]:
        """CPU and descriptor of each socket."""
        return [(cpu, link.fileno()) for cpu, link in self._sockets.items()]

    def exited(self) -> set[int]:
        """Take what is there; return thread ids of the records."""
        layout, found = self._kernel.layout, set[int]()
        for link in self._sockets.values():
            while True:
                try:
                    message = link.recv(_MESSAGE_BYTES)
                except OSError:
                    break
                try:
                    records = parse(message, self._kernel.family)
                except MalformedReplyError:
                    continue
                for record in records:
                    at = record.offset + layout.offsets["ac_pid"]
                    found.update(struct.unpack_from("=I", message, at))
        return found

    def close(self) -> None:
        """Deregister and close."""
        for cpu, link in self._sockets.items():
            try:
                link.setblocking(False)
                link.send(
                    command(self._kernel.family, ATTR_DEREGISTER_CPUMASK, f"{cpu}\0".encode(), 2)
                )
            except OSError:
                pass
            link.close()
        self._sockets.clear()


def exit_self_test(open_exits: Callable[[], ExitSockets]) -> bool:
    """Start a thread and see whether its exit record arrives."""
    sockets = open_exits()
    try:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        reported = thread.native_id
        thread.join()
        # `join` returns before the thread exits; the kernel sends the record before it unlists it.
        listed = Path(f"/proc/self/task/{reported}")
        deadline = time.monotonic() + _SELF_TEST_S
        while True:
            was_listed = listed.exists() and time.monotonic() < deadline
            if reported in sockets.exited():
                return True
            if not was_listed:
                return False
            time.sleep(0.005)
    finally:
        sockets.close()
