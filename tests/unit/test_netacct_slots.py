"""Finding the slots of living and of ended threads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tidscope_collector.ebpf import thread_slots
from tidscope_collector.ebpf.exited_threads import find_exited
from tidscope_collector.netacct.accounts import OBJECT
from tidscope_collector.netacct.slots import (
    COUNTERS,
    FIELDS,
    SLOT,
    SLOTS,
    Slots,
    counters,
    list_living,
)
from tidscope_wire.generated.catalogue import CATALOGUE

PID = 100
NOW = 10_000_000_000
MS = 1_000_000


def slots(*rows: dict[str, int]) -> Slots:
    made = np.zeros(len(rows), SLOT)
    for at, row in enumerate(rows):
        for name, value in ({"tgid": PID} | row).items():
            made[name][at] = value
    return made


def tids(*numbers: int) -> "np.ndarray[Any, np.dtype[np.uint32]]":
    return np.array(numbers, np.uint32)


def exited(
    found: Slots, records: dict[int, int] | list[tuple[int, int]], *, exiting: bool = False
) -> list[int]:
    pairs = list(records.items()) if isinstance(records, dict) else records
    ages = np.array([age for _, age in pairs], np.int64)
    chosen = find_exited(
        found, PID, tids(*(tid for tid, _ in pairs)), ages, NOW, lambda _, __: exiting
    )
    return [int(index) for index in chosen]


def test_counters_come_in_the_order_of_the_catalogues_fields() -> None:
    made = slots(
        {"tid": 5, "read_bytes": 1, "write_bytes": 2, "read_calls": 3, "write_calls": 4},
        {"tid": 6, "read_bytes": 2**40},
    )
    assert counters(made, np.array([1, -1, 0], np.intp)).tolist() == [
        [2**40, 0, 0, 0],
        [0, 0, 0, 0],
        [1, 2, 3, 4],
    ]
    assert [name.removeprefix("net_") for name in FIELDS] == list(COUNTERS)
    catalogue = [field.name for field in CATALOGUE.fields if field.group == "network"]
    assert catalogue == list(FIELDS)


def test_living_threads_are_found_whatever_their_order() -> None:
    made = slots({"tid": 9}, {"tid": 5}, {"tid": 7})
    assert list_living(made, PID, NOW).find(tids(5, 6, 7, 9, 8)).tolist() == [1, -1, 2, 0, -1]
    assert list_living(made, PID, NOW).find(tids()).tolist() == []
    assert list_living(slots(), PID, NOW).find(tids(5)).tolist() == [-1]


def test_ended_threads_other_processes_and_vacant_slots_are_not_living_threads() -> None:
    made = slots({"tid": 5, "exit_ns": 1}, {"tid": 6, "tgid": 101}, {"tid": 7, "tgid": 0})
    assert list_living(made, PID, NOW).find(tids(5, 6, 7)).tolist() == [-1, -1, -1]


def test_a_thread_that_began_after_the_reading_is_another_one() -> None:
    made = slots({"tid": 5, "start_ns": NOW + 1}, {"tid": 6, "start_ns": NOW})
    living = list_living(made, PID, NOW)
    assert living.find(tids(5, 6)).tolist() == [-1, 1]
    assert not living.complete
    assert list_living(made, PID, NOW + 1).complete


def test_of_two_threads_with_one_id_the_living_one_is_found() -> None:
    made = slots({"tid": 5, "start_ns": 1, "exit_ns": 2}, {"tid": 5, "start_ns": 3})
    assert list_living(made, PID, NOW).find(tids(5)).tolist() == [1]


def test_an_ended_thread_is_found_by_its_id_and_age() -> None:
    made = slots({"tid": 5, "start_ns": NOW - 9 * MS, "exit_ns": NOW - 4 * MS})
    assert exited(made, {5: 5 * MS}) == [0]
    assert exited(made, {5: 5 * MS - 100_000}) == [0]  # the record is written a little earlier
    assert exited(made, {6: 5 * MS}) == [-1]
    assert exited(made, {5: 6 * MS}) == [-1]  # it did not live that long


def test_the_ages_tell_threads_with_one_id_apart() -> None:
    made = slots(
        {"tid": 5, "start_ns": NOW - 50 * MS, "exit_ns": NOW - 20 * MS},
        {"tid": 5, "start_ns": NOW - 19 * MS, "exit_ns": NOW - 18 * MS},
    )
    assert exited(made, [(5, 1 * MS), (5, 30 * MS)]) == [1, 0]
    assert exited(made, [(5, 30 * MS), (5, 1 * MS)]) == [0, 1]
    # The first of three used no network: it has no slot, and takes nobody else's.
    assert exited(made, [(5, 500_000), (5, 30 * MS), (5, 1 * MS - 1000)]) == [-1, 0, 1]


def test_a_slot_is_not_given_twice() -> None:
    made = slots({"tid": 5, "start_ns": NOW - 9 * MS, "exit_ns": NOW - 4 * MS})
    assert sorted(exited(made, [(5, 5 * MS), (5, 5 * MS)])) == [-1, 0]


@pytest.mark.parametrize("exiting", [True, False])
def test_a_slot_without_an_end_is_an_ended_threads_only_if_that_is_exiting(exiting: bool) -> None:
    made = slots({"tid": 5, "start_ns": NOW - 9 * MS})
    assert exited(made, {5: 2 * MS}, exiting=exiting) == [0 if exiting else -1]


def test_the_arrays_are_as_long_as_the_programs() -> None:
    source = OBJECT.with_suffix(".c").read_text()
    assert f"#define SLOTS {SLOTS}\n" in source
    shared = Path(thread_slots.__file__).with_name("thread_slots.bpf.h").read_text()
    assert f"#define WATCHED {thread_slots.WATCHED}\n" in shared
