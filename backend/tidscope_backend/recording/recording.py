"""One active recording: arriving frames are appended to its open part.

Access to its files is serialised in the disk's recording thread. The event loop reads single values
and decides when the recording ends.
"""

import asyncio
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidscope_wire.frame import split
from tidscope_wire.generated.limits import RUN_PART_BYTES, RUN_PART_SECONDS
from tidscope_wire.generated.models import (
    FrameHeader,
    Host,
    Target,
    TargetDetached,
    TargetExited,
    TargetState,
)
from tidscope_wire.generated.models import (
    Recording as RecordingInfo,
)
from tidscope_wire.groups import tree_name

from tidscope_backend.hidden_arguments import frame_without
from tidscope_backend.processes import is_exhausted
from tidscope_backend.recording.endings import TIME_OVER, Ending, end_detail, write_failure
from tidscope_backend.recording.stats import RecordingStats, Tail
from tidscope_backend.store.folder import RunFolder, RunLock, final_state, sync_folder
from tidscope_backend.store.frame_files import PartFile
from tidscope_backend.stream.frames import StoredFrame, store_frame

RESERVE_BYTES = 256 * 1024
"""Space reserved so that the manifest can still be written when the disk is full."""


@dataclass(frozen=True)
class PartLimits:
    """Limits of a part; beyond them, the next key frame starts a new part."""

    part_ns: int = RUN_PART_SECONDS * 1_000_000_000
    part_bytes: int = RUN_PART_BYTES


DEFAULT_LIMITS = PartLimits()
LATE_NS = 3_000_000_000
"""Maximum delay of exits: a full sample this long after a run's end has reported all of them."""
_ENDED: dict[TargetState, str] = {
    "exited": "The process has ended.",
    "detached": "The target was detached.",
}


class Recording:
    """Appends the frames of a target to a run, in order, until the run ends.

    Args:
        folder: folder of the run; it exists.
        lock: lock on the folder.
        info: recording info for display.
        target: recorded target.
        limits: limits of a part.
        host: host of the collector that samples the target.
        duration_ns: duration from the newest frame at the start; None if unlimited.

    Attributes:
        stats: counts of recorded and missing data.
        until_ns: scheduled end, nanoseconds since attach.
        awaiting_resume: whether an earlier backend recorded the run, so that the next frame resumes
            it.
        last_frame_s: arrival of the last frame, seconds by the recorder's clock.
        target_lost_s: first time the target was seen to be no longer sampled; likewise.
        written_bytes: bytes of frames written so far.
        manifest_failed: whether the last write of the manifest failed.
        stalled: whether a frame was lost because the disk was too slow.
        started: set when the run's first frames are written.
        finalised: set when the run has ended and its manifest was written or failed.
        ending: ending of the run, or None while it continues.
        early_ending: ending of a run that ends before it has started.
        offered_seq: number of the newest frame offered, written or not.
        close_seq: number of the frame that completes the run; None if unknown.
        closing: task that waits for that frame; None if the run is not being closed.
        reached: set when that frame is written or lost, or the run has ended.
        began_s: latest clock time at which the target can have been attached, in seconds; None
            before the first frame.
        full_parts: numbers of full parts that are not sealed yet.
        stored_command: command line as stored in the run; None: as reported.
        without_titles: whether process titles, which are command lines, are removed.
        stacks: whether stacks are taken while the run lasts.
    """

    def __init__(
        self,
        folder: RunFolder,
        lock: RunLock,
        info: RecordingInfo,
        target: Target,
        host: Host,
        limits: PartLimits,
        duration_ns: int | None = None,
    ) -> None:
        self.folder = folder
        self.lock = lock
        self.info = info
        self.target = target
        self.collector_pid = host.collector.pid
        self._clock_ahead_us = host.clock_ahead_us or 0
        self.stats = RecordingStats()
        self.until_ns: int | None = None
        self.awaiting_resume = False
        self.manifest_failed = False
        self.stalled = False
        self.last_frame_s = 0.0
        self.target_lost_s: float | None = None
        self.written_bytes = 0
        self.started = asyncio.Event()
        self.finalised = asyncio.Event()
        self.stored_command: str | None = None
        self.without_titles = self.stacks = False
        self.ending: Ending | None = None
        self.early_ending: Ending | None = None
        self.offered_seq = 0
        self.close_seq: int | None = None
        self.closing: asyncio.Task[None] | None = None
        self.reached = asyncio.Event()
        self.began_s: float | None = None
        self.full_parts: deque[int] = deque()
        self.duration_ns = duration_ns
        self._limits = limits
        self._part: PartFile | None = None
        self._number = 0
        self._part_began_ns = 0
        self._final_target: TargetState | None = None
        self._over = self._resuming = False
        self._writing_past = False
        self._names_synced = False

    def update_target(self, target: Target) -> None:
        """Update the target; its command line may be one that the run must not store."""
        if self.stored_command is not None:
            process = target.process.model_copy(update={"command": self.stored_command})
            if target.group is not None and target.group.kind == "tree":
                named = target.group.model_copy(update={"name": tree_name(self.stored_command)})
                target = target.model_copy(update={"group": named})
            target = target.model_copy(update={"process": process})
        self.target = target

    def note_seq(self, seq: int) -> None:
        """Note a frame number that arrived, or that the collector dropped."""
        self.offered_seq = max(self.offered_seq, seq)
        if self.close_seq is not None and self.offered_seq >= self.close_seq:
            self.reached.set()

    def close_at(self, seq: int) -> None:
        """Accept frames up to this one; `reached` is set when it arrives."""
        self.close_seq = seq
        self.note_seq(0)

    def tail(self, now_s: float, unix_us: int, exited: int | None = None) -> Tail:
        """Return the losses if the run ends now.

        Args:
            now_s: current time by the recorder's clock.
            unix_us: current wall clock time.
            exited: number of threads that have exited by now; None if unknown.
        """
        to_ns = None if self.began_s is None else int((now_s - self.began_s) * 1e9)
        if self.until_ns is not None and to_ns is not None:
            to_ns = min(to_ns, self.until_ns)
        # Frames have the time of their host.
        return Tail(to_ns, unix_us + self._clock_ahead_us, exited)

    def write_first_frames(self, frames: Sequence[bytes]) -> Ending | None:
        """Write the initial frames of the run. Raises OSError."""
        self._reserve()
        self._writing_past = True
        ending, fields = None, None
        for data in frames:
            header, body = split(data)
            frame = store_frame(header, data, body, fields)
            fields = frame.fields
            ending = ending or self._take(frame, header)
        if self.duration_ns is not None and self.stats.last is not None:
            self.until_ns = self.stats.last.time_ns + self.duration_ns
        self._writing_past = False
        self._over = ending is not None and ending is not TIME_OVER
        return ending

    def resume(self, part: int, began_ns: int) -> None:
        """Continue the open part of an earlier backend. Raises OSError."""
        self._reserve()
        self._number = part
        self._part = PartFile(self.folder.open_part(part))
        self._part_began_ns = began_ns
        self.awaiting_resume = self._resuming = True

    def receive(self, frame: StoredFrame, header: FrameHeader) -> Ending | None:
        """Append a frame of the target. Return the ending if this frame ends the run."""
        last = self.stats.last
        if self._over or (last is not None and frame.seq <= last.seq):
            return None
        self.awaiting_resume = False
        ending = self._take(frame, header)
        self._over = ending is not None and ending is not TIME_OVER
        return ending

    def resumed(self) -> bool:
        """Return True if the run was resumed since the last call."""
        resumed = self._resuming and not self.awaiting_resume
        self._resuming = self._resuming and not resumed
        return resumed

    def sync(self) -> Ending | None:
        """Flush appended frames to disk. Return the end reason if flushing fails."""
        try:
            self._sync()
        except OSError as error:
            return write_failure(error)
        return None

    def end(self, ending: Ending) -> None:
        """Accept no more frames. The open part stays unchanged.

        Args:
            ending: ending of the run; replaced if a failed write is found only now.
        """
        failure = self.sync()
        cut_short = ending.state == "interrupted"
        self.ending = ending if failure is None or cut_short else failure
        self._over = True
        if ending.tail is not None:
            self.stats.close_short(ending.tail, self.target.rate_hz)
        # Offered but unwritten frames are lost, except those after the ending frame.
        self.stats.frames_lost(0 if ending.by_frame else self.offered_seq)
        if ending.end == "target-ended" and not ending.by_frame and self.stats.last is not None:
            # The frame that reports the end, at least, is missing.
            self.stats.frames_lost(max(self.offered_seq, self.stats.last.seq) + 1)
        self.stats.close()
        if self._part is not None:
            self._part.close()
            empty, self._part = self._part.bytes == 0, None
            if empty:
                self.folder.open_part(self._number).unlink(missing_ok=True)
        self.folder.reserve.unlink(missing_ok=True)

    def synced_fields(self) -> dict[str, object]:
        """Sync frames, then return `manifest_fields`: no unsynced frame is counted.

        Raises:
            OSError: frames cannot be synced.
        """
        self._sync()
        return self.manifest_fields()

    def manifest_fields(self) -> dict[str, object]:
        """Return manifest fields that recording determines; users edit the rest."""
        stats, ending = self.stats, self.ending
        return {
            "state": ("recording" if ending is None else final_state(ending.state, stats.losses)),
            "end": None if ending is None else ending.end,
            "end_detail": "" if ending is None else end_detail(ending, stats),
            "started_unix_us": stats.first.unix_us if stats.first else self.info.created_unix_us,
            "from_ns": stats.first.time_ns if stats.first else 0,
            "to_ns": stats.last.time_ns if stats.last else 0,
            "until_ns": self.until_ns,
            "target": (
                self.target
                if self._final_target is None
                else self.target.model_copy(update={"state": self._final_target})
            ),
            "policies": list(stats.policies),
            "counters_from": list(stats.counters_from),
            "losses": stats.losses.model_copy(),
            "counts": stats.counts.model_copy(),
        }

    def _take(self, frame: StoredFrame, header: FrameHeader) -> Ending | None:
        if (self._part is None or self._part.bytes == 0) and not frame.key:
            return None  # A delta needs a frame to add to: wait for the next key frame.
        if self.without_titles:
            frame = replace(frame, data=frame_without(frame.data))
        try:
            self._write(frame)
        except OSError as error:
            self.stats.frame_refused(header)
            return write_failure(error)
        self.stats.add_frame(header)
        self.written_bytes += len(frame.data)
        if self.stats.counts.frames == 1:
            self._begun(header)
        return self.ending_with(header)

    def ending_with(self, header: FrameHeader) -> Ending | None:
        """Return the ending if a frame is the last of its target or of the scheduled time."""
        ended = _ends_target(header)
        if ended is not None:
            self._final_target = ended
            return Ending("target-ended", "complete", _ENDED[ended], by_frame=True)
        if self.until_ns is not None and header.time_ns >= self.until_ns:
            # Only full samples report roles; fast-path samples may defer exits.
            late = header.roles is not None and header.time_ns >= self.until_ns + LATE_NS
            return TIME_OVER._replace(by_frame=True) if late else TIME_OVER
        return None

    def _write(self, frame: StoredFrame) -> None:
        part = self._part
        if part is None or (frame.key and self._is_full(part, frame.time_ns)):
            if part is not None:
                part.sync()  # No later sync covers this part.
            try:
                fresh = PartFile(self.folder.open_part(self._number + 1))
            except OSError as error:
                if part is None or not is_exhausted(error):
                    raise
                # Keep using the open part; the next key frame tries again.
                part.append(frame.data)
                return
            try:
                fresh.append(frame.data)
            except OSError:
                fresh.close()
                self.folder.open_part(self._number + 1).unlink(missing_ok=True)
                raise
            if part is not None:
                part.close()
                self.full_parts.append(self._number)
            self._part, self._names_synced = fresh, False
            self._number += 1
            self._part_began_ns = frame.time_ns
        else:
            part.append(frame.data)

    def _is_full(self, part: PartFile, time_ns: int) -> bool:
        old = time_ns - self._part_began_ns >= self._limits.part_ns
        return part.bytes > 0 and (old or part.bytes >= self._limits.part_bytes)

    def _begun(self, header: FrameHeader) -> None:
        if self.duration_ns is not None and not self._writing_past:
            self.until_ns = header.time_ns + self.duration_ns
        steering = self.target.steering
        if (
            steering is not None
            and steering.since_unix_us <= header.unix_us
            and not self.stats.policies
        ):
            self.stats.add_initial_policy(steering, header.time_ns)

    def _sync(self) -> None:
        if self._part is not None:
            self._part.sync()
        if self._names_synced:
            return
        run = self.folder.path
        try:
            for folder in (self.folder.open_part(1).parent, run, run.parent):
                sync_folder(folder)
        except OSError as error:
            if not is_exhausted(error):
                raise
        else:
            self._names_synced = True

    def _reserve(self) -> None:
        descriptor = os.open(
            self.folder.reserve, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, mode=0o600
        )
        try:
            os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
        finally:
            os.close(descriptor)


def _ends_target(header: FrameHeader) -> TargetState | None:
    """Return the final state of the target if the frame is its last one, else None."""
    for event in header.events:
        if isinstance(event, TargetExited):
            return "exited"
        if isinstance(event, TargetDetached):
            return "detached"
    return None
