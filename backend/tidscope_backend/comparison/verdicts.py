"""Verdicts on groups against the baseline, withheld if the measurement is too weak. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tidscope_wire.generated.models import CompareBasis, FigureDifference, Verdict

from tidscope_backend.comparison.figures import (
    Figure,
    Figures,
    Totals,
    figures_of_pool,
    figures_of_role,
    totals_by_role,
    whole,
)
from tidscope_backend.comparison.metrics import COUNTERS, Metric
from tidscope_backend.comparison.sides import RunTables, Slice
from tidscope_backend.comparison.statistics import Difference, spread_of_slices

LENGTH_TOLERANCE = 0.05
"""Maximum difference of durations counted as equal, as a share of the longest."""
OTHER_LENGTH = "The runs differ in length, and this grows with it: compare rates."
ONE_RUN = "One run in a group: it may be chance."
OTHER_RUNS = (
    "Windows of different runs: the interval is of how they varied within themselves, "
    "not from run to run."
)


def same_length(durations_ns: Sequence[int]) -> bool:
    """Return True if totals of runs with these durations can be compared."""
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
        metric: compared metric.
        first: figures of the baseline's runs.
        other: figures of the other group's runs.
        difference: difference of the means.
        alike: whether the runs have the same length.
        one_run: whether all groups are windows of one run.
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
    """Return why the measurement supports no verdict, or None."""
    flaw = next((one.flaw for one in (*first, *other) if one.flaw is not None), None)
    if flaw is not None:
        return flaw
    if metric.grows and not alike:
        return OTHER_LENGTH
    if 0 < abs(absolute) <= math.hypot(_error(first), _error(other)):
        return f"The difference is below the resolution of the measurement ({metric.provenance})."
    return None


def _error(figures: Sequence[Figure]) -> float:
    """Return the error of a group's mean, assuming independent errors of runs."""
    known = [one.error for one in figures if one.value is not None]
    return math.hypot(*known) / len(known) if known else 0.0


WITHOUT = ("threads", "size")
"""Figures not estimated from slices: instants, or lives longer than a slice."""


class Slices:
    """The slices of a window.

    Args:
        run: the window, or a run without slices.
        basis: whether counters are compared as rates or as totals.
    """

    def __init__(self, run: RunTables, basis: CompareBasis) -> None:
        self._basis: CompareBasis = basis
        self._slices: Sequence[Slice] = run.slices
        self._totals: Sequence[Mapping[str, Totals]] = [
            totals_by_role(one.threads) for one in run.slices
        ]

    def of_process(self, figures: Figures) -> Figures:
        """Return the window's figures with their spreads."""
        return self._spread(figures, [self._figures(one, whole(by)) for one, by in self._both()])

    def of_role(self, role: str | None, figures: Figures) -> Figures:
        """Return the figures of a role with their spreads; None for an absent role."""
        if role is None:
            return figures
        return self._spread(figures, [self._figures(one, by.get(role)) for one, by in self._both()])

    def of_pool(self, name: str, figures: Figures) -> Figures:
        """Return the figures of all pools with one name, with their spreads."""
        slices = [
            figures_of_pool(name, one.pools.get(name), one.duration_ns, self._basis)
            for one in self._slices
        ]
        return self._spread(figures, slices)

    def _both(self) -> Sequence[tuple[Slice, Mapping[str, Totals]]]:
        return list(zip(self._slices, self._totals, strict=True))

    def _figures(self, one: Slice, totals: Totals | None) -> Figures:
        return figures_of_role(totals, one.duration_ns, self._basis)

    def _spread(self, figures: Figures, slices: Sequence[Figures]) -> Figures:
        if not slices:
            return figures
        return {name: self._with_spread(name, one, slices) for name, one in figures.items()}

    def _with_spread(self, name: str, figure: Figure, slices: Sequence[Figures]) -> Figure:
        if figure.value is None or name.rpartition(":")[2] in WITHOUT:
            return figure
        known = [one[name].value if name in one else None for one in slices]
        if name in COUNTERS:
            # A role absent from a slice does nothing in the slice.
            known = [0.0 if value is None else value for value in known]
        values = [value for value in known if value is not None]
        if self._basis == "totals" and self._grows(name):
            values = [value * len(slices) for value in values]
        return replace(figure, spread=spread_of_slices(values))

    def _grows(self, name: str) -> bool:
        return name in COUNTERS or name.rpartition(":")[2] in ("finished", "failed")
