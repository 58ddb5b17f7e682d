"""The quantile of Student's t, compared with closed forms, tables and its own inverse."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_backend.comparison.statistics import t_quantile, tail

# Student's t of 2.5 % above, by SciPy 1.18's stdtrit, which uses another method (Cephes).
TABLE = [
    (1.17, 9.076017087826617),
    (1.5, 6.016663104427929),
    (2.7, 3.3921483831737507),
    (3, 3.1824463052837078),
    (3.6, 2.902445235720363),
    (5, 2.5705818356363146),
    (6.4, 2.410314499647891),
    (7, 2.364624251592784),
    (10, 2.228138851986274),
    (30, 2.0422724563012378),
    (100, 1.9839715185235518),
    (1e6, 1.959966356814107),
]


@pytest.mark.parametrize(("freedom", "expected"), TABLE)
def test_known_values(freedom: float, expected: float) -> None:
    assert t_quantile(freedom) == pytest.approx(expected, rel=1e-9)


def test_degrees_of_freedom_with_a_closed_form() -> None:
    assert t_quantile(1) == pytest.approx(math.tan(math.pi * 0.475), rel=1e-12)
    assert t_quantile(2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-12)
    root = math.sqrt(4 * 0.025 * 0.975)
    four = 2 * math.sqrt(math.cos(math.acos(root) / 3) / root - 1)
    assert t_quantile(4) == pytest.approx(four, rel=1e-12)


@given(st.floats(1, 1000))
def test_the_tail_above_it_is_a_fortieth(freedom: float) -> None:
    assert tail(t_quantile(freedom), freedom) == pytest.approx(0.025, rel=1e-11)


@given(st.floats(1, 1000), st.floats(1, 1000))
def test_more_repeats_give_a_narrower_interval(one: float, other: float) -> None:
    if one < other:
        assert t_quantile(one) >= t_quantile(other) * (1 - 1e-12)
