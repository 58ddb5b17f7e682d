"""Results of the bench as text, as Markdown and as JSON."""

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

from tidscope_policies.simulation.campaign import Plant, Row, list_jobs, make_rows, run_job

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


HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Provenance:
    """Of a run of the bench.

    Attributes:
        machine: processor and cores.
        date: UTC.
        commit: of the checkout, with a plus if files differ from it; "unknown" outside of one.
    """

    machine: str
    date: str
    commit: str

    @classmethod
    def here(cls) -> "Provenance":
        """Of this machine, now."""
        return cls(
            machine=f"{_processor()}, {len(os.sched_getaffinity(0))} cores",
            date=time.strftime("%Y-%m-%d", time.gmtime()),
            commit=_commit(),
        )

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
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
    policies: Sequence[str],
    plants: Sequence[Plant],
    seeds: range,
    workers: int | None = None,
    given: Mapping[str, float] | None = None,
) -> Iterator[Row]:
    """Yield one row a policy, in their order, each as soon as it is known.

    Args:
        policies: names.
        plants: what they are tried on.
        seeds: of the runs.
        workers: processes; None: one for each core this process may use.
        given: parameters of the policies that differ from their defaults.
    """
    jobs = list_jobs(policies, plants, seeds, given)
    count = min(workers or len(os.sched_getaffinity(0)), len(jobs))
    # Not fork: the caller may have threads.
    with get_context("spawn").Pool(count) as pool:
        outcomes = pool.imap(run_job, jobs, chunksize=max(1, len(seeds) // 4))
        yield from make_rows(policies, plants, len(seeds), outcomes)
