"""The universal scalability law fitted to a sweep, and the simulated hosts made from it."""

from math import inf

import numpy as np
import pytest
from tidscope_policies.simulation.measured import (
    CurveError,
    MeasuredPoint,
    MeasuredProgram,
    fit_law,
)
from tidscope_policies.simulation.scenario import Phase
from tidscope_policies.simulation.simulated_pools import SimulatedPools, usl

SIZES = (1, 2, 3, 4, 6, 8, 12, 16)
NOISE = 0.02


def curve(
    alone: float, sigma: float, kappa: float, *, noise: float = NOISE, seed: int = 1
) -> list[MeasuredPoint]:
    """Points of a program that follows the law, measured with relative noise."""
    stream = np.random.default_rng(seed)
    points = []
    for size in SIZES:
        rate = usl(size, alone, sigma, kappa) * float(np.exp(stream.normal(0, noise)))
        half = np.exp(1.96 * max(noise, 1e-3))
        points.append(MeasuredPoint(size, rate, rate / half, rate * half))
    return points


@pytest.mark.parametrize(
    ("sigma", "kappa"), [(0.0, 0.0), (0.02, 0.0), (0.05, 0.004), (0.3, 0.02), (0.9, 0.0)]
)
def test_parameters_of_a_known_law_are_recovered(sigma: float, kappa: float) -> None:
    exact = fit_law(curve(250.0, sigma, kappa, noise=0.0)).law
    assert exact.ops_per_thread == pytest.approx(250.0, rel=1e-6)
    assert (exact.sigma, exact.kappa) == pytest.approx((sigma, kappa), abs=1e-6)
    for seed in range(10):
        noisy = fit_law(curve(250.0, sigma, kappa, seed=seed)).law
        assert noisy.ops_per_thread == pytest.approx(250.0, rel=0.1)
        assert noisy.sigma == pytest.approx(sigma, abs=0.1)
        assert noisy.kappa == pytest.approx(kappa, abs=0.006)


def test_the_best_size_is_within_its_interval() -> None:
    best = ((1 - 0.05) / 0.004) ** 0.5
    intervals = [fit_law(curve(250.0, 0.05, 0.004, seed=seed)).best_interval() for seed in range(4)]
    assert all(low <= best <= high < 2 * best for low, high in intervals)
    # Without coherency every thread adds something.
    assert fit_law(curve(250.0, 0.02, 0.0, noise=0.0)).law.best == inf
    assert "best size none" in fit_law(curve(250.0, 0.02, 0.0, noise=0.0)).describe()


def test_seeds_draw_laws_that_the_points_leave_possible() -> None:
    found = fit_law(curve(250.0, 0.05, 0.004))
    drawn = [found.draw(seed) for seed in range(50)]
    assert found.draw(3) == drawn[3]
    assert len({law.sigma for law in drawn}) > 40
    rates = sorted(law.throughput(8) for law in drawn)
    point = next(point for point in found.points if point.size == 8)
    assert 0.9 * point.low < rates[0] < found.law.throughput(8) < rates[-1] < 1.1 * point.high


def test_a_host_of_more_cpus_has_room_for_more_threads() -> None:
    measured = fit_law(curve(250.0, 0.01, 0.0001, noise=0.0))
    rates = {}
    for cpus in (2, 64):
        scenario = MeasuredProgram("m", "measured", measured, cpus, 8).draw(0)
        assert (scenario.own_size, scenario.bounds.low, scenario.cores) == (8, 1, cpus)
        assert scenario.bounds.high == max(16, cpus)
        pools = SimulatedPools(scenario, [[Phase(seconds=1.0)]])
        rates[cpus] = pools.throughput((16,), (0,))[0]
    assert rates[64] == pytest.approx(usl(16, 250.0, 0.01, 0.0001), rel=0.01)
    assert rates[2] < 0.3 * rates[64]


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ({1: 100, 2: 190, 4: 350}, "3 sizes were measured: want 4"),
        ({5: 100, 6: 110, 7: 120, 8: 130}, "want a factor of 4"),
        # More than linear, and two peaks.
        ({1: 10, 2: 40, 4: 160, 8: 640}, "does not follow the law: size"),
        ({1: 100, 2: 190, 4: 60, 8: 400}, "does not follow the law: size"),
    ],
)
def test_what_is_no_such_curve_is_refused(rates: dict[int, float], said: str) -> None:
    points = [MeasuredPoint(n, rate, rate / 1.02, rate * 1.02) for n, rate in rates.items()]
    with pytest.raises(CurveError, match=said):
        fit_law(points)


@pytest.mark.parametrize("low", [0.0, -1.0, 101.0])
def test_a_point_needs_an_interval(low: float) -> None:
    with pytest.raises(CurveError, match="measure more rounds"):
        MeasuredPoint(4, 100.0, low, 120.0)
    with pytest.raises(CurveError, match="measure more rounds"):
        MeasuredPoint(4, 100.0, 90.0, inf)
