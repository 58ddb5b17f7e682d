"""How many cores a steered program may have, and its share of them among all that are steered."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tidscope_policies.arbitration.division import Pool
from tidscope_policies.contract import CoreShare

from tidscope_collector.procfs.cgroup import cpu_limits
from tidscope_collector.procfs.files import ProcFs

_AFFINITY = re.compile(rb"^Cpus_allowed_list:\s*(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class CoreLimits:
    """What limits the CPU time of one program.

    Attributes:
        cpus: that it may run on; empty: not known.
        groups: cores that each control group above it may use, by the group's folder; only those
            that have a limit.
    """

    cpus: frozenset[int] = frozenset()
    groups: Mapping[str, float] | None = None


NO_LIMITS = CoreLimits()


def read_core_limits(procfs: ProcFs, pid: int) -> CoreLimits:
    """The limits of a process; what cannot be read does not limit it."""
    try:
        found = _AFFINITY.search(procfs.read(f"{pid}/status"))
    except OSError:
        found = None
    cpus = parse_cpu_list(found[1].decode()) if found else frozenset()
    return CoreLimits(cpus, {str(one.group): one.cores for one in cpu_limits(procfs, pid)})


def parse_cpu_list(text: str) -> frozenset[int]:
    """CPUs of a list as the kernel writes it, such as 0-3,8; empty for anything else."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            return frozenset()
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def share_of(name: str, limits: Mapping[str, CoreLimits]) -> CoreShare | None:
    """The cores of one of several programs.

    Each limit is divided equally among the programs under it; the smallest part is the share. CPUs
    are divided among those that may run on them.

    Args:
        name: the program.
        limits: of all steered programs, by name.

    Returns:
        None: nothing is known of its limits.
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
    """The cores that an arbiter divides: what limits its programs, one by one or together.

    Programs that are steered otherwise keep their equal part.

    Args:
        named: the arbiter's programs, each with the cores that its operator wants divided; 0: those
            that it may use. Programs with the same number divide that.
        limits: of all steered programs, by name.
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


UNKNOWN = 1
"""Cores that are divided where it is not known how many there are: each has its smallest size."""


def _part(some: set[str], of: set[str]) -> float:
    return len(some & of) / len(of)


def _whole(cores: float) -> int:
    return max(1, int(cores + 1e-9))
