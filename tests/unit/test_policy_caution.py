"""Budget of trials of a search (algorithms/caution.py)."""

from math import log

import pytest
from tidscope_policies.algorithms.caution import Caution, best_of, loses_much
from tidscope_policies.algorithms.curves import Curves

SIZES = (2, 3, 4, 6, 8, 11, 16)
INTERVAL_S = 2.0


def knowing(progress: dict[int, float]) -> Curves:
    """Beliefs after precise measurements at these sizes."""
    curves = Curves(SIZES, 0.0)
    for size, done in progress.items():
        curves.take_in(size, log(done), 1e-8)
    return curves


def allowed(caution: Caution, progress: dict[int, float], at_s: float = 0.0) -> set[int]:
    mask = caution.allowed(knowing(progress), list(progress), at_s)
    return {size for size, may in zip(SIZES, mask, strict=True) if may}


def begun(most: float) -> Caution:
    """A budget of a search that began at 16, where the program does 100."""
    caution = Caution(most, 0.02, INTERVAL_S)
    caution.measured(16, knowing({16: 100.0}))
    return caution


@pytest.mark.parametrize(
    ("most", "sizes"),
    [(0.0, {16}), (0.32, {16, 11}), (0.51, {16, 11, 8}), (1.0, set(SIZES))],
)
def test_half_the_threads_may_do_half_the_work(most: float, sizes: set[int]) -> None:
    assert allowed(begun(most), {16: 100.0}) == sizes


def test_a_loss_goes_on_as_it_began() -> None:
    """Ten percent less at half the threads: about twenty at a quarter, thirty at an eighth."""
    known = {16: 100.0, 8: 90.0}
    assert allowed(begun(0.2), known) == {16, 11, 8, 6, 4}
    assert allowed(begun(0.06), known) == {16, 11}


def test_between_two_tried_sizes_the_loss_is_between_theirs() -> None:
    known = {16: 100.0, 8: 60.0, 4: 95.0}
    assert {4, 6, 8, 11, 16} & allowed(begun(0.3), known) == {4, 6, 11, 16}


def test_a_better_size_earns_what_further_trials_cost() -> None:
    caution = begun(0.5)
    curves = knowing({16: 100.0, 8: 60.0})
    caution.measured(8, curves)
    assert not caution.is_rested
    assert 8 not in allowed(caution, {16: 100.0, 8: 60.0})
    caution.measured(11, knowing({16: 100.0, 8: 60.0, 11: 170.0}))
    assert caution.is_rested


def test_time_brings_the_budget_back() -> None:
    caution = begun(0.5)
    caution.measured(8, knowing({16: 100.0, 8: 60.0}))
    caution.elapse(19)
    assert not caution.is_rested
    caution.elapse(2)
    assert caution.is_rested


def test_a_size_at_which_progress_fell_is_left_alone_for_twice_as_long_each_time() -> None:
    caution, known = begun(100.0), {16: 100.0, 11: 99.0}
    for times in range(3):
        begin_s = 1000.0 * times
        caution.fell(6, begin_s)
        wait_s = INTERVAL_S * 10 * 2**times
        assert allowed(caution, known, begin_s + wait_s - 0.1) == {8, 11, 16}
        assert allowed(caution, known, begin_s + wait_s) == set(SIZES)


def test_a_size_surely_loses_much() -> None:
    curves = knowing({16: 100.0, 11: 95.0, 8: 80.0})
    tried = {16, 11, 8}
    assert best_of(tried, curves) == 16
    assert [loses_much(size, tried, curves, 1.0) for size in (16, 11, 8)] == [False, False, True]
    assert not loses_much(4, tried, curves, 1.0), "it was not measured"
