"""Figures of pools in the tables `pools` and `pool_times`: unknown ones, and quantiles of times."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.pools import BUCKETS, FIGURES, QUEUE_WAIT, RESPONSE, quantile_s


def known_figures(pools: pa.Table) -> pa.Table:
    """Return the table `pools` without `known`; unknown figures are null.

    Args:
        pools: with all of its columns.
    """
    known = pools["known"].to_numpy().astype(np.uint32)
    for bit, name in enumerate(FIGURES):
        unknown = pa.array((known >> np.uint32(bit) & np.uint32(1)) == 0)
        place = pools.schema.get_field_index(name)
        absent = pa.scalar(None, pools.schema.field(name).type)
        pools = pools.set_column(place, name, pc.if_else(unknown, absent, pools[name]))
    return pools.drop_columns(["known"])


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
