"""Figures of a repeat: names, units, directions, and values from the run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow.compute as pc
from tidscope_wire.generated.models import Better
from tidscope_wire.pools import known_figures

from tidscope_backend.comparison.figures import figures_of_process, totals_by_role, whole
from tidscope_backend.comparison.from_folders import tables_of
from tidscope_backend.comparison.sides import Side
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
FIGURES = (
    FigureName(THROUGHPUT, "Throughput", "1/s", "more", "result"),
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
    return figures | _counted_by_tables(folder, values["duration_s"])


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
    return found
