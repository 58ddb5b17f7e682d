"""Cells of a matrix: every combination of the values of its axes. Pure."""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidscope_backend.experiments.definition import DEFAULT, Definition
from tidscope_backend.experiments.workload import Value

BASELINES = {"policy": DEFAULT, "variant": "before"}
"""Axes whose values are compared with one of them."""
MAX_GROUP = 80
"""Characters in the group of a run."""


@dataclass(frozen=True)
class Cell:
    """A combination.

    Attributes:
        values: axis to its value; axes that the matrix lacks are not in it.
    """

    values: Mapping[str, Value]

    @property
    def key(self) -> str:
        """Its name in the journal: the same values, the same name."""
        return " ".join(f"{axis}={value}" for axis, value in self.values.items()) or "all"

    @property
    def policy(self) -> str:
        """What steers; DEFAULT: nothing does."""
        return str(self.values.get("policy", DEFAULT))

    @property
    def size(self) -> int | None:
        """The size that its programs start with; None: as many as there are CPUs."""
        size = self.values.get("size")
        return None if size is None else int(size)

    @property
    def placement(self) -> str:
        """Whether programs and load share the CPUs, or each has its own."""
        return str(self.values.get("placement", "shared"))

    def without(self, *axes: str) -> "Cell":
        """The rest of its values."""
        return Cell({axis: value for axis, value in self.values.items() if axis not in axes})


def cells_of(definition: Definition) -> list[Cell]:
    """All cells, in the order of the file."""
    axes = list(definition.axes)
    return [
        Cell(dict(zip(axes, values, strict=True)))
        for values in itertools.product(*definition.axes.values())
    ]


def baseline_of(cell: Cell, cells: Sequence[Cell]) -> Cell | None:
    """The cell without a policy, or before a change, that differs in nothing else.

    None: it is one, or there is none.
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
    """The group of the runs of a cell: readable, and of this experiment only."""
    text = f"{name} {experiment[-6:]}: {cell.key}"
    if len(text) <= MAX_GROUP:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[: MAX_GROUP - 9]} {digest}"
