"""Pools of a run over time: as files, in a notebook, and in a comparison."""

import csv
import io
from pathlib import Path

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
from tidscope_wire.pools import FIGURES

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
