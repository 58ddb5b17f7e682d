"""Command lines and runtimes of processes. Processes that block their reader are skipped."""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tidscope_wire.generated.models import Runtime
from tidscope_wire.redaction import redact

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.opened_process import Key
from tidscope_collector.inspection.reader import MAX_AT_ONCE, InnerUser, ProcessLine, describe

log = logging.getLogger("tidscope.processes")

TOTAL_S = 8.0
"""Maximum time for reading all processes, in seconds."""
PATIENCE_S = 3.0
"""Timeout of a child, in seconds, for up to 64 processes. It takes milliseconds, but a busy machine
may delay it by 2 s."""
AGAIN_S = 60.0
"""Pause before a process that blocked its reader is retried, in seconds."""

Identity = tuple[int, int]
"""Process ID and start time."""


@dataclass(frozen=True, slots=True)
class Details:
    """Description of a process from its memory and files.

    Attributes:
        command: redacted arguments; empty if there are none or they are unreadable.
        runtime: language runtime.
        version: version such as go1.26.8 or python3.11; None if unknown.
        key: key of the executable; None if inaccessible.
        executable: path of the executable; None if inaccessible.
        read: hash of the arguments as read.
        users: user in the process' own namespaces; None if the namespaces are the collector's.
    """

    command: str
    runtime: Runtime
    version: str | None
    key: Key | None
    executable: str | None
    read: int = 0
    users: InnerUser | None = None


UNKNOWN = Details("", "unknown", None, None, None)


class DetailReader:
    """Reads details. An executable that was examined for a process is not examined again.

    Args:
        clock: monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[Identity, Details] = {}
        self._blocked: dict[Identity, float] = {}

    def read(self, wanted: Iterable[Identity]) -> dict[Identity, Details]:
        """Return details by process; processes that ended may be missing."""
        wanted = list(wanted)
        now = self._clock()
        alive = set(wanted)
        self._known = {one: known for one, known in self._known.items() if one in alive}
        self._blocked = {
            one: until for one, until in self._blocked.items() if one in alive and now < until
        }
        found: dict[Identity, Details] = {}
        # Processes that answered before come first, because new ones may use up the time.
        left = [one for one in wanted if one in self._known and one not in self._blocked]
        left += [one for one in wanted if one not in self._known and one not in self._blocked]
        deadline = now + TOTAL_S
        while left and (patience_s := min(PATIENCE_S, deadline - self._clock())) > 0:
            batch, left = left[:MAX_AT_ONCE], left[MAX_AT_ONCE:]
            left = self._read_batch(batch, patience_s, found) + left
        self._known |= found
        return found

    def _read_batch(
        self, batch: list[Identity], patience_s: float, found: dict[Identity, Details]
    ) -> list[Identity]:
        """Read a batch. Return the processes behind one that blocked, for another child."""
        asked = []
        for one in batch:
            known = self._known.get(one)
            asked.append((*one, known.key if known else None))
        try:
            lines, at = describe(asked, patience_s)
        except NoAnswerError as error:
            log.warning("processes cannot be described: %s", error)
            return []
        starts = dict(batch)
        for line in lines:
            one = line.pid, starts.pop(line.pid, 0)
            found[one] = self._merge(self._known.get(one), line)
        if at is None:
            return []
        culprit = at, starts.pop(at, 0)
        self._blocked[culprit] = self._clock() + AGAIN_S
        log.warning(
            "process %d blocks whoever reads its arguments or files; it is listed without them", at
        )
        return list(starts.items())

    @staticmethod
    def _merge(known: Details | None, line: ProcessLine) -> Details:
        read = hash(line.command)
        same = known is not None and known.read == read
        command = known.command if known is not None and same else redact(line.command)
        version, path, users = line.version, line.executable, line.users
        if line.runtime is not None:
            return Details(command, line.runtime, version, line.key, path, read, users)
        if known is not None and line.key is not None and known.key == line.key:
            return Details(command, known.runtime, known.version, line.key, path, read, known.users)
        return Details(command, "unknown", None, None, path, read, users)
