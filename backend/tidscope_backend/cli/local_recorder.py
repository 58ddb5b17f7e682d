"""Recording on this host without a running tidscope: a collector process, and a recorder here.

The recorder is the backend's, without web server and subscribers. It runs in a thread with an event
loop; the calling thread relays the output of a command. Start-up cost counts for short-lived
processes, so this module loads as little as possible.
"""

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Self, TypeVar

from tidscope_wire.generated.models import (
    Actor,
    AttachRequest,
    FrameHeader,
    RecordRequest,
    RunManifest,
    RunPatch,
    Target,
)
from tidscope_wire.problems import ProblemError
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tidscope_backend.cli.backend_client import RefusedError
from tidscope_backend.cli.backend_user import BackendUser, act_as
from tidscope_backend.cli.collect import ForkedCollector
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.recording_client import Outlived, RecordingOptions
from tidscope_backend.connections.connection import CloseError
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.frame_ingest import FrameIngest
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.ingest.messages import DisconnectedError
from tidscope_backend.ingest.private_socket import (
    SocketError,
    open_private_socket,
)
from tidscope_backend.ingest.session import CollectorSessions
from tidscope_backend.recording.part_sealer import PartSealer, RunSaver, seal_in_process
from tidscope_backend.recording.recorder import Recorder
from tidscope_backend.recording.sealing import seal_part, write_summaries
from tidscope_backend.recording.stack_leases import StackLeases
from tidscope_backend.settings import Settings
from tidscope_backend.store.directory import ManifestWriter, RunsDirectory
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.stream.fanout import Fanout
from tidscope_backend.stream.history import HistoryStore

R = TypeVar("R")
FRAMES = "/frames"
"""End of the path of a data connection."""
CONNECT_SECONDS = 20.0
"""Timeout for the collector's start and each answer, in seconds; generous for busy machines."""
FIRST_FRAME_SECONDS = 20.0
LAST_FRAME_SECONDS = 10.0
CHECK_SECONDS = 1.0
DEFAULT_RATE_HZ = 10.0
SMALL_PART_BYTES = 4 * 1024 * 1024
"""Maximum bytes of frames sealed in this process; starting another process costs more."""
ACTOR = Actor(session=None, role=None, label="tidscope record")


class LocalRecorder:
    """Context manager with the methods of a RecordingClient; it runs the collector.

    Args:
        runs: the runs directory.
        options: recording options.
        user: owner of the run's files; None for the current user.
    """

    def __init__(self, runs: Path, options: RecordingOptions, user: BackendUser | None) -> None:
        self._options = options
        self._user = user
        # The collector's threads also write files.
        self._disk = Disk(partial(act_as, user))
        self._manifests = ManifestWriter(self._disk)
        self._sealer = PartSealer(self._disk, self._seal)
        self._directory = RunsDirectory(runs)
        self._registry = HostRegistry(max_ended=1)
        settings = Settings(
            token="", collector_secret="", runs_dir=runs, command_seconds=CONNECT_SECONDS
        )
        history = HistoryStore(
            settings.history_bytes,
            settings.history_total_bytes,
            int(settings.history_seconds * 1e9),
            time.monotonic,
        )
        self._links = CollectorLinks(lambda _: True)
        self._recorder = Recorder(
            self._directory,
            self._registry,
            history,
            RunSaver(self._manifests, self._sealer, self._disk),
            time.monotonic,
            self._wake,
            self._disk,
            self._links.flush,
            StackLeases(self._links.sample_stacks, time.monotonic),
        )
        ingest = FrameIngest(self._registry, Fanout(history), self._frame_received, self._recorder)
        self._registry.subscribe(self._wake, ingest.forget)
        self._sessions = CollectorSessions(settings, self._registry, self._links, ingest)
        self._held = ExitStack()
        try:
            self._socket = self._held.enter_context(open_private_socket())
        except SocketError as error:
            raise CommandError(str(error)) from None
        self._collector = ForkedCollector(
            [
                *("run", "--no-steering", "--no-audit"),
                *("--source", options.source, *options.ledger),
                f"--backend=unix:{self._socket.getsockname()}",
            ]
        )
        self._frames = 0
        self._failure: Exception | None = None
        self._loop = asyncio.new_event_loop()
        self._changed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._wait(self._connected())
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def attached(self) -> set[str]:
        """Return no targets: a new collector has none attached."""
        return set()

    def attach(self, asked: AttachRequest) -> Target:
        """Attach to a process or a group. Raises RefusedError."""
        rate_hz = self._options.rate_hz or DEFAULT_RATE_HZ
        request = asked.model_copy(update={"rate_hz": rate_hz})
        reply = self._wait(self._links.pick(None).attach(request, ACTOR))
        return reply.target

    def current(self, target: Target) -> Target:
        """Return a target as it is now."""
        return self._registry.target(target.id) or target

    def detach(self, target: Target) -> None:
        """Stop sampling the target. Raises RefusedError."""
        self._wait(self._links.pick(None).detach(target.id, ACTOR))

    def start(self, target: Target) -> RunManifest:
        """Start recording and wait for the first frame, so that even a short run has one."""
        request = RecordRequest.model_validate(self._options.request(target))
        manifest = self._wait(self._recorder.record(request))
        self._wait(self._until(lambda: self._frames > 0, FIRST_FRAME_SECONDS))
        return self.manifest(manifest)

    def manifest(self, manifest: RunManifest) -> RunManifest:
        """Return the current manifest."""
        folder = self._directory.folder(manifest.id)
        return self._recorder.current_manifest(folder, folder.read_manifest())

    def stop(self, manifest: RunManifest) -> RunManifest:
        """Stop recording."""
        return self._wait(self._recorder.stop(manifest.id))

    def wait_for_end(self, manifest: RunManifest) -> RunManifest:
        """Wait until the process's exit ends the run; stop the run if frames stop arriving."""
        run = manifest.id
        frames, outlived = -1, Outlived(manifest)
        while self._recorder.is_recording(run) and self._frames > frames:
            frames = self._frames
            if outlived.is_seen(frames):
                return self.stop(manifest)
            self._wait(
                self._until(partial(self._has_ended_or_more, run, frames), LAST_FRAME_SECONDS)
            )
        if self._recorder.is_recording(run):
            return self._wait(self._recorder.stop(run, target_ended=True))
        self._wait(self._recorder.wait_saved())
        return self.manifest(manifest)

    def _has_ended_or_more(self, run: str, frames: int) -> bool:
        return self._frames > frames or not self._recorder.is_recording(run)

    def patch(self, manifest: RunManifest, patch: RunPatch) -> RunManifest:
        """Record how the command exited, and results."""
        folder = self._directory.folder(manifest.id)
        update = {name: getattr(patch, name) for name in patch.model_fields_set}
        return self._wait(
            self._manifests.update(folder, lambda current: current.model_copy(update=update))
        )

    def seal(self) -> None:
        """Wait until ended parts are sealed."""
        self._wait(self._sealer.idle())

    def _close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()
        self._collector.stop()
        self._loop.close()
        self._held.close()

    def _wait(self, work: Coroutine[None, None, R]) -> R:
        """Run in the loop; a refusal becomes an error of the command line."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            # A failed loop never answers.
            while not wait((future,), CHECK_SECONDS).done and self._thread.is_alive():
                pass
            if not future.done():
                raise CommandError(f"the recorder failed: {self._failure}")
            return future.result()
        except ProblemError as error:
            raise RefusedError(f"{error.problem.detail}; {error.problem.hint}") from None
        finally:
            # An interrupt leaves the work pending; nothing happens to work that is done.
            future.cancel()

    def _run(self) -> None:
        # Signals are handled by the creating thread only, not by this thread or its children.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._run_loop()
        except Exception as error:
            self._failure = error

    def _run_loop(self) -> None:
        if self._user is not None:
            # pyarrow loads these lazily, from files that the new user may be unable to read.
            for module in ("numpy.ma", "pyarrow.acero"):
                import_module(module)
        act_as(self._user)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._sealer.start()
        self._recorder.watch()
        try:
            async with serve(
                self._session,
                sock=self._socket.dup(),
                compression=None,
                max_size=None,
            ):
                await self._stopping.wait()
        finally:
            await self._recorder.close()
            await self._sealer.stop()

    async def _session(self, connection: ServerConnection) -> None:
        is_data = connection.request is not None and connection.request.path.endswith(FRAMES)
        sessions = self._sessions.frames if is_data else self._sessions
        try:
            await sessions.serve(_Connection(connection))
        except CloseError as error:
            await connection.close(error.code, error.reason)
        except (DisconnectedError, ConnectionClosed):
            pass

    async def _connected(self) -> None:
        """Wait for the collector. Raises CommandError if it does not connect."""
        self._loop.add_reader(self._collector.pidfd, self._wake)
        try:
            await self._until(
                lambda: bool(self._links) or self._collector.exited(), CONNECT_SECONDS
            )
        finally:
            self._loop.remove_reader(self._collector.pidfd)
        if not self._links:
            raise CommandError(f"the collector did not start: {self._collector.output()}")

    async def _until(self, enough: Callable[[], bool], seconds: float) -> None:
        """Wait, with a timeout, for a change after which the condition holds."""
        try:
            async with asyncio.timeout(seconds):
                while not enough():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pass

    async def _seal(self, folder: RunFolder, part: int | None) -> None:
        """Seal a small part here, and a large one in a separate process."""
        if await self._disk.read(folder.bytes) > SMALL_PART_BYTES:
            await seal_in_process(folder, part)
        elif part is not None:
            await self._disk.write(seal_part, folder, part)
        else:
            await self._disk.write(write_summaries, folder)

    def _wake(self) -> None:
        self._changed.set()

    def _frame_received(self, _: str, __: FrameHeader, ___: memoryview) -> None:
        self._frames += 1
        self._changed.set()


class _Connection:
    """A collector's connection: a WebSocket of the websockets library."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def receive(self) -> str | bytes:
        """Wait for the next message. Raises DisconnectedError."""
        try:
            return await self._connection.recv()
        except ConnectionClosed as error:
            raise DisconnectedError(str(error)) from None

    async def send_text(self, text: str, /) -> None:
        """Send a text message."""
        await self._connection.send(text)
