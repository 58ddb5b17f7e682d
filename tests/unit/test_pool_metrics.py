"""Pools on /metrics: what is known of them, as histograms too."""

import pyarrow as pa
from builders import busy_pool, frame_header
from tidscope_backend.metrics.pools import NO_POOLS, PoolTables, pool_families
from tidscope_wire.frame_tables import Table, encode_tables
from tidscope_wire.generated.models import FrameHeader, TableName
from tidscope_wire.pools import FIGURES, known_figures

T = "t-41-00000000"


def seen(*frames: tuple[str, dict[TableName, Table]]) -> PoolTables:
    """What is kept after frames of these kinds with these tables."""
    kept = NO_POOLS
    for kind, tables in frames:
        described, data = encode_tables(tables)
        values = frame_header().model_dump() | {"kind": kind, "tables": described or None}
        header = FrameHeader.model_validate(values)
        kept = kept.after(header, data)
    return kept


def samples(kept: PoolTables) -> dict[str, float]:
    """Values by name, and by upper bound in buckets."""
    return {
        sample.name + sample.labels.get("le", ""): sample.value
        for family in pool_families([(T, kept)])
        for sample in family.samples
    }


def test_a_pool_has_all_that_is_known() -> None:
    found = samples(seen(("key", busy_pool(finished=8))))
    assert found["tidscope_pool_size"] == 4
    assert found["tidscope_pool_finished_total"] == 8
    assert found["tidscope_pool_idle_seconds_total"] == 7
    assert found["tidscope_pool_response_seconds_sum"] == 0.024
    assert found["tidscope_pool_response_seconds_count"] == 8
    # Bucket 12 is of times below 2^22 ns.
    assert found["tidscope_pool_response_seconds_bucket0.004194304"] == 8
    assert found["tidscope_pool_response_seconds_bucket0.002097152"] == 0


def test_what_is_not_known_has_no_series() -> None:
    known = sum(1 << FIGURES.index(name) for name in ("size", "finished"))
    found = samples(seen(("key", busy_pool(known=known))))
    assert found.keys() == {"tidscope_pool_size", "tidscope_pool_finished_total"}


def test_later_rows_stand_and_a_key_frame_replaces_all() -> None:
    first = ("key", busy_pool(finished=3))
    later = ("delta", busy_pool(finished=9))
    assert samples(seen(first, later))["tidscope_pool_finished_total"] == 9
    assert samples(seen(first, later, ("delta", {})))["tidscope_pool_finished_total"] == 9
    assert samples(seen(first, later, ("key", {}))) == {}


def test_the_pool_of_a_program_executed_later_has_the_series() -> None:
    kept = seen(("key", busy_pool(1, finished=3)), ("delta", busy_pool(2, finished=1)))
    assert samples(kept)["tidscope_pool_finished_total"] == 1


def test_unknown_figures_are_null_in_tables() -> None:
    known = sum(1 << FIGURES.index(name) for name in ("size", "finished"))
    row = busy_pool(finished=9, known=known)["pools"]
    columns = {name: row[name].tolist() for name in row.dtype.names or ()}
    (found,) = known_figures(pa.table(columns)).to_pylist()
    assert (found["size"], found["finished"], found["busy"]) == (4, 9, None)
    assert "known" not in found
