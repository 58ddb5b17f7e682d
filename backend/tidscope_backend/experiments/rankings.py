"""Which of several policies did the most, and which others are shown to be below it. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from tidscope_backend.comparison.statistics import group_figure, paired_difference
from tidscope_backend.experiments.figure_names import THROUGHPUT
from tidscope_backend.experiments.journal import Failed, Repeated
from tidscope_backend.experiments.matrix import Cell

Attempts = Sequence[Repeated | Failed]


def pairs_of(name: str, first: Attempts, other: Attempts) -> list[tuple[float, float]]:
    """A figure of two cells, a pair for each round in which both have it."""
    return [
        (before, after)
        for before, after in zip(values_of(name, first), values_of(name, other), strict=False)
        if before is not None and after is not None
    ]


def values_of(name: str, attempts: Attempts) -> list[float | None]:
    """A figure, round by round; None: the repeat failed, or did not give it."""
    return [one.figures.get(name) if isinstance(one, Repeated) else None for one in attempts]


def rankings(cells: Sequence[Cell], attempts: Mapping[str, Attempts]) -> Iterator[str]:
    """A sentence for each combination of the other axes that has three policies or more.

    Args:
        cells: of the matrix.
        attempts: of each cell, by its name, a round each.
    """
    families: dict[str, list[Cell]] = {}
    for cell in cells:
        families.setdefault(cell.without("policy").key, []).append(cell)
    for rest, members in families.items():
        found = [
            (mean, cell.policy, attempts[cell.key])
            for cell in members
            if (mean := group_figure(values_of(THROUGHPUT, attempts[cell.key])).mean) is not None
        ]
        if len(found) < 3:
            continue
        _, best, most = max(found, key=lambda one: one[0])
        below, others = list[str](), list[str]()
        for _, policy, own in found:
            if policy != best:
                high = paired_difference(pairs_of(THROUGHPUT, most, own)).high
                (below if high is not None and high < 0 else others).append(policy)
        of = f"{rest}: " if len(families) > 1 else ""
        yield (
            f"{of}{best} did the most; shown to be below it: {', '.join(below) or 'none'}; "
            f"not shown: {', '.join(others) or 'none'}."
        )
