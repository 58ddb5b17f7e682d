"""Benchmark of policies: simulated trials, and the table of their results."""

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

from tidscope_policies.simulation.campaign import (
    Entrant,
    Plant,
    Row,
    list_jobs,
    make_rows,
    run_job,
)

Json = dict[str, object]
BEGIN = "<!-- results: written by `tidscope policies bench --write` -->"
END = "<!-- end of results -->"


SCORES = ("worst run", "first minute", "half minute", "switches/min", "dips", "one dip")


def head(scenarios: Sequence[str]) -> list[str]:
    """Return headings of the columns."""
    return ["policy", *scenarios, "mean", "worst", *SCORES]


def cells(row: Row) -> list[str]:
    """Return a row: regrets in percent, switches per minute, decisions changed by dips."""
    switches = row.switches_per_min.values()
    low, high = f"{min(switches):.1f}", f"{max(switches):.1f}"
    return [
        row.name,
        *(f"{regret:.2f}" for regret in row.regret_percent.values()),
        f"{row.mean_regret_percent:.2f}",
        f"{row.worst_regret_percent:.2f}",
        f"{max(row.worst_run_percent.values()):.2f}",
        f"{max(row.first_minute_percent.values(), default=0.0):.1f}",
        f"{max(row.half_minute_percent.values(), default=0.0):.1f}",
        low if low == high else f"{low}–{high}",
        _count(row.dip_changed_decisions),
        _count(row.one_dip_changed_decisions),
    ]


def text_line(line: Sequence[str], width: int) -> str:
    """Format a row as a line for a terminal.

    Args:
        line: the cells.
        width: of the first column.
    """
    return line[0].ljust(width) + "".join(cell.rjust(max(8, len(cell) + 2)) for cell in line[1:])


def markdown(rows: Iterable[Row], scenarios: Sequence[str]) -> str:
    """Format a Markdown table with aligned columns, as the formatter expects."""
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
    """Format a row as JSON; `switches_per_min` is that of the worst scenario."""
    rounded = {name: round(regret, 4) for name, regret in row.regret_percent.items()}
    return {
        **rounded,
        "mean": round(row.mean_regret_percent, 4),
        "worst": round(row.worst_regret_percent, 4),
        "worst_run_by_scenario": _all_rounded(row.worst_run_percent.items()),
        "first_minute_loss_percent": _all_rounded(row.first_minute_percent.items()),
        "half_minute_loss_percent": _all_rounded(row.half_minute_percent.items()),
        "loss_against_leaving_alone_percent": _all_rounded(row.whole_percent.items()),
        "switches_per_min": round(max(row.switches_per_min.values()), 4),
        "dip_changed_decisions": _rounded(row.dip_changed_decisions),
        "one_dip_changed_decisions": _rounded(row.one_dip_changed_decisions),
        "one_dip_worse_decisions": _rounded(row.one_dip_worse_decisions),
        "one_dip_regret_percent": _rounded(row.one_dip_regret_percent),
        "switches_per_min_by_scenario": _all_rounded(row.switches_per_min.items()),
        "seconds_to_97_percent": _all_rounded(row.seconds_to_good.items()),
    }


def replaced(page: str, results: str) -> str:
    """Return the document with the text between its marks replaced.

    Raises:
        ValueError: the marks are missing.
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


HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Provenance:
    """Origin of a run of the bench.

    Attributes:
        machine: processor and number of cores.
        date: date in UTC.
        commit: commit of the checkout, with a plus if files differ; "unknown" outside a checkout.
    """

    machine: str
    date: str
    commit: str

    @classmethod
    def here(cls) -> "Provenance":
        """Return the origin of a run on this machine, now."""
        return cls(
            machine=f"{_processor()}, {len(os.sched_getaffinity(0))} cores",
            date=time.strftime("%Y-%m-%d", time.gmtime()),
            commit=_commit(),
        )

    def as_dict(self) -> dict[str, str]:
        """Return the origin as a JSON object."""
        return asdict(self)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> str:
    git = shutil.which("git")
    if git is None:
        return "unknown"

    def ask(*arguments: str) -> str | None:
        done = subprocess.run(
            [git, "-C", str(HERE), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        return done.stdout.strip() if done.returncode == 0 else None

    commit = ask("rev-parse", "--short", "HEAD")
    if commit is None:
        return "unknown"
    return f"{commit}+" if ask("status", "--porcelain", "--untracked-files=no", ".") else commit


def run_campaign(
    those: Sequence[Entrant],
    plants: Sequence[Plant],
    seeds: range,
    workers: int | None = None,
) -> Iterator[Row]:
    """Yield one row per entrant, in order, as soon as each is complete.

    Args:
        those: policies with their parameters.
        plants: simulated programs.
        seeds: seeds of the runs.
        workers: number of processes; None for one per available core.
    """
    jobs = list_jobs(those, plants, seeds)
    count = min(workers or len(os.sched_getaffinity(0)), len(jobs))
    # Not fork: the caller may have threads.
    with get_context("spawn").Pool(count) as pool:
        outcomes = pool.imap(run_job, jobs, chunksize=max(1, len(seeds) // 4))
        yield from make_rows(those, plants, len(seeds), outcomes)
