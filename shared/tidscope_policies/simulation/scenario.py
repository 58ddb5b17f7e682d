"""Scenarios for policies: programs, noise and dips. docs/controllers.md explains the format."""

import math
import re
from dataclasses import dataclass, field, fields
from typing import Any

from tidscope_policies.contract import Bounds

DAY_S = 24 * 3600
MAX_THREADS = 1024
MAX_PROCESSES = 16
NAME = re.compile(r"[A-Za-z0-9_.-]{1,32}")
TINY = math.ulp(0.0)
ALMOST_ONE = math.nextafter(1.0, 0.0)


def _number(low: float, high: float = math.inf, **default: Any) -> Any:
    """A field with its lowest and highest value; infinity itself is never one."""
    return field(metadata={"low": low, "high": high}, **default)


@dataclass(frozen=True)
class _Table:
    """A table of a scenario's file.

    Raises:
        ValueError: a value is out of its bounds; the text names the field.
    """

    def __post_init__(self) -> None:
        for each in fields(self):
            low, value = each.metadata.get("low"), getattr(self, each.name)
            if low is None or value is None:
                continue
            if not low <= value <= each.metadata["high"] or not math.isfinite(value):
                raise ValueError(f"{each.name}: {value:g} is not {_range(low, each.metadata)}")
        self._check()

    def _check(self) -> None:
        """Check what more than one field decides."""


@dataclass(frozen=True)
class Phase(_Table):
    """A stretch of a program's life.

    Attributes:
        seconds: its length.
        scale: of the throughput.
        best: sets kappa so that this size is the best one.
        ceiling_ops: demand in operations a second; absent: the program's.
        unseen: `scale` is chosen so that the throughput at the size in effect does not change.
    """

    seconds: float = _number(TINY)
    scale: float = _number(TINY, default=1.0)
    best: float | None = _number(TINY, default=None)
    ceiling_ops: float | None = _number(TINY, default=None)
    unseen: bool = False


@dataclass(frozen=True)
class RandomPhases(_Table):
    """Phases of `shortest_s` plus an exponential time of mean `further_s`; best size uniform."""

    shortest_s: float = _number(1)
    further_s: float = _number(0)
    best_low: int = _number(1, MAX_THREADS)
    best_high: int = _number(1, MAX_THREADS)

    def _check(self) -> None:
        if self.best_low > self.best_high:
            raise ValueError("best_low is above best_high")


@dataclass(frozen=True)
class Swing(_Table):
    """The level goes up and down as a sine: `percent` to either side, `seconds` a period."""

    percent: float = _number(0, 95)
    seconds: float = _number(1)
    begin: float = _number(0, 1, default=0.0)


@dataclass(frozen=True)
class Neighbour(_Table):
    """Another program takes `percent` of the throughput for a while, again and again.

    Both times are exponential, of these means, at least `shortest_s`.
    """

    percent: float = _number(0, 99)
    on_s: float = _number(TINY)
    off_s: float = _number(TINY)
    shortest_s: float = _number(0, default=1.0)


@dataclass(frozen=True)
class Batches(_Table):
    """Work comes for `on_s` seconds; for `off_s` there is hardly any (`percent`)."""

    on_s: float = _number(TINY)
    off_s: float = _number(TINY)
    percent: float = _number(0, 100, default=1.0)


@dataclass(frozen=True)
class WarmUp(_Table):
    """The level rises evenly from `from_percent` to the full one within `seconds`."""

    seconds: float = _number(TINY)
    from_percent: float = _number(0, 100, default=30.0)


@dataclass(frozen=True)
class Peak(_Table):
    """A second peak: up to `percent` more around the size `at`, `width` doublings to a side."""

    at: float = _number(TINY)
    percent: float = _number(0)
    width: float = _number(0.01, default=0.2)


@dataclass(frozen=True)
class Retries(_Table):
    """Requests beyond the capacity time out, and are sent again: overload amplifies itself.

    A try that times out has taken `wasted_percent` of the work of an operation, and is sent again
    with a probability of `again_percent`, `tries` times at most on average.
    """

    again_percent: float = _number(0, 99)
    wasted_percent: float = _number(0, 99)
    tries: float = _number(1, default=3.0)

    def _check(self) -> None:
        if self.again_percent + self.wasted_percent >= 100:
            raise ValueError("again_percent and wasted_percent are 100 or more together")


@dataclass(frozen=True)
class Process(_Table):
    """A program with a pool, whose throughput follows the universal scalability law.

    Attributes:
        ops_per_thread: operations a second of one thread alone (lambda).
        sigma: contention.
        kappa: coherency; phases that give `best` set it themselves.
        from_s: when it starts.
        until_s: when it ends; absent: with the run.
        ceiling_ops: demand in operations a second; absent: no limit.
        knee: size above which every further thread costs `knee_loss` of the throughput.
        knee_loss: that share.
        phases: one after the other, the last one until the end; empty: one phase.
        random_phases: instead of phases.
        swing: of its level; absent: none.
        neighbour: that takes from its level; absent: none.
        batches: in which its work comes; absent: always.
        warm_up: of its level; absent: none.
        lag_s: how much later an operation is counted than it is done.
        peak: a second one; absent: none.
        retries: of requests beyond the capacity; only where `ceiling_ops` limits the demand.
        work_sd: operations are whole, and the logarithm of their work has this standard deviation;
            absent: they are a stream.
    """

    ops_per_thread: float = _number(TINY, default=1000.0)
    sigma: float = _number(0, ALMOST_ONE, default=0.03)
    kappa: float = _number(0, default=0.003)
    from_s: float = _number(0, default=0.0)
    until_s: float | None = _number(TINY, default=None)
    ceiling_ops: float | None = _number(TINY, default=None)
    knee: int | None = _number(1, MAX_THREADS, default=None)
    knee_loss: float = _number(0, ALMOST_ONE, default=0.0)
    phases: list[Phase] = field(default_factory=list)
    random_phases: RandomPhases | None = None
    swing: Swing | None = None
    neighbour: Neighbour | None = None
    batches: Batches | None = None
    warm_up: WarmUp | None = None
    lag_s: float = _number(0, 600, default=0.0)
    peak: Peak | None = None
    retries: Retries | None = None
    work_sd: float | None = _number(0, 5, default=None)

    def _check(self) -> None:
        if self.phases and self.random_phases:
            raise ValueError("phases and random_phases exclude each other")
        limited = [self.ceiling_ops, *(phase.ceiling_ops for phase in self.phases)]
        for name in ("swing", "neighbour", "batches", "warm_up"):
            if getattr(self, name) is not None and any(each is not None for each in limited):
                raise ValueError(f"{name} and ceiling_ops exclude each other")
        if self.until_s is not None and self.until_s <= self.from_s:
            raise ValueError("until_s is not after from_s")


@dataclass(frozen=True)
class Noise(_Table):
    """Relative noise: white, per interval of 2 s, and slow (autoregressive)."""

    white_percent: float = _number(0, default=2.5)
    slow_percent: float = _number(0, default=1.5)
    slow_tau_s: float = _number(TINY, default=10.0)


@dataclass(frozen=True)
class Dips(_Table):
    """Throughput falls to `to_percent` for a uniform time; gaps are fixed plus exponential."""

    to_percent: float = _number(0, default=5.0)
    shortest_s: float = _number(TINY, default=1.0)
    longest_s: float = _number(TINY, default=4.0)
    gap_s: float = _number(0, default=10.0)
    further_gap_s: float = _number(0, default=20.0)

    def _check(self) -> None:
        if self.shortest_s > self.longest_s:
            raise ValueError("shortest_s is above longest_s")


@dataclass(frozen=True)
class Scenario(_Table):
    """A run that policies are tried on.

    Attributes:
        name: short; the head of its column.
        title: one line.
        processes: programs; they compete for the cores.
        seconds: length of a run.
        scored_from_s: what is before that does not count.
        cores: of the host; more threads than that share them.
        crowding: loss for each core's worth of threads above the cores.
        coupled: the programs are stages of one pipeline: each does what the slowest one can do.
        low: lowest size.
        high: highest size.
        start: size in effect when a program starts; absent: the highest.
        change_delay_s: how long a change of size takes to act.
        change_cost_s: work that it costs, in seconds.
        missing_percent: intervals of which nothing is known.
        noise: of each program on its own.
        dips: of each program on its own; absent: none.
    """

    name: str
    title: str
    processes: list[Process]
    seconds: float = _number(TINY, DAY_S, default=1200.0)
    scored_from_s: float = _number(0, default=10.0)
    cores: int = _number(1, MAX_THREADS, default=16)
    crowding: float = _number(0, default=0.12)
    coupled: bool = False
    low: int = _number(1, MAX_THREADS, default=4)
    high: int = _number(1, MAX_THREADS, default=16)
    start: int | None = _number(1, MAX_THREADS, default=None)
    change_delay_s: float = _number(0, default=0.3)
    change_cost_s: float = _number(0, default=0.02)
    missing_percent: float = _number(0, 99, default=0.0)
    noise: Noise = field(default_factory=Noise)
    dips: Dips | None = None

    def _check(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"name: {self.name!r} is not 1 to 32 letters, digits or _.-")
        if not 1 <= len(self.processes) <= MAX_PROCESSES:
            raise ValueError(f"processes: {len(self.processes)}, not 1 to {MAX_PROCESSES}")
        if self.low > self.high:
            raise ValueError("low is above high")
        if self.start is not None and self.start not in self.bounds.sizes:
            raise ValueError("start is not from low to high")
        if self.scored_from_s >= self.seconds:
            raise ValueError("scored_from_s is not before the end")
        if min(process.from_s for process in self.processes) > 0:
            raise ValueError("no program runs at second 0")

    @property
    def bounds(self) -> Bounds:
        """Sizes that a pool may have."""
        return Bounds(self.low, self.high)

    @property
    def has_unseen_phases(self) -> bool:
        """True if what a program does depends on the sizes that it had before."""
        return any(phase.unseen for process in self.processes for phase in process.phases)

    @property
    def own_size(self) -> int:
        """Size of a pool that nobody steers."""
        return self.start or self.high

    def draw(self, seed: int) -> "Scenario":
        """Itself: only a family differs with the seed."""
        del seed
        return self


def _range(low: float, metadata: Any) -> str:
    high = metadata["high"]
    least = "above 0" if low == TINY else f"at least {low:g}"
    if high == math.inf:
        return least
    return f"{least} and {'below 1' if high == ALMOST_ONE else f'at most {high:g}'}"
