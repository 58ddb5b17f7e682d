"""A recorder without a server: frames are handed to it, and the clock is the test's."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend_builders import TARGET_ID, host, target
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.processes import ProgramEnd
from tidscope_backend.recording.closing import Flush, RecordingTimeouts
from tidscope_backend.recording.part_sealer import PartSealer, RunSaver
from tidscope_backend.recording.recorder import Recorder
from tidscope_backend.recording.recording import PartLimits
from tidscope_backend.recording.stack_leases import StackLeases
from tidscope_backend.recording.writer import MAX_QUEUED_BYTES
from tidscope_backend.store.directory import ManifestWriter, RunsDirectory
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.stream.frames import store_frame
from tidscope_backend.stream.history import HistoryStore
from tidscope_wire.frame import Fields, split
from tidscope_wire.generated.models import FlushReply, RecordRequest, RunManifest, Target
from tidscope_wire.problems import ProblemError


@dataclass
class RunHarness:
    """One backend's recorder, with one host and one target, and their history.

    Attributes:
        closed: parts that the sealer was asked to seal.
        seals: whether parts are sealed, or only noted in `closed`.
        changes: number of reports to subscribers.
        sent: number of the last frame handed over.
        asked: set when the collector was asked for everything up to now.
        flush: answers for the collector; None: it has sent everything.
        ends: the supervisor's log.
        close_s: time that an ending run waits for the collector, in seconds.
        leases: leases of stacks asked for, as target and seconds.
        no_stacks: refusal of leases; None: they are granted.
    """

    home: Path
    limits: PartLimits = field(default_factory=PartLimits)
    targets: tuple[Target, ...] = (target(),)
    now_s: float = 0.0
    closed: list[tuple[str, int | None]] = field(default_factory=list)
    changes: int = 0
    seals: bool = False
    max_queued_bytes: int = MAX_QUEUED_BYTES
    sent: int = 0
    close_s: float = 60.0
    flush: Flush | None = None
    ends: list[ProgramEnd] = field(default_factory=list)
    leases: list[tuple[str, float]] = field(default_factory=list)
    no_stacks: ProblemError | None = None

    async def _has_sent_all(self, _: Target) -> FlushReply:
        target = self.registry.target(TARGET_ID)
        ended = target is not None and target.state != "attached"
        return FlushReply(request_id=0, seq=self.sent, exited=None if ended else 0)

    async def _flush(self, target: Target) -> FlushReply:
        self.asked.set()
        return await (self.flush or self._has_sent_all)(target)

    async def _take_stacks(self, target: Target, seconds: float) -> None:
        self.leases.append((target.id, seconds))
        if self.no_stacks is not None:
            raise self.no_stacks

    def __post_init__(self) -> None:
        self.fields: Fields | None = None
        self.asked = asyncio.Event()
        self.registry = HostRegistry(10)
        if self.targets:
            self.registry.connect_host(host(), self.targets)
        self.store = HistoryStore(1 << 24, 1 << 24, 3600 * 10**9, lambda: self.now_s)
        self.disk = Disk()
        self.sealer = PartSealer(self.disk, *([] if self.seals else [self._close]))
        self.recorder = Recorder(
            RunsDirectory(self.home),
            self.registry,
            self.store,
            RunSaver(ManifestWriter(self.disk), self.sealer, self.disk),
            lambda: self.now_s,
            self._changed,
            self.disk,
            self._flush,
            StackLeases(self._take_stacks, lambda: self.now_s),
            self.limits,
            # The test advances the clock itself.
            RecordingTimeouts(check_interval_s=3600, close_s=self.close_s),
            self.max_queued_bytes,
            lambda: self.ends,
        )

    async def start(self) -> None:
        """Start, and recover the runs on disk."""
        self.sealer.start()
        await self.recorder.start()

    async def stop(self) -> None:
        """End as a backend does that is asked to."""
        await self.recorder.close()
        await self.sealer.stop()

    def send(self, *frames: bytes) -> None:
        """Hand over frames as the intake does."""
        for data in frames:
            header, body = split(data)
            frame = store_frame(header, data, body, self.fields)
            self.fields = frame.fields
            self.sent = max(self.sent, frame.seq)
            self.store.add(frame)
            self.recorder.receive(frame, header)

    async def written(self, *frames: bytes) -> None:
        """Hand over frames, and wait until the disk has had its turn with all of them."""
        self.send(*frames)
        await self.recorder.writer.flush()
        await asyncio.sleep(0)

    async def begin(self, **request: Any) -> RunManifest:
        """Record the target."""
        return await self.recorder.record(RecordRequest(target=TARGET_ID, **request))

    async def advance(self, seconds: float = 0.0) -> None:
        """Advance the clock, and let the recorder check its runs."""
        self.now_s += seconds
        await self.recorder.check_runs(save=False)
        await self.recorder.wait_saved()

    def manifest(self, run_id: str) -> RunManifest:
        """Return the manifest on disk."""
        return self.folder(run_id).read_manifest()

    def folder(self, run_id: str) -> RunFolder:
        """Return the folder of a run."""
        return RunFolder(self.home / run_id)

    async def _close(self, folder: RunFolder, part: int | None) -> None:
        self.closed.append((folder.path.name, part))

    def _changed(self) -> None:
        self.changes += 1
