"""Cells of a matrix, figures of a repeat, tallies, and the schedule of repeats. Pure."""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow.compute as pc
from tidscope_wire.generated.models import Better, SteeringDecided

from tidscope_backend.comparison.figures import figures_of_process, totals_by_role, whole
from tidscope_backend.comparison.from_folders import tables_of
from tidscope_backend.comparison.sides import Side
from tidscope_backend.comparison.statistics import group_figure
from tidscope_backend.experiments.definition import Definition, RepeatSpec
from tidscope_backend.experiments.journal import Entry, Failed, Repeated, began
from tidscope_backend.experiments.settling import DEFAULT
from tidscope_backend.experiments.variants import VARIANT
from tidscope_backend.experiments.workload import Value
from tidscope_backend.pool_figures import known_figures
from tidscope_backend.state_groups import GROUPS
from tidscope_backend.store.reader import RunReader, table_growth


@dataclass(frozen=True)
class FigureName:
    """Name and properties of a figure.

    Attributes:
        name: name in journals.
        label: display name.
        unit: "" if there is none.
        better: direction of an improvement.
        kind: `result` (throughput), `cost` (from the run) or `conditions` (of the machine).
    """

    name: str
    label: str
    unit: str
    better: Better
    kind: Literal["result", "cost", "conditions"]


THROUGHPUT = "throughput"
WAIT = "wait_us"
CHOSEN = "chosen_share"
"""Share of the measured time after the policy first chose the size of each program."""
SEARCHING = "searching_share"
"""Share of the measured time that a policy tried sizes, waited, or measured a size just set."""
SETTLING, DECISIONS = "settling_decisions", "decisions"
FIGURES = (
    FigureName(THROUGHPUT, "Throughput", "1/s", "more", "result"),
    FigureName("wall_s", "Wall time", "s", "less", "result"),
    FigureName("cpu_s", "CPU time", "s", "less", "result"),
    FigureName("user_cpu_s", "User time", "s", "less", "result"),
    FigureName("system_cpu_s", "System time", "s", "less", "result"),
    FigureName("peak_rss_bytes", "Peak resident memory", "bytes", "less", "result"),
    FigureName("throughput_1", "Throughput of the first program", "1/s", "more", "result"),
    FigureName("throughput_2", "Throughput of the second program", "1/s", "more", "result"),
    FigureName("throughput_3", "Throughput of the third program", "1/s", "more", "result"),
    FigureName("throughput_4", "Throughput of the fourth program", "1/s", "more", "result"),
    FigureName("p50_us", "Latency, median", "µs", "less", "result"),
    FigureName("p95_us", "Latency, p95", "µs", "less", "result"),
    FigureName("p99_us", "Latency, p99", "µs", "less", "result"),
    FigureName("deviation_us", "Latency, standard deviation", "µs", "less", "result"),
    FigureName("mean_us", "Latency, mean", "µs", "less", "result"),
    FigureName("jitter_us", "Jitter", "µs", "less", "result"),
    FigureName("lost_share", "Lost datagrams", "share", "less", "result"),
    FigureName(WAIT, "Queue wait (AIT)", "µs", "less", "result"),
    FigureName("errors", "Failed requests", "", "less", "result"),
    FigureName("size_at_end", "Size at the end", "", "neither", "result"),
    FigureName(CHOSEN, "Time after the policy's first choice", "share", "neither", "result"),
    FigureName(SEARCHING, "Time that the policy searched", "share", "neither", "result"),
    FigureName(SETTLING, "Decisions before the measurement", "", "neither", "result"),
    FigureName(DECISIONS, "Decisions while measured", "", "neither", "result"),
    FigureName("mean_cores", "CPU use", "cores", "neither", "cost"),
    FigureName("ops_per_cpu_s", "Operations per CPU second", "1/s", "more", "cost"),
    FigureName("cpu_delay", "Run-queue delay", "s/s", "less", "cost"),
    FigureName("switches", "Context switches", "1/s", "neither", "cost"),
    FigureName("net_bytes", "Network", "bytes/s", "neither", "cost"),
    FigureName("moved_bytes", "Data moved, by the load", "bytes/s", "more", "cost"),
    FigureName("net_counted_share", "Network, of what curl says", "share", "neither", "cost"),
    FigureName("wakeups", "Wake-ups of its threads", "1/s", "neither", "cost"),
    FigureName("parks", "Parks of workers", "1/s", "neither", "cost"),
    FigureName("steals", "Steals", "1/s", "neither", "cost"),
    FigureName("idle_wakeups", "Futile wake-ups of workers", "1/s", "less", "cost"),
    FigureName("rings", "Rings of io_uring", "", "neither", "cost"),
    FigureName("ring_submissions", "Submissions to io_uring", "1/s", "neither", "cost"),
    FigureName("ring_completions", "Completions of io_uring", "1/s", "neither", "cost"),
    FigureName("power_w", "Package power", "W", "neither", "cost"),
    FigureName("ops_per_j", "Operations per joule", "1/J", "more", "cost"),
    *(
        FigureName(f"share_{group.id}", f"Share of time: {group.label}", "share", "neither", "cost")
        for group in GROUPS
    ),
    FigureName("steal_share", "Steal", "share", "less", "conditions"),
    FigureName("other_share", "CPU time of other programs", "share", "less", "conditions"),
)
BY_NAME = {one.name: one for one in FIGURES}


RATES = {
    "cpu_delay": (("cpu_delay_ns",), 1e-9),
    "switches": (("voluntary_switches", "involuntary_switches"), 1.0),
    "net_bytes": (("net_read_bytes", "net_write_bytes"), 1.0),
}
"""Figures that sum rates of a comparison, with the factor of their unit."""
SAME = ("mean_cores", "power_w")
POOL_COUNTS = ("parks", "steals")
NET_READ = "net_read_total"
"""Total bytes read from sockets during the recording."""


def figures_of_run(folder: Path) -> dict[str, float]:
    """Return the figures of a run; unknown figures are omitted.

    Raises:
        OSError: the run cannot be read.
        ValueError: the run is damaged.
    """
    run = tables_of(Side(folder))
    found = figures_of_process(run, whole(totals_by_role(run.threads)), "rates")
    values = {name: one.value for name, one in found.items() if one.value is not None}
    figures = {name: values[name] for name in SAME if name in values}
    figures |= {
        name: value
        for name, value in values.items()
        if name.startswith("share_") and name in BY_NAME
    }
    for name, (parts, factor) in RATES.items():
        if all(part in values for part in parts):
            figures[name] = factor * sum(values[part] for part in parts)
    if "net_read_bytes" in values:
        figures[NET_READ] = values["net_read_bytes"] * values["duration_s"]
    decided = [one.event for one in run.events if isinstance(one.event, SteeringDecided)]
    searching = searching_share(decided, run.manifest.to_ns)
    if searching is not None:
        figures[SEARCHING] = searching
    return figures | _counted_by_tables(folder, values["duration_s"])


def searching_share(decided: Sequence[SteeringDecided], to_ns: int) -> float | None:
    """Return the share of the time after a first decision that a policy searched.

    It searches after a decision that tries sizes, cannot choose one yet, or changes the size: the
    next interval shows how good that size is.

    Args:
        decided: decisions of a run, in order.
        to_ns: end of the run, on the clock of decisions.
    """
    ends = [one.at_ns for one in decided[1:]] + [to_ns]
    spans = [max(0, end - one.at_ns) for one, end in zip(decided, ends, strict=False)]
    if not sum(spans):
        return None
    searched = sum(
        span
        for one, span in zip(decided, spans, strict=True)
        if one.probing or one.deferred or one.next_size != one.size
    )
    return searched / sum(spans)


def _counted_by_tables(folder: Path, duration_s: float) -> dict[str, float]:
    """Return wake-ups of threads and counters of pools, per second."""
    if duration_s <= 0:
        return {}
    parts = RunReader(folder).parts
    found = {}
    wakes = table_growth(parts, "wakes")
    if wakes.num_rows:
        found["wakeups"] = pc.sum(wakes["count"]).as_py() / duration_s
    pools = known_figures(table_growth(parts, "pools"))
    for name in POOL_COUNTS:
        counted = pc.sum(pools[name]).as_py()
        if counted is not None:
            found[name] = counted / duration_s
    return found


def joined(parts: list[Mapping[str, float]]) -> dict[str, float]:
    """Join figures of programs that ran at the same time.

    Consumption is summed; shares and the machine's power are not.
    """
    if len(parts) == 1:
        return dict(parts[0])
    common = set.intersection(*(set(one) for one in parts)) if parts else set()
    added = (*RATES, *POOL_COUNTS, "mean_cores", "wakeups")
    summed = {name for name in common if name in added}
    found = {name: sum(one[name] for one in parts) for name in sorted(summed)}
    if "power_w" in common:
        found["power_w"] = parts[0]["power_w"]
    if SEARCHING in common:
        found[SEARCHING] = sum(one[SEARCHING] for one in parts) / len(parts)
    return found


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
    """Return the baseline cell: without a policy, or of the first variant, and otherwise equal.

    None if the cell is the baseline, or there is none.
    """
    variants = [one.values[VARIANT] for one in cells if VARIANT in one.values]
    for axis, baseline in (("policy", DEFAULT), *((VARIANT, one) for one in variants[:1])):
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
    return order_of(due, rules.seed, round_number)[0]


def order_of(keys: Sequence[str], seed: int, round_number: int) -> list[str]:
    """Return the cells of a round in random order, reproducible for one seed."""
    return sorted(
        keys, key=lambda key: hashlib.sha256(f"{seed} {round_number} {key}".encode()).digest()
    )


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


Attempts = Sequence[Repeated | Failed]
"""Repeats of a cell, one per round."""


def attempts_of(entries: Sequence[Entry]) -> dict[str, list[Repeated | Failed]]:
    """Return the repeats of each cell by the cell's name in file order, one per round."""
    found: dict[str, list[Repeated | Failed]] = {
        Cell(values).key: [] for values in began(entries).cells
    }
    for entry in entries:
        if isinstance(entry, Repeated | Failed) and entry.cell in found:
            found[entry.cell].append(entry)
    return found


def pairs_of(name: str, first: Attempts, other: Attempts) -> list[tuple[float, float]]:
    """Return the values of a figure in two cells, paired by rounds that have both."""
    return [
        (before, after)
        for before, after in zip(values_of(name, first), values_of(name, other), strict=False)
        if before is not None and after is not None
    ]


def values_of(name: str, attempts: Attempts) -> list[float | None]:
    """Return a figure by round; None if the repeat failed or lacks the figure."""
    return [one.figures.get(name) if isinstance(one, Repeated) else None for one in attempts]
