"""What the steered targets of a host know of each other."""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass

from tidscope_policies.contract import CoreShare, Peers
from tidscope_policies.coordinator import Coordinator

from tidscope_collector.steering.loop.core_limits import NO_LIMITS, CoreLimits, share_of

FRESH_S = 30.0
"""What an instance said counts for so long."""


@dataclass
class _IntervalReport:
    at_s: float
    progress: float
    moves: int


class PeerRegistry:
    """All of them; its methods are called from their threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._coordinator = Coordinator()
        self._restarts: dict[str, Callable[[str], None]] = {}
        self._limits: dict[str, CoreLimits] = {}
        self._said: dict[str, _IntervalReport] = {}
        self._seen_moves: dict[str, int] = {}

    def join(
        self, name: str, restart: Callable[[str], None], cores: CoreLimits = NO_LIMITS
    ) -> None:
        """A target is steered from now on; the others search again, unless it was before.

        Args:
            name: its identity.
            restart: restarts its policy's search; called when another one joins or leaves.
            cores: limits of the CPU time that it may have.
        """
        with self._lock:
            known = name in self._restarts
            self._coordinator.join(name)
            others = [] if known else list(self._restarts.values())
            self._restarts[name], self._limits[name] = restart, cores
        for each in others:
            each("another program is steered too")

    def leave(self, name: str) -> None:
        """A target is steered no more; the others search again."""
        with self._lock:
            if self._restarts.pop(name, None) is None:
                return
            self._coordinator.leave(name)
            self._said.pop(name, None)
            self._limits.pop(name, None)
            self._seen_moves.pop(name, None)
            others = list(self._restarts.values())
        for each in others:
            each("another program is no longer steered")

    def share(self, name: str) -> CoreShare | None:
        """What a target may have of the machine, and its share among those that are steered."""
        with self._lock:
            return share_of(name, self._limits)

    def is_probing_elsewhere(self, name: str, now_s: float) -> bool:
        """Whether another one tries sizes out."""
        with self._lock:
            return self._coordinator.is_probing_elsewhere(name, now_s)

    def request_turn(self, name: str, now_s: float, *, probing: bool) -> bool:
        """Say whether this one tries sizes out; whether it may is the answer."""
        with self._lock:
            return self._coordinator.request_turn(name, now_s, probing=probing)

    def record_interval(self, name: str, now_s: float, progress: float, *, moved: bool) -> None:
        """EventSink the others of an interval.

        Args:
            name: who.
            now_s: its end.
            progress: operations a second.
            moved: the size changes after it.
        """
        with self._lock:
            before = self._said.get(name)
            moves = (before.moves if before else 0) + moved
            self._said[name] = _IntervalReport(now_s, progress, moves)

    def peers(self, name: str, now_s: float) -> Peers | None:
        """What the others did; None for one that is steered alone."""
        with self._lock:
            others = [other for other in self._restarts if other != name]
            if not others:
                return None
            said = [self._said.get(other) for other in others]
            moves = sum(one.moves for one in said if one)
            moved = moves != self._seen_moves.get(name, moves)
            self._seen_moves[name] = moves
            logs = [
                math.log(one.progress)
                for one in said
                if one and one.progress > 0 and now_s - one.at_s <= FRESH_S
            ]
            known = len(logs) == len(others)
            return Peers(len(others) + 1, math.fsum(logs) if known else None, moved)
