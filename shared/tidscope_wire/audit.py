"""Audit logs: one line of JSON (`AuditRecord`) for each change that a person makes.

A log is `audit.jsonl` and rotated files, from `audit.jsonl.1` (newest) on. Several processes may
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
"""Maximum characters of an object's name and of each detail."""
MAX_DETAILS = 16
LOCK_SECONDS = 1.0
WRITE_SECONDS = 2.0
MAX_WAITING = 64
"""Maximum lines queued for the disk."""
TIDSCOPE = Actor(session=None, role=None, label="tidscope")
"""Actor of changes that no person requested."""

_log = logging.getLogger("tidscope.audit")


class AuditError(Exception):
    """The log cannot be written; the text names file and cause."""


class AuditLog:
    """Append-only log whose lines are flushed to the disk one by one. Any thread may call it.

    Args:
        path: newest file; the first line creates it with mode 0600, in a folder of mode 0700.
        file_bytes: maximum size of a file.
        files: maximum number of files.
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
        """Write a line and flush it to the disk.

        Raises:
            AuditError: the line is lost; the next written line counts the lost ones.
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
            # JSON escapes control characters: no name can end a line or control a terminal.
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
        """Drop a line over the rate limit; the next line counts it. Never waits."""
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
        """Open the newest file under a lock against other processes' writing and renaming."""
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
        """True if no other process renamed the file before this one held the lock."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.lstat())
        except FileNotFoundError:
            return False

    @staticmethod
    def _acquire(descriptor: int, until: float) -> None:
        """Lock a file with a timeout: a stopped process must not block this one."""
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
        """Rotate the files and delete the oldest."""
        older = [self.path, *(older_file(self.path, number) for number in range(1, self._files))]
        if self._files == 1:
            self.path.unlink()
        for number in range(self._files - 1, 0, -1):
            with suppress(FileNotFoundError):
                older[number - 1].replace(older[number])

    @staticmethod
    def _write(descriptor: int, size: int, line: bytes) -> None:
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line  # A power cut interrupted the last line.
        try:
            if os.write(descriptor, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fdatasync(descriptor)
        except OSError:
            # Remove a partial line, which the next line would otherwise extend.
            with suppress(OSError):
                os.ftruncate(descriptor, size)
            raise


class AuditTrail:
    """Audit log for an event loop, which a slow disk does not block.

    Args:
        log: destination; lines keep the order of the calls.
    """

    def __init__(self, log: AuditLog) -> None:
        self._log = log
        # A separate executor: a hanging disk must not occupy threads that do other work.
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
        """Write a line; log a failure or a timeout.

        Returns:
            Reason why the line may not be on the disk, or None.
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
        """Queue a line; any thread may call, without waiting.

        Returns:
            Future reason why the line was not written, or None.
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
        """Drop a line over the rate limit; the next line counts it."""
        self._log.skip()

    def close(self) -> None:
        """Write the queued lines."""
        self._writer.shutdown()

    def _done(self, writing: "asyncio.Future[None]") -> None:
        self._waiting -= 1
        if not writing.cancelled():
            writing.exception()


def older_file(path: Path, number: int) -> Path:
    """Path of a file by its age: 0 for the newest."""
    return path.with_name(f"{path.name}.{number}") if number else path


def read_records(path: Path) -> Iterator[AuditRecord]:
    """Read the records of a log, oldest first; malformed lines are omitted.

    Raises:
        OSError: an existing file cannot be read.
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


def default_path() -> Path:
    """Default path of a collector's log: /var/log for root, the state folder for other users."""
    if os.geteuid() == 0:
        return SYSTEM_FOLDER / FILE
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return folder / "tidscope" / f"collector-{FILE}"


def _short(text: str) -> str:
    text = text.encode(errors="replace").decode()  # JSON has no lone surrogates.
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
