"""Ledgers from slots: what is open is counted up to now, and all of it adds up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.waits.loading import OBJECT
from tidscope_collector.waits.reading import LedgerReading
from tidscope_collector.waits.slots import (
    BUCKETS,
    CALLS,
    SLOT,
    SLOTS,
    Ledgers,
    Slots,
    consistent,
)
from tidscope_collector.waits.states import State, kinds_of_calls

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


def ledgers(slots: Slots) -> Ledgers:
    return LedgerReading(slots).read(slots, 1, 0)


def named(slots: Slots, now: int) -> dict[str, int]:
    row = ledgers(slots).at(now)[0]
    return {State(state).name: int(row[state]) for state in np.flatnonzero(row).tolist()}


def test_a_thread_that_waits_does_so_up_to_now() -> None:
    found = slot(State.FUTEX, 1_500, ON_CPU=500)
    assert named(found, 1_700) == {"ON_CPU": 500, "FUTEX": 200}
    assert ledgers(found).state.tolist() == [State.FUTEX]


def test_one_that_was_woken_up_is_in_the_queue_from_there() -> None:
    found = slot(State.POLL, 1_500, woken=1_600, ON_CPU=500)
    assert named(found, 1_700) == {"ON_CPU": 500, "POLL": 100, "WOKEN": 100}
    assert ledgers(found).state.tolist() == [State.WOKEN]


def test_one_that_was_switched_to_runs_from_there() -> None:
    found = slot(State.POLL, 1_500, woken=1_600, arrived=1_650, ON_CPU=500)
    assert named(found, 1_700) == {"ON_CPU": 550, "POLL": 100, "WOKEN": 50}
    preempted = slot(State.PREEMPTED, 1_500, woken=1_400, arrived=1_650, ON_CPU=500)
    assert named(preempted, 1_700) == {"ON_CPU": 550, "PREEMPTED": 150}
    assert ledgers(found).state.tolist() == [State.ON_CPU]


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
    read = ledgers(slots)
    assert read.start_ns.tolist() == [10, 20]
    assert read.find(np.array([1, 2, 3], np.uint32)).tolist() == [-1, 1, -1]
    assert ledgers(slots[:0]).find(np.array([2], np.uint32)).tolist() == [-1]


def test_a_slot_that_is_written_to_all_the_time_is_refused() -> None:
    torn = slot(State.FUTEX, 1_500, ON_CPU=500, POLL=70)
    with pytest.raises(OSError, match="do not add up"):
        ledgers(torn)


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
    since = int(ledgers(found).since_ns[0])
    end = left if ended else max(now, since)
    assert int(ledgers(found).at(now).sum()) == end - BEGAN
    read = ledgers(found)
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
