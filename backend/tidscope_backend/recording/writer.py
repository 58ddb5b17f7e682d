"""Passes frames to the thread that appends them; what waits for it is bounded."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from tidscope_wire.frame import FrameError, join, split
from tidscope_wire.generated.models import FrameHeader, RunManifest

from tidscope_backend.recording.recording import Ending, Recording
from tidscope_backend.store.disk import Disk
from tidscope_backend.stream.frames import StoredFrame, merge

MAX_QUEUED_BYTES = 64 * 1024 * 1024
FRAME_OVERHEAD = 8 * 1024
"""What a frame takes in memory besides its bytes, about: its decoded header."""
_log = logging.getLogger(__name__)


class RecordingWriter:
    """Frames of all recordings, in order.

    Args:
        disk: whose recording thread appends them.
        report: called in the event loop when a frame filled a part, resumed or ended its run.
        max_bytes: of the frames that wait; while the disk hangs, later ones are not taken.

    Attributes:
        frames: frames written.
        frame_bytes: their bytes.
        overflowed: frames not taken because too many waited.
    """

    def __init__(
        self,
        disk: Disk,
        report: Callable[[Recording, Ending | None], None],
        max_bytes: int = MAX_QUEUED_BYTES,
    ) -> None:
        self.frames = 0
        self.frame_bytes = 0
        self.overflowed = 0
        self._disk = disk
        self._report = report
        self._max_bytes = max_bytes
        self._offered_bytes = 0
        self._done_bytes = 0

    @property
    def queued_bytes(self) -> int:
        """Bytes of the frames that wait, with what they take besides."""
        return self._offered_bytes - self._done_bytes

    def offer(self, recording: Recording, frame: StoredFrame, header: FrameHeader) -> bool:
        """Append a frame soon; false if too many wait: the frame is a loss of its run."""
        cost = len(frame.data) + FRAME_OVERHEAD
        if self.queued_bytes + cost > self._max_bytes:
            self.overflowed += 1
            return False
        self._offered_bytes += cost
        loop = asyncio.get_running_loop()
        self._disk.append(self._append, loop, recording, frame, header)
        return True

    async def flush(self) -> None:
        """Wait until what was offered is written, and what came of it is reported."""
        await self._disk.record(_nothing)

    async def start(
        self,
        recording: Recording,
        manifest: RunManifest,
        past: Sequence[StoredFrame],
        past_s: float | None,
    ) -> Ending | None:
        """Write the manifest and the first frames of a run, before those offered from now on.

        Returns:
            How the run ends, if its first frames end it.

        Raises:
            OSError: they cannot be written: the run is of no use.
        """
        return await self._disk.record(self._start, recording, manifest, past, past_s)

    def _start(
        self,
        recording: Recording,
        manifest: RunManifest,
        past: Sequence[StoredFrame],
        past_s: float | None,
    ) -> Ending | None:
        recording.folder.write_manifest(manifest)
        ending = recording.write_first_frames(opening_frames(past, int((past_s or 0) * 1e9)))
        self.frames += recording.stats.counts.frames
        self.frame_bytes += recording.written_bytes
        return ending

    def _append(
        self,
        loop: asyncio.AbstractEventLoop,
        recording: Recording,
        frame: StoredFrame,
        header: FrameHeader,
    ) -> None:
        """In the recording thread. Of all its counts only this thread changes these."""
        before, resuming = recording.stats.counts.frames, recording.awaiting_resume
        ending = None
        try:
            ending = recording.receive(frame, header)
        except Exception:
            _log.exception("%s: frame %d not written", recording.info.run, frame.seq)
        finally:
            self._done_bytes += len(frame.data) + FRAME_OVERHEAD
        if recording.stats.counts.frames > before:
            self.frames += 1
            self.frame_bytes += len(frame.data)
        resumed = resuming and not recording.awaiting_resume
        if ending is not None or resumed or recording.full_parts:
            with suppress(RuntimeError):  # The loop has ended.
                loop.call_soon_threadsafe(self._report, recording, ending)


def _nothing() -> None:
    """Only its turn matters."""


def opening_frames(frames: Sequence[StoredFrame], past_ns: int) -> list[bytes]:
    """Choose the frames of the last `past_ns`, the first of them a key frame.

    If the first is not one, it is merged with the frames since the last key frame. Events before
    the run are not part of it, so the first frame carries none and stands for itself alone.

    Args:
        frames: of the history, in order.
        past_ns: how far back from the newest of them; 0: only the newest.

    Returns:
        Frames; empty if there is no history or it cannot be decoded: then the run starts with the
        next key frame.
    """
    if not frames:
        return []
    since = frames[-1].time_ns - past_ns
    first = next(place for place, frame in enumerate(frames) if frame.time_ns >= since)
    key = next((place for place in range(first, -1, -1) if frames[place].key), None)
    if key is None:
        return []
    try:
        start = merge([frame.data for frame in frames[key : first + 1]])
        header, body = split(start)
    except FrameError:
        return []
    alone = header.model_copy(update={"first_seq": header.seq, "events": []})
    return [join(alone, bytes(body)), *(frame.data for frame in frames[first + 1 :])]
