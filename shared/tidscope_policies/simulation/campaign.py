"""A campaign: policies on scenarios with many seeds, and their scores. Its jobs are independent."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from math import exp, log
from typing import Protocol

from tidscope_policies.registry import POLICIES, ReadyPolicy
from tidscope_policies.simulation.scenario import Scenario
from tidscope_policies.simulation.simulated_pools import STEP_S
from tidscope_policies.simulation.trial import Simulation, Trial

ONE_DIP_FROM, ONE_DIP_TO = 0.1, 0.9
"""Earliest and latest start of the single dip, as shares of a run."""

GOOD_ENOUGH = 0.97

AS_GOOD = 0.01
"""Relative loss of throughput up to which a size is as good as another one."""

SUSTAINED_S = 20.0

FIRST_S, LATER_S = 60.0, 30.0
"""Beginning of a run, and length of a stretch after it, for the loss against leaving alone."""


@dataclass(frozen=True, slots=True)
class Score:
    """Score of one run.

    Attributes:
        regret_percent: loss against the best sizes. With one program: of operations. With several:
            of the geometric mean of their throughputs, averaged over time: the best sizes are
            those with the largest sum of logarithms.
        switches_per_min: changes of size, of all programs together.
        seconds_to_good: mean over the changes of the simulated pools: from each until 97 % of the
            best is reached and held for 20 s, or until the next change if it is not.
    """

    regret_percent: float
    switches_per_min: float
    seconds_to_good: float


@dataclass(frozen=True, slots=True)
class Harm:
    """Operations lost against a run in which nobody steers, in percent; negative: gained.

    Attributes:
        first_percent: in the first minute.
        later_percent: in the worst half minute after it.
        whole_percent: in the whole run.
    """

    first_percent: float
    later_percent: float
    whole_percent: float


class Plant(Protocol):
    """A scenario, or a family of scenarios, that policies are tried on."""

    @property
    def name(self) -> str:
        """Column heading."""
        ...

    @property
    def title(self) -> str:
        """Title of one line."""
        ...

    def draw(self, seed: int) -> Scenario:
        """Return the scenario of a seed."""
        ...


@dataclass(frozen=True, slots=True)
class Entrant:
    """A policy with its parameters: a row of the results.

    Attributes:
        name: heading of the row.
        policy: name of the policy.
        given: parameters of the policy that differ from their defaults.
    """

    name: str
    policy: str
    given: Mapping[str, float] = field(default_factory=dict)


def entrants(policies: Sequence[str], settings: Mapping[str, Sequence[float]]) -> list[Entrant]:
    """Return each policy with each combination of values.

    Args:
        policies: names of the policies.
        settings: values of the parameters that differ from their defaults; one with several values
            is in the names.
    """
    combinations = [
        dict(zip(settings, values, strict=True)) for values in product(*settings.values())
    ]
    varied = [name for name, values in settings.items() if len(values) > 1]
    return [
        Entrant(" ".join([policy, *(f"{name}={given[name]:g}" for name in varied)]), policy, given)
        for policy in policies
        for given in combinations
    ]


@dataclass(frozen=True, slots=True)
class Job:
    """A run of one policy on one scenario with one seed.

    Attributes:
        policy: name of the policy.
        scenario: the scenario.
        seed: seed of the run.
        given: parameters of the policy that differ from their defaults.
    """

    policy: str
    scenario: Scenario
    seed: int
    given: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a job.

    Attributes:
        score: of the run.
        harm: of the run; None where what the program does depends on what it did.
        dip_changed: decisions that would have been others without the dips; None without dips.
        one_dip_changed: decisions that one dip changed; only tried where there are no others.
        one_dip_worse: those of them that are worse.
        one_dip_regret_percent: regret with that dip, less that without it.
    """

    score: Score
    harm: Harm | None
    dip_changed: int | None = None
    one_dip_changed: int | None = None
    one_dip_worse: int | None = None
    one_dip_regret_percent: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """Means over all seeds of an entrant.

    Attributes:
        name: its name.
        regret_percent: by plant.
        worst_run_percent: the regret of the worst seed, by plant.
        switches_per_min: by plant.
        seconds_to_good: by plant.
        first_minute_percent: loss against leaving alone in the worst seed's first minute, by plant.
        half_minute_percent: the same in the worst half minute after it, mean over the seeds.
        whole_percent: the same over whole runs, mean over the seeds.
        dip_changed_decisions: decisions of a run that differ from those of the same run without its
            dips; mean over plants with dips, None if there is none.
        one_dip_changed_decisions: the same for a single dip in plants without.
        one_dip_worse_decisions: those of them that are worse.
        one_dip_regret_percent: what such a dip adds to the regret.
    """

    name: str
    regret_percent: Mapping[str, float]
    worst_run_percent: Mapping[str, float]
    switches_per_min: Mapping[str, float]
    seconds_to_good: Mapping[str, float]
    first_minute_percent: Mapping[str, float]
    half_minute_percent: Mapping[str, float]
    whole_percent: Mapping[str, float]
    dip_changed_decisions: float | None
    one_dip_changed_decisions: float | None
    one_dip_worse_decisions: float | None
    one_dip_regret_percent: float | None

    @property
    def mean_regret_percent(self) -> float:
        """Mean regret over the plants."""
        return sum(self.regret_percent.values()) / len(self.regret_percent)

    @property
    def worst_regret_percent(self) -> float:
        """Regret of the plant with the highest one."""
        return max(self.regret_percent.values())


def run_job(job: Job) -> Outcome:
    """Run a job, and its comparison runs.

    Raises:
        ParameterError: a name or a value of `given` is wrong.
    """

    def make() -> ReadyPolicy:
        return POLICIES[job.policy].make(job.given)

    def leave() -> ReadyPolicy:
        return POLICIES["fixed"].make({"size": job.scenario.own_size})

    found = Simulation(job.scenario, make, job.seed).run()
    scored, harm = score(job.scenario, found), None
    if not job.scenario.has_unseen_phases:
        harm = against(found, Simulation(job.scenario, leave, job.seed).run())
    if job.scenario.dips is not None:
        calm = Simulation(replace(job.scenario, dips=None), make, job.seed).run()
        return Outcome(scored, harm, dip_changed=differing(found, calm))
    dipped = Simulation(job.scenario, make, job.seed, one_dip_s(job)).run()
    more = score(job.scenario, dipped).regret_percent - scored.regret_percent
    return Outcome(
        scored,
        harm,
        one_dip_changed=differing(found, dipped),
        one_dip_worse=worse(found, dipped),
        one_dip_regret_percent=more,
    )


def one_dip_s(job: Job) -> float:
    """Start of the single dip: spread evenly over the run by the seed (golden ratio)."""
    share = (job.seed * 0.618034) % 1.0
    return job.scenario.seconds * (ONE_DIP_FROM + (ONE_DIP_TO - ONE_DIP_FROM) * share)


def list_jobs(those: Sequence[Entrant], plants: Sequence[Plant], seeds: range) -> list[Job]:
    """All jobs of a campaign: by entrant, then plant, then seed."""
    drawn = [[plant.draw(seed) for seed in seeds] for plant in plants]
    return [
        Job(entrant.policy, scenario, seed, entrant.given)
        for entrant in those
        for scenarios in drawn
        for seed, scenario in zip(seeds, scenarios, strict=True)
    ]


def make_rows(
    those: Sequence[Entrant], plants: Sequence[Plant], seeds: int, outcomes: Iterable[Outcome]
) -> Iterator[Row]:
    """Yield a row per entrant, as soon as its last outcome is known.

    Args:
        those: entrants.
        plants: scenarios.
        seeds: number of seeds.
        outcomes: outcomes of `list_jobs`, in its order.
    """
    remaining = iter(outcomes)
    each = len(plants) * seeds
    for entrant in those:
        yield _row(entrant.name, plants, list(islice(remaining, each)))


def _row(name: str, plants: Sequence[Plant], outcomes: Sequence[Outcome]) -> Row:
    seeds = len(outcomes) // len(plants)
    by_name = {
        plant.name: outcomes[at * seeds : (at + 1) * seeds] for at, plant in enumerate(plants)
    }
    scores = {name: [outcome.score for outcome in found] for name, found in by_name.items()}
    harms = {
        name: [outcome.harm for outcome in found if outcome.harm is not None]
        for name, found in by_name.items()
    }
    harms = {name: found for name, found in harms.items() if found}
    return Row(
        name,
        {name: _mean([each.regret_percent for each in found]) for name, found in scores.items()},
        {name: max(each.regret_percent for each in found) for name, found in scores.items()},
        {name: _mean([each.switches_per_min for each in found]) for name, found in scores.items()},
        {name: _mean([each.seconds_to_good for each in found]) for name, found in scores.items()},
        {name: max(each.first_percent for each in found) for name, found in harms.items()},
        {name: _mean(each.later_percent for each in found) for name, found in harms.items()},
        {name: _mean(each.whole_percent for each in found) for name, found in harms.items()},
        _mean_of_known(found.dip_changed for found in outcomes),
        _mean_of_known(found.one_dip_changed for found in outcomes),
        _mean_of_known(found.one_dip_worse for found in outcomes),
        _mean_of_known(found.one_dip_regret_percent for found in outcomes),
    )


def _mean_of_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _mean(known) if known else None


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def score(scenario: Scenario, trial: Trial) -> Score:
    """Score a run from its first counted second on."""
    first = round(scenario.scored_from_s / STEP_S)
    minutes = scenario.seconds / 60
    return Score(
        regret_percent=100 * _regret(trial, first, several=len(scenario.processes) > 1),
        switches_per_min=trial.switches / minutes,
        seconds_to_good=_seconds_to_good(trial),
    )


def against(trial: Trial, alone: Trial) -> Harm:
    """Compare a run with one in which nobody steers."""
    done = [_geometric(trial, step)[0] for step in range(len(trial.done))]
    left = [_geometric(alone, step)[0] for step in range(len(alone.done))]
    first, stretch = round(FIRST_S / STEP_S), round(LATER_S / STEP_S)
    lost = [
        _lost(done[step : step + stretch], left[step : step + stretch])
        for step in range(first, len(done) - stretch + 1)
    ]
    return Harm(
        100 * _lost(done[:first], left[:first]),
        100 * max(lost, default=0.0),
        100 * _lost(done, left),
    )


def _lost(done: Sequence[float], left: Sequence[float]) -> float:
    return 1 - sum(done) / sum(left)


def differing(one: Trial, other: Trial) -> int:
    """Number of decisions that differ between two runs at the same program and time."""
    return sum(a.size != b.size for a, b in zip(one.decisions, other.decisions, strict=True))


def worse(calm: Trial, dipped: Trial) -> int:
    """Number of differing decisions of `dipped` by whose sizes it does less, without noise.

    Sizes are compared when the program decides again: by then they are in effect. Decisions that
    lose no more than `AS_GOOD` are as good as those of `calm`.
    """
    until: dict[int, int] = {}
    found = 0
    for one, other in zip(reversed(calm.decisions), reversed(dipped.decisions), strict=True):
        step = until.get(one.process, len(calm.done)) - 1
        until[one.process] = round(one.at_s / STEP_S)
        if one.size != other.size and step >= until[one.process]:
            found += _geometric(dipped, step)[0] < (1 - AS_GOOD) * _geometric(calm, step)[0]
    return found


def _regret(trial: Trial, first: int, *, several: bool) -> float:
    pairs = [_geometric(trial, step) for step in range(first, len(trial.done))]
    if several:
        return _mean(1 - done / best for done, best in pairs)
    return 1 - sum(done for done, _ in pairs) / sum(best for _, best in pairs)


def _geometric(trial: Trial, step: int) -> tuple[float, float]:
    """Geometric means over the running programs, of the real and the best throughput."""
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
