"""The columns of ledgers beside those of a reader, in arrays that stay and in new ones."""

from dataclasses import replace
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from tidscope_collector.sampling.state_columns import StateColumns
from tidscope_collector.threads.reading import Reading, TargetReader
from tidscope_collector.waits.joined_reader import LEDGER_FIELDS, LedgerReader
from tidscope_collector.waits.ledger import LedgerKeeper
from tidscope_collector.waits.slots import STATES, Ledgers
from tidscope_collector.waits.states import State
from tidscope_wire.generated.models import AbsentField
from tidscope_wire.states import STATE_FIELDS

ATTACH = 1_000
PID = 7


def ledgers(number: int) -> Ledgers:
    """Of threads 7 (asleep since 1,500) and 8 (running since 1,700)."""
    ns = np.zeros((2, STATES), np.uint64)
    ns[0, State.ON_CPU], ns[1, State.FUTEX] = 500, 700
    return Ledgers(
        tid=np.array([7, 8], np.uint32),
        start_ns=np.zeros(2, np.int64),
        began_ns=np.full(2, ATTACH),
        ns=ns,
        state=np.array([State.SLEEP, State.ON_CPU], np.uint8),
        since_ns=np.array([1_500, 1_700]),
        unseen=np.zeros(2, np.bool_),
        changed=np.full(2, number, np.uint32),
        number=number,
    )


class Keeper:
    """Gives the ledgers that a test puts into it."""

    def __init__(self) -> None:
        self.now = ledgers(1)
        self.reads: list[Ledgers] = []
        self.watched: list[str] = []

    def watch(self, pid: int) -> None:
        self.watched.append(f"watch {pid}")

    def forget(self, pid: int) -> None:
        self.watched.append(f"forget {pid}")

    def follow(self, pid: int) -> None:
        assert pid == PID

    def read(self, _pid: int) -> Ledgers:
        return self.reads.pop(0) if self.reads else self.now

    def places(self, _pid: int) -> npt.NDArray[np.intp]:
        return np.arange(2)


class Base:
    """A reader whose rows stay where they are."""

    fields = ("cpu_run_ns",)
    absent = (
        AbsentField(field="state", reason="no"),
        AbsentField(field="net_read_bytes", reason=""),
    )
    exits = None

    def __init__(self, tids: tuple[int, ...]) -> None:
        count = len(tids)
        self.reading = Reading(
            np.array(tids, np.uint32),
            np.arange(count, dtype=np.uint64)[:, None],
            None,
            np.zeros(count, np.int64),
            np.full(count, b"main"),
            changed=np.zeros(count, np.bool_),
        )
        self.closed = False

    def read(self) -> Reading:
        return self.reading

    def close(self) -> None:
        self.closed = True


def made(*tids: int) -> tuple[LedgerReader, Base, Keeper]:
    base, keeper = Base(tids), Keeper()
    reader = LedgerReader(cast(TargetReader, base), cast(LedgerKeeper, keeper), PID, ATTACH)
    return reader, base, keeper


def columns(reading: Reading, row: int) -> dict[str, int]:
    values = reading.counters[row].tolist()
    return {name: v for name, v in zip(("cpu", *LEDGER_FIELDS), values, strict=True) if v}


def test_ledgers_stand_beside_the_counters_of_their_threads() -> None:
    reader, _, _ = made(8, 7)
    assert reader.fields == ("cpu_run_ns", *LEDGER_FIELDS)
    assert [one.field for one in reader.absent] == ["net_read_bytes"]
    reading = reader.read()
    assert columns(reading, 0) == {"state_futex_ns": 700, "state": 1, "state_since_ns": 700}
    assert columns(reading, 1) == {
        **{"cpu": 1, "state_on_cpu_ns": 500, "state": 6, "state_since_ns": 500}
    }
    assert reading.absent is None


def test_only_rows_that_changed_are_marked() -> None:
    reader, base, keeper = made(7, 8)
    first = reader.read()
    again = reader.read()
    assert again.counters is first.counters
    assert again.changed is not None
    assert base.reading.changed is not None
    assert not again.changed.any()
    # The ledger of one of them.
    later = np.array([1_500, 1_900])
    keeper.now = replace(keeper.now, since_ns=later, changed=np.array([1, 2], np.uint32), number=2)
    changed = reader.read()
    assert changed.counters is first.counters
    assert changed.changed is not None
    assert changed.changed.tolist() == [False, True]
    assert columns(changed, 1)["state_since_ns"] == 900
    changed.changed[:] = False
    # A counter of the other; whoever reads the base sees it marked once.
    base.reading.counters[0, 0] = 77
    base.reading.changed[0] = True
    assert columns(reader.read(), 0)["cpu"] == 77
    assert (changed.changed.tolist(), base.reading.changed.tolist()) == (
        [True, False],
        [False, False],
    )


def test_a_thread_without_a_ledger_has_no_states() -> None:
    reader, _, _ = made(7, 9)
    reading = reader.read()
    assert reading.absent is not None
    assert reading.absent[:, 0].tolist() == [False, False]
    assert reading.absent[0].any() == np.False_
    assert reading.absent[1, 1:].all()
    assert columns(reading, 1) == {"cpu": 1}


def test_a_thread_that_began_after_the_ledgers_were_read_is_looked_for_again() -> None:
    reader, _, keeper = made(7, 8)
    full = keeper.now
    early = replace(full, state=np.array([State.SLEEP, State.ENDED], np.uint8))
    keeper.reads = [early, full]
    assert columns(reader.read(), 1)["state"] == State.ON_CPU


def test_the_process_is_watched_until_the_end() -> None:
    reader, base, keeper = made(7)
    reader.close()
    reader.close()
    assert keeper.watched == ["watch 7", "forget 7"]
    assert base.closed


def test_totals_have_the_stay_under_way_and_no_gauges() -> None:
    reader, _, _ = made(7, 8)
    states = StateColumns(reader.fields, ATTACH)
    assert states.summed == ("cpu_run_ns", *STATE_FIELDS)
    assert np.flatnonzero(states.rising).tolist() == [0]
    found = states.at(reader.read(), np.array([2_000, 1_600]))
    assert found.counters.shape == (2, 1 + len(STATE_FIELDS))
    by_name = dict(zip(states.summed, found.counters.T.tolist(), strict=True))
    assert by_name["state_sleep_ns"] == [500, 0]
    assert by_name["state_on_cpu_ns"] == [500, 0]
    assert by_name["state_futex_ns"] == [0, 700]


def test_fields_of_states_anywhere_else_are_refused() -> None:
    with pytest.raises(ValueError, match="do not stand at the end"):
        StateColumns((*LEDGER_FIELDS, "cpu_run_ns"), ATTACH)
    assert StateColumns(("cpu_run_ns",), ATTACH).summed == ("cpu_run_ns",)
