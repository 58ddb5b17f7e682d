"""Bounds that fail an experiment in CI, such as `throughput < -3%`, decided by intervals. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidscope_wire.generated.models import Experiment

from tidscope_backend.experiments.chart_parts import ends_in_percent
from tidscope_backend.experiments.figures import BY_NAME
from tidscope_backend.experiments.workload import ExperimentError

FORM = re.compile(r"^\s*([a-z0-9_]+)\s*([<>])\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*%\s*$")


@dataclass(frozen=True)
class Bound:
    """Bound on the difference of a cell's figure from the baseline.

    Attributes:
        figure: name of the figure.
        below: True: values below `percent` fail; False: values above.
        percent: limit, in percent of the baseline.
        text: bound as written.
    """

    figure: str
    below: bool
    percent: float
    text: str


def parse_bound(text: str) -> Bound:
    """Read a bound. Raises ExperimentError."""
    found = FORM.match(text)
    if found is None or found[1] not in BY_NAME:
        raise ExperimentError(
            f"{text!r}: use FIGURE < NUMBER% or FIGURE > NUMBER%, such as 'throughput < -3%'; "
            f"figures: {', '.join(BY_NAME)}"
        )
    return Bound(found[1], found[2] == "<", float(found[3]), text.strip())


@dataclass(frozen=True)
class Decision:
    """Result of checking a cell against a bound.

    The result fails if the complete interval is beyond the bound, and is open if a part is.
    """

    cell: str
    bound: Bound
    fails: bool
    is_open: bool
    low: float
    high: float


def decide(found: Experiment, bounds: Sequence[Bound]) -> list[Decision]:
    """Check all cells that have a baseline against the bounds.

    Raises:
        ExperimentError: a bound does not apply to this experiment.
    """
    decisions = [one for bound in bounds for one in _decide(found, bound)]
    for bound in bounds:
        if not any(one.bound == bound for one in decisions):
            raise ExperimentError(
                f"{bound.text}: no cell has an interval of {bound.figure} against the default; "
                "the matrix needs the policy default and another one, or the variants before and "
                "after, and two repeats"
            )
    return decisions


def _decide(found: Experiment, bound: Bound) -> Iterator[Decision]:
    for cell in found.cells:
        own = next((one for one in cell.figures if one.name == bound.figure), None)
        ends = None if own is None or own.gain is None else ends_in_percent(own.gain)
        if ends is not None:
            low, high = ends
            beyond = (low < bound.percent, high < bound.percent)
            if not bound.below:
                beyond = (high > bound.percent, low > bound.percent)
            some, all_of_it = beyond
            yield Decision(cell.key, bound, all_of_it, some and not all_of_it, low, high)
