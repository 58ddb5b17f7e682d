"""A simulated host: how much programs get done with pools of given sizes."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log, log2

from tidscope_policies.simulation.scenario import Phase, Process, Scenario

Ints = tuple[int, ...]


def usl(size: float, ops_per_thread: float, sigma: float, kappa: float) -> float:
    """Throughput by the universal scalability law.

    Source: N. J. Gunther, A general theory of computational scalability based on rational
    functions (2008): X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1)). The best size is
    sqrt((1 - sigma) / kappa).
    """
    return ops_per_thread * size / (1 + sigma * (size - 1) + kappa * size * (size - 1))


def capacity(process: Process, phase: Phase, size: float) -> float:
    """Operations a second of a program that runs alone, without limit of demand."""
    kappa = process.kappa
    if phase.best is not None:
        kappa = (1 - process.sigma) / phase.best**2
    rate = usl(size, process.ops_per_thread * phase.scale, process.sigma, kappa)
    if process.knee is not None:
        rate *= max(0.0, 1 - process.knee_loss * max(0.0, size - process.knee))
    if process.peak is not None:
        off = log2(size / process.peak.at) / process.peak.width
        rate *= 1 + process.peak.percent / 100 * exp(-0.5 * off**2)
    return rate


class SimulatedPools:
    """A scenario's host.

    Args:
        scenario: its programs and cores.
        phases: of each program; they are spoken of by their number, -1 is "does not run".
    """

    def __init__(self, scenario: Scenario, phases: Sequence[Sequence[Phase]]) -> None:
        self._scenario = scenario
        self._phases = [list(each) for each in phases]
        self._rates: dict[tuple[Ints, Ints], tuple[float, ...]] = {}
        self._best: dict[Ints, tuple[float, ...]] = {}

    def capacities(self, sizes: Ints, phases: Ints) -> tuple[float, ...]:
        """Operations a second that each program could do, without its limit of demand.

        Args:
            sizes: of the pools, by program.
            phases: each program's phase.
        """
        found = self._rates.get((sizes, phases))
        if found is None:
            found = self._rates[sizes, phases] = self._compute(sizes, phases)
        return found

    def hide(self, at: int, before: int, phase: int, size: int) -> None:
        """Scale a phase that nobody has seen yet so that at this size it does what another did."""
        process, phases = self._scenario.processes[at], self._phases[at]
        ratio = capacity(process, phases[before], size) / capacity(process, phases[phase], size)
        phases[phase] = replace(phases[phase], scale=phases[phase].scale * ratio)

    def is_unseen(self, at: int, phase: int) -> bool:
        """Whether a phase is to begin without a change of the throughput."""
        return phase > 0 and self._phases[at][phase].unseen

    def limited(self, at: int, phase: int, rate: float) -> float:
        """A rate, or the program's demand if that is less."""
        ceiling = self._scenario.processes[at].ceiling_ops
        if phase >= 0 and self._phases[at][phase].ceiling_ops is not None:
            ceiling = self._phases[at][phase].ceiling_ops
        return rate if ceiling is None else min(rate, ceiling)

    def throughput(self, sizes: Ints, phases: Ints) -> tuple[float, ...]:
        """Operations a second that each program does, without noise."""
        rates = self.capacities(sizes, phases)
        return tuple(self.limited(at, phases[at], rate) for at, rate in enumerate(rates))

    def best(self, phases: Ints) -> tuple[float, ...]:
        """What each program does when the sum of the logarithms is the largest possible."""
        found = self._best.get(phases)
        if found is None:
            found = self._best[phases] = self._search(phases)
        return found

    def _compute(self, sizes: Ints, phases: Ints) -> tuple[float, ...]:
        cores = self._scenario.cores
        threads = sum(size for size, phase in zip(sizes, phases, strict=True) if phase >= 0)
        share = min(1.0, cores / threads) if threads else 1.0
        crowd = 1 / (1 + self._scenario.crowding * max(0.0, threads / cores - 1))
        return tuple(
            crowd * capacity(process, self._phases[at][phases[at]], sizes[at] * share)
            if phases[at] >= 0
            else 0.0
            for at, process in enumerate(self._scenario.processes)
        )

    def _search(self, phases: Ints) -> tuple[float, ...]:
        """All sizes of up to two programs; of more, one program after the other until it rests."""
        running = [at for at, phase in enumerate(phases) if phase >= 0]
        best = (self._scenario.low,) * len(phases)
        before: Ints = ()
        while best != before:
            before = best
            for at in running:
                choices = [best]
                for other in {at, running[0]}:
                    choices = [
                        (*sizes[:other], size, *sizes[other + 1 :])
                        for sizes in choices
                        for size in self._scenario.bounds.sizes
                    ]
                best = max(choices, key=lambda sizes: _value(self.throughput(sizes, phases)))
        return self.throughput(best, phases)


def _value(rates: tuple[float, ...]) -> float:
    return sum(log(rate) for rate in rates if rate > 0)
