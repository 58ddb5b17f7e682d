"""Which cell comes next, and when one has enough repeats. Pure.

Repeats are done in rounds: each cell that does not stand yet has one repeat in a round, in random
order. So what drifts (a machine that gets warm, a neighbour that comes) hits all cells alike. Cells
that are compared have equally many repeats, so that each has one of the other in its round. The
order follows from the seed and what was done, so an experiment that is resumed goes on as it would
have gone on.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tidscope_backend.comparison.statistics import group_figure
from tidscope_backend.experiments.definition import RepeatSpec

MAX_FAILURES = 3
"""A cell whose repeats fail so often is given up."""
Standing = Literal["open", "steady", "maximum", "failed"]


@dataclass(frozen=True)
class Tally:
    """What was done in a cell.

    Attributes:
        values: throughput of each repeat.
        failures: repeats that failed.
        family: the same in cells that are compared with each other; empty: in none.
    """

    values: Sequence[float]
    failures: int = 0
    family: str = ""

    @property
    def attempts(self) -> int:
        """Repeats that were tried."""
        return len(self.values) + self.failures


def standings(tallies: Mapping[str, Tally], rules: RepeatSpec) -> dict[str, Standing]:
    """Whether cells have enough repeats, and why; one waits for those that it is compared with."""
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
    """Whether the standard deviation of the repeats is at most so much of their mean."""
    found = group_figure(values)
    return (
        found.mean is not None
        and found.std_dev is not None
        and (found.std_dev <= bound * abs(found.mean))
    )


def next_cell(tallies: Mapping[str, Tally], rules: RepeatSpec) -> str | None:
    """The cell of the next repeat; None: all are done.

    Args:
        tallies: of all cells, by name.
        rules: of repeats.
    """
    left = [key for key, found in standings(tallies, rules).items() if found == "open"]
    if not left:
        return None
    round_number = min(tallies[key].attempts for key in left)
    due = [key for key in left if tallies[key].attempts == round_number]
    return min(due, key=lambda key: _place(rules.seed, round_number, key))


def _place(seed: int, round_number: int, key: str) -> bytes:
    """Where a cell comes in a round: by chance, and the same whenever it is asked."""
    return hashlib.sha256(f"{seed} {round_number} {key}".encode()).digest()


def repeats_left(tallies: Mapping[str, Tally], rules: RepeatSpec) -> tuple[int, int]:
    """How many repeats are left, at least and at most."""
    least = most = 0
    for key, found in standings(tallies, rules).items():
        if found == "open":
            done = len(tallies[key].values)
            most += rules.most - done
            least += max(1, rules.least - done)
    return least, most
