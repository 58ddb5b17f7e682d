"""A service of stacks whose program is played by the test."""

import socket
import subprocess
from collections.abc import Callable
from typing import Self

from fake_stacks import status
from processes import wait_until
from tidscope_collector.stacks.program import StackProgram
from tidscope_collector.stacks.service import Batch, StackService
from tidscope_wire.generated.models import StackSampling


class DrivenStacks:
    """Use it in a ``with`` statement.

    Attributes:
        service: the service, which listens.
        reported: states of targets that the service reported, in order.
    """

    def __init__(self) -> None:
        ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._theirs.settimeout(60)
        # `cat` ends with its input, as the program does with its socket.
        self._process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, process_group=0)
        self.service = StackService(StackProgram(ours, self._process.pid))
        self.reported: list[tuple[str, StackSampling]] = []
        self.service.changed = lambda target, state: self.reported.append((target, state))
        self.service.start()

    def command(self) -> bytes:
        """Wait for the next command; empty once the service has closed its end."""
        return self._theirs.recv(16)

    def send(self, *messages: bytes) -> None:
        """Send messages."""
        for message in messages:
            self._theirs.send(message)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so."""
        wait_until(is_so)

    def begin(self) -> None:
        """Play a worker that takes stacks."""
        assert self.command() == b"begin"
        self.send(status("loading"), status("sampling"))
        self.until_state("sampling")

    def until_state(self, state: str) -> None:
        """Wait until the service knows a state of the worker."""
        self.until(lambda: self.service.status is not None and self.service.status.state == state)

    def batches(self, count: int) -> list[Batch]:
        """Wait until the service has so many batches; return them."""
        self.until(lambda: len(self.service.since(0)) >= count)
        return self.service.since(0)

    def hang_up(self) -> None:
        """Close the program's end."""
        self._theirs.close()

    def close(self) -> None:
        """End all."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self.service.close()
        # The service has waited for it; this object has to learn of that.
        self._process.wait()
        self._theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
