"""Predictors of whether a lock is better elided, judged on the same made calls.

Each call has a mutex and a place in the code; the pair has a probability that a hardware
transaction commits. The predictor chooses the transaction or the lock, and learns the outcome of a
transaction only: the lock always succeeds (GOCC, section 2.5.4). A call costs 1 if the transaction
commits, 3 if it aborts and takes the lock, 2 with the lock at once, so that the choice is even at
one half.

Predictors: `service` is the prediction service's perceptron (16 tables of 1024 hashed entries, 2
of them used); `gocc` is GOCC's as printed (two tables of 4096, lower 12 bits of the addresses,
weights from -16 to 15, every outcome learnt). `with decay` resets the weights of a call after 1000
choices of the lock in a row: GOCC by a counter in each entry, a program of the service by `reset`.

Tasks: `steady` probabilities; `phases` that change for half of the pairs every 5,000 calls;
`crowded` with 20,000 mutexes in 4 KiB blocks, whose lower 12 bits are alike. Figures are the mean
cost of a call, and its difference from `service with decay`, paired by seed, with 95 % intervals.
"""

import argparse
import json
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from tidscope_policies.perceptron import Predictor, Rule

COMMITS, LOCKS, ABORTS = 1.0, 2.0, 3.0
PATIENCE = 1000
"""Choices of the lock in a row after which weights are reset."""
ENTRIES = 4096
LEAST, MOST = -16, 15
T_9 = 2.262
"""Two-sided 95 % quantile of Student's t with nine degrees of freedom, for ten seeds."""
SEEDS = 10


@dataclass(frozen=True)
class Call:
    """A call of a critical section.

    Attributes:
        mutex: address of the mutex.
        place: address of the lock's place in the code.
        commits: probability that a transaction commits.
    """

    mutex: int
    place: int
    commits: float


class Elision(Protocol):
    """A predictor."""

    def elides(self, call: Call) -> bool:
        """Return whether to try a transaction."""
        ...

    def learn(self, call: Call, *, committed: bool) -> None:
        """Learn the outcome of a transaction."""
        ...


class Always:
    """The same choice for each call."""

    def __init__(self, *, elide: bool) -> None:
        self._elide = elide

    def elides(self, call: Call) -> bool:
        return self._elide

    def learn(self, call: Call, *, committed: bool) -> None:
        """Ignore the outcome."""


class Oracle:
    """The choice by the true probability: a bound."""

    def elides(self, call: Call) -> bool:
        return call.commits >= 0.5

    def learn(self, call: Call, *, committed: bool) -> None:
        """Ignore the outcome."""


class Service:
    """The perceptron of the prediction service; undecided is yes.

    Args:
        patience: choices of the lock in a row after which a call's weights are reset; None: never.
    """

    def __init__(self, patience: int | None) -> None:
        self._model = Predictor(Rule())
        self._patience = patience
        self._locked: dict[tuple[int, int], int] = {}

    def elides(self, call: Call) -> bool:
        features = (call.mutex ^ call.place, call.place)
        if self._model.predict(features) >= 0:
            self._locked.pop(features, None)
            return True
        self._locked[features] = locked = self._locked.get(features, 0) + 1
        if locked == self._patience:
            self._model.reset(features)
            self._locked[features] = 0
        return False

    def learn(self, call: Call, *, committed: bool) -> None:
        self._model.update((call.mutex ^ call.place, call.place), answer=committed)


class Gocc:
    """GOCC's perceptron, as in listing 2.19.

    Args:
        patience: as for Service.
    """

    def __init__(self, patience: int | None) -> None:
        self._weights = [[0] * ENTRIES, [0] * ENTRIES]
        self._locked = [[0] * ENTRIES, [0] * ENTRIES]
        self._patience = patience

    def elides(self, call: Call) -> bool:
        places = _places(call)
        if self._patience is not None:
            for weights, locked, place in zip(self._weights, self._locked, places, strict=True):
                if locked[place] > self._patience:
                    weights[place] = locked[place] = 0
        if sum(weights[at] for weights, at in zip(self._weights, places, strict=True)) >= 0:
            return True
        for locked, place in zip(self._locked, places, strict=True):
            locked[place] += 1
        return False

    def learn(self, call: Call, *, committed: bool) -> None:
        for weights, locked, at in zip(self._weights, self._locked, _places(call), strict=True):
            weights[at] = min(MOST, weights[at] + 1) if committed else max(LEAST, weights[at] - 1)
            if committed:
                locked[at] = 0


def _places(call: Call) -> tuple[int, int]:
    return (call.mutex ^ call.place) % ENTRIES, call.place % ENTRIES


PREDICTORS: dict[str, Callable[[], Elision]] = {
    "never elides": lambda: Always(elide=False),
    "always elides": lambda: Always(elide=True),
    "service": lambda: Service(None),
    "service with decay": lambda: Service(PATIENCE),
    "gocc": lambda: Gocc(None),
    "gocc with decay": lambda: Gocc(PATIENCE),
    "knows the probabilities": Oracle,
}


def calls(
    chance: random.Random, count: int, *, mutexes: int, step: int, period: int
) -> Iterator[Call]:
    """Yield calls; a few pairs are called often, as 1 / rank.

    Args:
        chance: source of numbers.
        count: number of calls.
        mutexes: number of mutexes.
        step: distance of their addresses, in bytes.
        period: calls after which half of the pairs get another probability; 0: never.
    """
    base = 0xC000000000 + 8 * chance.randrange(512)
    places = [0xC000400000 + 16 * chance.randrange(1 << 20) for _ in range(40)]
    pairs = [
        Call(base + step * number, chance.choice(places), chance.choice((0.05, 0.95)))
        for number in range(mutexes)
    ]
    weights = [1 / rank for rank in range(1, mutexes + 1)]
    for first in range(0, count, period or count):
        if first:
            pairs = [
                Call(one.mutex, one.place, chance.choice((0.05, 0.95)))
                if chance.random() < 0.5
                else one
                for one in pairs
            ]
        yield from chance.choices(pairs, weights, k=min(period or count, count - first))


TASKS = {
    "steady": {"mutexes": 200, "step": 48, "period": 0},
    "phases": {"mutexes": 200, "step": 48, "period": 5000},
    "crowded": {"mutexes": 20_000, "step": 4096, "period": 0},
}


def mean_cost(predictor: Elision, made: Sequence[Call], chance: random.Random) -> float:
    """Return the mean cost of the calls."""
    cost = 0.0
    for call in made:
        commits = chance.random() < call.commits
        if predictor.elides(call):
            cost += COMMITS if commits else ABORTS
            predictor.learn(call, committed=commits)
        else:
            cost += LOCKS
    return cost / len(made)


@dataclass(frozen=True)
class Judged:
    """Cost of a predictor's choices.

    Attributes:
        cost: mean of a call, over seeds.
        interval: half the width of its 95 % interval.
        more: mean difference from BASE, paired by seed.
        more_interval: half the width of its interval.
    """

    cost: float
    interval: float
    more: float
    more_interval: float


BASE = "service with decay"


def judge(count: int) -> dict[str, dict[str, Judged]]:
    """Return the figures by task and predictor."""
    found: dict[str, dict[str, Judged]] = {}
    for task, shape in TASKS.items():
        costs: dict[str, list[float]] = {name: [] for name in PREDICTORS}
        for seed in range(SEEDS):
            made = list(calls(random.Random(seed), count, **shape))
            for name, make in PREDICTORS.items():
                costs[name].append(mean_cost(make(), made, random.Random(seed)))
        found[task] = {}
        for name, own in costs.items():
            more = [cost - base for cost, base in zip(own, costs[BASE], strict=True)]
            found[task][name] = Judged(*_mean(own), *_mean(more))
    return found


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean, and half the width of its interval."""
    return statistics.mean(values), T_9 * statistics.stdev(values) / SEEDS**0.5


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=40_000)
    found = judge(parser.parse_args().calls)
    print(
        json.dumps(
            {task: {name: asdict(one) for name, one in own.items()} for task, own in found.items()},
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
