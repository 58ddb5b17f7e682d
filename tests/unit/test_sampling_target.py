"""One target as Python decides about it: its identity, program, tables and what it reports."""

import os
import time
from pathlib import Path

import pytest
from fake_sampler import NOTHING, FakeSampler
from tidscope_collector.procfs.process import TargetExitedError
from tidscope_collector.sampling.notices import Notice
from tidscope_collector.sampling.program import Program, ProgramChange, ProgramWatch
from tidscope_collector.sampling.tables import EARLIEST_NS, TABLES_NS, TableSchedule, as_given
from unit_targets import Tables, make_sampler, make_target


@pytest.fixture
def fake() -> FakeSampler:
    return FakeSampler()


def test_reused_process_id_is_not_sampled(fake: FakeSampler) -> None:
    target = make_target()
    other = target.process.model_copy(update={"start_ticks": target.process.start_ticks - 1})
    tables = Tables()
    with pytest.raises(TargetExitedError, match="was reused"):
        make_sampler(fake.native, tables=tables, shown=target.model_copy(update={"process": other}))
    assert tables.closed
    gone = target.process.model_copy(update={"pid": 2**22 - 1})
    with pytest.raises(TargetExitedError):
        make_sampler(fake.native, shown=target.model_copy(update={"process": gone}))


def test_what_a_target_is_attached_with(fake: FakeSampler) -> None:
    sampler = make_sampler(fake.native)
    sampler.begin()
    attached = fake.attached[sampler.target.id]
    assert attached["base"] == [("cpu_run_ns", "cpu_run_virtual_total")]
    assert attached["lead"] == os.getpid()
    (member,) = attached["members"]
    assert member["pid"] == os.getpid()
    assert member["start_ns"] < attached["attach_ns"] <= time.monotonic_ns()
    link, executable, _ = attached["program"]
    assert str(Path(link).readlink()) == executable
    assert attached["rss_bytes"] > 0
    sampler.close()


def test_another_program_is_reported_and_described(
    fake: FakeSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = make_sampler(fake.native)
    changes: list[bool] = []
    sampler.on_change = changes.append
    change = ProgramChange(Program("/bin/true", "true", 1), "/bin/sh", executed=True)
    monkeypatch.setattr(ProgramWatch, "change", lambda _: change)
    notice: Notice = {**NOTHING, "program": True}
    sampler.take(notice)
    assert fake.of("rename") == [(sampler.target.id, [(os.getpid(), "true")])]
    ((_, event),) = fake.of("report")
    assert '"type":"program_executed"' in event
    assert [one[0] for one in fake.of("set_program")] == [sampler.target.id]
    assert changes == [True]
    # A process is not described again within a second.
    sampler.take(notice)
    assert changes == [True]
    sampler.close()


def test_tables_are_read_sooner_at_first_and_within_their_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, spent = [0], [0]
    tables = Tables()
    schedule = TableSchedule(tables, 0, lambda: now[0], lambda: spent[0])
    assert schedule.due_ns == 0
    intervals = []
    for _ in range(7):
        now[0] = schedule.due_ns
        assert schedule.read() is not None
        intervals.append(schedule.due_ns - now[0])
    assert intervals[:4] == [EARLIEST_NS, EARLIEST_NS, 2 * EARLIEST_NS, 4 * EARLIEST_NS]
    assert intervals[-1] == TABLES_NS
    schedule.share = 0.01
    read = Tables.read

    def slow(one: Tables) -> object:
        spent[0] += 100_000_000
        return read(one)

    monkeypatch.setattr(tables, "read", lambda: slow(tables))
    now[0] = schedule.due_ns
    schedule.read()
    assert schedule.due_ns - now[0] == 10_000_000_000


def test_tables_are_given_by_columns() -> None:
    given = as_given(Tables().read())
    assert given["stays"] == [one.to_bytes(4, "little") for one in (7, 1, 0)] + [
        (1).to_bytes(8, "little")
    ]
    assert "lock_names" not in given
