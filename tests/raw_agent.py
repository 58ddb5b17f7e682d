"""Speaks to an agent byte by byte, as no proper client would."""

import json
import socket
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from schema_check import check


class RawAgent:
    """A connection to an agent's socket; what comes back is compared with the schemas."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(120)
        self.socket.connect(str(path))
        self._lines = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        """Send as much of it as the agent takes."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # It has closed: what it said before can still be read.

    def answer(self) -> Any:
        """The next line that it sends; None at the end."""
        try:
            text = self._lines.readline()
        except ConnectionResetError:
            return None  # It closed without reading all that was sent.
        if not text:
            return None
        assert text.endswith(b"\n")
        message = json.loads(text)
        kind = "AgentFailure" if "error" in message else "AgentAnswer"
        check("AgentNotice" if "id" not in message else kind, message)
        return message

    def call(self, method: str, number: int = 1, **members: Any) -> Any:
        """Make a call; its answer."""
        message = {"jsonrpc": "2.0", "id": number, "method": method, **members}
        self.send(json.dumps(message).encode() + b"\n")
        return self.answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lines.close()
        self.socket.close()
