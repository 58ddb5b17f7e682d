"""Cells of a matrix, their tallies, and the schedule of their repeats. Pure."""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tidscope_backend.comparison.statistics import group_figure
from tidscope_backend.experiments.definition import DEFAULT, Definition, RepeatSpec
from tidscope_backend.experiments.figures import THROUGHPUT
from tidscope_backend.experiments.journal import Entry, Failed, Repeated, began
from tidscope_backend.experiments.workload import Value

BASELINES = {"policy": DEFAULT, "variant": "before"}
"""Axes with a baseline value that the other values are compared with."""
MAX_GROUP = 80
"""Maximum characters in the group name of a run."""


@dataclass(frozen=True)
class Cell:
    """A cell of the matrix: one combination of axis values.

    Attributes:
        values: value by axis; axes that the matrix lacks are omitted.
    """

    values: Mapping[str, Value]

    @property
    def key(self) -> str:
        """Name in the journal; equal values have equal names."""
        return " ".join(f"{axis}={value}" for axis, value in self.values.items()) or "all"

    @property
    def policy(self) -> str:
        """Steering policy, or DEFAULT for none."""
        return str(self.values.get("policy", DEFAULT))

    @property
    def size(self) -> int | None:
        """Initial size of the programs, or None for the number of CPUs."""
        size = self.values.get("size")
        return None if size is None else int(size)

    @property
    def placement(self) -> str:
        """Whether programs and load share the CPUs or have separate ones."""
        return str(self.values.get("placement", "shared"))

    def without(self, *axes: str) -> "Cell":
        """Return the cell's values without these axes."""
        return Cell({axis: value for axis, value in self.values.items() if axis not in axes})


def cells_of(definition: Definition) -> list[Cell]:
    """Return all cells, in the order of the file."""
    axes = list(definition.axes)
    return [
        Cell(dict(zip(axes, values, strict=True)))
        for values in itertools.product(*definition.axes.values())
    ]


def baseline_of(cell: Cell, cells: Sequence[Cell]) -> Cell | None:
    """Return the baseline cell: without a policy, or before a change, and otherwise equal.

    None if the cell is the baseline, or there is none.
    """
    for axis, baseline in BASELINES.items():
        if cell.values.get(axis, baseline) != baseline:
            wanted = cell.without(axis)
            return next(
                (
                    one
                    for one in cells
                    if one.values.get(axis) == baseline and one.without(axis) == wanted
                ),
                None,
            )
    return None


def group_name(experiment: str, name: str, cell: Cell) -> str:
    """Return the name of the cell's group of runs: readable and unique to the experiment."""
    text = f"{name} {experiment[-6:]}: {cell.key}"
    if len(text) <= MAX_GROUP:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[: MAX_GROUP - 9]} {digest}"


MAX_FAILURES = 3
"""Number of failed repeats after which a cell is abandoned."""
Standing = Literal["open", "steady", "maximum", "failed"]


@dataclass(frozen=True)
class Tally:
    """Repeats done in one cell.

    Attributes:
        values: throughput of each repeat.
        failures: number of failed repeats.
        family: name shared by cells that are compared with each other; empty for none.
    """

    values: Sequence[float]
    failures: int = 0
    family: str = ""

    @property
    def attempts(self) -> int:
        """Number of repeats that were tried."""
        return len(self.values) + self.failures


def standings(tallies: Mapping[str, Tally], rules: RepeatSpec) -> dict[str, Standing]:
    """Return whether each cell has enough repeats. A cell also needs its comparison partners'."""
    found = {key: _standing(tally, rules) for key, tally in tallies.items()}
    wanted = dict[str, int]()
    for key, tally in tallies.items():
        if tally.family:
            count = len(tally.values) + (1 if found[key] == "open" else 0)
            wanted[tally.family] = max(wanted.get(tally.family, 0), count)
    return {
        key: "open"
        if own == "steady" and len(tallies[key].values) < wanted.get(tallies[key].family, 0)
        else own
        for key, own in found.items()
    }


def _standing(tally: Tally, rules: RepeatSpec) -> Standing:
    if tally.failures >= MAX_FAILURES:
        return "failed"
    if len(tally.values) >= rules.least and is_steady(tally.values, rules.deviation):
        return "steady"
    return "maximum" if len(tally.values) >= rules.most else "open"


def is_steady(values: Sequence[float], bound: float) -> bool:
    """Return True if the standard deviation of the repeats is at most `bound` times their mean."""
    found = group_figure(values)
    return (
        found.mean is not None
        and found.std_dev is not None
        and (found.std_dev <= bound * abs(found.mean))
    )


def next_cell(tallies: Mapping[str, Tally], rules: RepeatSpec) -> str | None:
    """Return the cell of the next repeat, or None if all are done.

    Args:
        tallies: tallies of all cells, by name.
        rules: rules of the number of repeats.
    """
    left = [key for key, found in standings(tallies, rules).items() if found == "open"]
    if not left:
        return None
    round_number = min(tallies[key].attempts for key in left)
    due = [key for key in left if tallies[key].attempts == round_number]
    return min(due, key=lambda key: _place(rules.seed, round_number, key))


def _place(seed: int, round_number: int, key: str) -> bytes:
    """Sort key that shuffles the cells of a round, reproducible for one seed."""
    return hashlib.sha256(f"{seed} {round_number} {key}".encode()).digest()


def repeats_left(tallies: Mapping[str, Tally], rules: RepeatSpec) -> tuple[int, int]:
    """Return the minimum and the maximum number of remaining repeats."""
    least = most = 0
    for key, found in standings(tallies, rules).items():
        if found == "open":
            done = len(tallies[key].values)
            most += rules.most - done
            least += max(1, rules.least - done)
    return least, most


def tallies_of(entries: Sequence[Entry]) -> dict[str, Tally]:
    """Return the tally of each cell by the cell's name, in the order of the file."""
    cells = [Cell(values) for values in began(entries).cells]
    families = dict.fromkeys((cell.key for cell in cells), "")
    for cell in cells:
        baseline = baseline_of(cell, cells)
        if baseline is not None:
            families[cell.key] = families[baseline.key] = baseline.key
    found = {}
    for key, attempts in attempts_of(entries).items():
        values = [one.figures[THROUGHPUT] for one in attempts if isinstance(one, Repeated)]
        found[key] = Tally(values, len(attempts) - len(values), families[key])
    return found


def attempts_of(entries: Sequence[Entry]) -> dict[str, list[Repeated | Failed]]:
    """Return the repeats of each cell by the cell's name in file order, one per round."""
    found: dict[str, list[Repeated | Failed]] = {
        Cell(values).key: [] for values in began(entries).cells
    }
    for entry in entries:
        if isinstance(entry, Repeated | Failed) and entry.cell in found:
            found[entry.cell].append(entry)
    return found
