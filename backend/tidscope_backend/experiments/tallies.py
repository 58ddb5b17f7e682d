"""What a journal says was done in each cell. Pure."""

from collections.abc import Sequence

from tidscope_backend.experiments.figure_names import THROUGHPUT
from tidscope_backend.experiments.journal import Entry, Failed, Repeated, began
from tidscope_backend.experiments.matrix import Cell
from tidscope_backend.experiments.schedule import Tally


def tallies_of(entries: Sequence[Entry]) -> dict[str, Tally]:
    """By the name of the cell, in the order of the file."""
    cells = [Cell(values).key for values in began(entries).cells]
    values: dict[str, list[float]] = {key: [] for key in cells}
    failures = dict.fromkeys(cells, 0)
    for entry in entries:
        if isinstance(entry, Repeated) and entry.cell in values:
            values[entry.cell].append(entry.figures[THROUGHPUT])
        elif isinstance(entry, Failed) and entry.cell in values:
            failures[entry.cell] += 1
    return {key: Tally(values[key], failures[key]) for key in cells}
