"""Judged predictors of lock elision: their rules, and what they cost on made calls."""

import random

import pytest
from elision import MOST, PATIENCE, TASKS, Always, Call, Gocc, Oracle, Service, calls, mean_cost

GOOD = Call(0xC000010008, 0xC000400010, 1.0)
BAD = Call(0xC000020008, 0xC000400020, 0.0)


@pytest.mark.parametrize("make", [Gocc, Service])
def test_a_section_that_aborts_is_locked_and_tried_again_after_patience(
    make: type[Gocc] | type[Service],
) -> None:
    trapped, patient = make(None), make(PATIENCE)
    for predictor in (trapped, patient):
        assert predictor.elides(BAD)
        predictor.learn(BAD, committed=False)
    assert not any(trapped.elides(BAD) for _ in range(3 * PATIENCE))
    tries = [patient.elides(BAD) for _ in range(PATIENCE + 2)]
    assert sum(tries) >= 1
    assert not any(tries[: PATIENCE - 1])


def test_weights_of_gocc_saturate() -> None:
    gocc = Gocc(None)
    for _ in range(100):
        gocc.learn(GOOD, committed=True)
    # From 2 · 15 down below 0 takes 16 steps of both tables.
    for _ in range(MOST):
        gocc.learn(GOOD, committed=False)
    assert gocc.elides(GOOD)
    gocc.learn(GOOD, committed=False)
    assert not gocc.elides(GOOD)


def test_mutexes_with_equal_lower_bits_disturb_each_other_in_gocc_only() -> None:
    alias = Call(GOOD.mutex + 4096, GOOD.place, 0.0)
    gocc, service = Gocc(None), Service(None)
    for predictor in (gocc, service):
        for _ in range(20):
            predictor.learn(GOOD, committed=True)
            predictor.learn(alias, committed=False)
            predictor.learn(alias, committed=False)
    assert (gocc.elides(GOOD), service.elides(GOOD)) == (False, True)


def test_costs_lie_between_the_bounds() -> None:
    made = list(calls(random.Random(1), 4000, **TASKS["steady"]))
    costs = [
        mean_cost(predictor, made, random.Random(1))
        for predictor in (Oracle(), Gocc(PATIENCE), Always(elide=False))
    ]
    assert costs == sorted(costs)
    assert costs[-1] == 2.0
