"""The contract of policies: observations in, decisions out."""

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from tidscope_policies.proving.evidence import Interval

PART_S = 0.25
"""Length of an interval's parts, in seconds."""

NOT_COUNTED = "The last interval is not counted: the size or the program was changed from outside"
WAITS_ITS_TURN = "Another program on this host is exploring; this one waits its turn."


@dataclass(frozen=True, slots=True)
class Bounds:
    """Range of a pool's sizes, both ends included.

    Raises:
        ValueError: the range is empty.
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high:
            raise ValueError(f"bounds {self.low} to {self.high}: want 1 <= low <= high")

    def clamp(self, size: int) -> int:
        """Return the nearest size within the bounds."""
        return min(max(size, self.low), self.high)

    @property
    def sizes(self) -> range:
        """All sizes within the bounds, ascending."""
        return range(self.low, self.high + 1)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an interval, about `PART_S` long.

    Attributes:
        seconds: real length.
        ops: operations that ended in it.
    """

    seconds: float
    ops: float

    @property
    def progress(self) -> float:
        """Operations a second."""
        return self.ops / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Peers:
    """The other steered programs of the host.

    Attributes:
        instances: how many programs are steered, this one included.
        log_progress: sum of the natural logarithms of the others' operations a second, over the
            same interval; None where that of one of them is not known or not above 0.
        moved: another program's size changed in this interval.
    """

    instances: int
    log_progress: float | None = 0.0
    moved: bool = False


HARDLY = 0.5
"""Share of its part of the cores below which a program's threads mostly wait."""


@dataclass(frozen=True, slots=True)
class CoreShare:
    """A program's cores by the machine, its affinity and the limits of its control groups.

    Attributes:
        usable: cores that the program may use.
        share: equal part of `usable` among the steered programs that may use the same cores.
        used: cores that the program used in the interval, on average; None if unknown.
    """

    usable: float
    share: float
    used: float | None = None

    @property
    def is_hardly_used(self) -> bool:
        """True if the program's threads mostly wait: cores say nothing of how many it needs."""
        return self.used is not None and self.used < HARDLY * self.share


@dataclass(frozen=True, slots=True)
class BusyWorkers:
    """Time of a pool's workers in an interval, in workers on average.

    Attributes:
        busy: workers that held a job, by Little's law: jobs finished a second, times the time that
            each took.
        computing: threads of the program that were on a CPU.
        delayed: threads of the program that were runnable without a CPU.
    """

    busy: float
    computing: float
    delayed: float

    @property
    def waiting(self) -> float:
        """Busy workers that neither were on a CPU nor wanted one."""
        return max(0.0, self.busy - self.computing - self.delayed)


@dataclass(frozen=True, slots=True)
class Grant:
    """Cores that an arbiter gives a program (arbitration/arbiter.py).

    Attributes:
        cores: granted cores; 0 for a program without an answer.
        total: cores divided among all programs.
        programs: number of programs that share `total`.
        state: `settled`, `trying` another division, `idle` without progress, or `absent`: it does
            not answer.
        reason: one sentence for people.
        cause: of the last change: `members` came, left, stopped or went on; a `try`; an `estimate`.
        since_s: time of the last change, on the clock of observations.
        more: expected relative gain of one more core; None if none can be added.
        less: expected relative loss of one core fewer; None if none can be removed.
        waiting: workers of its pool that wait, and so need no core (arbitration/waiting.py).
    """

    cores: int
    total: int
    programs: int
    state: Literal["settled", "trying", "idle", "absent"]
    reason: str
    cause: Literal["members", "try", "estimate"]
    since_s: float
    more: float | None
    less: float | None
    waiting: int = 0

    @property
    def size(self) -> int:
        """Size of the program's pool; 0 without cores."""
        return self.cores + self.waiting if self.cores else 0


@dataclass(frozen=True, slots=True)
class Observation:
    """Measurements of one interval.

    Attributes:
        at_s: end of the interval, on any monotonic clock.
        elapsed_s: real length, which a slow change of size extends.
        ops: operations that ended in the interval.
        size: size in effect at the end (read back, not requested).
        bounds: allowed sizes.
        parts: the interval cut into pieces, oldest first; empty where there are none.
        moved_by_other: another actor changed the size in the interval.
        probing_elsewhere: another steered program of this host is trying sizes.
        paused: the target was stopped, frozen or just attached: the numbers are meaningless.
        dipped: a momentary dip in progress: the numbers are meaningless.
        mean_wait_s: mean queue wait of the jobs started in the interval; None if the signal
            lacks it.
        jobs: number of jobs in `mean_wait_s`.
        peers: the other steered programs; None for a program that is steered alone.
        cores: cores that the program may use; None if unknown.
        grant: the arbiter's grant; None without an arbiter.
        responses: jobs that ended in it by their response time, entry b those below 2^(b+10) ns
            that no entry before it has; empty where that is not known.
        original: the size that the program chose itself, before it was steered; None if unknown.
        workers: time of the pool's workers; None if unknown, or if nothing divides cores.
    """

    at_s: float
    elapsed_s: float
    ops: float
    size: int
    bounds: Bounds
    parts: tuple[Part, ...] = ()
    moved_by_other: bool = False
    probing_elsewhere: bool = False
    paused: bool = False
    dipped: bool = False
    mean_wait_s: float | None = None
    jobs: int = 0
    peers: Peers | None = None
    cores: CoreShare | None = None
    grant: Grant | None = None
    responses: tuple[int, ...] = ()
    original: int | None = None
    workers: BusyWorkers | None = None

    @property
    def progress(self) -> float:
        """Operations a second of real time."""
        return self.ops / self.elapsed_s if self.elapsed_s > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The size that a pool should have now, and why.

    Attributes:
        size: the size that should be in effect in the next interval.
        state: the policy's activity, in words for people.
        reason: one sentence.
        probing: sizes are being tried; the host's other programs should keep theirs meanwhile.
        proposed: size that shadow mode would have set; None otherwise.
        release: steering ends, and the program gets its original size back.
        deferred: the policy keeps the size because it cannot choose one yet: it warms up, begins,
            waits for its turn, or the interval says too little.
        gain: relative gain of `size` over the program's own size by the policy's estimate, with a
            95 % interval; None if the policy has none.
    """

    size: int
    state: str
    reason: str
    probing: bool = False
    proposed: int | None = None
    release: bool = False
    deferred: bool = False
    gain: Interval | None = None

    @property
    def chooses(self) -> bool:
        """True if the policy chose the size, neither deferring nor trying sizes."""
        return not self.deferred and not self.probing


class Policy(Protocol):
    """A deterministic state machine from observations to decisions."""

    def observe(self, seen: Observation) -> Decision:
        """Process one interval; called at each interval's end."""
        ...

    def restart(self, reason: str) -> None:
        """Search again from the next observation on; `reason` is reported there.

        Called when another instance joins or leaves, when the program says that it entered another
        phase, and when a person asks.
        """
        ...


def is_usable(seen: Observation) -> bool:
    """True if an interval is evidence about the size it ends with."""
    return (
        not seen.paused
        and not seen.dipped
        and not seen.moved_by_other
        and seen.elapsed_s > 0
        and seen.ops >= 0
        and math.isfinite(seen.ops)
    )
