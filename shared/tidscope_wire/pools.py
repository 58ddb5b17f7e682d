"""Readers of the tables `pools` and `pool_times`: known figures, and quantiles of times."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidscope_wire.generated.frame_tables import COLUMNS

RESPONSE, QUEUE_WAIT = 0, 1
"""Values of the column `time`."""
BUCKETS = 32
_COLUMNS = tuple(COLUMNS["pools"])
FIGURES: Sequence[str] = _COLUMNS[_COLUMNS.index("known") + 1 : _COLUMNS.index("name")]
"""Columns whose presence the bits of `known` tell: bit b for the b-th."""


def knows(row: np.void, figure: str) -> bool:
    """True if a row of `pools` has a figure."""
    return bool(int(row["known"]) >> FIGURES.index(figure) & 1)


def known_figures(pools: pa.Table) -> pa.Table:
    """Return the table `pools` without `known`; unknown figures are null.

    Args:
        pools: with all of its columns.
    """
    # The collector needs no such function, and loading them takes 0.05 s at each start.
    import pyarrow.compute as pc

    known = pools["known"].to_numpy().astype(np.uint32)
    for bit, name in enumerate(FIGURES):
        unknown = pa.array((known >> np.uint32(bit) & np.uint32(1)) == 0)
        place = pools.schema.get_field_index(name)
        absent = pa.scalar(None, pools.schema.field(name).type)
        pools = pools.set_column(place, name, pc.if_else(unknown, absent, pools[name]))
    return pools.drop_columns(["known"])


def upper_s(bucket: int) -> float:
    """Upper end of a bucket, seconds."""
    return 2.0 ** (bucket + 10) / 1e9


def quantile_s(counts: npt.NDArray[np.integer[Any]], part: float) -> float | None:
    """A quantile of a histogram of times, seconds, as the page has it (stayHistogram.ts).

    Within its bucket jobs count as spread evenly over the logarithm; of the last bucket it is the
    lower end.

    Args:
        counts: int[BUCKETS], jobs by bucket.
        part: of the jobs, above 0.

    Returns:
        Seconds, or None for an empty histogram.
    """
    above = np.cumsum(counts)
    total = int(above[-1])
    if total <= 0:
        return None
    bucket = int(np.argmax(above >= part * total))
    upper = upper_s(bucket)
    if bucket >= BUCKETS - 1:
        return upper / 2
    below = int(above[bucket]) - int(counts[bucket])
    return upper / 2 * 2 ** ((part * total - below) / int(counts[bucket]))


def with_quantiles(pools: pa.Table, times: pa.Table) -> pa.Table:
    """Pools with quantiles of their times, seconds; null of one without jobs, or without times.

    Args:
        pools: with the column `pool`.
        times: the table `pool_times`.
    """
    counts: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
    for row in times.to_pylist():
        held = counts.setdefault((row["pool"], row["time"]), np.zeros(BUCKETS, np.int64))
        held[min(row["bucket"], BUCKETS - 1)] += row["count"]
    nothing = np.zeros(BUCKETS, np.int64)
    for time, name in ((RESPONSE, "response"), (QUEUE_WAIT, "queue_wait")):
        for part in (50, 95, 99):
            values = [
                quantile_s(counts.get((pool, time), nothing), part / 100)
                for pool in pools["pool"].to_pylist()
            ]
            pools = pools.append_column(f"{name}_p{part}_s", pa.array(values, pa.float64()))
    return pools
