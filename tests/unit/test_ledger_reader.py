"""The ledger of waits: slots and the reader."""

from dataclasses import replace
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.sampling.state_columns import StateColumns
from tidscope_collector.threads.reading import Reading, TargetReader
from tidscope_collector.waits.joined_reader import LEDGER_FIELDS, LedgerReader
from tidscope_collector.waits.ledger import LedgerKeeper
from tidscope_collector.waits.loading import OBJECT
from tidscope_collector.waits.reading import LedgerReading
from tidscope_collector.waits.slots import (
    BUCKETS,
    CALLS,
    SLOT,
    SLOTS,
    STATES,
    Ledgers,
    Slots,
    consistent,
)
from tidscope_collector.waits.states import State, kinds_of_calls
from tidscope_wire.generated.models import AbsentField
from tidscope_wire.states import STATE_FIELDS

# The columns of ledgers beside those of a reader, in arrays that stay and in new ones.


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


# Ledgers from slots: what is open is counted up to now, and all of it adds up.


BEGAN = 1_000


def slot(
    state: State, left: int, *, woken: int = 0, arrived: int = 0, exit_ns: int = 0, **ns: int
) -> Slots:
    """A slot whose ledger began at BEGAN and was last entered at `left`."""
    made = np.zeros(1, SLOT)
    made["tgid"], made["tid"] = 1, 2
    made["began_ns"], made["mark"] = BEGAN, left << 5 | state
    made["woken_ns"], made["arrived_ns"], made["exit_ns"] = woken, arrived, exit_ns
    for name, value in ns.items():
        made["ns"][0, State[name]] = value
    return made


def slot_ledgers(slots: Slots) -> Ledgers:
    return LedgerReading(slots).read(slots, 1, 0)


def named(slots: Slots, now: int) -> dict[str, int]:
    row = slot_ledgers(slots).at(now)[0]
    return {State(state).name: int(row[state]) for state in np.flatnonzero(row).tolist()}


def test_a_thread_that_waits_does_so_up_to_now() -> None:
    found = slot(State.FUTEX, 1_500, ON_CPU=500)
    assert named(found, 1_700) == {"ON_CPU": 500, "FUTEX": 200}
    assert slot_ledgers(found).state.tolist() == [State.FUTEX]


def test_one_that_was_woken_up_is_in_the_queue_from_there() -> None:
    found = slot(State.POLL, 1_500, woken=1_600, ON_CPU=500)
    assert named(found, 1_700) == {"ON_CPU": 500, "POLL": 100, "WOKEN": 100}
    assert slot_ledgers(found).state.tolist() == [State.WOKEN]


def test_one_that_was_switched_to_runs_from_there() -> None:
    found = slot(State.POLL, 1_500, woken=1_600, arrived=1_650, ON_CPU=500)
    assert named(found, 1_700) == {"ON_CPU": 550, "POLL": 100, "WOKEN": 50}
    preempted = slot(State.PREEMPTED, 1_500, woken=1_400, arrived=1_650, ON_CPU=500)
    assert named(preempted, 1_700) == {"ON_CPU": 550, "PREEMPTED": 150}
    assert slot_ledgers(found).state.tolist() == [State.ON_CPU]


def test_wake_ups_of_earlier_rounds_do_not_count() -> None:
    found = slot(State.SLEEP, 1_500, woken=1_450, arrived=1_460, ON_CPU=500)
    assert named(found, 1_700) == {"ON_CPU": 500, "SLEEP": 200}


def test_one_that_ended_is_as_it_ended() -> None:
    found = slot(State.ENDED, 1_500, exit_ns=1_500, ON_CPU=500)
    assert named(found, 9_000) == {"ON_CPU": 500}


def test_one_that_ran_when_the_ledger_began_ran_since() -> None:
    assert named(slot(State.ON_CPU, BEGAN), 1_300) == {"ON_CPU": 300}


def test_a_copy_halfway_through_an_update_does_not_add_up() -> None:
    whole = slot(State.FUTEX, 1_500, ON_CPU=500)
    torn = slot(State.FUTEX, 1_500, ON_CPU=500, POLL=70)
    assert consistent(np.concatenate([whole, torn])).tolist() == [True, False]


def test_only_what_changed_is_read_again() -> None:
    slots = np.concatenate([slot(State.POLL, 1_500, POLL=500), slot(State.FUTEX, 1_600, FUTEX=600)])
    slots["tid"] = 7, 5
    reading = LedgerReading(slots)
    first = reading.read(slots, 1, 0)
    assert first.tid.tolist() == [5, 7]
    assert reading.read(slots, 1, 0) is first
    slots["woken_ns"][0] = 1_650
    second = reading.read(slots, 1, 0)
    assert second.changed.tolist() == [first.number, second.number]
    assert second.state.tolist() == [State.FUTEX, State.WOKEN]
    assert second.since_ns.tolist() == [1_600, 1_650]
    assert int(first.ns[1, State.POLL]) == 500, "a reading does not change"
    # Another thread gets a slot: the others have not changed.
    more = np.concatenate([slots, slot(State.SLEEP, 1_700, SLEEP=700)])
    more["tid"][2] = 6
    again = LedgerReading(more)
    again.read(more[:2], 1, 0)
    third = again.read(more, 1, 1)
    assert third.tid.tolist() == [5, 6, 7]
    assert third.changed.tolist() == [1, 2, 1]


def test_an_id_used_again_stands_for_the_later_thread() -> None:
    slots = np.concatenate(
        [slot(State.POLL, 1_500, POLL=500), slot(State.ENDED, 1_400, exit_ns=1_400, FUTEX=400)]
    )
    slots["start_ns"] = 20, 10
    read = slot_ledgers(slots)
    assert read.start_ns.tolist() == [10, 20]
    assert read.find(np.array([1, 2, 3], np.uint32)).tolist() == [-1, 1, -1]
    assert slot_ledgers(slots[:0]).find(np.array([2], np.uint32)).tolist() == [-1]


def test_a_slot_that_is_written_to_all_the_time_is_refused() -> None:
    torn = slot(State.FUTEX, 1_500, ON_CPU=500, POLL=70)
    with pytest.raises(OSError, match="do not add up"):
        slot_ledgers(torn)


@given(
    state=st.sampled_from(State),
    times=st.tuples(*[st.integers(0, 4_000)] * 4),
    spent=st.lists(st.integers(0, 100), min_size=len(State), max_size=len(State)),
)
def test_states_add_up_to_the_time_since_it_began(
    state: State, times: tuple[int, int, int, int], spent: list[int]
) -> None:
    woken, arrived, now, _ = times
    left = BEGAN + sum(spent)
    ended = state is State.ENDED
    found = slot(state, left, woken=woken, arrived=arrived, exit_ns=left if ended else 0)
    found["ns"][0] = spent
    assert consistent(found).all()
    since = int(slot_ledgers(found).since_ns[0])
    end = left if ended else max(now, since)
    assert int(slot_ledgers(found).at(now).sum()) == end - BEGAN
    read = slot_ledgers(found)
    assert int(read.ns.sum()) == read.since_ns[0] - BEGAN


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_kind_of_wait_has_its_calls(machine: str) -> None:
    kinds = set(kinds_of_calls(machine).values())
    by_call = range(State.FUTEX, State.PIPE + 1)
    assert kinds >= {*by_call, State.CHILD, State.IO_URING}
    assert kinds_of_calls("another") == {}


def test_the_arrays_are_as_long_as_the_programs() -> None:
    source = OBJECT.with_suffix(".c").read_text()
    for name, value in (("SLOTS", SLOTS), ("CALLS", CALLS), ("BUCKETS", BUCKETS)):
        assert f"#define {name} {value}\n" in source
