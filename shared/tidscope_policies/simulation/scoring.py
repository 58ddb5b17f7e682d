"""How good a run was."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

from tidscope_policies.simulation.disturbances import STEP_S
from tidscope_policies.simulation.scenario import Scenario
from tidscope_policies.simulation.trial import Trial

GOOD_ENOUGH = 0.97
SUSTAINED_S = 20.0


@dataclass(frozen=True, slots=True)
class Score:
    """Of one run.

    Attributes:
        regret_percent: what was lost against the best sizes. Of one program: operations. Of
            several: of the geometric mean of their throughputs, averaged over time, because the
            best sizes are those with the largest sum of logarithms.
        switches_per_min: changes of size, of all programs together.
        seconds_to_good: mean over the changes of the simulated pools: from each until 97 % of the
            best is reached and held for 20 s, or until the next change if it is not.
    """

    regret_percent: float
    switches_per_min: float
    seconds_to_good: float


def score(scenario: Scenario, trial: Trial) -> Score:
    """Judge a run, from the second on that counts."""
    first = round(scenario.scored_from_s / STEP_S)
    minutes = scenario.seconds / 60
    return Score(
        regret_percent=100 * _regret(trial, first, several=len(scenario.processes) > 1),
        switches_per_min=trial.switches / minutes,
        seconds_to_good=_seconds_to_good(trial),
    )


def differing(one: Trial, other: Trial) -> int:
    """Decisions of two runs that differ: same program, same moment, another size."""
    return sum(a.size != b.size for a, b in zip(one.decisions, other.decisions, strict=True))


def _regret(trial: Trial, first: int, *, several: bool) -> float:
    pairs = [_geometric(trial, step) for step in range(first, len(trial.done))]
    if several:
        return _mean(1 - done / best for done, best in pairs)
    return 1 - sum(done for done, _ in pairs) / sum(best for _, best in pairs)


def _geometric(trial: Trial, step: int) -> tuple[float, float]:
    """Geometric means over the programs that run: what was done, and the best."""
    only = trial.done[step][0]
    if only is not None and len(trial.done[step]) == 1:
        return only, trial.best[step][0]
    pairs = [
        (done, best)
        for done, best in zip(trial.done[step], trial.best[step], strict=True)
        if done is not None
    ]
    if any(done <= 0 for done, _ in pairs):
        return 0.0, exp(_mean(log(best) for _, best in pairs))
    if len(pairs) == 1:
        return pairs[0]
    return exp(_mean(log(done) for done, _ in pairs)), exp(_mean(log(best) for _, best in pairs))


def _seconds_to_good(trial: Trial) -> float:
    hold = round(SUSTAINED_S / STEP_S)
    starts = [round(start / STEP_S) for start in trial.phase_starts_s]
    ends = [*starts[1:], len(trial.done)]
    times = []
    for start, end in zip(starts, ends, strict=True):
        run, reached = 0, end
        for step in range(start, end):
            done, best = _geometric(trial, step)
            run = run + 1 if done >= GOOD_ENOUGH * best else 0
            if run >= min(hold, end - start):
                reached = step - run + 1
                break
        times.append((reached - start) * STEP_S)
    return _mean(times)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
