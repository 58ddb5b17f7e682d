"""Metrics of processes and of pools."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest
from backend_builders import HOST_ID, TARGET_ID, frame_bytes, host, target
from builders import busy_pool, frame_header
from group_story import COMPILERS, FIELDS, MS, WORK, group_story, make_ns
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.samples import Sample
from tidscope_backend.metrics.families import Facts, StreamFacts, families
from tidscope_backend.metrics.meters import MAX_NAMED_PROCESSES, OTHER, Meters, ProcessNames
from tidscope_backend.metrics.pools import NO_POOLS, PoolTables, pool_families
from tidscope_backend.pool_figures import known_figures
from tidscope_wire.frame import split
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.models import FrameHeader, Group, TableName
from tidscope_wire.pools import FIGURES
from tidscope_wire.table_streams import encode_tables

Row = tuple[str, int, bool, int]
"""Name, on-CPU nanoseconds, whether it lives, and how many processes it stands for."""


def table(rows: Mapping[int, Row]) -> Table:
    made = np.zeros(len(rows), dtype_of("processes"))
    for column in ("title", "user", "container", "unit"):
        made[column] = ""
    for place, (number, (name, cpu_ns, live, count)) in enumerate(rows.items()):
        one = made[place]
        one["process"], one["name"], one["cpu_ns"] = number, name, cpu_ns
        one["live"], one["threads"], one["count"] = live, 2 * live, count
    return made


def cpu(names: ProcessNames) -> dict[str, int]:
    return {name: sums.totals["cpu_ns"] for name, sums in names.by_name().items()}


def test_rows_are_added_up_by_name_and_replace_earlier_ones() -> None:
    names = ProcessNames()
    names.update(table({1: ("make", 5, True, 1), 2: ("cc1", 10, True, 1)}), whole=True)
    names.update(table({2: ("cc1", 30, True, 1), 3: ("cc1", 7, True, 1)}), whole=False)
    assert cpu(names) == {"make": 5, "cc1": 37}
    compilers = names.by_name()["cc1"]
    assert (compilers.live, compilers.threads, compilers.ended) == (2, 4, 0)


def test_what_a_process_did_under_its_earlier_name_stays_there() -> None:
    names = ProcessNames()
    names.update(table({1: ("sh", 100, True, 1)}), whole=False)
    names.update(table({1: ("cc1", 130, True, 1)}), whole=False)
    assert cpu(names) == {"sh": 100, "cc1": 30}
    assert {name: sums.live for name, sums in names.by_name().items()} == {"sh": 0, "cc1": 1}
    # The process ends, and its row is folded into that of its last name.
    names.update(table({1: ("cc1", 150, False, 1)}), whole=False)
    names.update(table({1: ("cc1", 0, False, 0), 2: ("cc1", 150, False, 1)}), whole=False)
    assert cpu(names) == {"sh": 100, "cc1": 50}
    assert names.by_name()["cc1"].ended == 1


@pytest.mark.parametrize("whole", [True, False])
def test_names_are_bounded_and_the_rest_is_one(whole: bool) -> None:
    names = ProcessNames()
    rows = {number: (f"job{number}", number, True, 1) for number in range(1, 101)}
    names.update(table(rows), whole=whole)
    names.update(table(rows), whole=whole)
    found = cpu(names)
    assert len(found) == MAX_NAMED_PROCESSES + 1
    assert found["job1"] == 1
    assert sum(found.values()) == sum(range(1, 101))
    assert found[OTHER] == sum(range(MAX_NAMED_PROCESSES + 1, 101))


def test_counters_do_not_fall_where_ended_processes_go_to_a_row_of_other_names() -> None:
    names = ProcessNames()
    names.update(table({1: ("a", 50, True, 1), 2: ("b", 1, True, 1)}), whole=True)
    names.update(table({2: ("b", 1, True, 1), 3: ("others", 50, False, 1)}), whole=True)
    assert cpu(names)["a"] == 50
    assert cpu(names)["others"] == 50


@given(st.data())
def test_sums_over_names_are_those_over_rows_whatever_they_are_called(data: st.DataObject) -> None:
    """Renames, ends and folds in any order."""
    names, rows = ProcessNames(), dict[int, Row]()
    before: dict[str, int] = {}
    for step in range(data.draw(st.integers(1, 8))):
        changed = {}
        for number in data.draw(st.sets(st.integers(1, 5))):
            name = data.draw(st.sampled_from("abc"))
            grown = rows[number][1] if number in rows else 0
            changed[number] = (name, grown + data.draw(st.integers(0, 9)), True, 1)
        rows.update(changed)
        names.update(table(changed), whole=False)
        if step % 3 == 2:
            names.update(table(rows), whole=True)
        found = cpu(names)
        assert sum(found.values()) == sum(row[1] for row in rows.values())
        assert all(found[name] >= value for name, value in before.items())
        before = found


def samples(meters: Meters, fields: tuple[str, ...] = FIELDS) -> dict[tuple[str, str], float]:
    """Sample and process to value, of one group."""
    group = Group(
        kind="tree",
        value=None,
        name="make --token=secret and its descendants",
        cgroup=None,
        discovery="ebpf",
        discovery_reason="",
    )
    known = target().model_copy(update={"group": group, "fields": list(fields)})
    facts = Facts(
        StreamFacts(), ((host(), None),), ((known, meters.targets[TARGET_ID]),), {"attached": 1}
    )
    return {
        (sample.name, sample.labels["process"]): sample.value
        for sample in _all_of(facts)
        if sample.name.startswith(("tidscope_group_", "tidscope_target_info"))
    }


def _all_of(facts: Facts) -> list[Sample]:
    found = [sample for family in families(facts) for sample in family.samples]
    # Command lines are not for who scrapes.
    assert "secret" not in str(found)
    return found


def test_the_frames_of_a_group_become_series_by_name() -> None:
    meters = Meters(lambda: 0.0, lambda _: 1)
    last = 151
    for frame in group_story(last):
        header, body = split(frame)
        meters.observe(HOST_ID, header, body)
    found = samples(meters)
    compiled = sum(2 * one.cpu_ns(last - last % 10 + 1) for one in COMPILERS)
    assert compiled > 2 * WORK
    assert found["tidscope_group_cpu_seconds_total", "make"] == pytest.approx(
        make_ns(last) / 1e9, abs=10 * MS / 1e9
    )
    assert found["tidscope_group_cpu_seconds_total", "cc1"] == pytest.approx(
        compiled / 1e9, rel=0.1
    )
    assert found["tidscope_group_processes", "make"] == 1
    assert found["tidscope_target_info", "work"] == 1
    assert found["tidscope_group_ended_processes_total", "cc1"] > 0
    assert ("tidscope_group_run_delay_seconds_total", "cc1") in found
    # Figures that the target lacks have no series, although the table has zeros.
    assert not [name for name, _ in found if "net_read" in name or "switches" in name]


def test_a_table_that_cannot_be_read_leaves_what_was_known() -> None:
    meters = Meters(lambda: 0.0, lambda _: 1)
    frames = [
        frame_bytes(seq, tables={"processes": table({1: ("a", 5, True, 1)})}) for seq in (1, 2)
    ]
    header, body = split(frames[0])
    meters.observe(HOST_ID, header, body)
    header, body = split(frames[1])
    meters.observe(HOST_ID, header, bytes(len(body)))
    assert meters.targets[TARGET_ID].processes["a"].totals["cpu_ns"] == 5


T = "t-41-00000000"


def seen(*frames: tuple[str, dict[TableName, Table]]) -> PoolTables:
    """Kept tables after frames of these kinds."""
    kept = NO_POOLS
    for kind, tables in frames:
        described, data = encode_tables(tables)
        values = frame_header().model_dump() | {"kind": kind, "tables": described or None}
        header = FrameHeader.model_validate(values)
        kept = kept.after(header, data)
    return kept


def pool_samples(kept: PoolTables) -> dict[str, float]:
    """Values by name, and by upper bound in buckets."""
    return {
        sample.name + sample.labels.get("le", ""): sample.value
        for family in pool_families([(T, kept)])
        for sample in family.samples
    }


def test_a_pool_has_all_that_is_known() -> None:
    found = pool_samples(seen(("key", busy_pool(finished=8))))
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
    found = pool_samples(seen(("key", busy_pool(known=known))))
    assert found.keys() == {"tidscope_pool_size", "tidscope_pool_finished_total"}


def test_later_rows_stand_and_a_key_frame_replaces_all() -> None:
    first = ("key", busy_pool(finished=3))
    later = ("delta", busy_pool(finished=9))
    assert pool_samples(seen(first, later))["tidscope_pool_finished_total"] == 9
    assert pool_samples(seen(first, later, ("delta", {})))["tidscope_pool_finished_total"] == 9
    assert pool_samples(seen(first, later, ("key", {}))) == {}


def test_the_pool_of_a_program_executed_later_has_the_series() -> None:
    kept = seen(("key", busy_pool(1, finished=3)), ("delta", busy_pool(2, finished=1)))
    assert pool_samples(kept)["tidscope_pool_finished_total"] == 1


def test_unknown_figures_are_null_in_tables() -> None:
    known = sum(1 << FIGURES.index(name) for name in ("size", "finished"))
    row = busy_pool(finished=9, known=known)["pools"]
    columns = {name: row[name].tolist() for name in row.dtype.names or ()}
    (found,) = known_figures(pa.table(columns)).to_pylist()
    assert (found["size"], found["finished"], found["busy"]) == (4, 9, None)
    assert "known" not in found
