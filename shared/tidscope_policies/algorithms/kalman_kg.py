"""kalman-kg: keep beliefs about every size, and measure where it pays.

Ours. Each interval a bank of Kalman filters takes the progress into what is believed about all
sizes (curves.py), and the size is chosen that is worth the most, knowledge for later included
(search.py). A dip gate stands in front (dip_gate.py).
"""

from collections import deque
from dataclasses import dataclass, replace
from math import log
from statistics import median

from tidscope_policies.algorithms.search import Search, SearchParameters
from tidscope_policies.contract import (
    WAITS_ITS_TURN,
    Decision,
    Observation,
    Peers,
    is_usable,
)
from tidscope_policies.parameters import parameter

ALONE = Peers(1)

PEER_DIP = 0.2
"""Fall of the others' sum of logarithms below its median at this size: one of them is in a dip."""

PEER_COLLAPSE = 1.0
"""Like PEER_DIP, for an unknown size; a change of this program's size has less effect."""

PEER_PATIENCE = 5
"""Intervals in a row after which a dip counts as the new normal."""


@dataclass(frozen=True)
class KalmanKgParameters(SearchParameters):
    """Parameters of the policy `kalman-kg`."""


class KalmanKg:
    """The policy without its dip gate."""

    def __init__(self, parameters: KalmanKgParameters) -> None:
        self._search = Search(parameters)

    def observe(self, seen: Observation) -> Decision:
        """Learn from an interval and choose."""
        if seen.probing_elsewhere:
            return Decision(seen.size, "waiting", WAITS_ITS_TURN, deferred=True)
        if not is_measured(seen):
            return self._search.miss(seen)
        self._search.share(1 if seen.peers is None else seen.peers.instances)
        return with_gain(self._search.step(seen, log(seen.progress)), self._search, seen)

    def restart(self, reason: str) -> None:
        """Forget the beliefs about the sizes."""
        self._search.forget(f"The search restarts ({reason})")


def with_gain(decided: Decision, search: Search, seen: Observation) -> Decision:
    """Add the gain of a chosen size to a decision on one program's progress."""
    if not decided.chooses:
        return decided
    return replace(decided, gain=search.gain(decided.size, seen.original))


def is_measured(seen: Observation) -> bool:
    """True if the interval has progress at an allowed size."""
    return is_usable(seen) and seen.ops > 0 and seen.size in seen.bounds.sizes


@dataclass(frozen=True)
class CooperativeParameters(SearchParameters):
    """Parameters of the policy `cooperative`."""

    cores: int = parameter(0, 0, 65536, "cores", "cores to share; 0: those it may use")
    patience: int = parameter(
        3, 1, 60, "intervals", "how long it keeps its turn after a move, to measure the effect"
    )


class Cooperative:
    """cooperative: kalman-kg for several steered programs on one host, without its dip gate.

    Ours. Alone it is kalman-kg from the program's own size: cores say nothing of a pool that waits.
    When the others have left, it goes back to the size that it chose alone, or to the best one that
    it tried beside them. Together with others

    - it starts from its share of the cores that it may use, by the machine, its affinity, and the
      limits of its control groups, unless its threads wait more than they compute;
    - one program tries sizes out at a time: the holder of the host's token (coordinator.py). The
      others keep still, and do not take the changes meanwhile for an effect of their own size;
    - it maximises the sum of the logarithms of all programs' progress. A program that looked at
      itself only would lose by getting smaller, so all would stay large and obstruct each other.
      The logarithm makes a percent of one program worth a percent of another (proportional
      fairness; F. Kelly, Charging and rate control for elastic traffic, 1997).
    """

    def __init__(self, parameters: CooperativeParameters) -> None:
        self._p = parameters
        self._search = Search(parameters)
        self._instances = 0
        self._restarted = ""
        self._disturbed = False
        self._turn = 0
        self._own = self._alone = 0
        self._others = _PeerGate()

    def observe(self, seen: Observation) -> Decision:
        """Learn from an interval and choose, unless it is another one's turn."""
        peers = seen.peers or ALONE
        if peers.instances != self._instances or self._restarted:
            return self._start(seen, peers)
        if seen.probing_elsewhere or peers.moved:
            self._disturbed = True
            self._turn = 0
            return Decision(seen.size, "waiting", WAITS_ITS_TURN, deferred=True)
        decided = self._next(seen, peers.log_progress)
        if peers.instances == 1 and decided.chooses:
            self._alone = decided.size
            decided = with_gain(decided, self._search, seen)
        if decided.size != seen.size:
            self._turn = self._p.patience
        elif self._turn > 0:
            self._turn -= 1
            return replace(decided, probing=self._turn > 0)
        return decided

    def _next(self, seen: Observation, others: float | None) -> Decision:
        """Decision of the search, whether or not the interval counts."""
        if self._disturbed:
            # Now, and not at the next measurement: by then a trial may have begun, and would end.
            self._search.loosen()
            self._others.forget()
            self._disturbed = False
        if not is_measured(seen) or others is None:
            return self._search.miss(seen)
        if self._others.is_dip(seen.size, others):
            missed = self._search.miss(seen)
            return replace(missed, reason="Progress of another program dipped.")
        return self._search.step(seen, log(seen.progress) + others)

    def restart(self, reason: str) -> None:
        """Start again at this program's share of the cores."""
        self._restarted = reason

    def _start(self, seen: Observation, peers: Peers) -> Decision:
        why = f"The search restarts ({self._restarted})" if self._restarted else "It begins"
        if not self._instances:
            self._own = seen.size if seen.original is None else seen.original
        known, whose = self._known()
        self._search.forget(why, peers.instances)
        self._instances, self._restarted, self._disturbed = peers.instances, "", False
        self._others = _PeerGate()
        waits = seen.cores is not None and seen.cores.is_hardly_used
        if not self._p.cores and (peers.instances == 1 or waits):
            size = seen.bounds.clamp(known)
            hint = ": its threads wait more than they compute" if peers.instances > 1 else ""
            reason = f"{why} at {size}, {whose}{hint}."
            return Decision(size, "starting", reason, deferred=size == seen.size)
        programs = "one program" if peers.instances == 1 else f"{peers.instances} programs"
        if self._p.cores or seen.cores is None:
            cores = float(self._p.cores or seen.bounds.high)
            share = cores / peers.instances
        else:
            cores, share = seen.cores.usable, seen.cores.share
        size = seen.bounds.clamp(int(share))
        noun = "core" if cores == 1 else "cores"
        reason = f"{why} at {size}: {cores:g} {noun} for {programs}."
        return Decision(size, "starting", reason, deferred=size == seen.size)

    def _known(self) -> tuple[int, str]:
        """Return the best size where no share of the cores counts, and where it is from.

        Beside others a program may get along with fewer threads than alone. But what is best there
        was measured, and it may be far better than the program's own size.
        """
        if self._alone:
            return self._alone, "the size that it had alone"
        if self._search.best:
            return self._search.best, "the best of the sizes that it tried"
        return self._own, "the program's own size"


class _PeerGate:
    """The dip gate sees this program's parts only; of the others there is one number.

    It is compared at one size of this program: what the others do depends on it.
    """

    def __init__(self) -> None:
        self._recent_progress: dict[int, deque[float]] = {}
        self._dips = 0

    def forget(self) -> None:
        """The others have other sizes now."""
        self._recent_progress.clear()
        self._dips = 0

    def is_dip(self, size: int, log_progress: float) -> bool:
        """Whether the others' progress fell, and not for long yet."""
        if self._is_below(size, log_progress):
            self._dips += 1
            if self._dips < PEER_PATIENCE:
                return True
            self.forget()
        self._dips = 0
        self._recent_progress.setdefault(size, deque(maxlen=10)).append(log_progress)
        return False

    def _is_below(self, size: int, log_progress: float) -> bool:
        recent = self._recent_progress.get(size)
        if recent is not None:
            return log_progress < median(recent) - PEER_DIP
        medians = [median(each) for each in self._recent_progress.values()]
        return bool(medians) and log_progress < min(medians) - PEER_COLLAPSE
