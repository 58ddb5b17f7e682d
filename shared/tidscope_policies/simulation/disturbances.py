"""What a seed decides about a run: noise, dips, phases.

Each has a random stream of its own, so that a run without dips has the same noise and phases.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidscope_policies.simulation.scenario import Dips, Noise, Phase, Process, Scenario

STEP_S = 0.25
"""Time step of the simulated pools."""
WHITE_S = 2.0
"""White noise is given for an interval of this length; of a step it is larger."""
NOISE, DIPS, PHASES, WORK = 1, 2, 3, 4

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Disturbances:
    """Of one program.

    Attributes:
        factors: of the throughput, by step: noise.
        dips: what is left of it in dips, by step.
        levels: of the throughput, by step: what the best size has as well.
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
        levels(process, steps).tolist(),
        None if process.work_sd is None else np.random.default_rng([seed, at, WORK]),
        draw_phases(stream, process, scenario.seconds),
    )


def levels(process: Process, steps: int) -> Floats:
    """How the swing moves the level, by step."""
    swing = process.swing
    if swing is None:
        return np.ones(steps)
    turns = np.arange(steps) * STEP_S / swing.seconds + swing.begin
    found: Floats = 1 + swing.percent / 100 * np.sin(2 * np.pi * turns)
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
    """What is left in each step; a step that lies partly in a dip loses that part."""
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
