"""Results of the bench as text, as Markdown and as JSON."""

from collections.abc import Iterable, Sequence

from tidscope_policies.simulation.campaign import Row

Json = dict[str, object]
BEGIN = "<!-- results: written by `tidscope policies bench --write` -->"
END = "<!-- end of results -->"


def head(scenarios: Sequence[str]) -> list[str]:
    """Headings of the columns."""
    return ["policy", *scenarios, "mean", "worst", "worst run", "switches/min", "dips", "one dip"]


def cells(row: Row) -> list[str]:
    """A row's cells: regrets in percent, range of switches a minute, decisions changed by dips."""
    switches = row.switches_per_min.values()
    low, high = f"{min(switches):.1f}", f"{max(switches):.1f}"
    return [
        row.policy,
        *(f"{regret:.2f}" for regret in row.regret_percent.values()),
        f"{row.mean_regret_percent:.2f}",
        f"{row.worst_regret_percent:.2f}",
        f"{max(row.worst_run_percent.values()):.2f}",
        low if low == high else f"{low}–{high}",
        _count(row.dip_changed_decisions),
        _count(row.one_dip_changed_decisions),
    ]


def text_line(line: Sequence[str]) -> str:
    """A line for a terminal."""
    return line[0].ljust(22) + "".join(cell.rjust(max(8, len(cell) + 2)) for cell in line[1:])


def markdown(rows: Iterable[Row], scenarios: Sequence[str]) -> str:
    """A table for a page, its columns in line as the formatter wants them."""
    lines = [head(scenarios), *(cells(row) for row in rows)]
    widths = [max(3, *(len(line[at]) for line in lines)) for at in range(len(lines[0]))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    placed = [
        [line[0].ljust(widths[0])]
        + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        for line in lines
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in (placed[0], rule, *placed[1:]))


def as_json(row: Row) -> Json:
    """What a program reads; `switches_per_min` is that of the worst scenario."""
    rounded = {name: round(regret, 4) for name, regret in row.regret_percent.items()}
    return {
        **rounded,
        "mean": round(row.mean_regret_percent, 4),
        "worst": round(row.worst_regret_percent, 4),
        "worst_run_by_scenario": _all_rounded(row.worst_run_percent.items()),
        "switches_per_min": round(max(row.switches_per_min.values()), 4),
        "dip_changed_decisions": _rounded(row.dip_changed_decisions),
        "one_dip_changed_decisions": _rounded(row.one_dip_changed_decisions),
        "one_dip_regret_percent": _rounded(row.one_dip_regret_percent),
        "switches_per_min_by_scenario": _all_rounded(row.switches_per_min.items()),
        "seconds_to_97_percent": _all_rounded(row.seconds_to_good.items()),
    }


def replaced(page: str, results: str) -> str:
    """The page with the part between its marks replaced.

    Raises:
        ValueError: the marks are not there.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the marks {BEGIN} and {END} are missing")
    return f"{before}{BEGIN}\n\n{results.strip()}\n\n{END}{after}"


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _all_rounded(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values}
