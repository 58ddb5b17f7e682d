"""The log of what people did to programs. Lines are only ever added."""

import json
import os
import threading
import time
from pathlib import Path

DIRECTORY = Path("/var/log/tidscope")
FILE = "audit.jsonl"


class AuditError(Exception):
    """The log cannot be written; the text names file and cause."""


class AuditLog:
    """Appends a line of JSON for each action, before it is done, and one for what became of it.

    Args:
        path: the file; made with mode 0600 in a folder of mode 0700 when the first line is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def record(self, action: str, **details: object) -> None:
        """Write a line and see it onto the disk.

        Raises:
            AuditError: it could not be written.
        """
        line = {"unix_us": time.time_ns() // 1000, "action": action, **details}
        data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            with self._lock:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                descriptor = os.open(self.path, flags, 0o600)
                try:
                    # One call: lines of several writers do not mix.
                    if os.write(descriptor, data) != len(data):
                        raise OSError("the disk is full")
                    os.fdatasync(descriptor)
                finally:
                    os.close(descriptor)
        except OSError as error:
            raise AuditError(f"the audit log {self.path} cannot be written: {error}") from error


def usual_path() -> Path:
    """Of root in /var/log, of others in their state folder."""
    if os.geteuid() == 0:
        return DIRECTORY / FILE
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return folder / "tidscope" / FILE
