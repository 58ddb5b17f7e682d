"""Estimates of code's time: exact where every stay is sampled, else with intervals that hold."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stack_simulation import BELOW, PARENT, Lengths, simulate
from tidscope_backend.stacks.estimate import UNKNOWN, Strata, Units, estimate
from tidscope_backend.stacks.intervals import Z, difference, t_ratio, wilson

SIMULATIONS = 300


def one(
    nodes: list[int],
    values: list[float],
    exact: list[float],
    strata: list[int],
    factor: float = 0.0,
) -> tuple[Units, Strata]:
    """Samples with one factor."""
    units = Units(
        np.array(nodes, np.int64),
        np.array(values, np.float64),
        np.full(len(nodes), factor),
        np.array(strata, np.int64),
    )
    return units, Strata(np.array(exact, np.float64), np.zeros(len(exact), np.int64))


STAYS = st.lists(
    st.tuples(st.sampled_from([UNKNOWN, *BELOW]), st.integers(1, 10**9), st.integers(0, 5)),
    max_size=60,
)


@given(STAYS)
def test_with_every_stay_the_account_is_exact(stays: list[tuple[int, int, int]]) -> None:
    truth = np.zeros(len(PARENT))
    exact = np.zeros(6)
    for node, ns, stratum in stays:
        exact[stratum] += ns
        if node != UNKNOWN:
            truth[list(BELOW[node])] += ns
    nodes, values, strata = ([stay[place] for stay in stays] for place in range(3))
    units, times = one(nodes, [float(ns) for ns in values], exact.tolist(), strata)
    found = estimate(units, times, PARENT)
    for column in (found.ns, found.low_ns, found.high_ns):
        np.testing.assert_allclose(column, truth, rtol=1e-9, atol=1e-3)
    assert found.exact_ns == pytest.approx(exact.sum())
    assert found.unseen_ns == pytest.approx(exact.sum() - truth[0], abs=1e-3)
    assert found.samples[0] == sum(node != UNKNOWN for node in nodes)
    assert found.absent_high_ns == 0


@given(STAYS, st.floats(0, 0.99))
@example([(2, 5, 0)], 5e-324)
def test_parts_add_up_and_lie_in_their_intervals(
    stays: list[tuple[int, int, int]], factor: float
) -> None:
    nodes, values, strata = ([stay[place] for stay in stays] for place in range(3))
    exact = [1e9, 2e9, 0.0, 5e8, 1.0, 3e9]
    units, times = one(nodes, [float(ns) for ns in values], exact, strata, factor)
    found = estimate(units, times, PARENT)
    assert (found.low_ns <= found.ns + 1e-6).all()
    assert (found.ns <= found.high_ns + 1e-6).all()
    assert (found.low_ns >= 0).all()
    assert (found.high_ns <= sum(exact)).all()
    assert found.self_ns.sum() + found.unseen_ns == pytest.approx(sum(exact))
    for node in range(len(PARENT)):
        children = found.ns[node == PARENT].sum()
        assert found.self_ns[node] + children == pytest.approx(found.ns[node], abs=1e-3)


def test_a_stratum_without_samples_is_unseen() -> None:
    units, times = one([2], [5.0], [100.0, 40.0], [0], factor=0.5)
    found = estimate(units, times, PARENT)
    assert found.ns[2] == pytest.approx(100)
    assert found.unseen_ns == pytest.approx(40)


def test_threads_that_never_do_the_same_are_known_as_well_as_each_of_them() -> None:
    threads = 9
    nodes = [2] * 50 + [3] * 50 * (threads - 1)
    strata = [at // 50 for at in range(50 * threads)]
    units, times = one(nodes, [1.0] * len(nodes), [100.0] * threads, strata, factor=0.5)
    found = estimate(units, times, PARENT)
    alone = 100 * Z**2 * 0.5 / 50 / (1 + Z**2 * 0.5 / 50)
    assert found.ns[2] - found.low_ns[2] == pytest.approx(alone)
    assert found.high_ns[2] - found.ns[2] == pytest.approx(alone * np.sqrt(threads - 1))
    assert found.ns[0] - found.low_ns[0] == pytest.approx(alone * np.sqrt(threads))
    assert found.high_ns[0] == pytest.approx(100 * threads)
    assert found.absent_high_ns == pytest.approx(alone * np.sqrt(threads))


def test_one_sample_leaves_nearly_everything_open() -> None:
    units, times = one([2], [5.0], [100.0], [0], factor=0.9)
    found = estimate(units, times, PARENT)
    assert found.low_ns[2] < 25
    assert found.high_ns[2] == pytest.approx(100)
    assert found.absent_high_ns > 75


@pytest.mark.parametrize(
    ("lengths", "threads", "stays", "weights"),
    [
        ("equal", 4, 300, (2, 4, 8)),
        ("exponential", 4, 300, (2, 4, 8)),
        ("log-normal", 4, 300, (2, 4, 8, 16)),
        ("alternating", 4, 300, (4,)),
        ("exponential", 40, 40, (2, 4)),
        ("exponential", 1, 100, (4, 8)),
        ("exponential", 100, 12, (2,)),
        ("log-normal", 2, 1000, (1, 2, 32)),
    ],
)
def test_intervals_hold_as_often_as_they_say(
    lengths: Lengths, threads: int, stays: int, weights: tuple[int, ...]
) -> None:
    chance = np.random.default_rng(29)
    held = total = 0
    errors = []
    for _ in range(SIMULATIONS):
        found, truth, exact = simulate(
            chance, lengths, threads=threads, stays=stays, weights=weights
        )
        asked = np.flatnonzero(truth > 0)[1:]  # The root has all time, whatever is sampled.
        inside = (found.low_ns <= truth * (1 + 1e-9)) & (truth <= found.high_ns * (1 + 1e-9))
        held, total = held + int(inside[asked].sum()), total + len(asked)
        errors.append((found.ns - truth)[1:] / exact.sum())
    assert 0.93 <= held / total <= 0.97
    mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0)
    # Unbiased: no mean error is larger than chance explains.
    assert (np.abs(mean) <= 4 * spread / np.sqrt(SIMULATIONS) + 1e-12).all()


def test_samples_of_a_clock_have_the_variance_of_a_binomial() -> None:
    units, times = one([2] * 30 + [3] * 70, [1.0] * 100, [1000.0], [0] * 100, factor=1.0)
    found = estimate(units, times, PARENT)
    assert found.ns[2] == pytest.approx(300)
    assert found.high_ns[2] - found.low_ns[2] == pytest.approx(
        2 * 1000 * Z * np.sqrt(0.0021), rel=0.06
    )


def test_the_first_stage_widens_intervals() -> None:
    units, times = one([2] * 30 + [3] * 70, [1.0] * 100, [1000.0], [0] * 100, factor=0.0)
    exact, chosen = (estimate(units, times, PARENT, stage) for stage in (np.inf, 20.0))
    assert exact.high_ns[2] == pytest.approx(300)
    assert chosen.high_ns[2] > 450


def test_students_quantiles() -> None:
    freedom = np.array([3.0, 5.0, 30.0, np.inf])
    np.testing.assert_allclose(t_ratio(freedom) * Z, [3.182, 2.571, 2.042, Z], rtol=0.06)


def test_a_share_of_nothing_has_a_width() -> None:
    low, high = wilson(np.array([0.0, 1.0, 0.5]), np.array([10.0, 10.0, 1e12]))
    np.testing.assert_allclose(low, [0, 0.722, 0.5], atol=1e-3)
    np.testing.assert_allclose(high, [0.278, 1, 0.5], atol=1e-3)


def test_a_difference_has_the_uncertainty_of_both() -> None:
    columns = ([1.0, 0.0], [0.7, 0.0], [1.4, 0.3], [2.0, 0.0], [1.7, 0.0], [2.3, 0.4])
    low, high = difference(*(np.array(column) for column in columns))
    np.testing.assert_allclose(low, [0.5, -0.3])
    np.testing.assert_allclose(high, [1 + np.hypot(0.3, 0.3), 0.4])
