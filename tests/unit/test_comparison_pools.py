"""Pools of workers in a comparison: by name, with intervals."""

from dataclasses import replace

import pyarrow as pa
import pytest
from compared_runs import tables
from tidscope_backend.comparison.compare import compare
from tidscope_backend.comparison.sides import PoolTotals, RunTables, pools_by_name
from tidscope_wire.frame_tables import dtype_of
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import CompareBasis, ComparedMetric
from tidscope_wire.pools import BUCKETS, FIGURES, QUEUE_WAIT, RESPONSE

MS = 1_000_000


def pool_rows(*rows: dict[str, object]) -> pa.Table:
    """The table `pools` with figures that are known."""
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS["pools"]}
    for row in rows:
        known = sum(1 << FIGURES.index(name) for name in row if name in FIGURES)
        for name, kind in COLUMNS["pools"].items():
            columns[name].append(row.get(name, "" if kind == "utf8" else 0))
        columns["known"][-1] = known
    kinds = {"uint32": pa.uint32(), "uint64": pa.uint64(), "utf8": pa.utf8()}
    return pa.table(
        {name: pa.array(columns[name], kinds[kind]) for name, kind in COLUMNS["pools"].items()}
    )


def time_rows(*rows: tuple[int, int, int, int]) -> pa.Table:
    names = dtype_of("pool_times").names
    assert names is not None
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)})


def test_pools_of_one_name_are_added_up() -> None:
    found = pools_by_name(
        pool_rows(
            {"pool": 1, "pid": 10, "name": "requests", "size": 2, "finished": 3},
            {"pool": 2, "pid": 10, "name": "requests", "size": 4, "finished": 5},
            {"pool": 3, "pid": 20, "name": "requests", "size": 8, "finished": 7, "failed": 1},
            {"pool": 4, "pid": 20, "name": "disk"},
        ),
        time_rows((1, RESPONSE, 3, 2), (3, RESPONSE, 3, 5), (4, QUEUE_WAIT, 40, 1), (9, 0, 0, 1)),
    )
    requests = found["requests"]
    # The first one of process 10 is not there any more.
    assert requests.size == 12
    assert requests.counted == {"finished": 15, "failed": 1}
    assert requests.times[RESPONSE][3] == 7
    assert found["disk"].size is None
    assert found["disk"].times[QUEUE_WAIT][BUCKETS - 1] == 1


def run(number: int, finished: int, bucket: int = 14) -> RunTables:
    """Of ten seconds: each job takes 20 ms and waits 5 ms before it is started."""
    totals = PoolTotals(size=4)
    totals.counted = {"finished": finished, "started": finished, "failed": 0}
    totals.counted |= {"response_ns": 20 * MS * finished, "queue_wait_ns": 5 * MS * finished}
    totals.times[RESPONSE][bucket] = finished
    return replace(tables(number), pools={"requests": totals})


def rows_of(
    groups: list[list[RunTables]], basis: CompareBasis = "rates"
) -> dict[str, ComparedMetric]:
    found = compare(groups, basis=basis)
    prefix = "pool:requests:"
    return {row.metric.removeprefix(prefix): row for row in found.metrics if prefix in row.metric}


def test_throughput_and_times_are_compared_with_intervals() -> None:
    rows = rows_of(
        [[run(1, 1000), run(2, 1010), run(3, 990)], [run(4, 2000), run(5, 2020), run(6, 1980)]]
    )
    throughput = rows["finished"]
    assert [group.mean for group in throughput.groups] == [100, 200]
    (faster,) = throughput.differences
    assert (faster.verdict, faster.method) == ("better", "welch")
    assert rows["response"].groups[0].mean == pytest.approx(0.02)
    assert rows["ait"].groups[0].mean == pytest.approx(0.005)
    # From 8.4 to 16.8 ms: spread evenly over the logarithm.
    assert rows["response_p50"].groups[0].mean == pytest.approx(2**23.5 / 1e9)
    assert rows["size"].groups[1].mean == 4
    # What is 0 in all runs, or not known, has no row.
    assert not {"failed", "run", "wait_p95"} & rows.keys()


def test_quantiles_of_one_bucket_get_no_verdict() -> None:
    first = [run(1, 1000), run(2, 1000)]
    near = rows_of([first, [run(3, 1010), run(4, 1010)]])["response_p95"].differences[0]
    far = rows_of([first, [run(3, 1000, 16), run(4, 1000, 16)]])["response_p95"].differences[0]
    assert near.verdict in ("unclear", "equal")
    assert far.verdict == "worse"


def test_totals_and_runs_without_pools() -> None:
    rows = rows_of([[run(1, 1000)], [tables(2)]], "totals")
    assert rows["finished"].unit == "count"
    assert [group.mean for group in rows["finished"].groups] == [1000, None]
    assert rows["finished"].differences[0].verdict == "unknown"
    assert not any("pool:" in one.metric for one in compare([[tables(1)], [tables(2)]]).metrics)
