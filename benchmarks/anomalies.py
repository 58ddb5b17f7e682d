"""Share of abnormal requests found of each kind, within their set and by an earlier one.

Endpoints are made: small and large, deep and wide, calls one after the other or at once, times of
several distributions, and what is normal though it is rare: seldom paths, retries, failures, loops.
The detector was tuned on the endpoints of `tuning`; those of `held out` have other seeds, and other
shapes and distributions. Of each endpoint 500 requests are normal, and a few of each kind abnormal:

slow: a call takes 4 to 10 times its own time; missing: a call that all requests make is not made;
error: a call fails that never does, half of them without the rest of what it does, half of them
with their caller; retries: a call is made 2 to 4 more times; reordered: two stages of a call swap.

`within`: each request compared with all; `against`: with 500 earlier ones. `lof`: scikit-learn's
local outlier factor on logarithms of the own times of all chains, null where it is not installed
(no part of tidscope needs it, so it is no dependency). Of each part the `median` and the `least`
precision and recall of its endpoints, and their share found by kind. `hotrod_anomalies.py` does
this with a real program.
"""

import argparse
import importlib
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from tidscope_traces.anomalies.detector import find_anomalies
from tidscope_traces.spans.model import Operation, Span, Trace, make_trace
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.traces import Summaries, summarise_all

KINDS = ("slow", "missing", "error", "retries", "reordered")
START_NS = 1_700_000_000_000_000_000
Draw = Callable[[random.Random], float]


@dataclass(slots=True)
class Plan:
    """Behaviour of an operation.

    Attributes:
        operation: name of the operation.
        own_ns: typical own time.
        noise: a factor of it.
        stages: one after the other; calls of each stage are made at once.
        often: probability of the call.
        loops: the most times that it is made one after the other, each number as probable.
        retries: probability of one more call after each.
        fails: probability of a failure.
    """

    operation: Operation
    own_ns: float
    noise: Draw
    stages: list[list["Plan"]] = field(default_factory=list)
    often: float = 1.0
    loops: int = 1
    retries: float = 0.0
    fails: float = 0.0


@dataclass(slots=True)
class Call:
    """A planned call of a request, before times are drawn."""

    plan: Plan
    own_ns: float
    stages: list[list[list["Call"]]]
    failed: bool = False


@dataclass(frozen=True)
class Shape:
    """Shape of made endpoints.

    Attributes:
        calls: least and most operations.
        width: most calls of a stage.
        depth: depth of the longest chain.
        noises: names in NOISES.
        rare: frequency of normal but rare paths.
    """

    calls: tuple[int, int]
    width: int
    depth: int
    noises: tuple[str, ...]
    rare: tuple[float, float] = (0.02, 0.08)


def _lognormal(sigma: float) -> Draw:
    return lambda chance: chance.lognormvariate(0, sigma)


def _gamma(shape: float) -> Draw:
    return lambda chance: chance.gammavariate(shape, 1 / shape)


def _pareto(alpha: float) -> Draw:
    return lambda chance: chance.paretovariate(alpha)


def _weibull(shape: float) -> Draw:
    return lambda chance: chance.weibullvariate(1, shape)


def _logistic(shape: float) -> Draw:
    return lambda chance: (1 / max(1e-9, chance.random()) - 1) ** shape


def _cached(hit: float, factor: float, sigma: float) -> Draw:
    return lambda chance: chance.lognormvariate(0, sigma) * (1 if chance.random() < hit else factor)


NOISES: dict[str, Callable[[random.Random], Draw]] = {
    "quiet": lambda chance: _lognormal(chance.uniform(0.05, 0.2)),
    "typical": lambda chance: _lognormal(chance.uniform(0.2, 0.4)),
    "noisy": lambda chance: _lognormal(chance.uniform(0.4, 0.6)),
    "gamma": lambda chance: _gamma(chance.uniform(3, 12)),
    "cached": lambda chance: _cached(chance.uniform(0.7, 0.95), chance.uniform(4, 10), 0.25),
    "pareto": lambda chance: _pareto(chance.uniform(3, 6)),
    "weibull": lambda chance: _weibull(chance.uniform(1.5, 4)),
    "stalled": lambda chance: _cached(chance.uniform(0.97, 0.99), chance.uniform(10, 30), 0.15),
    "uniform": lambda chance: lambda one: one.uniform(0.5, 1.5),
    # Distributions of held-out endpoints only.
    "erlang": lambda chance: lambda one: 0.3 + one.expovariate(1.5) + one.expovariate(1.5),
    "two ways": lambda chance: _cached(chance.uniform(0.4, 0.6), chance.uniform(2, 4), 0.2),
    "logistic": lambda chance: _logistic(chance.uniform(0.08, 0.2)),
}
TYPICAL = ("quiet", "typical", "typical", "noisy", "gamma", "cached", "pareto")
EVERY = (*TYPICAL, "stalled", "weibull", "uniform")
TUNING = (
    Shape((6, 12), 2, 3, ("quiet", "typical")),
    Shape((8, 20), 4, 4, TYPICAL),
    Shape((20, 40), 3, 6, EVERY),
    Shape((60, 100), 6, 8, TYPICAL),
    Shape((10, 30), 2, 10, ("typical", "gamma", "weibull", "stalled", "uniform")),
    Shape((100, 200), 5, 12, EVERY, (0.015, 0.1)),
)
HELD_OUT = (
    Shape((5, 10), 3, 2, ("typical", "gamma", "erlang", "logistic")),
    Shape((15, 35), 1, 12, (*EVERY, "two ways")),
    Shape((30, 60), 10, 3, (*EVERY, "erlang", "two ways", "logistic"), (0.015, 0.1)),
    Shape((80, 150), 4, 10, (*TYPICAL, "stalled", "logistic", "erlang"), (0.015, 0.1)),
)
PARTS = {"tuning": (1000, TUNING), "held out": (70_000, HELD_OUT)}


def make_endpoint(seed: int, shape: Shape) -> Plan:
    """Plans of an endpoint."""
    chance = random.Random(seed)
    names = iter(range(10_000))
    # A path that is taken seldom, a normal retry, failure and loop: each endpoint has some.
    likes = {name: chance.random() < 0.6 for name in ("optional", "retries", "fails", "loops")}

    def plan() -> Plan:
        number = next(names)
        made = Plan(
            Operation(f"service-{number % 7}", f"call {number}"),
            chance.lognormvariate(0, 1) * 2e6,
            NOISES[chance.choice(shape.noises)](chance),
        )
        if number and likes["optional"] and chance.random() < 0.2:
            made.often = chance.uniform(0.2, 0.9)
        elif number and chance.random() < 0.1:
            made.often = chance.uniform(*shape.rare)
        if number and likes["retries"] and chance.random() < 0.1:
            made.retries = chance.uniform(0.03, 0.15)
        if likes["fails"] and chance.random() < 0.08:
            made.fails = chance.uniform(0.02, 0.08)
        if number and likes["loops"] and chance.random() < 0.08:
            made.loops = chance.randint(2, 6)
        return made

    root = plan()
    wanted = chance.randint(*shape.calls)
    waiting, made = [(root, 1)], 1
    while made < wanted and waiting:
        above, depth = waiting.pop(chance.randrange(len(waiting)))
        for _ in range(chance.randint(1, 4)):
            stage = [plan() for _ in range(chance.choice((1, 1, chance.randint(1, shape.width))))]
            made += len(stage)
            above.stages.append(stage)
            if depth < shape.depth:
                waiting += [(one, depth + 1) for one in stage]
    return root


def draw_call(plan: Plan, chance: random.Random, load: float) -> Call:
    """Draw the calls of a request."""
    call = Call(plan, plan.own_ns * load * plan.noise(chance), [], chance.random() < plan.fails)
    for stage in plan.stages:
        lanes = []
        for callee in stage:
            if chance.random() >= callee.often:
                continue
            count = chance.randint(1, callee.loops)
            while chance.random() < callee.retries:
                count += 1
            lanes.append([draw_call(callee, chance, load) for _ in range(count)])
        if lanes:
            call.stages.append(lanes)
    return call


def all_calls(call: Call) -> Iterator[Call]:
    """Yield a call and all its descendants."""
    yield call
    for stage in call.stages:
        for lane in stage:
            for one in lane:
                yield from all_calls(one)


Lane = tuple[Call, list[list[Call]], list[Call]]
"""A caller, one of its stages, and calls of that that are made one after the other."""


def _slow(calls: list[Call], _: list[Lane], chance: random.Random) -> None:
    chance.choice(calls).own_ns *= chance.uniform(4, 10)


def _missing(_calls: list[Call], lanes: list[Lane], chance: random.Random) -> None:
    _above, stage, lane = chance.choice([one for one in lanes if one[2][0].plan.often == 1.0])
    stage.remove(lane)


def _error(_calls: list[Call], lanes: list[Lane], chance: random.Random) -> None:
    above, _stage, lane = chance.choice([one for one in lanes if not one[2][0].plan.fails])
    failing = chance.choice(lane)
    failing.failed = True
    if chance.random() < 0.5:
        failing.stages = []
    if chance.random() < 0.5:
        above.failed = True


def _retries(_calls: list[Call], lanes: list[Lane], chance: random.Random) -> None:
    lane = chance.choice(lanes)[2]
    again = lane[-1]
    for _ in range(chance.randint(2, 4)):
        lane.append(replace(again, own_ns=again.plan.own_ns * again.plan.noise(chance)))
    if chance.random() < 0.5:
        lane[-2].failed = True


def _reordered(calls: list[Call], _: list[Lane], chance: random.Random) -> None:
    stages = chance.choice([one for one in calls if len(one.stages) > 1]).stages
    first, second = chance.sample(range(len(stages)), 2)
    stages[first], stages[second] = stages[second], stages[first]


SPOIL = {
    **{"slow": _slow, "missing": _missing, "error": _error},
    **{"retries": _retries, "reordered": _reordered},
}


def spoil(root: Call, kind: str, chance: random.Random) -> bool:
    """Make a request abnormal; False if it has no call for that."""
    calls = list(all_calls(root))
    lanes = [(above, stage, lane) for above in calls for stage in above.stages for lane in stage]
    try:
        SPOIL[kind](calls, lanes, chance)
    except IndexError:
        return False
    return True


def make_request(plan: Plan, number: int, seed: int, kind: str | None = None) -> Trace:
    """A request of an endpoint, abnormal in some way or not."""
    chance = random.Random(f"{seed} {number} {kind}")
    root = draw_call(plan, chance, chance.lognormvariate(0, 0.15))
    while kind and not spoil(root, kind, chance):
        root = draw_call(plan, chance, chance.lognormvariate(0, 0.15))
    trace_id = f"{chance.getrandbits(127) + 1:032x}"
    spans: list[Span] = []

    def lay_out(call: Call, parent: str, start_ns: float) -> float:
        span_id = f"{len(spans) + 1:016x}"
        place = len(spans)
        spans.append(Span(trace_id, span_id, parent, *call.plan.operation, 0, 0))
        own_ns = call.own_ns / (len(call.stages) + 1)
        now = start_ns + own_ns
        for stage in call.stages:
            ends = [now]
            for lane in stage:
                at = now + chance.uniform(0, 50_000)
                for one in lane:
                    at = lay_out(one, span_id, at)
                ends.append(at)
            now = max(ends) + own_ns
        spans[place] = spans[place]._replace(
            start_ns=int(start_ns), end_ns=int(now), error=call.failed
        )
        return now

    lay_out(root, "", START_NS + number * 1e9)
    return make_trace(trace_id, spans)


@dataclass(frozen=True)
class Verdict:
    """Results for one endpoint."""

    precision: float
    recall: float
    by_kind: dict[str, float]
    false_kinds: dict[str, int]


def verdict(found: dict[int, str], labels: Sequence[str | None]) -> Verdict:
    """Compare the found requests with their labels.

    Args:
        found: reason by found place.
        labels: kind by place; None: normal.
    """
    total = Counter(label for label in labels if label)
    hits = Counter(label for place in found if (label := labels[place]))
    right = sum(hits.values())
    return Verdict(
        right / max(1, len(found)),
        right / sum(total.values()),
        {kind: hits[kind] / total[kind] for kind in KINDS},
        dict(Counter(why for place, why in found.items() if labels[place] is None)),
    )


def matrix(summaries: Summaries, chains: dict[tuple[int, int], int]) -> Any:
    """Logarithms of own times by chain, one row for each trace."""
    rows = []
    for trace in summaries.traces:
        assert trace.calls is not None
        places: list[int] = []
        row: dict[int, float] = {}
        for operation, parent, longest, *_ in trace.calls.contexts.T.tolist():
            key = (places[parent] if parent >= 0 else -1, operation)
            places.append(chains.setdefault(key, len(chains)))
            row[places[-1]] = longest
        rows.append(row)
    full = np.zeros((len(rows), len(chains)))
    for at, row in enumerate(rows):
        full[at, list(row)] = list(row.values())
    return np.log1p(full / 1000)


def lof(summaries: Summaries, reference: Summaries | None) -> dict[int, str] | None:
    """Requests that scikit-learn's local outlier factor finds, with its default threshold."""
    try:
        neighbours = importlib.import_module("sklearn.neighbors")
    except ImportError:
        return None
    chains: dict[tuple[int, int], int] = {}
    if reference is None:
        said = neighbours.LocalOutlierFactor().fit_predict(matrix(summaries, chains))
    else:
        before = matrix(reference, chains)
        after = matrix(summaries, chains)
        before = np.pad(before, ((0, 0), (0, after.shape[1] - before.shape[1])))
        said = neighbours.LocalOutlierFactor(novelty=True).fit(before).predict(after)
    return dict.fromkeys(np.flatnonzero(said < 0).tolist(), "lof")


def measure(part: str, number: int, normal: int, each: int) -> dict[str, Verdict | None]:
    """Verdicts of one endpoint."""
    first, shapes = PARTS[part]
    seed = first + number
    plan = make_endpoint(seed, shapes[number % len(shapes)])
    labels: list[str | None] = [None] * normal
    labels += [kind for kind in KINDS for _ in range(each)]
    judged = [make_request(plan, at, seed, label) for at, label in enumerate(labels)]
    earlier = [make_request(plan, 10**6 + at, seed) for at in range(normal)]
    options = Options(calls=True)
    every = summarise_all([*earlier, *judged], options)
    reference = every.select(range(normal))
    summaries = every.select(range(normal, len(every.traces)))
    verdicts: dict[str, Verdict | None] = {}
    for name, known in (("within", None), ("against", reference)):
        own = {one.place: one.kind for one in find_anomalies(summaries, known)}
        verdicts[name] = verdict(dict(own), labels)
        theirs = lof(summaries, known)
        verdicts[f"{name} lof"] = None if theirs is None else verdict(theirs, labels)
    return verdicts


def together(verdicts: Sequence[Verdict | None]) -> dict[str, Any] | None:
    """Figures of several endpoints."""
    known = [one for one in verdicts if one is not None]
    if not known:
        return None
    falses: Counter[str] = Counter()
    for one in known:
        falses.update(one.false_kinds)
    return {
        **{
            f"{name}_{which}": round(float(of([getattr(one, name) for one in known])), 3)
            for name in ("precision", "recall")
            for which, of in (("median", np.median), ("mean", np.mean), ("least", np.min))
        },
        "by_kind": {
            kind: round(float(np.mean([one.by_kind[kind] for one in known])), 3) for kind in KINDS
        },
        "false": dict(falses),
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="default: both")
    parser.add_argument("--endpoints", type=int, default=16, help="of each part")
    parser.add_argument("--normal", type=int, default=500, help="requests of each set")
    parser.add_argument("--each", type=int, default=5, help="abnormal requests of each kind")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    with ProcessPoolExecutor(options.processes) as pool:
        for part in options.part or PARTS:
            work = [
                pool.submit(measure, part, number, options.normal, options.each)
                for number in range(options.endpoints)
            ]
            found = [one.result() for one in work]
            figures[part] = {name: together([one[name] for one in found]) for name in found[0]}
    print(json.dumps(figures, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
