"""Audit logs: what people changed, a line of JSON (`AuditRecord`) for each action and outcome.

A log is `audit.jsonl` and older files, `audit.jsonl.1` the newest of them. Several processes may
write one log: each line is written under a lock on the file.
"""

import asyncio
import errno
import fcntl
import json
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from tidscope_wire.generated.models import (
    Actor,
    AuditAction,
    AuditOutcome,
    AuditRecord,
)

FILE = "audit.jsonl"
SYSTEM_FOLDER = Path("/var/log/tidscope")
FILE_BYTES = 4 * 1024 * 1024
FILES = 8
MAX_TEXT = 256
"""Characters of an object's name and of each detail."""
MAX_DETAILS = 16
LOCK_SECONDS = 1.0
WRITE_SECONDS = 2.0
MAX_WAITING = 64
"""Lines that may wait for the disk."""
TIDSCOPE = Actor(session=None, role=None, label="tidscope")
"""Who acts where nobody asked."""

_log = logging.getLogger("tidscope.audit")


class AuditError(Exception):
    """The log cannot be written; the text names file and cause."""


class AuditLog:
    """Appends lines, each of them flushed to the disk. Any thread may call.

    Args:
        path: of the newest file; made with mode 0600 in a folder of mode 0700 with the first line.
        file_bytes: no file is larger.
        files: how many there are at most.
    """

    def __init__(self, path: Path, file_bytes: int = FILE_BYTES, files: int = FILES) -> None:
        self.path = path
        self._file_bytes = file_bytes
        self._files = files
        self._lock = threading.Lock()
        self._lost = 0
        self._skipped = 0

    def write(
        self,
        action: AuditAction,
        outcome: AuditOutcome,
        actor: Actor,
        object: str | None = None,
        details: Mapping[str, str] | None = None,
    ) -> None:
        """Write a line and see it onto the disk.

        Raises:
            AuditError: it could not be written; the next line that can be says how many were lost.
        """
        with self._lock:
            skipped = self._skipped
            record = AuditRecord(
                unix_us=time.time_ns() // 1000,
                action=action,
                outcome=outcome,
                actor=actor,
                object=None if object is None else _short(object),
                details={
                    name: _short(text) for name, text in list((details or {}).items())[:MAX_DETAILS]
                },
                lost=self._lost + skipped,
            )
            # Escaped by JSON: no name can end a line, or reach the terminal of who reads it.
            line = json.dumps(record.model_dump(mode="json")).encode() + b"\n"
            try:
                self._append(line)
            except OSError as error:
                self._lost += 1
                raise AuditError(
                    f"the audit log {self.path} cannot be written: {error.strerror or error}"
                ) from error
            self._lost = 0
            self._skipped -= skipped

    def skip(self) -> None:
        """Leave a line out because too many come; the next one says so. Never waits."""
        self._skipped += 1

    def _append(self, line: bytes) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked() as descriptor:
            size = os.fstat(descriptor).st_size
            if size and size + len(line) > self._file_bytes:
                self._rotate()
            else:
                self._write(descriptor, size, line)
                return
        with self._locked() as descriptor:
            self._write(descriptor, os.fstat(descriptor).st_size, line)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Descriptor of the newest file, which no other process writes or renames meanwhile."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        until = time.monotonic() + LOCK_SECONDS
        while True:
            descriptor = os.open(self.path, flags, 0o600)
            try:
                self._acquire(descriptor, until)
                if self._is_newest(descriptor):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)

    def _is_newest(self, descriptor: int) -> bool:
        """Whether no other process renamed the file before we had the lock."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.lstat())
        except FileNotFoundError:
            return False

    @staticmethod
    def _acquire(descriptor: int, until: float) -> None:
        """Lock a file, for a limited time: a stopped process must not stop this one."""
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.005)
            else:
                return

    def _rotate(self) -> None:
        """Rename the files, the oldest over the edge."""
        older = [self.path, *(older_file(self.path, number) for number in range(1, self._files))]
        if self._files == 1:
            self.path.unlink()
        for number in range(self._files - 1, 0, -1):
            with suppress(FileNotFoundError):
                older[number - 1].replace(older[number])

    @staticmethod
    def _write(descriptor: int, size: int, line: bytes) -> None:
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line  # The power went while the last line was written.
        try:
            if os.write(descriptor, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fdatasync(descriptor)
        except OSError:
            # No half of a line stays, for the next one to be appended to.
            with suppress(OSError):
                os.ftruncate(descriptor, size)
            raise


class AuditTrail:
    """Writes to a log from an event loop, which a slow disk does not stop.

    Args:
        log: it. Lines are in the order of the calls.
    """

    def __init__(self, log: AuditLog) -> None:
        self._log = log
        # Of its own: a disk that hangs must not take the threads that do other work.
        self._writer = ThreadPoolExecutor(1, "audit")
        self._waiting = 0

    async def write(
        self,
        action: AuditAction,
        outcome: AuditOutcome,
        actor: Actor,
        object: str | None = None,
        details: Mapping[str, str] | None = None,
    ) -> AuditError | None:
        """Write a line, and say so where that failed or takes too long.

        Returns:
            Why it is not known to be on the disk.
        """
        failure = None
        if self._waiting >= MAX_WAITING:
            self.skip()
            failure = AuditError(f"the disk of {self._log.path} does not keep up")
        else:
            line = partial(self._log.write, action, outcome, actor, object, details)
            self._waiting += 1
            writing = asyncio.get_running_loop().run_in_executor(self._writer, line)
            writing.add_done_callback(self._done)
            try:
                await asyncio.wait_for(asyncio.shield(writing), WRITE_SECONDS)
            except AuditError as error:
                failure = error
            except TimeoutError:
                failure = AuditError(f"the disk of {self._log.path} does not answer")
        if failure is not None:
            _log.error("%s of %s is not logged: %s", action, object, failure)
        return failure

    def submit(
        self,
        action: AuditAction,
        outcome: AuditOutcome,
        actor: Actor,
        object: str,
        details: Mapping[str, str],
    ) -> "Future[AuditError | None]":
        """Have a line written; any thread may call, and need not wait.

        Returns:
            Why it could not be written.
        """

        def write() -> AuditError | None:
            try:
                self._log.write(action, outcome, actor, object, details)
            except AuditError as error:
                _log.error("%s of %s is not logged: %s", action, object, error)
                return error
            return None

        return self._writer.submit(write)

    def skip(self) -> None:
        """Leave a line out because too many come; the next one says so."""
        self._log.skip()

    def close(self) -> None:
        """Write what waits."""
        self._writer.shutdown()

    def _done(self, writing: "asyncio.Future[None]") -> None:
        self._waiting -= 1
        if not writing.cancelled():
            writing.exception()


def older_file(path: Path, number: int) -> Path:
    """The file that was the newest so many files ago."""
    return path.with_name(f"{path.name}.{number}") if number else path


def read_records(path: Path) -> Iterator[AuditRecord]:
    """The lines of a log, oldest first; what is not a record is left out.

    Raises:
        OSError: a file is there and cannot be read.
    """
    for number in range(FILES - 1, -1, -1):
        try:
            descriptor = os.open(older_file(path, number), os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        with os.fdopen(descriptor, "rb") as file:
            for line in file:
                with suppress(ValueError):
                    yield AuditRecord.model_validate_json(line)


def usual_path() -> Path:
    """Where a collector's log is: of root in /var/log, of others in their state folder."""
    if os.geteuid() == 0:
        return SYSTEM_FOLDER / FILE
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return folder / "tidscope" / f"collector-{FILE}"


def _short(text: str) -> str:
    text = text.encode(errors="replace").decode()  # A lone surrogate is not JSON's.
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
