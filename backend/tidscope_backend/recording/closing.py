"""Ends of runs: the collector's confirmed last frame, or a timeout."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tidscope_wire.generated.models import FlushReply, Host, Target
from tidscope_wire.problems import ProblemError

from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.processes import ProgramEnd
from tidscope_backend.recording.endings import (
    LAST_FRAMES_MISSING,
    STOPPED,
    TIME_OVER,
    UNREPORTED,
    Ending,
)
from tidscope_backend.recording.recording import Recording
from tidscope_backend.recording.stats import Tail
from tidscope_backend.recording.writer import RecordingWriter

Flush = Callable[[Target], Awaitable[FlushReply]]
"""Ask a target's collector for all pending data. Raises ProblemError."""


class RunCloser:
    """Determines how runs end that are being closed.

    Args:
        flush: asks the collector of a target for all pending data.
        writer: writer of frames.
        clock: seconds, monotonic.
        registry: hosts, and the connection state of their collectors.
        ends: reads the supervisor's log of ended programs.
        close_s: timeout for the collector's answer and its frames, in seconds.
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
        """Wait, with a timeout, until all data up to now is written.

        Args:
            recording: recording to close; it may end during the wait.
            wanted: ending in the absence of losses.
            last: number of the target's last frame if the collector has sent it; None: the
                collector is asked.

        Returns:
            The ending, including losses that the collector did not confirm or deliver.
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
            # The collector samples the target and has sent everything.
            still_sampled = wanted is LAST_FRAMES_MISSING and exited is not None
            return STOPPED if still_sampled else wanted
        await self._writer.flush()
        tail = recording.tail(now_s, unix_us, exited)
        if recording.close_seq is not None:
            recording.offered_seq = max(recording.offered_seq, recording.close_seq)
        return Ending(wanted.end, "incomplete", f"{wanted.why} {why}", tail=tail)

    def is_connected(self, target: Target) -> bool:
        """Return True if the target's collector is connected."""
        host = self._registry.host(target.host)
        return host is not None and host.connected

    def _cut_short(self, recording: Recording, ending: Ending, tail: Tail) -> Ending:
        pid = self._registry.collector_pid(recording.target.host)
        return attributed(ending, recording, self._ends(), pid)._replace(tail=tail)

    async def _confirmed(self, recording: Recording) -> tuple[int, int | None]:
        """Return the last frame number and the number of exited threads. Raises ProblemError."""
        try:
            reply = await self._flush(recording.target)
        except ProblemError:
            if recording.close_seq is None:
                raise
            return recording.close_seq, None  # The collector sent it meanwhile.
        return reply.seq, reply.exited


@dataclass(frozen=True)
class RecordingTimeouts:
    """Intervals and timeouts of recording, seconds.

    Attributes:
        check_interval_s: interval between checks of all runs.
        manifest_interval_s: interval between writes of a run's manifest.
        resume_s: timeout for the return of an unfinished run's target.
        last_frame_s: timeout for the last frame of an ended target.
        overdue_s: timeout for frames beyond the scheduled end of a run.
        close_s: timeout for the collector to confirm and send everything up to the end of a run.
    """

    check_interval_s: float = 1.0
    manifest_interval_s: float = 10.0
    resume_s: float = 30.0
    last_frame_s: float = 5.0
    overdue_s: float = 30.0
    close_s: float = 10.0


DEFAULT_TIMEOUTS = RecordingTimeouts()


def ending_by_timeout(
    recording: Recording,
    now_s: float,
    target: Target | None,
    host: Host | None,
    timeouts: RecordingTimeouts,
) -> Ending | None:
    """Return how a run ends without a final frame, or None to continue.

    Args:
        recording: recording of the run; its times use the clock of `now_s`.
        now_s: current time, monotonic, in seconds.
        target: target of the run, as known now, or None if unknown.
        host: host of the target, or None if unknown.
        timeouts: timeouts of recordings.
    """
    silent_s = now_s - recording.last_frame_s
    connected = host is not None and host.connected
    if recording.awaiting_resume:
        if silent_s > timeouts.resume_s or (connected and target is None):
            return ending_not_resumed(recording)
        return None
    if recording.target_lost_s is not None:
        since_s = max(recording.target_lost_s, recording.last_frame_s)
        # A different collector will not send the last frame.
        other = host is not None and host.collector.pid != recording.collector_pid
        return _gone(target, other) if other or now_s - since_s > timeouts.last_frame_s else None
    if _is_overdue(recording, silent_s, timeouts):
        return ending_on_request(recording, connected, TIME_OVER)
    return None


def ending_not_resumed(recording: Recording) -> Ending:
    """Return the ending of an unfinished run whose target did not return."""
    return Ending(
        "backend-lost",
        "interrupted",
        "The backend ended while recording, and the target did not come back: "
        f"{_missing_after(recording)}.",
    )


def attributed(
    ending: Ending, recording: Recording, ends: Sequence[ProgramEnd], collector_pid: int | None
) -> Ending:
    """Attribute an interrupted run's missing frames to the program that ended.

    A live collector later sends the frames that a backend missed, so the collector's end decides.

    Args:
        ending: ending of the run, determined without the supervisor's log.
        recording: recording of the run.
        ends: the supervisor's log; empty if there is none.
        collector_pid: PID of the host's current collector, or None if none is connected.
    """
    since_us = recording.info.created_unix_us
    ends = [one for one in ends if one.unix_us >= since_us]
    own = [one for one in ends if one.name == "collector" and one.pid == recording.collector_pid]
    missing = _missing_after(recording)
    if own:
        also = ""
        backends = [one for one in ends if one.name == "backend"]
        if backends and ending.end == "backend-lost":
            other = min(backends, key=lambda one: abs(one.unix_us - own[-1].unix_us))
            apart_s = (other.unix_us - own[-1].unix_us) / 1e6
            order = "after" if apart_s >= 0 else "before"
            also = f"; the backend ended {other.how} {abs(apart_s):.1f} s {order} that"
        why = f"The collector ended {own[-1].how}{also}: {missing}."
        return ending._replace(end="collector-lost", why=why)
    if ending.end == "backend-lost" and collector_pid not in (None, recording.collector_pid):
        why = "The backend and the collector ended while recording, and nobody has seen which of "
        return ending._replace(why=f"{why}them was first: {missing}.")
    return ending


def _missing_after(recording: Recording) -> str:
    if recording.stats.last is None:
        return "nothing was recorded"
    return f"all after the last frame is missing; {UNREPORTED}"


def ending_on_request(recording: Recording, connected: bool, wanted: Ending) -> Ending:
    """Return the ending of a run that is stopped or whose time is over."""
    if recording.awaiting_resume:
        return ending_not_resumed(recording)
    if not connected:
        return Ending(
            "collector-lost",
            "interrupted",
            "The collector was not connected when the run ended: frames after the last one are "
            f"missing; {UNREPORTED}.",
        )
    return wanted


def _gone(target: Target | None, other: bool) -> Ending:
    """Return the ending of a run whose target is no longer sampled and lacks its last frame.

    Args:
        target: target as known now, or None if unknown.
        other: whether the host has a different collector.
    """
    if target is not None and target.state == "exited":
        return LAST_FRAMES_MISSING
    if target is not None and not other:
        return Ending(
            "target-ended", "incomplete", "The target was detached; its last frames are missing."
        )
    return Ending(
        "collector-lost",
        "interrupted",
        "The collector ended, and its successor does not know the target: frames after the last "
        f"one are missing; {UNREPORTED}.",
    )


def _is_overdue(recording: Recording, silent_s: float, timeouts: RecordingTimeouts) -> bool:
    last = recording.stats.last
    if recording.until_ns is not None and last is not None:
        left_s = (recording.until_ns - last.time_ns) / 1e9
        return silent_s > left_s + timeouts.overdue_s
    if recording.duration_ns is not None and last is None:
        return silent_s > recording.duration_ns / 1e9 + timeouts.overdue_s
    return False
