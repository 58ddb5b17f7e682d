"""Policies that do not search: fixed and arbiter.

fixed keeps one size: the baseline, and the way to set a size by hand. arbiter is ours: every
program has the size that the arbiter of the host grants, which divides the cores among all programs
under this policy (arbitration/). Without an arbiter, as in a simulation of one program, the size is
the equal share of the cores.
"""

from dataclasses import dataclass

from tidscope_policies.contract import Decision, Observation
from tidscope_policies.parameters import Parameters, parameter


@dataclass(frozen=True)
class FixedParameters(Parameters):
    """Parameters of the policy `fixed`."""

    size: int = parameter(0, 0, 65536, "threads", "the size to keep; 0: the highest allowed")


class Fixed:
    """Policy that always decides the same size."""

    def __init__(self, parameters: FixedParameters) -> None:
        self._size = parameters.size

    def observe(self, seen: Observation) -> Decision:
        """Keep the size, inside the bounds."""
        size = seen.bounds.clamp(self._size or seen.bounds.high)
        if size == seen.size:
            return Decision(size, "keeping", f"The size stays at {size}.")
        return Decision(size, "keeping", f"The size is {seen.size} and should be {size}.")

    def restart(self, reason: str) -> None:
        """Do nothing: there is no search."""


@dataclass(frozen=True)
class ArbitratedParameters(Parameters):
    """Parameters of the policy `arbiter`."""

    interval_s: float = parameter(
        1.0, 0.5, 60.0, "s", "length of an interval: how often the policy decides"
    )
    cores: int = parameter(
        0, 0, 4096, "cores", "cores to divide; 0: those that the programs may use"
    )


class Arbitrated:
    """Policy that follows the arbiter.

    Args:
        parameters: the policy's parameters.
    """

    def __init__(self, parameters: ArbitratedParameters) -> None:
        self._p = parameters

    def observe(self, seen: Observation) -> Decision:
        """Return the granted size."""
        grant = seen.grant
        if grant is not None and grant.state != "absent":
            noun = "core" if grant.total == 1 else "cores"
            have = f"{grant.cores} of {grant.total} {noun}"
            return Decision(seen.bounds.clamp(grant.size), grant.state, f"{have}. {grant.reason}")
        if self._p.cores or seen.cores is None:
            programs = 1 if seen.peers is None else seen.peers.instances
            share = float(self._p.cores or seen.bounds.high) / programs
        else:
            share = seen.cores.share
        size = seen.bounds.clamp(int(share))
        why = f"{size}, the equal share: there is no division yet."
        return Decision(size, "starting", why, deferred=size == seen.size)

    def restart(self, reason: str) -> None:
        """Do nothing: the arbiter knows the members."""
