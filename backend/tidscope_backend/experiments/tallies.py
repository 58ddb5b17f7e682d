"""What a journal says was done in each cell. Pure."""

from collections.abc import Sequence

from tidscope_backend.experiments.figure_names import THROUGHPUT
from tidscope_backend.experiments.journal import Entry, Failed, Repeated, began
from tidscope_backend.experiments.matrix import Cell, baseline_of
from tidscope_backend.experiments.schedule import Tally


def tallies_of(entries: Sequence[Entry]) -> dict[str, Tally]:
    """By the name of the cell, in the order of the file."""
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
    """Repeats of each cell, by its name in the order of the file, a round each."""
    found: dict[str, list[Repeated | Failed]] = {
        Cell(values).key: [] for values in began(entries).cells
    }
    for entry in entries:
        if isinstance(entry, Repeated | Failed) and entry.cell in found:
            found[entry.cell].append(entry)
    return found
