"""What the run of a repeat shows: CPU use, waits, network and energy, as in a comparison."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow.compute as pc
from tidscope_wire.pools import known_figures

from tidscope_backend.comparison.figures import figures_of_process
from tidscope_backend.comparison.from_folders import tables_of
from tidscope_backend.comparison.sides import Side
from tidscope_backend.comparison.totals import totals_by_role, whole
from tidscope_backend.experiments.figure_names import BY_NAME
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.table_growth import table_growth

RATES = {
    "cpu_delay": (("cpu_delay_ns",), 1e-9),
    "switches": (("voluntary_switches", "involuntary_switches"), 1.0),
    "net_bytes": (("net_read_bytes", "net_write_bytes"), 1.0),
}
"""Figures that are sums of rates of a comparison, and the factor of their unit."""
SAME = ("mean_cores", "power_w")
POOL_COUNTS = ("parks", "steals")
NET_READ = "net_read_total"
"""All bytes that were read from sockets while the run was recorded."""


def figures_of_run(folder: Path) -> dict[str, float]:
    """Figures of a run; those that it does not know are not there.

    Raises:
        OSError: the run cannot be read.
        ValueError: it is damaged.
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
    """Wake-ups of its threads, and what its pools counted, each a second."""
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
    """Figures of programs that ran at the same time.

    What they used adds up; of shares and of the machine's power there is no sum.
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
