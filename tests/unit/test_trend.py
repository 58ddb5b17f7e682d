"""The trend of autocorrelated noise: `trend` of benchmarks/estimates.py, which the soak uses."""

import numpy as np
import numpy.typing as npt
import pytest
from estimates import trend

SAMPLES = 300


def correlated(random: np.random.Generator, r: float) -> npt.NDArray[np.float64]:
    """A first-order autoregression of variance 1."""
    noise: npt.NDArray[np.float64] = random.normal(size=SAMPLES) * np.sqrt(1 - r * r)
    noise[0] = random.normal()
    for n in range(1, SAMPLES):
        noise[n] += r * noise[n - 1]
    return noise


def test_a_line_has_its_slope_and_no_width() -> None:
    """The interval is the slope without noise."""
    hours = np.linspace(1, 2, SAMPLES)
    found = trend(hours.tolist(), (3 + 7 * hours).tolist())
    assert found == pytest.approx((7, 7, 7))
    assert not found.flat(1)
    assert found.flat(7.1)


def test_what_stands_still_is_flat() -> None:
    """A constant has no slope, and no interval."""
    found = trend(list(range(SAMPLES)), [5.0] * SAMPLES)
    assert found == (0, 0, 0)
    assert found.flat(0.1)


@pytest.mark.parametrize(("r", "least"), [(0, 940), (0.5, 930), (0.9, 900)])
def test_the_interval_holds_the_slope_as_often_as_it_says(r: float, least: int) -> None:
    """95 % of 1,000 noisy series contain it, and fewer with strong autocorrelation."""
    random = np.random.default_rng(1)
    hours = np.linspace(0, 1, SAMPLES)
    held = 0
    for _ in range(1000):
        found = trend(hours.tolist(), (2 * hours + correlated(random, r)).tolist())
        held += found.low <= 2 <= found.high
    assert held >= least


def test_growth_is_found_in_noise() -> None:
    """3 MB an hour in noise of 1 MB whose neighbours are alike."""
    random = np.random.default_rng(2)
    hours = np.linspace(0, 1, SAMPLES)
    found = trend(hours.tolist(), (3 * hours + correlated(random, 0.8)).tolist())
    assert found.low > 0
    assert not found.flat(1)


def test_too_few_samples_are_refused() -> None:
    """Two a block, or the means are of nothing."""
    with pytest.raises(ValueError, match="23 samples are too few"):
        trend(list(range(23)), list(range(23)))
