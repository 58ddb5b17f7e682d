"""A simulated host: throughput of programs with pools of given sizes, and their disturbances.

Noise, dips and phases follow from the seed. Each has a random stream of its own, so a run without
dips has the same noise and phases.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log, log2

import numpy as np
from numpy.typing import NDArray

from tidscope_policies.simulation.scenario import Dips, Noise, Phase, Process, Retries, Scenario

Ints = tuple[int, ...]

Floats = NDArray[np.float64]

STEP_S = 0.25
"""Time step of the simulated pools."""

WHITE_S = 2.0
"""White noise is given for an interval of this length; of a step it is larger."""

LEAST = 0.1
"""Share of the capacity that serves requests in time in the worst overload."""

NOISE, DIPS, PHASES, WORK, NEIGHBOUR, MISSING = 1, 2, 3, 4, 6, 7


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


def goodput(retries: Retries, demand: float, rate: float) -> float:
    """Operations a second that succeed while the demand exceeds what a program can do.

    The steady state of the tries: those that succeed and the wasted work of those that time out use
    up the capacity, and a share of the latter is sent again.

    Args:
        retries: what becomes of a try that times out.
        demand: new requests a second, `rate` at least.
        rate: operations a second of the program if no work is wasted.
    """
    again, useful = retries.again_percent / 100, 1 - retries.wasted_percent / 100
    offered = demand + again * (demand - rate) / (useful - again)
    offered = min(offered, demand * retries.tries)
    return max(LEAST * rate, offered - (offered - rate) / useful)


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
        """A rate, or the program's demand if that is less; in overload, what retries leave."""
        process = self._scenario.processes[at]
        ceiling = process.ceiling_ops
        if phase >= 0 and self._phases[at][phase].ceiling_ops is not None:
            ceiling = self._phases[at][phase].ceiling_ops
        if ceiling is None:
            return rate
        if rate < ceiling and process.retries is not None:
            return goodput(process.retries, ceiling, rate)
        return min(rate, ceiling)

    def throughput(self, sizes: Ints, phases: Ints) -> tuple[float, ...]:
        """Operations a second that each program does, without noise."""
        rates = self.capacities(sizes, phases)
        return tuple(self.limited(at, phases[at], rate) for at, rate in enumerate(rates))

    def best(self, phases: Ints) -> tuple[float, ...]:
        """Capacities of the programs at the sizes with the largest sum of logarithms."""
        found = self._best.get(phases)
        if found is None:
            found = self._best[phases] = self._search(phases)
        return found

    def _compute(self, sizes: Ints, phases: Ints) -> tuple[float, ...]:
        cores = self._scenario.cores
        threads = sum(size for size, phase in zip(sizes, phases, strict=True) if phase >= 0)
        share = min(1.0, cores / threads) if threads else 1.0
        crowd = 1 / (1 + self._scenario.crowding * max(0.0, threads / cores - 1))
        rates = tuple(
            crowd * capacity(process, self._phases[at][phases[at]], sizes[at] * share)
            if phases[at] >= 0
            else 0.0
            for at, process in enumerate(self._scenario.processes)
        )
        if self._scenario.coupled:
            slowest = min(rate for rate, phase in zip(rates, phases, strict=True) if phase >= 0)
            rates = tuple(min(rate, slowest) for rate in rates)
        return rates

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
        return self.capacities(best, phases)


def _value(rates: tuple[float, ...]) -> float:
    return sum(log(rate) for rate in rates if rate > 0)


@dataclass(frozen=True, slots=True)
class Disturbances:
    """Disturbances of one program.

    Attributes:
        factors: of the throughput, by step: noise.
        dips: what is left of it in dips, by step.
        levels: of the throughput, by step: what all sizes have.
        work: of the operations, one after the other, 1 on average; None: they are a stream.
        phases: their ends in seconds, and what they are.
    """

    factors: list[float]
    dips: list[float]
    levels: list[float]
    work: np.random.Generator | None
    phases: list[tuple[float, Phase]]


def draw_disturbances(
    scenario: Scenario,
    at: int,
    seed: int,
    one_dip_s: float | None = None,
    one_dip_percent: float | None = None,
) -> Disturbances:
    """Draw what befalls a program.

    Args:
        scenario: the run.
        at: index of the program.
        seed: of the run.
        one_dip_s: when given, a single dip begins then, beside those of the scenario.
        one_dip_percent: what is left of the throughput in it; None: as in those of the scenario.
    """
    steps = round(scenario.seconds / STEP_S)
    process = scenario.processes[at]
    factors = noise(np.random.default_rng([seed, at, NOISE]), scenario.noise, steps)
    left: Floats = np.ones(steps)
    dip_stream = np.random.default_rng([seed, at, DIPS])
    if scenario.dips is not None:
        left *= dip_factors(draw_dips(dip_stream, scenario.dips, scenario.seconds), steps)
    if one_dip_s is not None:
        dips = scenario.dips or Dips()
        length_s = float(dip_stream.uniform(dips.shortest_s, dips.longest_s))
        percent = dips.to_percent if one_dip_percent is None else one_dip_percent
        one = (one_dip_s, one_dip_s + length_s, percent / 100)
        left *= dip_factors([one], steps)
    stream = np.random.default_rng([seed, at, PHASES])
    return Disturbances(
        factors.tolist(),
        left.tolist(),
        levels(process, steps, np.random.default_rng([seed, at, NEIGHBOUR])).tolist(),
        None if process.work_sd is None else np.random.default_rng([seed, at, WORK]),
        draw_phases(stream, process, scenario.seconds),
    )


def levels(process: Process, steps: int, stream: np.random.Generator) -> Floats:
    """Factor on the level of all sizes, by step.

    Args:
        process: its swing, neighbour, batches and warm-up.
        steps: number of steps.
        stream: of the neighbour's times.
    """
    times = np.arange(steps) * STEP_S
    found: Floats = np.ones(steps)
    if (swing := process.swing) is not None:
        turns = times / swing.seconds + swing.begin
        found = 1 + swing.percent / 100 * np.sin(2 * np.pi * turns)
    if (batches := process.batches) is not None:
        working = times % (batches.on_s + batches.off_s) < batches.on_s
        found *= np.where(working, 1.0, batches.percent / 100)
    if (warm_up := process.warm_up) is not None:
        first = warm_up.from_percent / 100
        found *= np.minimum(1.0, first + (1 - first) * times / warm_up.seconds)
    if (neighbour := process.neighbour) is not None:
        now = 0.0
        while now < steps * STEP_S:
            now += neighbour.shortest_s + float(stream.exponential(neighbour.off_s))
            end = now + neighbour.shortest_s + float(stream.exponential(neighbour.on_s))
            found[(times >= now) & (times < end)] *= 1 - neighbour.percent / 100
            now = end
    return found


def noise(stream: np.random.Generator, kind: Noise, steps: int) -> Floats:
    """Factors around 1: white, and slow as an autoregressive process of first order."""
    white = stream.normal(0, kind.white_percent / 100 * np.sqrt(WHITE_S / STEP_S), steps)
    keep = float(np.exp(-STEP_S / kind.slow_tau_s))
    pushes = stream.normal(0, kind.slow_percent / 100, steps)
    slow = np.empty(steps)
    state = float(pushes[0])
    for step in range(steps):
        slow[step] = state
        state = keep * state + np.sqrt(1 - keep * keep) * float(pushes[step])
    factors: Floats = np.maximum(1 + white + slow, 0.0)
    return factors


def draw_dips(
    stream: np.random.Generator, kind: Dips, seconds: float
) -> list[tuple[float, float, float]]:
    """Begin, end and factor of each dip."""
    found: list[tuple[float, float, float]] = []
    now = 0.0
    while True:
        now += kind.gap_s + float(stream.exponential(kind.further_gap_s))
        length = float(stream.uniform(kind.shortest_s, kind.longest_s))
        if now >= seconds:
            return found
        found.append((now, now + length, kind.to_percent / 100))
        now += length


def dip_factors(dips: list[tuple[float, float, float]], steps: int) -> Floats:
    """Share of throughput left in each step; a step partly in a dip loses that part."""
    factors: Floats = np.ones(steps)
    edges = np.arange(steps) * STEP_S
    for begin, end, factor in dips:
        overlap = np.clip(np.minimum(end, edges + STEP_S) - np.maximum(begin, edges), 0, None)
        factors *= 1 - (1 - factor) * overlap / STEP_S
    return factors


def draw_phases(
    stream: np.random.Generator, process: Process, seconds: float
) -> list[tuple[float, Phase]]:
    """Phases with their ends, until the run is over."""
    if process.random_phases is None:
        phases = process.phases or [Phase(seconds=seconds)]
        ends = np.cumsum([phase.seconds for phase in phases]).tolist()
        return list(zip([*ends[:-1], float("inf")], phases, strict=True))
    kind = process.random_phases
    drawn: list[tuple[float, Phase]] = []
    end = 0.0
    while end < seconds:
        length = kind.shortest_s + float(stream.exponential(kind.further_s))
        best = int(stream.integers(kind.best_low, kind.best_high + 1))
        end += length
        drawn.append((end, Phase(seconds=length, best=float(best))))
    return drawn
