"""Steered programs of this host: their share of the cores, and turns at probing."""

import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tidscope_policies.arbitration.arbiter import Arbiter
from tidscope_policies.arbitration.division import Pool
from tidscope_policies.contract import CoreShare, Grant, Observation, Peers
from tidscope_policies.coordinator import Coordinator

from tidscope_collector.procfs.control_groups import memberships
from tidscope_collector.procfs.cpu_limit import cpu_limits
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.loop.loop_inputs import Contender

_AFFINITY = re.compile(rb"^Cpus_allowed_list:\s*(\S+)", re.MULTILINE)

FRESH_S = 30.0
"""Time for which an instance's report is valid, in seconds."""

UNKNOWN = 1
"""Number of cores to divide if it is unknown; every program then gets its smallest size."""


@dataclass(frozen=True)
class CoreLimits:
    """Limits of the CPU time of one program.

    Attributes:
        cpus: CPUs that it may run on; empty if unknown.
        groups: cores of each limited control group above it, by the group's folder.
    """

    cpus: frozenset[int] = frozenset()
    groups: Mapping[str, float] | None = None


NO_LIMITS = CoreLimits()


@dataclass
class _IntervalReport:
    at_s: float
    progress: float
    moves: int


@dataclass(frozen=True)
class Contention:
    """A target's part in the division of cores.

    Attributes:
        contender: properties for the arbiter.
        wake: called by any thread when the grant changes.
    """

    contender: Contender
    wake: Callable[[], None]


class PeerRegistry:
    """All steered programs. Thread-safe.

    Args:
        clock: monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._clock = clock
        self._arbiter = Arbiter()
        self._contentions: dict[str, Contention] = {}
        self._coordinator = Coordinator()
        self._restarts: dict[str, Callable[[str], None]] = {}
        self._limits: dict[str, CoreLimits] = {}
        self._said: dict[str, _IntervalReport] = {}
        self._seen_moves: dict[str, int] = {}

    def join(
        self,
        name: str,
        restart: Callable[[str], None],
        cores: CoreLimits = NO_LIMITS,
        contention: Contention | None = None,
    ) -> None:
        """Add a target; the others search again if it is new.

        Args:
            name: key of the target.
            restart: restarts its policy's search when another target joins or leaves.
            cores: limits of its CPU time.
            contention: part in the division of cores, or None.
        """
        with self._lock:
            known = name in self._restarts
            self._coordinator.join(name)
            others = [] if known else self._searching()
            self._restarts[name], self._limits[name] = restart, cores
            label, why = "", "is steered otherwise"
            if contention is None:
                label = self._arbiter.leave(name)
            self._contentions.pop(name, None)
            if contention is not None:
                self._contentions[name] = contention
                label, why = contention.contender.label, "takes part"
                one = contention.contender
                now_s = self._clock()
                self._arbiter.join(name, one.label, one.claim, one.bounds, now_s, one.own)
            wakes = self._divide(f"{label or name} {why}.")
        for each in others:
            each("another program is steered too")
        for wake in wakes:
            wake()

    def leave(self, name: str, how: str = "is released") -> None:
        """Remove a target; the others search again.

        Args:
            name: key of the target.
            how: reason in words that follow its name in a sentence.
        """
        with self._lock:
            if self._restarts.pop(name, None) is None:
                return
            self._contentions.pop(name, None)
            label = self._arbiter.leave(name)
            self._coordinator.leave(name)
            self._said.pop(name, None)
            self._limits.pop(name, None)
            self._seen_moves.pop(name, None)
            others = self._searching()
            wakes = self._divide(f"{label or name} {how}: its cores go to the others.")
        for each in others:
            each("another program is no longer steered")
        for wake in wakes:
            wake()

    def _searching(self) -> list[Callable[[str], None]]:
        """Return restart functions of targets that search without the arbiter."""
        return [each for name, each in self._restarts.items() if name not in self._contentions]

    def _divide(self, reason: str) -> list[Callable[[], None]]:
        """Divide the cores again. Return the functions to call for changed grants."""
        if not self._contentions:
            return []
        named = {name: each.contender.cores for name, each in self._contentions.items()}
        pools = divided_pools(named, self._limits)
        return self._wakes(changed=self._arbiter.limit(pools, reason, self._clock()))

    def _wakes(self, *, changed: bool) -> list[Callable[[], None]]:
        return [each.wake for each in self._contentions.values()] if changed else []

    def hear(self, name: str, count: float | None = None) -> None:
        """Record an answer of a target, with its count if that was read."""
        with self._lock:
            changed = self._arbiter.hear(name, count, self._clock())
            wakes = self._wakes(changed=changed)
        for wake in wakes:
            wake()

    def grant(self, name: str) -> Grant | None:
        """Return the arbiter's grant to a target, or None if the target takes no part."""
        with self._lock:
            return self._arbiter.grant(name)

    def divide_by(self, name: str, seen: Observation) -> Observation:
        """Feed an ended interval to the arbiter. Return it with the target's grant."""
        with self._lock:
            changed = self._arbiter.report(name, seen, self._clock())
            wakes = self._wakes(changed=changed)
            grant = self._arbiter.grant(name)
        for wake in wakes:
            wake()
        return replace(seen, grant=grant)

    def share(self, name: str) -> CoreShare | None:
        """Return the cores that a target may use, and its share among all steered targets."""
        with self._lock:
            return share_of(name, self._limits)

    def is_probing_elsewhere(self, name: str, now_s: float) -> bool:
        """Return True if another target probes sizes."""
        with self._lock:
            return self._coordinator.is_probing_elsewhere(name, now_s)

    def request_turn(self, name: str, now_s: float, *, probing: bool) -> bool:
        """Record whether a target wants to probe sizes. Return True if it may."""
        with self._lock:
            return self._coordinator.request_turn(name, now_s, probing=probing)

    def record_interval(self, name: str, now_s: float, progress: float, *, moved: bool) -> None:
        """Record a target's interval for the others.

        Args:
            name: key of the target.
            now_s: end of the interval, in seconds.
            progress: operations per second, without dips.
            moved: True if the size changes after the interval.
        """
        with self._lock:
            before = self._said.get(name)
            moves = (before.moves if before else 0) + moved
            self._said[name] = _IntervalReport(now_s, progress, moves)

    def peers(self, name: str, now_s: float) -> Peers | None:
        """Return reports of the other targets, or None for a target that is steered alone."""
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


def read_core_limits(procfs: ProcFs, pid: int) -> CoreLimits:
    """Return the limits of a process; unreadable ones do not count."""
    try:
        found = _AFFINITY.search(procfs.read(f"{pid}/status"))
    except OSError:
        found = None
    cpus = parse_cpu_list(found[1].decode()) if found else frozenset()
    return CoreLimits(
        cpus, {str(one.group): one.cores for one in cpu_limits(memberships(procfs, pid))}
    )


def parse_cpu_list(text: str) -> frozenset[int]:
    """Return the CPUs of a kernel list such as 0-3,8; empty for anything else."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            return frozenset()
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def share_of(name: str, limits: Mapping[str, CoreLimits]) -> CoreShare | None:
    """Return the share of one of several programs.

    Each limit is divided equally among the programs under it; the smallest part is the share. CPUs
    are divided among programs that may run on them.

    Args:
        name: key of the program.
        limits: limits of all steered programs, by key.

    Returns:
        None if no limit is known.
    """
    own = limits.get(name)
    if own is None or not (own.cpus or own.groups):
        return None
    usable, shares = [], []
    if own.cpus:
        usable.append(float(len(own.cpus)))
        shares.append(
            sum(
                1 / sum(1 for other in limits.values() if cpu in other.cpus)
                for cpu in sorted(own.cpus)
            )
        )
    for group, cores in (own.groups or {}).items():
        usable.append(cores)
        shares.append(cores / sum(1 for other in limits.values() if group in (other.groups or {})))
    return CoreShare(usable=min(usable), share=min(shares))


def divided_pools(named: Mapping[str, int], limits: Mapping[str, CoreLimits]) -> list[Pool]:
    """Return the cores that an arbiter divides: limits of its programs, one by one or together.

    Programs steered otherwise keep their equal part.

    Args:
        named: the arbiter's programs, each with the cores to divide, or 0 for the cores that it may
            use. Programs with the same number share it.
        limits: limits of all steered programs, by key.
    """
    pools = [
        Pool(cores, frozenset(name for name, wanted in named.items() if wanted == cores))
        for cores in sorted({*named.values()} - {0})
    ]
    free = {name for name, cores in named.items() if cores == 0}
    sets = {limits[name].cpus for name in free}
    for cpus in sorted({*sets, frozenset[int]().union(*sets)} - {frozenset()}, key=sorted):
        members = frozenset(
            name for name in free if limits[name].cpus and limits[name].cpus <= cpus
        )
        part = sum(
            _part(free, {name for name, one in limits.items() if cpu in one.cpus}) for cpu in cpus
        )
        pools.append(Pool(_whole(part), members))
    for group in sorted({group for name in free for group in limits[name].groups or {}}):
        under = {name for name, one in limits.items() if group in (one.groups or {})}
        cores = min((limits[name].groups or {})[group] for name in under)
        pools.append(Pool(_whole(cores * _part(free, under)), frozenset(free & under)))
    bounded = frozenset[str]().union(*(pool.members for pool in pools))
    if not bounded >= named.keys():
        pools.append(Pool(UNKNOWN, frozenset(named.keys() - bounded)))
    return pools


def _part(some: set[str], of: set[str]) -> float:
    return len(some & of) / len(of)


def _whole(cores: float) -> int:
    return max(1, int(cores + 1e-9))
