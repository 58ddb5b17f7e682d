"""Creates runs, and appends their frames in a thread; the queue of frames is bounded."""

import asyncio
import logging
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tidscope_wire.frame import FrameError, join, split
from tidscope_wire.generated.models import (
    FrameHeader,
    Host,
    RecordRequest,
    RunManifest,
    Target,
)
from tidscope_wire.generated.models import (
    Recording as RecordingInfo,
)
from tidscope_wire.problems import refusal

from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.recording.endings import Ending, write_failure
from tidscope_backend.recording.manifests import new_manifest
from tidscope_backend.recording.recording import PartLimits, Recording
from tidscope_backend.recording.stack_leases import StackLeases
from tidscope_backend.store.directory import RunsDirectory
from tidscope_backend.store.disk import Disk, unwritable
from tidscope_backend.store.folder import RunFolder, RunLock, new_run_id
from tidscope_backend.stream.frames import StoredFrame, merge

MAX_QUEUED_BYTES = 64 * 1024 * 1024
FRAME_OVERHEAD = 8 * 1024
"""Approximate memory of a queued frame besides its bytes, such as its decoded header, in bytes."""
_log = logging.getLogger(__name__)


class RecordingWriter:
    """Queue of frames of all recordings, in order.

    Args:
        disk: executor of the recording thread, which appends frames.
        report: called in the event loop when a frame filled a part, or resumed or ended its run.
        max_bytes: maximum bytes of queued frames; beyond it, while the disk hangs, frames are
            refused.

    Attributes:
        frames: number of frames written.
        frame_bytes: bytes of frames written.
        overflowed: frames refused because the queue was full.
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
        """Memory of queued frames, including overhead, in bytes."""
        return self._offered_bytes - self._done_bytes

    def offer(self, recording: Recording, frame: StoredFrame, header: FrameHeader) -> bool:
        """Queue a frame for writing. Return False if the queue is full and the frame is lost."""
        cost = len(frame.data) + FRAME_OVERHEAD
        if self.queued_bytes + cost > self._max_bytes:
            self.overflowed += 1
            return False
        self._offered_bytes += cost
        loop = asyncio.get_running_loop()
        self._disk.append(self._append, loop, recording, frame, header)
        return True

    async def flush(self) -> None:
        """Wait until queued frames are written and their results reported."""
        await self._disk.record(_nothing)

    async def start(
        self,
        recording: Recording,
        manifest: RunManifest,
        past: Sequence[StoredFrame],
        past_s: float | None,
    ) -> Ending | None:
        """Write the manifest and first frames of a run, before any later queued frame.

        Returns:
            The ending, if the first frames end the run.

        Raises:
            OSError: the first frames cannot be written, so the run is unusable.
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
        """Append a frame, in the recording thread, the only one to change these counts."""
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
            with suppress(RuntimeError):  # The event loop has stopped.
                loop.call_soon_threadsafe(self._report, recording, ending)


def _nothing() -> None:
    """Do nothing; used to wait for earlier work."""


def opening_frames(frames: Sequence[StoredFrame], past_ns: int) -> list[bytes]:
    """Choose the frames of the last `past_ns`, starting with a key frame.

    A first frame that is no key frame is merged with the frames since the last one. Events before
    the run are not part of it, so the first frame carries no events and represents only itself.

    Args:
        frames: frames of the history, in order.
        past_ns: span before the newest frame, in nanoseconds; 0 for the newest frame only.

    Returns:
        Frames. Empty if the history is empty or undecodable; the run starts with the next key
        frame.
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


class NewRuns:
    """Creates runs on disk.

    Args:
        directory: directory of the runs.
        registry: known hosts.
        disk: threads in which files are accessed.
        limits: limits of the parts of runs.
        stacks: has stacks taken for runs that ask for them.
    """

    def __init__(
        self,
        directory: RunsDirectory,
        registry: HostRegistry,
        disk: Disk,
        limits: PartLimits,
        stacks: StackLeases,
    ) -> None:
        self._directory = directory
        self._registry = registry
        self._disk = disk
        self._limits = limits
        self._stacks = stacks

    async def create(self, target: Target, request: RecordRequest) -> tuple[Recording, RunManifest]:
        """Run `create_recording` in a thread. Raises ProblemError."""
        directory = await self._disk.write(self._directory.make)
        host = self._registry.host(target.host)
        if host is None:
            raise refusal("unknown-host", f"host {target.host} is not known", "attach again")
        if request.stacks and request.duration_s != 0:
            await self._stacks.begin(target)
        try:
            return await self._disk.write(
                create_recording, directory, host, target, request, self._limits
            )
        except OSError as error:
            raise unwritable(directory, error) from None

    async def discard(self, recording: Recording, error: OSError) -> Exception:
        """Remove a run whose first frames could not be written. Return the error to raise."""
        recording.ending = write_failure(error)
        # A pending stop request fails because the run is removed.
        recording.started.set()

        def remove() -> None:
            recording.end(write_failure(error))
            recording.lock.release()
            discard(recording.folder)

        await self._disk.record(remove)
        return unwritable(recording.folder.path.parent, error)


def create_recording(
    home: Path, host: Host, target: Target, request: RecordRequest, limits: PartLimits
) -> tuple[Recording, RunManifest]:
    """Create and lock the folder of a run.

    Returns:
        The recording, and its manifest, which is not on disk yet.

    Raises:
        OSError: the folder cannot be created; no partial folder is left.
    """
    unix_us = time.time_ns() // 1000
    folder = RunFolder(home / new_run_id(unix_us / 1e6))
    folder.make()
    try:
        lock = RunLock.acquire(folder)
    except OSError:
        discard(folder)
        raise
    if lock is None:
        raise FileExistsError(f"another backend has {folder.path.name}")
    info = RecordingInfo(
        run=folder.path.name,
        target=target.id,
        name=request.name if request.name is not None else target.process.name,
        created_unix_us=unix_us,
    )
    duration_ns = None if request.duration_s is None else int(request.duration_s * 1e9)
    recording = Recording(folder, lock, info, target, host, limits, duration_ns)
    recording.stored_command = request.command
    recording.without_titles = request.command not in (None, target.process.command)
    recording.stacks = request.stacks and request.duration_s != 0
    recording.update_target(target)
    manifest = new_manifest(info.run, info.name, unix_us, host, recording.target)
    given = {"tags": request.tags or [], "group": request.group, "notes": request.notes or ""}
    manifest = manifest.model_copy(update={**given, "stacks": recording.stacks})
    return recording, manifest


def discard(folder: RunFolder) -> None:
    """Remove the folder of a run that could not be started."""
    with suppress(OSError):
        shutil.rmtree(folder.path)


def check_past(past: Sequence[object], request: RecordRequest) -> None:
    """Refuse to record a target's past if no past is kept. Raises ProblemError."""
    if not past or not request.past_s:
        raise refusal(
            "bad-request",
            "there is nothing to record: "
            + ("no past of the target is stored" if request.past_s else "its past is not included"),
            "record from now on, or include some of the past",
        )
