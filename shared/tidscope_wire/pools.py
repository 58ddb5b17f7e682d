"""The tables `pools` and `pool_times`: which figures are known, and the buckets of times."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidscope_wire.generated.frame_tables import COLUMNS

RESPONSE, QUEUE_WAIT = 0, 1
"""Values of the column `time`."""
BUCKETS = 32
_COLUMNS = tuple(COLUMNS["pools"])
FIGURES: Sequence[str] = _COLUMNS[_COLUMNS.index("known") + 1 : _COLUMNS.index("name")]
"""Columns of which `known` says whether they are known: bit b is of the b-th."""


def knows(row: np.void, figure: str) -> bool:
    """Whether a row of `pools` knows a figure."""
    return bool(int(row["known"]) >> FIGURES.index(figure) & 1)


def known_figures(pools: pa.Table) -> pa.Table:
    """The table `pools` without `known`: null stands for what is not known.

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


def upper_s(bucket: int) -> float:
    """Upper end of a bucket, seconds."""
    return 2.0 ** (bucket + 10) / 1e9
