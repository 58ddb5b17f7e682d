"""Division of cores between a program that computes and a pool whose workers mostly wait."""

from dataclasses import replace
from math import sqrt
from random import Random

import pytest
from tidscope_policies.algorithms.fixed import Arbitrated, ArbitratedParameters
from tidscope_policies.arbitration.arbiter import Arbiter
from tidscope_policies.arbitration.division import Claim, Pool
from tidscope_policies.arbitration.exchange import describe_exchange, exchanges
from tidscope_policies.arbitration.waiting import BLIND, WaitingWorkers
from tidscope_policies.contract import Bounds, BusyWorkers, CoreShare, Grant, Observation

BOUNDS = Bounds(1, 32)
CORES = 2


class Pair:
    """A pool `waits` of `own` workers, and a program `works` that can use all cores.

    Attributes:
        computes_s: CPU time of a job of the pool.
        waits_s: time that it waits.
        arrivals: jobs a second that come to the pool, which may be too many for it.
    """

    def __init__(self, own: int, computes_s: float, waits_s: float, arrivals: float = 1e9) -> None:
        self.computes_s, self.waits_s, self.arrivals = computes_s, waits_s, arrivals
        self.own, self.arbiter, self.now_s = own, Arbiter(), 0.0
        self.least = own
        self._random = Random(1)
        self._counts = {"waits": 0.0, "works": 0.0}
        self.arbiter.join("waits", "waits (1)", Claim(), BOUNDS, 0.0, own)
        self.arbiter.join("works", "works (2)", Claim(), BOUNDS, 0.0)
        self.arbiter.limit([Pool(CORES, frozenset(self._counts))], "They take part.", 0.0)

    def grant(self, name: str) -> Grant:
        found = self.arbiter.grant(name)
        assert found is not None
        return found

    def pass_intervals(self, count: int) -> None:
        for _ in range(count):
            self._pass_interval()
            self.least = min(self.least, self.grant("waits").size)

    def _pass_interval(self) -> None:
        sizes = {name: self.grant(name).size for name in self._counts}
        threads = sizes["works"]
        rate = min(self.arrivals, sizes["waits"] / (self.computes_s + self.waits_s))
        rate = min(rate, (CORES - threads / 2) / self.computes_s)
        computing = rate * self.computes_s
        workers = BusyWorkers(rate * (self.computes_s + self.waits_s), computing, 0.1 * computing)
        did = {"waits": (rate, workers), "works": (500.0 * min(threads, CORES), None)}
        self.now_s += 1.0
        for name, (mean, busy) in did.items():
            ops = max(1.0, self._random.gauss(mean, sqrt(mean)))
            self._counts[name] += ops
            self.arbiter.hear(name, self._counts[name], self.now_s)
            seen = Observation(self.now_s, 1.0, ops, sizes[name], BOUNDS, workers=busy)
            self.arbiter.report(name, seen, self.now_s)


def test_a_pool_that_waits_keeps_what_its_waiting_needs() -> None:
    pair = Pair(16, computes_s=0.0005, waits_s=0.0195)
    assert (pair.grant("waits").size, pair.grant("works").size) == (16, 1)
    pair.pass_intervals(60)
    # Waits are 97.5 % of the time of a job (Little's law).
    assert pair.least >= 16
    assert pair.grant("waits").cores == 1
    assert "15 of its 16 workers wait and need no core." in pair.grant("waits").reason
    seen = Observation(1.0, 1.0, 1.0, 16, BOUNDS, grant=pair.grant("waits"))
    assert Arbitrated(ArbitratedParameters()).observe(seen).size == pair.grant("waits").size


def test_others_have_the_core_that_a_pool_hardly_uses() -> None:
    pair = Pair(16, computes_s=0.0001, waits_s=0.0199)
    assert pair.grant("works").size == 1
    pair.pass_intervals(60)
    assert pair.least >= 16
    assert (pair.grant("waits").size, pair.grant("works").size) == (16, 2)
    assert "It hardly uses its own, which others may have, too." in pair.grant("waits").reason
    assert pair.grant("works").total == CORES
    # It computes now: each has a core again.
    pair.computes_s = 0.010
    pair.pass_intervals(60)
    assert pair.grant("works").size == pair.grant("waits").cores == 1


def test_a_pool_that_computes_has_its_cores_only() -> None:
    pair = Pair(16, computes_s=0.010, waits_s=0.0)
    pair.pass_intervals(60)
    assert pair.grant("waits").size == pair.grant("waits").cores == 1
    assert "no core" not in pair.grant("waits").reason


def test_half_of_the_workers_of_a_mixed_pool_need_no_core() -> None:
    pair = Pair(8, computes_s=0.010, waits_s=0.010)
    pair.pass_intervals(60)
    assert pair.grant("waits").waiting == 4


def test_without_figures_a_worker_counts_as_a_core() -> None:
    waiting = WaitingWorkers(16)
    assert (waiting.count, waiting.is_known) == (15, False)
    blind = Observation(1.0, 1.0, 100.0, 16, BOUNDS)
    assert [waiting.take_in(blind) for _ in range(BLIND)] == [False] * (BLIND - 1) + [True]
    assert (waiting.count, waiting.is_known) == (0, True)


def test_a_pool_without_jobs_says_nothing_of_its_workers() -> None:
    waiting = WaitingWorkers(16)
    idle = Observation(1.0, 1.0, 100.0, 16, BOUNDS, workers=BusyWorkers(0.0, 0.0, 0.0))
    assert not waiting.take_in(idle)
    assert waiting.count == 15


def test_a_crowded_host_says_nothing_of_the_workers() -> None:
    waiting = WaitingWorkers(6)
    free = Observation(1.0, 1.0, 300.0, 6, BOUNDS, cores=CoreShare(2.0, 1.0, 0.2))
    for _ in range(3):
        waiting.take_in(replace(free, workers=BusyWorkers(6.0, 0.2, 0.1)))
    assert waiting.count == 5
    # Workers are without a CPU nearly all the time, but the pool hardly uses its part of them.
    crowded = replace(free, workers=BusyWorkers(6.0, 0.1, 6.5), cores=CoreShare(2.0, 1.0, 0.1))
    assert not any(waiting.take_in(crowded) for _ in range(30))
    assert waiting.count == 5
    # It uses its part: the delay is its own.
    computes = replace(free, workers=BusyWorkers(6.0, 1.0, 5.0), cores=CoreShare(2.0, 1.0, 1.0))
    for _ in range(30):
        waiting.take_in(computes)
    assert waiting.count <= 1


def test_time_without_a_cpu_is_no_waiting() -> None:
    assert BusyWorkers(8.0, 1.0, 7.0).waiting == 0.0
    assert BusyWorkers(8.0, 1.0, 3.0).waiting == 4.0


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ({"a": 2, "b": 2}, {"a": 1, "b": 3}, [("a", "b", 1)]),
        ({"a": 2}, {"a": 1}, [("a", "", 1)]),
        ({"a": 1}, {"a": 1, "b": 2}, [("", "b", 2)]),
        ({"a": 3, "b": 1, "c": 1}, {"a": 0, "b": 3, "c": 2}, [("a", "b", 2), ("a", "c", 1)]),
        ({"a": 1}, {"a": 1}, []),
    ],
)
def test_an_exchange_names_giver_and_taker(
    before: dict[str, int], after: dict[str, int], wanted: list[tuple[str, str, int]]
) -> None:
    assert list(exchanges(before, after)) == wanted


def test_each_side_of_an_exchange_is_named() -> None:
    labels = {"a": "prog (1)", "b": "other (2)"}
    before, after = {"a": 3, "b": 1}, {"a": 1, "b": 2}
    said = [describe_exchange(name, before, after, labels) for name in "ab"]
    assert said == [
        " It gives 1 core to other (2), 1 unused core.",
        " It takes 1 core from prog (1).",
    ]
    assert describe_exchange("a", {}, after, labels) == ""
