"""Questions about hosts that two backends keep, whose clock is wrong, or that were offline."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from made_hosts import BEGAN, rows_of_hosts
from tidscope_backend.fleet.answering import answer
from tidscope_backend.fleet.asking import stream_of
from tidscope_backend.fleet.committer import commit
from tidscope_backend.fleet.part_store import STAGED
from tidscope_backend.fleet.role_keeper import RoleKeeper, write_part
from tidscope_backend.fleet.role_rows import SCHEMA
from tidscope_backend.store.disk import Disk
from tidscope_wire.generated.models import FleetAcross, FleetComparison, FleetHosts

MONTH = 30 * 86400.0
HOUR = timedelta(hours=1)
RATES = {"worker": {"cpu_run_ns": 5e8, "state_on_cpu_ns": 5e8, "state_poll_ns": 1e9}}
NO_ROWS = stream_of(SCHEMA.empty_table())


def between(rows: pa.Table, first_s: int, last_s: int, every_s: int = 10) -> pa.Table:
    """Return rows of some instants, in seconds since the first."""
    seconds = np.array([(one - BEGAN).total_seconds() for one in rows["time"].to_pylist()])
    wanted = (seconds >= first_s) & (seconds <= last_s) & ((seconds - first_s) % every_s == 0)
    return rows.filter(pa.array(wanted))


def ask(
    folder: Path, name: str, began: datetime, seconds: int, recent: bytes = NO_ROWS, **more: Any
) -> str:
    from_us = int(began.timestamp() * 1e6)
    window = {"from_us": from_us, "to_us": from_us + seconds * 1_000_000}
    about = {"folder": str(folder), "kept": True, "live": {}, "wrong_clocks": None}
    chosen = {"program": None, "role": None}
    return answer({**about, **window, **chosen, "name": name, **more}, recent)


def wall(folder: Path, began: datetime, seconds: int, **more: Any) -> FleetHosts:
    return FleetHosts.model_validate_json(ask(folder, "wall", began, seconds, **more))


def used(folder: Path, began: datetime, seconds: int) -> FleetAcross:
    found = ask(folder, "across", began, seconds, counter="cpu_run_ns")
    return FleetAcross.model_validate_json(found)


async def test_a_host_that_two_backends_keep_is_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both keep `a`: one throughout, the other half the time, with frames in between as well."""
    monkeypatch.setenv("PYICEBERG_CATALOG__TIDSCOPE__URI", f"sqlite:///{tmp_path}/shared.db")
    rows = rows_of_hosts(["a", "b"], RATES)
    growing = pc.if_else(pc.less(rows["time"], pa.scalar(BEGAN + timedelta(minutes=5))), 2, 6)
    rows = rows.set_column(SCHEMA.get_field_index("live"), "live", growing).cast(SCHEMA)
    alone = tmp_path / "alone"
    own = {"first": between(rows, 0, 600, 20), "second": between(rows, 300, 600)}
    for name, kept in own.items():
        keeper = RoleKeeper(tmp_path / name, Disk(), MONTH, f"file://{tmp_path}/store")
        keeper.add(kept)
        assert await keeper.seal()
        assert keeper.shipper is not None
        keeper.shipper.ship()
    write_part(alone / STAGED, between(rows, 0, 600, 20))
    now = BEGAN + timedelta(minutes=11)
    assert commit(tmp_path / "second", MONTH, now, f"file://{tmp_path}/store") == 2 * (31 + 31)
    late = {name: stream_of(between(kept, 520, 600)) for name, kept in own.items()}

    def answers(folder: Path, recent: bytes) -> Mapping[str, Any]:
        value = ask(folder, "across", BEGAN, 610, recent, counter="cpu_run_ns")
        sets = ask(folder, "compare", BEGAN, 610, recent, first="host=a", other="host=b")
        figures = FleetComparison.model_validate_json(sets).metrics
        return {
            "wall": FleetHosts.model_validate_json(ask(folder, "wall", BEGAN, 610, recent)).hosts,
            "across": FleetAcross.model_validate_json(value).hosts,
            "hosts": {one.counter: (one.first, one.other) for one in figures},
        }

    both = {name: answers(tmp_path / name, recent) for name, recent in late.items()}
    assert both["first"] == both["second"]
    monkeypatch.delenv("PYICEBERG_CATALOG__TIDSCOPE__URI")
    assert both["first"] == answers(alone, NO_ROWS)
    (host, _) = both["first"]["wall"]
    assert (host.threads, host.states[0]) == (pytest.approx(4, rel=0.05), pytest.approx(0.5))


@pytest.mark.parametrize("wrong", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_a_host_whose_clock_is_wrong_is_at_the_times_of_its_clock(
    tmp_path: Path, wrong: timedelta
) -> None:
    for names, began in ((["right"], BEGAN), (["else", "wrong"], BEGAN + wrong)):
        rows = rows_of_hosts(names, RATES, began=began)
        write_part(tmp_path / STAGED, rows.filter(pc.not_equal(rows["host_name"], "else")))
    assert commit(tmp_path, MONTH, BEGAN + timedelta(minutes=11)) == 2 * 61
    facts = {"name": "wrong", "labels": {}, "connected": True, "targets": ["t-1-0000000a"]}
    now = wall(tmp_path, BEGAN, 610, live={"h-000000000001": facts})
    assert [(one.name, one.connected, one.threads, one.states) for one in now.hosts] == [
        ("right", False, 4, now.hosts[0].states),
        ("wrong", True, 0, []),
    ]
    assert set(now.hosts[1].cores) == {None}
    assert [one.name for one in used(tmp_path, BEGAN, 610).hosts] == ["right"]
    (there,) = wall(tmp_path, BEGAN + wrong, 610).hosts
    assert (there.name, there.threads, there.states) == ("wrong", 4, now.hosts[0].states)
    whole = used(tmp_path, BEGAN - 2 * HOUR, 4 * 3600).hosts
    assert {one.name: one.value for one in whole} == {"right": 5e8, "wrong": 5e8}


def test_a_clock_that_is_set_back_makes_values_of_the_repeated_time_too_high(
    tmp_path: Path,
) -> None:
    """Documented in docs/fleet.md: the rows do not say which of them came first."""
    rows = rows_of_hosts(["a"], RATES, seconds=2 * 3600)
    late = between(rows, 3610, 7200)
    repeated = pc.subtract(late["time"], pa.scalar(HOUR)).cast(SCHEMA.field("time").type)
    for part in (between(rows, 0, 3600), late.set_column(0, SCHEMA.field("time"), repeated)):
        write_part(tmp_path / STAGED, part)
    commit(tmp_path, MONTH, BEGAN + 3 * HOUR)
    (found,) = used(tmp_path, BEGAN, 3601).hosts
    assert found.value == pytest.approx(2 * 5e8, rel=1e-3)
    (found,) = used(tmp_path, BEGAN + timedelta(minutes=30), 601).hosts
    assert found.value == pytest.approx(7 * 5e8, rel=1e-3)


def test_a_host_that_comes_back_has_the_mean_of_the_time_between_and_no_peak(
    tmp_path: Path,
) -> None:
    rows = rows_of_hosts(["away", "here"], RATES, seconds=4800)
    is_away = pc.equal(rows["host_name"], "away")
    away, here = rows.filter(is_away), rows.filter(pc.invert(is_away))
    for part in (between(away, 0, 600), between(away, 4200, 4800), here):
        write_part(tmp_path / STAGED, part)
    commit(tmp_path, MONTH, BEGAN + 3 * HOUR)

    whole = {one.name: one for one in wall(tmp_path, BEGAN, 4801).hosts}
    assert whole["away"].states == whole["here"].states
    assert whole["away"].threads == 4
    found = used(tmp_path, BEGAN, 4801)
    assert {one.name: one.value for one in found.hosts} == {"away": 5e8, "here": 5e8}
    step_s = found.step_us // 1_000_000
    absent = {at for at, one in enumerate(whole["away"].cores) if one is None}
    assert absent == set(range(600 // step_s + 1, 4200 // step_s))
    assert {one for one in whole["away"].cores if one is not None} == {0.5}
    assert set(whole["here"].cores) == {0.5}
    assert set(found.median) == set(found.p90) == {5e8}

    meanwhile = wall(tmp_path, BEGAN + timedelta(minutes=20), 600)
    assert [one.name for one in meanwhile.hosts] == ["here"]
    since = wall(tmp_path, BEGAN + timedelta(seconds=4150), 651)
    assert [one.states for one in since.hosts] == [whole["here"].states] * 2
