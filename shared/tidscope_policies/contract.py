"""The contract of policies: observations in, decisions out."""

import math
from dataclasses import dataclass
from typing import Literal, Protocol

PART_S = 0.25
"""Length of the parts that an interval is cut into."""

NOT_COUNTED = "The last interval is not counted: the size or the program was changed from outside"
WAITS_ITS_TURN = "Another program on this host is exploring; this one waits its turn."


@dataclass(frozen=True, slots=True)
class Bounds:
    """Sizes that a pool may have, both ends included.

    Raises:
        ValueError: there is no such size.
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high:
            raise ValueError(f"bounds {self.low} to {self.high}: want 1 <= low <= high")

    def clamp(self, size: int) -> int:
        """The nearest size inside."""
        return min(max(size, self.low), self.high)

    @property
    def sizes(self) -> range:
        """All sizes inside, from low to high."""
        return range(self.low, self.high + 1)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch inside an interval, about `PART_S` long.

    Attributes:
        seconds: its real length.
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
        moved: the size of one of the others changed in this interval.
    """

    instances: int
    log_progress: float | None = 0.0
    moved: bool = False


@dataclass(frozen=True, slots=True)
class CoreShare:
    """The cores of a program, by the machine, its affinity, and the limits of its control groups.

    Attributes:
        usable: that it may use.
        share: its equal part of them, among the steered programs that may use the same ones.
    """

    usable: float
    share: float


@dataclass(frozen=True, slots=True)
class Grant:
    """Cores that an arbiter gives a program (arbitration/arbiter.py).

    Attributes:
        cores: that it gets: the size of its pool.
        total: cores that it gets some of, together with others.
        programs: how many programs they are divided among.
        state: `settled`, `trying` another division, `idle` without progress, or `absent`: it does
            not answer.
        reason: why it is so many, one sentence.
        cause: of the last change: `members` came, left, stopped or went on; a `try`; an `estimate`.
        since_s: when the number changed last, on the clock of observations.
        more: what one core more is expected to bring, relative; None: it can have none.
        less: what one core less is expected to cost, relative; None: it can have none.
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


@dataclass(frozen=True, slots=True)
class Observation:
    """Measurements of one interval.

    Attributes:
        at_s: its end, on any clock that only goes forward.
        elapsed_s: its real length, which a slow change of size makes longer than asked for.
        ops: operations that ended in it.
        size: the size really in effect at its end (read back, not what was asked for).
        bounds: what sizes there may be.
        parts: the interval cut into pieces, oldest first; empty where there are none.
        moved_by_other: somebody else changed the size in it.
        probing_elsewhere: another steered program of this host is trying sizes out.
        paused: the target stood still (stopped, frozen, just attached): the numbers say nothing.
        dipped: the program did far less than usual for a moment: the numbers say nothing.
        mean_wait_s: mean time that the jobs which began in it had waited in the queue; None where
            the signal does not have it.
        jobs: how many jobs that mean is of.
        peers: the others; None for a program that is steered alone.
        cores: what it may use of the machine; None: not known.
        grant: what an arbiter gives it of the cores; None: there is none.
        responses: jobs that ended in it by their response time, entry b those below 2^(b+10) ns
            that no entry before it has; empty where that is not known.
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

    @property
    def progress(self) -> float:
        """Operations a second of real time."""
        return self.ops / self.elapsed_s if self.elapsed_s > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The size that a pool should have now, and why.

    Attributes:
        size: the size that should be in effect in the next interval.
        state: what the policy is doing, in words a person understands.
        reason: one sentence.
        probing: sizes are being tried out; others on this host should hold still meanwhile.
        proposed: in shadow mode the size that would have been set; None otherwise.
        release: nothing is left to do: the program gets its own size back, and is steered no more.
        deferred: the policy keeps the size because it cannot choose one yet: it warms up, begins,
            waits for its turn, or the interval says too little.
    """

    size: int
    state: str
    reason: str
    probing: bool = False
    proposed: int | None = None
    release: bool = False
    deferred: bool = False

    @property
    def chooses(self) -> bool:
        """True if the policy chose the size: it neither deferred that nor tries sizes out."""
        return not self.deferred and not self.probing


class Policy(Protocol):
    """A state machine. Given the same observations it decides the same."""

    def observe(self, seen: Observation) -> Decision:
        """Take in one interval; called at each interval's end."""
        ...

    def restart(self, reason: str) -> None:
        """Search again from the next observation on; `reason` is reported there.

        Called when another instance joins or leaves, when the program says that it entered another
        phase, and when a person asks.
        """
        ...


def is_usable(seen: Observation) -> bool:
    """Whether an interval says anything about the size it ends with."""
    return (
        not seen.paused
        and not seen.dipped
        and not seen.moved_by_other
        and seen.elapsed_s > 0
        and seen.ops >= 0
        and math.isfinite(seen.ops)
    )
