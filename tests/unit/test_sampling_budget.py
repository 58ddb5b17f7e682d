"""Rates under a CPU budget: what lowers them, what raises them, and that they come to rest."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.sampling.budget import (
    LADDER_HZ,
    LONGEST_WAIT_S,
    PROVEN_S,
    SETTLING,
    Budget,
    CpuSpent,
)

A = "t-1-00000000"
B = "t-2-00000000"


class Machine:
    """Samples targets at the effective rates, for as long as it is reported.

    Attributes:
        costs: CPU milliseconds of a sample, for each target.
        fixed_percent: what is spent whatever the rates.
        moves: second and changed rates.
    """

    def __init__(
        self, budget: Budget, asked: Mapping[str, float], costs: Mapping[str, float]
    ) -> None:
        self.budget = budget
        self.costs = dict(costs)
        self.fixed_percent = 0.0
        self.second = 0
        self.moves: list[tuple[int, dict[str, float]]] = []
        for target, rate_hz in asked.items():
            budget.request(target, rate_hz)

    def run(self, seconds: int) -> "Machine":
        for _ in range(seconds):
            self.second += 1
            moved = self.budget.account(self.account())
            if moved:
                self.moves.append((self.second, moved))
        return self

    def account(self) -> CpuSpent:
        rate_hz = self.budget.rate_hz
        spent = {target: rate_hz(target) * cost / 1000 for target, cost in self.costs.items()}
        return CpuSpent(1.0, self.fixed_percent / 100, spent)

    @property
    def percent(self) -> float:
        return self.account().percent


def test_what_fits_is_left_alone() -> None:
    machine = Machine(Budget(2), {A: 10}, {A: 1.9}).run(600)
    assert machine.moves == []


def test_over_the_budget_for_some_seconds_lowers_the_rate_until_it_fits() -> None:
    machine = Machine(Budget(2), {A: 10}, {A: 5}).run(60)
    # 5 % at 10 Hz, 2 % at 4 Hz: all steps at once.
    assert machine.moves == [(SETTLING + 5, {A: 4})]


def test_a_burst_that_five_seconds_bear_changes_nothing() -> None:
    machine = Machine(Budget(2), {A: 10}, {A: 1}).run(10)
    machine.costs[A] = 5
    machine.run(1)
    machine.costs[A] = 1
    assert machine.run(100).moves == []


def test_the_rate_asked_for_is_kept_and_comes_back_when_there_is_room() -> None:
    machine = Machine(Budget(2), {A: 10}, {A: 5}).run(30)
    machine.costs[A] = 1
    machine.run(60)
    assert machine.budget.rate_hz(A) == 10
    # The mean of ten seconds still has some of the dearer ones when it first finds room.
    rates = [moved[A] for _, moved in machine.moves]
    assert rates == sorted(rates)
    assert (rates[0], rates[-1]) == (4, 10)
    machine.run(1000)
    assert len(machine.moves) == len(rates)


def test_a_rate_between_the_steps_is_gone_back_to_exactly() -> None:
    machine = Machine(Budget(2), {A: 7.5}, {A: 5}).run(30)
    assert machine.budget.rate_hz(A) == 4
    machine.costs[A] = 1
    assert machine.run(60).budget.rate_hz(A) == 7.5


def test_the_costliest_target_is_slowed_and_the_others_are_not() -> None:
    machine = Machine(Budget(2), {A: 10, B: 10}, {A: 10, B: 0.5}).run(30)
    assert (machine.budget.rate_hz(A), machine.budget.rate_hz(B)) == (1.25, 10)


def test_what_no_rate_changes_ends_at_the_lowest_rate() -> None:
    machine = Machine(Budget(2), {A: 10}, {A: 0.1})
    machine.fixed_percent = 3
    machine.run(600)
    assert machine.budget.rate_hz(A) == 1
    assert len(machine.moves) == 1


def test_a_target_that_ends_makes_room() -> None:
    machine = Machine(Budget(2), {A: 10, B: 10}, {A: 10, B: 4}).run(30)
    assert machine.budget.rate_hz(B) < 10
    del machine.costs[A]
    machine.budget.remove(A)
    machine.costs[B] = 1
    assert machine.run(60).budget.rate_hz(B) == 10


def test_another_rate_asked_for_is_in_force_at_once_and_judged_afresh() -> None:
    machine = Machine(Budget(2), {A: 10}, {A: 5}).run(30)
    machine.budget.request(A, 20)
    assert machine.budget.rate_hz(A) == 20
    assert machine.run(30).budget.rate_hz(A) == 4
    machine.budget.request(A, 1)
    assert machine.run(100).budget.rate_hz(A) == 1


def test_the_first_seconds_of_a_new_target_do_not_count() -> None:
    machine = Machine(Budget(2), {A: 10}, {A: 60})
    machine.run(SETTLING)
    machine.costs[A] = 1
    assert machine.run(60).moves == []


def test_no_budget_is_no_limit() -> None:
    assert Machine(Budget(0), {A: 100}, {A: 10}).run(200).moves == []


def test_work_that_comes_and_goes_does_not_make_the_rate_flap() -> None:
    """Busy 10 s of every 30: without a growing wait it would move twice in each of 120 rounds."""
    machine = Machine(Budget(2), {A: 10}, {A: 1})
    for _ in range(120):
        machine.costs[A] = 4
        machine.run(10)
        machine.costs[A] = 1
        machine.run(20)
    assert len(machine.moves) <= 2 * 3600 / LONGEST_WAIT_S + 14
    last = [second for second, _ in machine.moves if second > 1800]
    assert len(last) <= 2 * 1800 / LONGEST_WAIT_S + 2
    machine.run(int(LONGEST_WAIT_S + PROVEN_S))
    assert machine.budget.rate_hz(A) == 10


@given(
    asked=st.lists(st.floats(1, 100), min_size=1, max_size=6),
    costs=st.lists(st.floats(0, 100), min_size=6, max_size=6),
    fixed=st.floats(0, 3),
    percent=st.floats(0.1, 50),
)
def test_under_a_constant_cost_it_fits_and_comes_to_rest(
    asked: list[float], costs: list[float], fixed: float, percent: float
) -> None:
    """No rate is ever above what was asked, none below 1 Hz; no lowering follows a rise."""
    targets = {f"t-{n}-00000000": rate for n, rate in enumerate(asked)}
    machine = Machine(Budget(percent), targets, dict(zip(targets, costs, strict=False)))
    machine.fixed_percent = fixed
    machine.run(200)
    before = len(machine.moves)
    machine.run(300)
    assert len(machine.moves) == before
    rates = dict(targets)
    risen = False
    for _, moved in machine.moves:
        ups = {target for target, rate in moved.items() if rate > rates[target]}
        assert ups in (set(), set(moved)), "one goes up while another goes down"
        assert ups or not risen, "lowered again after a rise"
        risen |= bool(ups)
        rates |= moved
        assert all(LADDER_HZ[0] <= rate <= targets[target] for target, rate in rates.items())
    lowest = all(rate == LADDER_HZ[0] for rate in rates.values())
    assert lowest or machine.percent <= percent * (1 + 1e-9)


@given(
    noise=st.lists(st.floats(0.92, 1.08), min_size=300, max_size=300),
    cost=st.floats(0.1, 60),
)
def test_noise_of_a_few_percent_does_not_move_it_back_and_forth(
    noise: list[float], cost: float
) -> None:
    machine = Machine(Budget(2), {A: 10}, {A: cost})
    for factor in noise:
        machine.costs[A] = cost * factor
        machine.run(1)
    rates = [moved[A] for _, moved in machine.moves]
    assert rates == sorted(rates, reverse=True), "it went up again"
    assert len(rates) <= 3


@given(st.lists(st.tuples(st.floats(0, 200), st.floats(0, 1)), min_size=1, max_size=400))
def test_whatever_comes_rates_stay_within_bounds(spent: list[tuple[float, float]]) -> None:
    budget = Budget(2)
    budget.request(A, 37)
    for percent, share in spent:
        cost = percent / 100
        budget.account(CpuSpent(1.0, cost * (1 - share), {A: cost * share}))
        assert 1 <= budget.rate_hz(A) <= 37


@pytest.mark.parametrize("slowing", [1.2, 1.5, 2])
def test_samples_that_cost_more_at_a_lower_rate(slowing: float) -> None:
    """More threads have changed since the sample before: it still fits, and comes to rest."""
    machine = Machine(Budget(2), {A: 50}, {A: 2})
    for _ in range(300):
        rate = machine.budget.rate_hz(A)
        machine.costs[A] = 2 * (slowing if rate < 10 else 1)
        machine.run(1)
    assert machine.percent <= 2
    assert all(rates[A] < 50 for _, rates in machine.moves)
    assert len(machine.moves) <= 3


def test_a_change_names_the_usage_that_caused_it() -> None:
    """The mean of the last seconds, whatever the last one was."""
    budget = Budget(2)
    budget.request(A, 10)
    for _ in range(SETTLING):
        budget.account(CpuSpent(1.0, 0.0, {A: 0.05}))
    for _ in range(4):
        assert budget.account(CpuSpent(1.0, 0.0, {A: 0.05})) == {}
    assert budget.account(CpuSpent(1.0, 0.0, {})) == {A: 5}
    assert budget.cause_percent == pytest.approx(4)
    while budget.rate_hz(A) == 5:
        budget.account(CpuSpent(1.0, 0.0, {A: 0.0001}))
    assert budget.cause_percent == pytest.approx(0.01)


@pytest.mark.parametrize("percent", [0.0, 2.0])
def test_frames_that_wait_lower_all_rates_step_by_step_and_they_rise_again(percent: float) -> None:
    budget = Budget(percent)
    budget.request(A, 10)
    budget.request(B, 2)
    spent = CpuSpent(1.0, 0.0, {A: 0.001, B: 0.001})
    for _ in range(SETTLING):
        assert budget.account(spent, backlog=True) == {}
    assert budget.account(spent, backlog=True) == {A: 8, B: 1.6}
    assert budget.slowed_by_backlog
    for _ in range(20):
        budget.account(spent, backlog=True)
    assert (budget.rate_hz(A), budget.rate_hz(B)) == (1, 1)
    assert budget.account(spent) == {}
    for _ in range(60):
        budget.account(spent)
    assert (budget.rate_hz(A), budget.rate_hz(B)) == (10, 2)
    assert not budget.slowed_by_backlog
