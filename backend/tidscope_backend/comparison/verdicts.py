"""How a group did against the baseline, and whether the measurement allows to say so. Pure."""

import math
from collections.abc import Sequence

from tidscope_wire.generated.models import FigureDifference, Verdict

from tidscope_backend.comparison.figures import Figure
from tidscope_backend.comparison.metrics import Metric
from tidscope_backend.comparison.statistics import Difference

LENGTH_TOLERANCE = 0.05
"""Runs have the same length if their durations differ by at most this share of the longest."""
OTHER_LENGTH = "The runs differ in length, and this grows with it: compare rates."
ONE_RUN = "One run in a group: it may be chance."
OTHER_RUNS = (
    "Windows of different runs: the interval is of how they varied within themselves, "
    "not from run to run."
)


def same_length(durations_ns: Sequence[int]) -> bool:
    """Whether totals of runs of these durations can be compared."""
    longest = max(durations_ns)
    return longest - min(durations_ns) <= LENGTH_TOLERANCE * longest


def judged(
    metric: Metric,
    first: Sequence[Figure],
    other: Sequence[Figure],
    difference: Difference,
    *,
    alike: bool,
    one_run: bool = False,
) -> FigureDifference:
    """Add a verdict to a difference.

    Args:
        metric: what is compared.
        first: figures of the baseline's runs.
        other: figures of the other group's runs.
        difference: of the means.
        alike: whether the runs have the same length.
        one_run: whether all are windows of one run.
    """
    verdict, caveat = _verdict(metric, first, other, difference, alike)
    if caveat is None and difference.method == "slices" and not one_run:
        caveat = OTHER_RUNS
    return FigureDifference(
        absolute=difference.absolute,
        percent=difference.percent,
        low=difference.low,
        high=difference.high,
        method=difference.method,
        verdict=verdict,
        caveat=caveat,
    )


def _verdict(
    metric: Metric,
    first: Sequence[Figure],
    other: Sequence[Figure],
    difference: Difference,
    alike: bool,
) -> tuple[Verdict, str | None]:
    absolute, low, high = difference.absolute, difference.low, difference.high
    if absolute is None:
        return "unknown", None
    caveat = _caveat(metric, first, other, absolute, alike)
    if caveat is not None:
        return "unclear", caveat
    if absolute == 0:
        return "equal", None
    if low is not None and high is not None and low <= 0 <= high:
        return "unclear", None
    verdict: Verdict = "more" if absolute > 0 else "less"
    if metric.better != "neither":
        verdict = "better" if verdict == metric.better else "worse"
    return verdict, ONE_RUN if low is None else None


def _caveat(
    metric: Metric,
    first: Sequence[Figure],
    other: Sequence[Figure],
    absolute: float,
    alike: bool,
) -> str | None:
    """Why the measurement does not allow a verdict; None if it does."""
    flaw = next((one.flaw for one in (*first, *other) if one.flaw is not None), None)
    if flaw is not None:
        return flaw
    if metric.grows and not alike:
        return OTHER_LENGTH
    if 0 < abs(absolute) <= math.hypot(_error(first), _error(other)):
        return f"The difference is below the resolution of the measurement ({metric.provenance})."
    return None


def _error(figures: Sequence[Figure]) -> float:
    """Of the mean of a group: errors of runs are independent."""
    known = [one.error for one in figures if one.value is not None]
    return math.hypot(*known) / len(known) if known else 0.0
