"""The collector's real uplink inside a test, fed with frames by hand."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from backend_builders import HOST_ID, TARGET_ID, host, target
from backend_server import SECRET
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink.commands import CommandHandler
from tidscope_collector.uplink.connection import Uplink
from tidscope_collector.uplink.replay import Replay
from tidscope_collector.uplink.sign_in import UNIX, SignIn
from tidscope_wire.frame import FrameError, split
from tidscope_wire.generated.models import DoctorReport, Target
from tidscope_wire.proof import host_credential

MIB = 1 << 20


def no_doctor() -> DoctorReport:
    """Nobody asks in these tests."""
    raise NotImplementedError


@contextmanager
def quiet_targets() -> Iterator[TargetRegistry]:
    """Targets without an engine that runs: they are what a test notes."""
    sources = Sources(ProcFs())
    try:
        yield TargetRegistry(HOST_ID, ProcFs(), sources, Engine(lambda *_: None, None))
    finally:
        sources.close()


class UplinkHarness:
    """An uplink that waits between two tries until the test lets it go on.

    Args:
        targets: what it tells of.
        where: port of the backend, or another address than ws://127.0.0.1.
        secret: that it proves, but at a Unix socket.
        most_bytes: bound of its replay buffer.

    Attributes:
        waits: seconds that it wanted to wait, one a try that has ended.
    """

    def __init__(
        self,
        targets: TargetRegistry,
        where: int | str,
        secret: str = SECRET,
        most_bytes: int = MIB,
    ) -> None:
        self.targets = targets
        self.replay = Replay(most_bytes, most_bytes)
        self.waits: list[float] = []
        self._waiting = asyncio.Event()
        self._go = asyncio.Event()
        url = where if isinstance(where, str) else f"ws://127.0.0.1:{where}/ws/collector"
        self.uplink = Uplink(
            url,
            None if url.startswith(UNIX) else SignIn(url, host_credential(secret)),
            host(),
            targets,
            CommandHandler(targets, no_doctor),
            self.replay,
            self._pause,
        )
        self._task: asyncio.Task[None] | None = None

    async def _pause(self, seconds: float) -> None:
        self.waits.append(seconds)
        self._waiting.set()
        await self._go.wait()
        self._go.clear()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.uplink.run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def ended(self) -> float:
        """Wait until a connection, or a try, has ended; the seconds that it wants to wait."""
        await self._waiting.wait()
        self._waiting.clear()
        return self.waits[-1]

    def go_on(self) -> None:
        """Let it connect again."""
        self._go.set()

    async def tries(self, count: int) -> list[float]:
        """Let so many tries end; the seconds that it wanted to wait after each."""
        for turn in range(count):
            await self.ended()
            if turn < count - 1:
                self.go_on()
        return self.waits[-count:]

    def put(
        self,
        frames: Sequence[bytes],
        first: int = 1,
        *,
        of: Target | None = None,
        key_every: int = 10,
    ) -> None:
        """Hand frames over as the sampler does; 1, 1 + key_every, … are key frames."""
        whose = of or target(TARGET_ID)
        for seq, frame in enumerate(frames, first):
            key = seq % key_every == 1 or key_every == 1
            self.uplink.add_frame(whose, SampledFrame(seq, frame, key, _is_baseline(frame)))


def _is_baseline(frame: bytes) -> bool:
    try:
        return split(frame)[0].baseline
    except FrameError:
        return False
