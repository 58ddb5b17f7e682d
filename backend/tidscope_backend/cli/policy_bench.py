"""Benchmark of policies: scenarios from TOML files, simulated trials, and results.

A value `{ from = 4, to = 16 }` or `{ one_of = [...] }` makes the file a family. The seed draws one
scenario from the family.
"""

import os
import platform
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from importlib.resources import files
from math import inf
from multiprocessing import get_context
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import ValidationError
from tidscope_policies.simulation.campaign import Plant, Row, list_jobs, make_rows, run_job
from tidscope_policies.simulation.measured import MeasuredPoint, MeasuredProgram, fit_law
from tidscope_policies.simulation.scenario import Scenario
from tidscope_wire.generated.models import SweepState

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
        row.policy,
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


def text_line(line: Sequence[str]) -> str:
    """Format a row as a line for a terminal."""
    return line[0].ljust(22) + "".join(cell.rjust(max(8, len(cell) + 2)) for cell in line[1:])


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
    policies: Sequence[str],
    plants: Sequence[Plant],
    seeds: range,
    workers: int | None = None,
    given: Mapping[str, float] | None = None,
) -> Iterator[Row]:
    """Yield one row per policy, in order, as soon as each is complete.

    Args:
        policies: names of the policies.
        plants: simulated programs.
        seeds: seeds of the runs.
        workers: number of processes; None for one per available core.
        given: policy parameters that differ from their defaults.
    """
    jobs = list_jobs(policies, plants, seeds, given)
    count = min(workers or len(os.sched_getaffinity(0)), len(jobs))
    # Not fork: the caller may have threads.
    with get_context("spawn").Pool(count) as pool:
        outcomes = pool.imap(run_job, jobs, chunksize=max(1, len(seeds) // 4))
        yield from make_rows(policies, plants, len(seeds), outcomes)


FAMILY = 5
"""Random stream for drawing from families; runs use other streams."""


class ScenarioError(ValueError):
    """A scenario cannot be used; the text names the file, the key and the problem."""


@dataclass(frozen=True)
class Family:
    """A family of scenarios with random values.

    Attributes:
        name: short name, used as column heading.
        title: one-line title.
        tree: content of the file, with ranges in place of values.
        where: path of the file.
    """

    name: str
    title: str
    tree: dict[str, Any]
    where: str

    def draw(self, seed: int) -> Scenario:
        """Return the scenario of a seed.

        Raises:
            ScenarioError: the values drawn do not fit together.
        """
        stream = np.random.default_rng([seed, FAMILY])
        try:
            tree = _drawn(self.tree, stream)
        except ValueError as error:
            raise ScenarioError(f"{self.where}: {error}") from None
        return _scenario(tree, self.where)


SHIPPED = "scenarios.toml"
"""File of the shipped scenarios. A file of one's own is one table of it, without `scenarios.`"""
FAMILIES = "families.toml"
"""File of the families that come on top, of programs unlike those of the scenarios."""


def shipped(name: str = SHIPPED) -> list[Plant]:
    """Return the scenarios and families of a shipped file: scenarios first, in its order."""
    text = (files("tidscope_backend.cli") / name).read_text("utf-8")
    plants = [_plant(tree, name) for tree in tomllib.loads(text)["scenarios"]]
    return sorted(plants, key=lambda plant: isinstance(plant, Family))


def load(path: Path) -> Plant:
    """Read a scenario or a family.

    Raises:
        ScenarioError: the file cannot be read, or has an invalid value.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: cannot be read: {error}") from None
    return parse(text, str(path))


def load_sweep(path: Path, cpus: Sequence[int]) -> list[MeasuredProgram]:
    """Read the result of a sweep, for hosts of each number of CPUs.

    Raises:
        ScenarioError: the file cannot be read, or the curve does not follow the law.
    """
    try:
        state = SweepState.model_validate_json(path.read_bytes())
        measured = fit_law(
            [
                MeasuredPoint(each.size, each.ops_per_s, each.low or 0.0, each.high or inf)
                for each in state.points
            ]
        )
        title = f"{path.name} by the universal scalability law"
        programs = [
            MeasuredProgram(f"cpus-{count}", f"{title}, {count} CPUs", measured, count, state.start)
            for count in cpus
        ]
        for program in programs:
            program.draw(0)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError:
        raise ScenarioError(f"{path}: no result of `tidscope sweep --json`") from None
    except ValueError as error:
        raise ScenarioError(f"{path}: {error}") from None
    return programs


def parse(text: str, where: str) -> Plant:
    """Make a scenario or a family from TOML.

    Raises:
        ScenarioError: a value is invalid; the text names `where` and the key.
    """
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{where}: no TOML: {error}") from None
    return _plant(tree, where)


def _plant(tree: dict[str, Any], where: str) -> Plant:
    if not _has_range(tree):
        return _scenario(tree, where)
    family = Family(str(tree.get("name", "")), str(tree.get("title", "")), tree, where)
    family.draw(0)
    return family


def _scenario(tree: Any, where: str) -> Scenario:
    try:
        scenario: Scenario = _read(Scenario, tree, "")
    except ValueError as error:
        raise ScenarioError(f"{where}: {error}") from None
    return scenario


def _is_range(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() in ({"from", "to"}, {"one_of"})


def _has_range(value: Any) -> bool:
    if isinstance(value, dict):
        return _is_range(value) or any(_has_range(each) for each in value.values())
    return isinstance(value, list) and any(_has_range(each) for each in value)


def _drawn(value: Any, stream: np.random.Generator) -> Any:
    """Return the tree with a value in place of each range.

    Raises:
        ValueError: a range is invalid.
    """
    if isinstance(value, list):
        return [_drawn(each, stream) for each in value]
    if not isinstance(value, dict):
        return value
    if not _is_range(value):
        return {name: _drawn(each, stream) for name, each in value.items()}
    if "one_of" in value:
        choices = value["one_of"]
        if not isinstance(choices, list) or not choices:
            raise ValueError("one_of: not a list of values")
        return choices[int(stream.integers(len(choices)))]
    low, high = value["from"], value["to"]
    if not all(isinstance(each, int | float) for each in (low, high)) or not low <= high:
        raise ValueError(f"{value}: not a range of numbers")
    if isinstance(low, int) and isinstance(high, int):
        return int(stream.integers(low, high + 1))
    return float(stream.uniform(low, high))


def _read(kind: Any, value: Any, key: str) -> Any:
    """Convert a TOML value to a type.

    Raises:
        ScenarioError: the value does not fit; the text begins with the key.
    """
    if isinstance(kind, UnionType):
        kind = get_args(kind)[0]
    if is_dataclass(kind):
        return _read_table(kind, value, key)
    if get_origin(kind) is list:
        if not isinstance(value, list):
            raise ScenarioError(f"{key}: not a list")
        return [_read(get_args(kind)[0], each, f"{key}.{at}") for at, each in enumerate(value)]
    fits = isinstance(value, int | float if kind is float else kind)
    if not fits or isinstance(value, bool) != (kind is bool):
        names = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}
        wanted = names[kind]
        raise ScenarioError(f"{key}: {value!r} is not {wanted}")
    return value


def _read_table(kind: Any, value: Any, key: str) -> Any:
    if not isinstance(value, dict):
        raise ScenarioError(f"{key}: not a table")
    inner = f"{key}." if key else ""
    types = get_type_hints(kind)
    if unknown := value.keys() - types.keys():
        raise ScenarioError(f"{inner}{min(unknown)}: no such key")
    read = {name: _read(types[name], each, f"{inner}{name}") for name, each in value.items()}
    for each in fields(kind):
        optional = each.default is not MISSING or each.default_factory is not MISSING
        if not optional and each.name not in read:
            raise ScenarioError(f"{inner}{each.name}: missing")
    try:
        return kind(**read)
    except ValueError as error:
        raise ScenarioError(f"{inner}{error}") from None
