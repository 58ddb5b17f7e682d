"""Targets whose stacks are taken, sampled by the real engine in this process."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Self

from engines import engine_of
from followed_target import PATIENCE_S, Follower
from frame_queues import TakenFrames
from tidscope_backend.stacks.tables import StackTables
from tidscope_backend.stacks.trees import Stacks
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.stacks.program import StackProgram, start_program
from tidscope_collector.targets.sources import Sources
from tidscope_wire.frame import Fields, split
from tidscope_wire.frame_tables import Table, empty_table
from tidscope_wire.generated.models import GroupSelector, StackSampling, TableName, Target

LEASE_S = 600.0
SETTLED_NS = 6_000_000_000
"""How long a sample waits for its stack, for the number of its lock and for a frame, at most."""


TABLES_NS = 2_000_000_000
"""How long a name that is known waits for a frame, at most."""


class StackedTarget:
    """A target and its frames; a `StackSource` of the backend.

    Args:
        target: the target.

    Attributes:
        seen: reads its frames.
        kept: all frames, in order.
        times: their times, since attach.
    """

    label = "target of a test"
    sampling: StackSampling | None = None
    naming = ""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.seen = Follower()
        self.kept: list[bytes] = []
        self.times: list[int] = []

    def take(self, data: bytes) -> None:
        """Take the next frame in."""
        self.kept.append(data)
        self.times.append(self.seen.take(data).time_ns)

    def table(self, name: TableName) -> Table:
        """Return the rows of a table up to the last frame."""
        return self.seen.tables.get(name, empty_table(name))

    @property
    def samples(self) -> Table:
        """Rows of `stack_samples`."""
        return self.table("stack_samples")

    @property
    def counts(self) -> dict[int, int]:
        """Counts of `stack_counts` by their kinds."""
        return dict(self.table("stack_counts").tolist())

    def code(self) -> Stacks:
        """Return the stacks by node."""
        return Stacks(self.table("stack_frames"), self.table("stack_nodes"))

    def span(self) -> tuple[int, int] | None:
        """See StackSource."""
        return (self.times[0], self.times[-1]) if self.times else None

    def known_ns(self) -> int | None:
        """See StackSource."""
        return self.seen.tables_ns or None

    def stacks(self, from_ns: int, to_ns: int) -> StackTables:
        """See StackSource."""
        periods = self.table("stack_periods")
        frames, nodes = self.table("stack_frames"), self.table("stack_nodes")
        return StackTables(frames, nodes, periods, self.samples, 0)

    def frames(self, from_ns: int, to_ns: int) -> tuple[Sequence[bytes], Fields | None]:
        """See StackSource."""
        return self.kept, None


class StackCollector:
    """Sources and an engine, whose frames come to the test; use it in a ``with`` statement.

    Args:
        program: the program that takes stacks, or why there is none.
    """

    def __init__(self, program: StackProgram | Obstacle | None = None) -> None:
        self.sources = Sources(ProcFs(), stacks=start_program() if program is None else program)
        self.service = self.sources.stacks
        self._frames = TakenFrames(self.sources.native)
        self.engine, self.targets = engine_of(self.sources)
        self.engine.start()
        self.service.start()
        self._followed: dict[str, StackedTarget] = {}

    def attach(self, pid: int, rate_hz: float = 10) -> StackedTarget:
        """Attach to a process."""
        return self._follow(self.targets.attach(pid, None, rate_hz)[0])

    def attach_group(self, selector: GroupSelector, rate_hz: float = 10) -> StackedTarget:
        """Attach to a group."""
        return self._follow(self.targets.attach_group(selector, rate_hz)[0])

    def _follow(self, target: Target) -> StackedTarget:
        return self._followed.setdefault(target.id, StackedTarget(target))

    def sample(self, target: StackedTarget, seconds: float = LEASE_S) -> StackSampling:
        """Take stacks of a target."""
        stacks = self.targets.sample_stacks(target.target.id, seconds).stacks
        assert stacks is not None
        return stacks

    def detach(self, target: StackedTarget) -> None:
        """Detach from a target, and take its frames to the end."""
        self.targets.detach(target.target.id)

        def is_over() -> bool:
            header = target.seen.header
            events = header.events if header is not None else []
            return any(event.type in ("target_detached", "target_exited") for event in events)

        self.until(is_over)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Take frames until something is known, which fails after PATIENCE_S."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < deadline, self.service.obstacle
            data = self._frames.get(timeout=PATIENCE_S)
            followed = self._followed.get(split(data)[0].target)
            if followed is not None:
                followed.take(data)

    def state(self, target: StackedTarget) -> StackSampling:
        """Return the state of a target's stacks as the target has it."""
        self.engine.submit(lambda: None).result()
        sampler = self.engine.submit(lambda: self.engine.find(target.target.id)).result()
        assert sampler is not None and sampler.target.stacks is not None
        state: StackSampling = sampler.target.stacks
        return state

    def given_up(self, target: StackedTarget) -> StackSampling:
        """Wait until a target says that no stacks can be taken any more; return its state.

        The service knows a moment earlier.
        """
        self.until(lambda: self.service.obstacle is not None)
        self.until(lambda: self.state(target).reason == self.service.reason)
        return self.state(target)

    def now_ns(self, target: StackedTarget) -> int:
        """Return the time since attach of a frame that was taken after this call."""
        now = time.monotonic_ns()
        sampler = self.engine.submit(lambda: self.engine.find(target.target.id)).result()
        assert sampler is not None
        self.until(lambda: sampler.attach_ns + max(target.times, default=0) >= now)
        return target.times[-1]

    def settle(self, *targets: StackedTarget) -> int:
        """Take frames until all samples of targets up to now, and names, have come.

        Returns:
            the time since the attach of the first one.
        """
        begun = [(target, self.now_ns(target)) for target in targets]
        self.until(lambda: all(one.times[-1] >= now + SETTLED_NS for one, now in begun))
        for target in targets:
            self._settle_names(target)
        return begun[0][1]

    def _settle_names(self, target: StackedTarget) -> None:
        """Wait for names: on a busy machine children, with a budget of time, are late."""
        sampler: Any = self.engine.submit(lambda: self.engine.find(target.target.id)).result()
        if sampler is None:
            return
        source = sampler._table_source
        symbols = getattr(source, "_others", source)._stacks._symbols
        if not symbols.join(0):
            assert symbols.join(PATIENCE_S)
            named = self.now_ns(target)
            self.until(lambda: target.times[-1] >= named + TABLES_NS)

    def close(self) -> None:
        """Stop sampling."""
        self.engine.stop()
        self.sources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
