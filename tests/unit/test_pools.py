"""Pools of threads: registry, readings and quantiles."""

import csv
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backend_builders import frame_bytes
from builders import busy_pool
from run_folders import run_folder
from scripted_run import FIELDS, write_run
from tidscope_backend.comparison.from_folders import tables_of
from tidscope_backend.comparison.sides import Side
from tidscope_backend.exchange.formats import as_pools_csv, as_pools_parquet
from tidscope_backend.notebook import Run, open_run
from tidscope_backend.pool_figures import with_quantiles
from tidscope_collector.inspection.own_server import NotServedError, ask_samples
from tidscope_collector.pools import registry as module
from tidscope_collector.pools.prometheus import METRICS, pools_of
from tidscope_collector.pools.registry import PoolRegistry
from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.agent import AgentPool
from tidscope_wire.pools import BUCKETS, FIGURES, QUEUE_WAIT, RESPONSE, knows, quantile_s, upper_s


def pool(name: str = "requests", finished: int | None = 0, **figures: object) -> AgentPool:
    """A pool that counts finished jobs and knows nothing else."""
    values: dict[str, object] = dict.fromkeys(AgentPool.model_fields)
    return AgentPool.model_validate(
        values | {"name": name, "kind": "threads", "finished": finished} | figures
    )


def rows(registry: PoolRegistry) -> Table:
    return registry.tables()["pools"]


def test_figures_count_from_the_first_reading() -> None:
    made = PoolRegistry()
    made.note("agent", [pool(finished=100, size=8, response=[3, 7])], 41, 10)
    made.note("agent", [pool(finished=130, size=6, response=[3, 9, 1])], 41, 20)
    (row,) = rows(made)
    assert (row["pool"], row["pid"], row["read_ns"]) == (1, 41, 20)
    assert (row["finished"], row["size"]) == (30, 6)
    times = made.tables()["pool_times"]
    assert times[["bucket", "count"]].tolist() == [(1, 2), (2, 1)]


def test_a_pool_that_comes_later_counts_from_its_beginning() -> None:
    made = PoolRegistry()
    made.note("agent", [pool("a", 5)], 41, 10)
    made.note("agent", [pool("a", 5), pool("b", 7)], 41, 20)
    assert rows(made)["finished"].tolist() == [0, 7]


def test_what_is_not_known_is_said_to_be_so() -> None:
    made = PoolRegistry()
    made.note("agent", [pool(finished=None, busy=0)], 41, 10)
    (row,) = rows(made)
    assert [name for name in FIGURES if knows(row, name)] == ["busy"]


def test_another_program_has_other_pools() -> None:
    made = PoolRegistry()
    made.note("agent", [pool(finished=5)], 41, 10)
    made.program += 1
    made.note("agent", [pool(finished=7)], 41, 20)
    assert rows(made)[["pool", "finished"]].tolist() == [(1, 0), (2, 7)]


@pytest.mark.parametrize("now", [{"finished": 4}, {"finished": 9, "response": [2, 2]}])
def test_a_pool_whose_counters_fall_is_another_one(now: dict[str, object]) -> None:
    made = PoolRegistry()
    made.note("agent", [pool(finished=5, response=[2, 3])], 41, 10)
    made.note("agent", [pool().model_copy(update=now)], 41, 20)
    assert rows(made)[["pool", "finished"]].tolist() == [(2, now["finished"])]


def test_their_number_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_POOLS", 3)
    made = PoolRegistry()
    made.note("agent", [pool("a"), pool("b"), pool("c")], 41, 10)
    made.note("agent", [pool("b"), pool("c"), pool("d")], 41, 20)
    assert rows(made)["name"].tolist() == ["b", "c", "d"]


GO = """# HELP go_sched_gomaxprocs_threads The current runtime.GOMAXPROCS setting.
# TYPE go_sched_gomaxprocs_threads gauge
go_sched_gomaxprocs_threads 6
# TYPE go_sched_latencies_seconds histogram
go_sched_latencies_seconds_bucket{le="6.399999999999999e-08"} 5
go_sched_latencies_seconds_bucket{le="4.096e-06"} 9
go_sched_latencies_seconds_bucket{le="+Inf"} 10
go_sched_latencies_seconds_sum 0.02
go_sched_latencies_seconds_count 10
go_gc_duration_seconds{quantile="0"} 3.9e-05
"""
JAVA = """# TYPE executor_pool_max_threads gauge
executor_pool_max_threads{name="requests",} 8.0
executor_active_threads{name="requests",} 3.0
executor_queued_tasks{name="requests",} 12.0
executor_completed_tasks_total{name="requests",} 4711.0
hikaricp_connections_max{pool="orders",} 10.0
hikaricp_connections_active{pool="orders",} 4.0
hikaricp_connections_pending{pool="orders",} 1.0
executor_active_threads{name="broken",} NaN
"""


def pools_in(text: str) -> list[AgentPool]:
    """The pools that a text tells of, as a limited child parses it."""
    return pools_of(ask_samples(text.encode(), METRICS))


def test_go_tells_of_gomaxprocs_and_how_long_goroutines_waited() -> None:
    (pool,) = pools_in(GO)
    assert (pool.name, pool.kind, pool.size, pool.started) == ("GOMAXPROCS", "gomaxprocs", 6, None)
    assert pool.queue_wait is not None
    assert {b: n for b, n in enumerate(pool.queue_wait) if n} == {0: 5, 2: 4, 31: 1}


def test_java_tells_of_executors_and_connections() -> None:
    requests, orders = pools_in(JAVA)
    assert (requests.name, requests.kind) == ("requests", "threads")
    assert (requests.size, requests.busy, requests.queue) == (8, 3, 12)
    assert (requests.finished, requests.response_ns) == (4711, None)
    assert (orders.kind, orders.size, orders.busy, orders.queue) == ("connections", 10, 4, 1)


def test_other_programs_tell_of_none() -> None:
    assert pools_in("http_requests_total 5\n") == []
    assert pools_in("") == []


def test_nonsense_is_refused() -> None:
    with pytest.raises(NotServedError):
        pools_in("executor_active_threads{name= 5\n")


NS = 1_000_000_000
KNOWN = sum(1 << FIGURES.index(name) for name in FIGURES if name != "steals")
NAME = "=cmd|calc"
"""A name that a spreadsheet would compute."""


def frame(seq: int, *, key: bool = False, read: bool = True) -> bytes:
    """At second `seq` 10 * seq jobs are done; a key frame repeats what was read before it."""
    at = seq if read else seq - 1
    tables = busy_pool(finished=10 * at, read_ns=at * NS, known=KNOWN, name=NAME)
    identity = {100: (-1, "main")} if key else None
    return frame_bytes(
        seq, {100: [seq, 0]}, identity=identity, time_ns=seq * NS, fields=FIELDS, tables=tables
    )


@pytest.fixture(params=[2, 0], ids=["sealed", "open"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    parts = [
        [frame(1, key=True), frame(2), frame(3)],
        [frame(4, key=True, read=False), frame(5), frame(6)],
    ]
    return open_run(run_folder(tmp_path / "run", parts, FIELDS, request.param).path)


def test_each_reading_is_a_row(run: Run) -> None:
    rows = run.pool_readings().to_pylist()
    assert [(row["read_ns"], row["finished"]) for row in rows] == [
        (at * NS, 10 * at) for at in (1, 2, 3, 5, 6)
    ]
    assert {row["steals"] for row in rows} == {None}
    (counted,) = run.sql("SELECT count(*) AS n FROM pool_readings").to_pylist()
    assert counted == {"n": 5}


def test_as_files(run: Run) -> None:
    (data,) = as_pools_parquet(run.path)
    table = pq.read_table(io.BytesIO(data))
    assert table.drop_columns([]).equals(run.pool_readings())
    assert run.manifest.id in table.schema.metadata[b"tidscope.manifest"].decode()
    (text,) = as_pools_csv(run.path)
    rows = list(csv.DictReader(io.StringIO(text.decode())))
    assert [row["finished"] for row in rows] == ["10", "20", "30", "50", "60"]
    assert rows[0]["steals"] == ""
    assert rows[0]["name"] == f"'{NAME}"


def test_the_whole_run_has_quantiles(run: Run) -> None:
    (row,) = run.pools().to_pylist()
    assert row["finished"] == 50
    # Bucket 12 is of times from 2^21 to 2^22 ns.
    assert row["response_p50_s"] == pytest.approx(2**21.5 / 1e9)
    assert tables_of(Side(run.path)).pools[NAME].counted["finished"] == 50


def test_a_run_without_pools_has_headings_only(tmp_path: Path) -> None:
    manifest = write_run(tmp_path)
    (text,) = as_pools_csv(tmp_path / manifest.id)
    assert text.decode().splitlines()[0].startswith('"pool","process","pid","read_ns","size"')
    assert len(text.splitlines()) == 1
    (data,) = as_pools_parquet(tmp_path / manifest.id)
    assert pq.read_table(io.BytesIO(data)).num_rows == 0
    assert (
        open_run(tmp_path / manifest.id).pools().schema.field("response_p99_s").type == pa.float64()
    )


def counts(**buckets: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    made = np.zeros(BUCKETS, np.int64)
    for name, count in buckets.items():
        made[int(name[1:])] = count
    return made


def test_within_a_bucket_jobs_are_spread_over_the_logarithm() -> None:
    assert quantile_s(counts(), 0.5) is None
    assert quantile_s(counts(b4=10), 1) == pytest.approx(upper_s(4))
    assert quantile_s(counts(b4=10), 0.5) == pytest.approx(upper_s(4) / 2**0.5)
    assert quantile_s(counts(b4=90, b9=10), 0.95) == pytest.approx(upper_s(9) / 2**0.5)
    assert quantile_s(counts(b4=90, b9=10), 0.9) == pytest.approx(upper_s(4))
    assert quantile_s(counts(b31=1), 0.5) == upper_s(BUCKETS - 1) / 2


def test_pools_without_times_have_none() -> None:
    pools = pa.table({"pool": [1, 2]})
    times = pa.table(
        {
            "pool": [1, 1],
            "time": [RESPONSE, QUEUE_WAIT],
            "bucket": [4, BUCKETS + 5],
            "count": [10, 1],
        }
    )
    first, second = with_quantiles(pools, times).to_pylist()
    assert first["response_p50_s"] == pytest.approx(upper_s(4) / 2**0.5)
    assert first["queue_wait_p99_s"] == upper_s(BUCKETS - 1) / 2
    assert second["response_p50_s"] is None
