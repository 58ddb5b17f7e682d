"""One run while it is being recorded: its frames go to its open part as they come."""

import asyncio
import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from tidscope_wire.frame import LENGTH, split
from tidscope_wire.generated.models import (
    FrameHeader,
    RunEnd,
    RunState,
    Target,
    TargetDetached,
    TargetExited,
    TargetState,
)
from tidscope_wire.generated.models import (
    Recording as RecordingInfo,
)

from tidscope_backend.recording.stats import RecordingStats, told
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.lock import RunLock
from tidscope_backend.store.open_part import PartFile
from tidscope_backend.stream.stored import StoredFrame, stored_as

RESERVE_BYTES = 256 * 1024
"""Room held back, so that the manifest of a run can be written when the disk is full."""


@dataclass(frozen=True)
class PartLimits:
    """When a part is full; it is cut at the next key frame then."""

    part_ns: int = 60_000_000_000
    part_bytes: int = 64 * 1024 * 1024


class Ending(NamedTuple):
    """Why and how a run ends; `why` is a sentence."""

    end: RunEnd
    state: RunState
    why: str


class Recording:
    """Takes frames in order until it says that it has ended.

    Args:
        folder: of the run, made already.
        lock: on the folder.
        info: what pages are told.
        target: whose frames.
        limits: of a part.
        collector_pid: of the collector that samples the target.
        duration_ns: how long, from the newest instant when it begins.

    Attributes:
        stats: what it holds.
        until_ns: when it ends by itself.
        waiting: it was cut short, and goes on with the next frame.
        heard_s: when a frame came last, seconds by the recorder's clock.
        gone_s: when its target was first seen to be sampled no more; likewise.
        written_bytes: bytes of frames written.
        unsaved: its manifest could not be written.
        ready: set when its beginning is on the disk.
    """

    def __init__(
        self,
        folder: RunFolder,
        lock: RunLock,
        info: RecordingInfo,
        target: Target,
        collector_pid: int,
        limits: PartLimits,
        duration_ns: int | None = None,
    ) -> None:
        self.folder = folder
        self.lock = lock
        self.info = info
        self.target = target
        self.collector_pid = collector_pid
        self.stats = RecordingStats()
        self.until_ns: int | None = None
        self.waiting = False
        self.unsaved = False
        self.heard_s = 0.0
        self.gone_s: float | None = None
        self.written_bytes = 0
        self.ready = asyncio.Event()
        self.ending: Ending | None = None
        self.duration_ns = duration_ns
        self._limits = limits
        self._part: PartFile | None = None
        self._number = 0
        self._part_began_ns = 0
        self._pending: list[tuple[StoredFrame, FrameHeader]] | None = []
        self._full: list[int] = []

    def begin(self, frames: Sequence[bytes]) -> Ending | None:
        """Write the frames that it begins with; may run in another thread. Raises OSError."""
        self._reserve()
        ending = None
        for data in frames:
            header, _ = split(data)
            ending = ending or self._take(stored_as(header, data), header)
        if self.duration_ns is not None and self.stats.last is not None:
            self.until_ns = self.stats.last.time_ns + self.duration_ns
        return ending

    def go_on(self, part: int, began_ns: int) -> None:
        """Append to a part that an earlier backend left. Raises OSError."""
        self._reserve()
        self._number = part
        self._part = PartFile(self.folder.open_part(part))
        self._part_began_ns = began_ns
        self.waiting = True

    def flow(self) -> Ending | None:
        """Its beginning is written: take what came meanwhile, and from now on what comes."""
        pending, self._pending = self._pending or [], None
        self.ready.set()
        for frame, header in pending:
            ending = self.offer(frame, header)
            if ending is not None:
                return ending
        return None

    def offer(self, frame: StoredFrame, header: FrameHeader) -> Ending | None:
        """A frame of the target has come; says why the run ends with it, if it does."""
        if self._pending is not None:
            self._pending.append((frame, header))
            return None
        last = self.stats.last
        if last is not None and frame.seq <= last.seq:
            return None
        self.waiting = False
        return self._take(frame, header)

    def full_parts(self) -> list[int]:
        """Parts that were filled since this was asked last."""
        full, self._full = self._full, []
        return full

    def second(self) -> int | None:
        """A descriptor of the open part, to sync it; the caller closes it."""
        return self._part.second() if self._part is not None else None

    def finish(self, ending: Ending) -> None:
        """Take no more. The open part stays as it is."""
        self.ending = ending
        self.stats.finish()
        if self._part is not None:
            self._part.close()
            empty, self._part = self._part.bytes == 0, None
            if empty:
                self.folder.open_part(self._number).unlink(missing_ok=True)
        reserve(self.folder).unlink(missing_ok=True)

    def facts(self) -> dict[str, object]:
        """What the manifest says of it, but for what people called it and how large it is."""
        stats, ending = self.stats, self.ending
        return {
            "state": "recording" if ending is None else ending.state,
            "end": None if ending is None else ending.end,
            "end_detail": "" if ending is None else f"{ending.why} {told(stats.losses)}",
            "started_unix_us": stats.first.unix_us if stats.first else self.info.created_unix_us,
            "from_ns": stats.first.time_ns if stats.first else 0,
            "to_ns": stats.last.time_ns if stats.last else 0,
            "until_ns": self.until_ns,
            "target": self.target,
            "policies": list(stats.policies),
            "losses": stats.losses.model_copy(),
            "counts": stats.counts.model_copy(),
        }

    def _take(self, frame: StoredFrame, header: FrameHeader) -> Ending | None:
        if (self._part is None or self._part.bytes == 0) and not frame.key:
            return None  # What a delta adds to is not here; the next key frame is a beginning.
        try:
            self._write(frame)
        except OSError as error:
            self.stats.refuse(header)
            return refused(error)
        self.stats.add(header, rows_of(frame.data))
        self.written_bytes += len(frame.data)
        if self.stats.counts.frames == 1:
            self._begun(header)
        return self.ends_with(header)

    def ends_with(self, header: FrameHeader) -> Ending | None:
        """How the run ends with a frame, if it is its target's last or the last that is wanted."""
        ended = _ends_target(header)
        if ended is not None:
            self.target = self.target.model_copy(update={"state": ended})
            return Ending("target-ended", "complete", _ENDED[ended])
        if self.until_ns is not None and header.time_ns >= self.until_ns:
            return Ending("duration", "complete", "It was to be so long.")
        return None

    def _write(self, frame: StoredFrame) -> None:
        part = self._part
        if part is None or (frame.key and self._is_full(part, frame.time_ns)):
            fresh = PartFile(self.folder.open_part(self._number + 1))
            try:
                fresh.append(frame.data)
            except OSError:
                fresh.close()
                self.folder.open_part(self._number + 1).unlink(missing_ok=True)
                raise
            if part is not None:
                part.close()
                self._full.append(self._number)
            self._part = fresh
            self._number += 1
            self._part_began_ns = frame.time_ns
        else:
            part.append(frame.data)

    def _is_full(self, part: PartFile, time_ns: int) -> bool:
        old = time_ns - self._part_began_ns >= self._limits.part_ns
        return part.bytes > 0 and (old or part.bytes >= self._limits.part_bytes)

    def _begun(self, header: FrameHeader) -> None:
        if self.duration_ns is not None and self._pending is None:
            self.until_ns = header.time_ns + self.duration_ns
        steering = self.target.steering
        if (
            steering is not None
            and steering.since_unix_us <= header.unix_us
            and not self.stats.policies
        ):
            self.stats.steered(steering, header.time_ns)

    def _reserve(self) -> None:
        descriptor = os.open(
            reserve(self.folder), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, mode=0o600
        )
        try:
            os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
        finally:
            os.close(descriptor)


_ENDED: dict[TargetState, str] = {
    "exited": "The process has ended.",
    "detached": "The process was detached from.",
}


def _ends_target(header: FrameHeader) -> TargetState | None:
    """What became of the target, if the frame is its last one."""
    for event in header.events:
        if isinstance(event, TargetExited):
            return "exited"
        if isinstance(event, TargetDetached):
            return "detached"
    return None


def rows_of(frame: bytes) -> int:
    """How many rows a frame has; 0 if that cannot be read."""
    (length,) = LENGTH.unpack_from(frame)
    try:
        with pa.ipc.open_stream(pa.py_buffer(frame).slice(LENGTH.size + length)) as reader:
            return int(reader.read_next_batch().num_rows)
    except (pa.ArrowException, StopIteration, OSError, ValueError):
        return 0


def reserve(folder: RunFolder) -> Path:
    """The file that holds room back."""
    return folder.path / "open" / "reserve"


def refused(error: OSError) -> Ending:
    """How a run ends that cannot be written."""
    text = os.strerror(error.errno) if error.errno else str(error)
    why = f"A frame could not be written ({text}), nor what followed."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        why = f"The disk was full ({text}): a frame could not be written, nor what followed."
    return Ending("disk-full", "interrupted", why)
