"""Questions about many hosts, on rows with known rates."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from made_hosts import BEGAN, rows_of_hosts
from tidscope_backend.fleet.answering import answer
from tidscope_backend.fleet.asking import stream_of
from tidscope_backend.fleet.host_search import Searched, matches
from tidscope_backend.fleet.part_store import STAGED
from tidscope_backend.fleet.questions import across, compare, wall
from tidscope_backend.fleet.role_keeper import write_part
from tidscope_backend.fleet.steps import Chosen, Window
from tidscope_wire.generated.models import FleetAcross, FleetHosts

BEGAN_US = int(BEGAN.timestamp() * 1e6)
WINDOW = Window(BEGAN_US, BEGAN_US + 610_000_000)
HOSTS = [f"db-{number}" for number in range(1000)]
SLOW = {"db-17": {"cpu_delay_ns": 4e8, "state_woken_ns": 4e8}}
RATES = {
    "pgbackend": {
        **{"cpu_run_ns": 5e8, "cpu_delay_ns": 1e8, "state_on_cpu_ns": 5e8},
        **{"state_woken_ns": 1e8, "state_socket_receive_ns": 1e9, "state_poll_ns": 2e9},
        **{"state_futex_ns": 3e8},
    },
    "old-kernel": {"cpu_run_ns": 2.5e8, "cpu_delay_ns": 1e8, "blkio_delay_ns": 5e8},
}
CASES = json.loads((Path(__file__).parents[1] / "contract/host_search.json").read_text())


@contextmanager
def asked(rows: pa.Table) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as database:
        database.execute("set timezone = 'UTC'")
        database.register("roles", rows)
        yield database


@pytest.fixture(scope="module")
def many() -> pa.Table:
    labels = {name: {"canary": "true"} for name in HOSTS[:5]}
    return rows_of_hosts(HOSTS, RATES, changed=SLOW, labels=labels, seconds=200)


def test_a_wall_of_a_thousand_hosts(many: pa.Table) -> None:
    with asked(many) as database:
        found = wall(database, WINDOW)
    assert len(found.hosts) == 1000
    assert [(one.role, one.hosts) for one in found.roles] == [
        ("old-kernel", 1000),
        ("pgbackend", 1000),
    ]
    by_name = {one.name: one for one in found.hosts}
    typical = by_name["db-0"]
    # Four threads of each role; of those without a ledger 3.15 are not accounted for.
    assert typical.threads == 8
    assert typical.states == pytest.approx([0.75, 0.2, 1.5, 2, 3.55], rel=1e-3)
    assert by_name["db-17"].states[1] == pytest.approx(0.8, rel=1e-3)
    assert (typical.labels, by_name["db-9"].labels) == ({"canary": "true"}, {})
    seen = [one for one in typical.cores if one is not None]
    assert seen == pytest.approx([0.75] * 10, rel=1e-3)
    assert len(typical.cores) == WINDOW.steps
    assert typical.cores[-1] is None


def test_rows_that_are_there_twice_change_nothing(many: pa.Table) -> None:
    with asked(many) as database:
        once = wall(database, WINDOW)
    with asked(pa.concat_tables([many, many.slice(0, 5000)])) as database:
        assert wall(database, WINDOW) == once


def test_a_role_across_hosts_has_bands_and_values(many: pa.Table) -> None:
    with asked(many) as database:
        found = across(database, WINDOW, Chosen("server", "pgbackend"), "cpu_delay_ns")
        nobody = across(database, WINDOW, Chosen("server", "nobody"), "cpu_delay_ns")
    assert (found.unit, found.label) == ("ns/s", "Run-queue delay")
    assert found.hosts[0].name == "db-17"
    assert found.hosts[0].value == pytest.approx(4e8)
    assert found.hosts[0].value == pytest.approx(4 * found.hosts[1].value)
    assert found.p10[1] == found.median[1] == found.p90[1] == pytest.approx(1e8)
    assert found.curves[0].host == found.hosts[0].host
    assert found.curves[0].values[1] == pytest.approx(4e8)
    assert (nobody.hosts, nobody.curves, set(nobody.median)) == ([], [], {None})


def test_a_restart_of_a_program_is_no_fall() -> None:
    before = rows_of_hosts(["a"], RATES, seconds=100)
    after = rows_of_hosts(["a"], RATES, seconds=100, began=BEGAN + timedelta(seconds=110))
    names = after.column_names
    renamed = after.set_column(
        names.index("target"), after.schema.field("target"), pa.array(["t-2-b"] * after.num_rows)
    )
    with asked(pa.concat_tables([before, renamed])) as database:
        found = across(database, WINDOW, Chosen(role="pgbackend"), "cpu_run_ns")
        (host,) = wall(database, WINDOW).hosts
    assert all(one is None or one == pytest.approx(5e8) for one in found.median)
    assert [(one.value, one.threads) for one in found.hosts] == [(5e8, 4)]
    assert host.threads == 8
    assert host.states == pytest.approx([0.75, 0.2, 1.5, 2, 3.55])
    two = rows_of_hosts(["a", "b"], RATES, seconds=200)
    other = two.filter(pc.equal(two["host_name"], "b"))
    with asked(pa.concat_tables([before, renamed, other])) as database:
        compared = compare(database, WINDOW, Chosen(), "host=a", "host=b")
    assert compared.metrics
    assert {one.first.mean for one in compared.metrics} == {5e8, 1e9, 2e9, 3e8, 7.5e8, 2e8, 1e8}
    assert {one.difference.verdict for one in compared.metrics} == {"equal"}


def test_programs_beside_one_another_are_added() -> None:
    first = rows_of_hosts(["a"], RATES, seconds=200)
    target = pa.array(["t-2-b"] * first.num_rows)
    second = first.set_column(first.column_names.index("target"), "target", target)
    late = second.filter(pc.greater(second["time"], pa.scalar(BEGAN + timedelta(seconds=95))))
    for rows, times in ((second, 2), (late, 1.5)):
        with asked(pa.concat_tables([first, rows.cast(first.schema)])) as database:
            (host,) = wall(database, WINDOW).hosts
            (value,) = across(database, WINDOW, Chosen(role="pgbackend"), "cpu_run_ns").hosts
        assert (host.threads, value.threads, value.value) == (8 * times, 4 * times, 5e8 * times)


@pytest.mark.parametrize(
    ("first", "other", "sizes"),
    [
        ("", "canary=true", (995, 5)),
        ("canary=true", "", (5, 995)),
        ("host=db-1*", "canary=true", (110, 5)),
        ("nothing", "", (0, 1000)),
        ("", "", (1000, 0)),
    ],
)
def test_two_sets_of_hosts(many: pa.Table, first: str, other: str, sizes: tuple[int, int]) -> None:
    with asked(many) as database:
        found = compare(database, WINDOW, Chosen(), first, other)
    assert (len(found.first), len(found.other)) == sizes
    assert bool(found.metrics) == all(sizes)


def test_hosts_are_the_repeats() -> None:
    changed = {
        f"{name}-{n}": {"cpu_run_ns": base + n * 1e6}
        for name, base in (("a", 5e8), ("b", 6e8))
        for n in range(6)
    }
    rows = rows_of_hosts(list(changed), {"worker": {"blkio_delay_ns": 1e6}}, changed=changed)
    with asked(rows) as database:
        found = compare(database, WINDOW, Chosen(), "a-", "b-")
        alone = compare(database, WINDOW, Chosen(), "a-", "host=b-0")
    metrics = {one.counter: one for one in found.metrics}
    assert set(metrics) == {"cpu_run_ns", "blkio_delay_ns"}
    cpu = metrics["cpu_run_ns"]
    assert (cpu.first.n, cpu.other.n, cpu.difference.verdict) == (6, 6, "more")
    assert cpu.difference.percent == pytest.approx(100 * 1e8 / 5.025e8, rel=1e-3)
    assert cpu.difference.low is not None
    assert cpu.difference.low > 9e7
    assert metrics["blkio_delay_ns"].difference.verdict == "equal"
    single = next(one for one in alone.metrics if one.counter == "cpu_run_ns")
    assert (single.difference.verdict, single.difference.low) == ("unclear", None)
    assert "One host" in (single.difference.caveat or "")


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["search"] or "empty")
def test_hosts_are_searched_by_words(case: dict[str, Any]) -> None:
    hosts = [Searched(**one) for one in CASES["hosts"]]
    assert [one.name for one in hosts if matches(case["search"], one)] == case["found"]


def test_rows_on_disk_and_in_memory_are_one_answer(tmp_path: Path) -> None:
    write_part(tmp_path / STAGED, rows_of_hosts(["kept"], RATES))
    question: dict[str, Any] = {
        **{"folder": str(tmp_path), "kept": True, "live": {}, "wrong_clocks": None},
        **{"from_us": WINDOW.from_us, "to_us": WINDOW.to_us},
    }
    facts = {"name": "new", "labels": {}, "connected": True, "targets": ["t-1-0000000a"]}
    live = {"h-000000000001": facts}
    rows = stream_of(rows_of_hosts(["kept"], RATES).slice(0, 60))
    found = FleetHosts.model_validate_json(answer({**question, "name": "wall", "live": live}, rows))
    assert [(one.name, one.connected, one.threads) for one in found.hosts] == [
        ("kept", False, 8),
        ("new", True, 0),
    ]
    named = {"name": "across", "program": None, "role": "", "counter": "cpu_run_ns"}
    rest = FleetAcross.model_validate_json(answer({**question, **named}, rows))
    assert rest.hosts == []
    nothing = answer({**question, "name": "wall", "folder": str(tmp_path / "none")}, rows)
    assert FleetHosts.model_validate_json(nothing).hosts[0].threads == 4
