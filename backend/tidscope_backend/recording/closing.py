"""Ends runs with everything up to now: the collector confirms its last frame, which is awaited."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from tidscope_wire.generated.models import FlushReply, Target
from tidscope_wire.problems import ProblemError

from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.recording.recording import Ending, Recording
from tidscope_backend.recording.stats import Tail
from tidscope_backend.recording.timeouts import (
    LAST_FRAMES_MISSING,
    STOPPED,
    attributed,
    ending_on_request,
)
from tidscope_backend.recording.writer import RecordingWriter
from tidscope_backend.supervisor_log import ProgramEnd

Flush = Callable[[Target], Awaitable[FlushReply]]
"""Asks the collector of a target for everything up to now. Raises ProblemError."""


class RunCloser:
    """Finds out how runs end that are to end now.

    Args:
        flush: asks the collector of a target.
        writer: of frames.
        clock: seconds, monotonic.
        registry: hosts, and whether their collectors are connected.
        ends: reads the supervisor's log of ended programs.
        close_s: for the collector to answer and for its frames to arrive, seconds.
    """

    def __init__(
        self,
        flush: Flush,
        writer: RecordingWriter,
        clock: Callable[[], float],
        registry: HostRegistry,
        ends: Callable[[], Sequence[ProgramEnd]],
        close_s: float,
    ) -> None:
        self._flush = flush
        self._writer = writer
        self._clock = clock
        self._registry = registry
        self._ends = ends
        self._close_s = close_s

    async def settle(self, recording: Recording, wanted: Ending, last: int | None) -> Ending:
        """Wait until everything up to now is written, for a limited time.

        Args:
            recording: of the run; it may end meanwhile.
            wanted: how it ends if nothing is missing.
            last: number of its last frame, if the collector has said so; None: it is asked.

        Returns:
            How it ends; with what is missing, if the collector did not confirm or deliver it.
        """
        now_s, unix_us = self._clock(), time.time_ns() // 1000
        if wanted.state == "interrupted":
            return self._cut_short(recording, wanted, recording.tail(now_s, unix_us))
        exited: int | None = None
        try:
            async with asyncio.timeout(self._close_s):
                if last is None:
                    last, exited = await self._confirmed(recording)
                recording.close_at(last)
                await recording.reached.wait()
        except TimeoutError:
            why = f"The collector did not confirm its last frame within {self._close_s:g} s."
            if last is not None:
                arrived = recording.offered_seq
                why = f"Of frames up to {last}, those after {arrived} did not arrive within "
                why += f"{self._close_s:g} s."
        except ProblemError as error:
            if not self.is_connected(recording.target):
                lost = ending_on_request(recording, False, wanted)
                return self._cut_short(recording, lost, recording.tail(now_s, unix_us))
            why = f"The collector cannot confirm its last frame: {error.problem.detail}."
        else:
            await self._writer.flush()
            # Whatever was believed of the target, the collector samples it and has sent all.
            still_sampled = wanted is LAST_FRAMES_MISSING and exited is not None
            return STOPPED if still_sampled else wanted
        await self._writer.flush()
        tail = recording.tail(now_s, unix_us, exited)
        if recording.close_seq is not None:
            recording.offered_seq = max(recording.offered_seq, recording.close_seq)
        return Ending(wanted.end, "incomplete", f"{wanted.why} {why}", tail=tail)

    def is_connected(self, target: Target) -> bool:
        """Whether the collector of a target is connected."""
        host = self._registry.host(target.host)
        return host is not None and host.connected

    def _cut_short(self, recording: Recording, ending: Ending, tail: Tail) -> Ending:
        pid = self._registry.collector_pid(recording.target.host)
        return attributed(ending, recording, self._ends(), pid)._replace(tail=tail)

    async def _confirmed(self, recording: Recording) -> tuple[int, int | None]:
        """The number of its last frame, and how many threads had exited. Raises ProblemError."""
        try:
            reply = await self._flush(recording.target)
        except ProblemError:
            if recording.close_seq is None:
                raise
            return recording.close_seq, None  # The collector has said so meanwhile.
        return reply.seq, reply.exited
