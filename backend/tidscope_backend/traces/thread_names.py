"""Names that received spans have for threads, given to the live targets of these threads."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple

import pyarrow as pa
from tidscope_wire.generated.models import SpanThreadName, Target
from tidscope_wire.problems import ProblemError

from tidscope_backend.traces.batches import spans_of
from tidscope_backend.traces.joining.places import Origin, is_process, is_remote, origin_of

_log = logging.getLogger(__name__)
NAME = "thread.name"
MAX_OF_A_BATCH = 1024
"""Threads of one request whose names are taken."""
MAX_WAITING = 4096
"""Threads whose names wait to be given; further ones are dropped until then."""
MAX_GIVEN = 65_536
MAX_OF_A_COMMAND = 256
LONGEST_NAME = 128
EVERY_S = 1.0
"""Interval between commands, in seconds."""
AGAIN_S = 10.0
"""A name is given again if spans still have it: its thread may not have been seen before, and
thread IDs are recycled."""


class NamedThread(NamedTuple):
    """A thread as a span names it."""

    origin: Origin
    tid: int
    name: str


def names_in(spans: pa.Table) -> list[NamedThread]:
    """Return the threads that spans name, each once.

    Args:
        spans: table of `batches.SCHEMA`.
    """
    places = spans["pid"].to_pylist(), spans["thread_id"].to_pylist()
    first: dict[tuple[int, int], int] = {}
    for row, (pid, tid) in enumerate(zip(*places, strict=True)):
        if pid and tid and len(first) < MAX_OF_A_BATCH:
            first.setdefault((pid, tid), row)
    found = []
    for span in spans_of(spans.take(pa.array(list(first.values()), pa.int64()))):
        origin, name = origin_of(span), span.attributes.get(NAME, "")[:LONGEST_NAME]
        if origin is not None and span.thread_id and name:
            found.append(NamedThread(origin, span.thread_id, name))
    return found


Live = Callable[[], Iterable[tuple[Target, str]]]
"""Returns attached targets, each with the name of its host."""
Give = Callable[[Target, list[SpanThreadName]], Awaitable[object]]


class ThreadNaming:
    """Gives names to targets, at most once a second. Belongs to the event loop.

    Args:
        live: attached targets.
        give: sends names of threads of a target to its collector; raises ProblemError.
        clock: monotonic clock, in seconds.
    """

    def __init__(self, live: Live, give: Give, clock: Callable[[], float]) -> None:
        self._live, self._give, self._clock = live, give, clock
        self._waiting: dict[NamedThread, None] = {}
        self._given: dict[tuple[str, SpanKey], float] = {}

    def note(self, names: Sequence[NamedThread]) -> None:
        """Take names of a request."""
        room = MAX_WAITING - len(self._waiting)
        self._waiting |= dict.fromkeys(names[: max(0, room)])

    async def run(self) -> None:
        """Give names as they come, until cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            await self.give()

    async def give(self) -> None:
        """Give all names that wait."""
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        now = self._clock()
        if len(self._given) > MAX_GIVEN:
            self._given.clear()
        for target, host in list(self._live()):
            names = self._new(target, waiting, host, now)
            for begin in range(0, len(names), MAX_OF_A_COMMAND):
                try:
                    await self._give(target, names[begin : begin + MAX_OF_A_COMMAND])
                except ProblemError as error:
                    _log.info("threads of %s keep their names: %s", target.id, error)

    def _new(
        self, target: Target, named: Iterable[NamedThread], host: str, now: float
    ) -> list[SpanThreadName]:
        found = []
        for origin, tid, name in named:
            pid = _pid_in(origin, target, host)
            if pid is None:
                continue
            key = target.id, (pid, tid, name)
            if now - self._given.get(key, now - 2 * AGAIN_S) < AGAIN_S:
                continue
            self._given[key] = now
            found.append(SpanThreadName(pid=pid, tid=tid, name=name))
        return found


SpanKey = tuple[int, int, str]
"""Process ID, thread ID and name."""


def _pid_in(origin: Origin, target: Target, host: str) -> int | None:
    """Process of a span if it may be of a target; IDs inside containers say nothing of a group."""
    if target.group is None:
        return target.process.pid if is_process(origin, target.process, host) else None
    return None if is_remote(origin, host) else origin.pid
