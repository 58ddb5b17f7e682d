"""Tables of stacks of one target, from samples that a test sends."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from driven_stacks import DrivenStacks
from fake_stacks import counts, frames, nodes, samples, status
from tidscope_collector.inspection.native_name_answers import Place
from tidscope_collector.stacks import target_stacks
from tidscope_collector.stacks.target_stacks import LOCK_PATIENCE, STRANGER_PATIENCE, TargetStacks
from tidscope_collector.symbols.frames import NativeFrame, NativeName, unnamed
from tidscope_collector.waits.states import State
from tidscope_wire.frame_tables import Tables

ATTACH_NS = 1 << 60
OWN, OTHER = 10, 20


class Locks:
    """Numbers of locks, which come late."""

    reason = ""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}

    def numbers_in(
        self, processes: npt.NDArray[np.uint32], addresses: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.uint32]:
        return np.array([self.numbers.get(one, 0) for one in addresses.tolist()], np.uint32)

    def holders(
        self, addresses: npt.NDArray[np.uint64], waiters: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.uint32]:
        raise NotImplementedError

    def number_of_call(self, name: str) -> int:
        raise NotImplementedError

    def names(self) -> list[Any]:
        raise NotImplementedError

    def waits(self) -> list[Any]:
        raise NotImplementedError

    def executed_in(self, pid: int, source: object = None) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class Names:
    """Names that a test gives, in place of Symbols."""

    def __init__(self) -> None:
        self.asked: dict[int, NativeFrame] = {}
        self.found: dict[int, NativeName] = {}
        self.forgotten: list[str] = []

    def ask(self, asked: dict[int, NativeFrame]) -> None:
        self.asked |= asked

    def forget(self, build_ids: list[str]) -> None:
        self.forgotten += build_ids

    def take(self) -> dict[int, NativeName]:
        found, self.found = self.found, {}
        return found

    def close(self) -> None:
        pass


@pytest.fixture
def driven() -> Iterator[DrivenStacks]:
    with DrivenStacks() as made:
        made.service.sample("a", 1000)
        made.begin()
        made.send(frames(1, "main", "serve", "wake"), nodes((1, 0, 1), (2, 1, 2), (3, 1, 3)))
        yield made


class Target:
    """The tables of a target that has one process, or more.

    Args:
        driven: plays the program.
        patch: replaces Symbols.
    """

    def __init__(self, driven: DrivenStacks, patch: pytest.MonkeyPatch) -> None:
        self.names, self.locks = Names(), Locks()
        self.members = {OWN: 100}
        patch.setattr(target_stacks, "Symbols", lambda **_: self.names)
        self._driven = driven
        self.stacks = TargetStacks(driven.service, ATTACH_NS, lambda: self.members, self.locks)

    def after(self, *rows: dict[str, int]) -> Tables:
        """Return the tables once these samples were sent."""
        count = len(self._driven.service.since(0))
        self._driven.send(samples(*({"process": OWN, "tid": 11, **row} for row in rows)))
        self._driven.batches(count + 1)
        return self.stacks.read()


@pytest.fixture
def target(driven: DrivenStacks, monkeypatch: pytest.MonkeyPatch) -> Target:
    return Target(driven, monkeypatch)


def test_a_sample_becomes_a_row(target: Target) -> None:
    tables = target.after(
        {
            **{"number": 77, "begin_ns": ATTACH_NS + 5, "wait_ns": 100, "delay_ns": 7},
            **{"node": 2, "waker": (OWN << 32) | 12, "waker_node": 3, "weight": 9},
        }
    )
    (row,) = tables["stack_samples"].tolist()
    assert row == (1, 11, State.SLEEP, 2, 9, 5, 100, 7, 0, OWN, 12, 3)
    functions = tables["stack_frames"]["function"].tolist()
    assert functions == ["main", "serve", "wake"]
    assert tables["stack_nodes"].tolist() == [(1, 0, 1), (2, 1, 2), (3, 1, 3)]


def test_rows_come_once_and_names_always(target: Target) -> None:
    assert len(target.after({"node": 2})["stack_samples"]) == 1
    tables = target.stacks.read()
    assert len(tables["stack_samples"]) == 0
    assert len(tables["stack_frames"]) == 2


def test_samples_of_other_processes_and_from_before_are_left_out(target: Target) -> None:
    tables = target.after({"process": OTHER}, {"begin_ns": ATTACH_NS - 1}, {"number": 5})
    assert tables["stack_samples"]["sample"].tolist() == [1]


def test_samples_wait_for_their_process_to_become_a_member(target: Target) -> None:
    assert len(target.after({"process": OTHER})["stack_samples"]) == 0
    target.members = {OWN: 100, OTHER: 200}
    assert len(target.after({"process": OTHER})["stack_samples"]) == 2
    target.members = {OWN: 100}
    for _ in range(STRANGER_PATIENCE + 1):
        assert len(target.after({"process": OTHER}, {"number": 5})["stack_samples"]) == 1
    target.members = {OWN: 100, OTHER: 200}
    assert len(target.after({"number": 6})["stack_samples"]) == 1 + STRANGER_PATIENCE


def test_a_stay_that_goes_on_is_completed_under_its_number(target: Target) -> None:
    first = target.after({"number": 5, "ended": 0, "wait_ns": 0}, {"number": 6})
    assert first["stack_samples"]["sample"].tolist() == [1, 2]
    again = target.after({"number": 5, "wait_ns": 300}, {"number": 7})
    assert again["stack_samples"]["sample"].tolist() == [1, 3]
    assert again["stack_samples"]["wait_ns"].tolist() == [300, 1000]


def test_numbers_of_another_worker_are_others(target: Target, driven: DrivenStacks) -> None:
    target.after({"number": 5, "ended": 0, "node": 2})
    driven.send(status("failed"))
    driven.begin()
    driven.send(frames(1, "other"), nodes((1, 0, 1)))
    tables = target.after({"number": 5, "node": 1})
    assert tables["stack_samples"]["sample"].tolist() == [2]
    assert tables["stack_samples"]["node"].tolist() == [3]
    assert tables["stack_frames"]["function"].tolist() == ["main", "serve", "other"]
    # The first one had ended before the target was attached.
    assert tables["stack_periods"].tolist() == [(2, 0, 0)]


def test_a_sample_waits_for_the_number_of_its_lock(target: Target) -> None:
    wait = {"state": int(State.FUTEX), "address": 4096}
    assert len(target.after(wait, {"number": 2})["stack_samples"]) == 1
    target.locks.numbers[4096] = 3
    (row,) = target.stacks.read()["stack_samples"]
    assert (int(row["sample"]), int(row["lock"])) == (1, 3)
    assert target.after({**wait, "number": 3})["stack_samples"]["lock"].tolist() == [3]


def test_a_lock_that_gets_no_number_is_not_waited_for_without_end(target: Target) -> None:
    target.after({"state": int(State.FUTEX), "address": 4096})
    lengths = [len(target.stacks.read()["stack_samples"]) for _ in range(LOCK_PATIENCE + 2)]
    assert sum(lengths) == 1
    assert lengths.index(1) == LOCK_PATIENCE - 1


def test_native_frames_are_asked_for_in_the_process_that_had_them(target: Target) -> None:
    target.members[OTHER] = 200
    target.names.asked.clear()
    target._driven.send(frames(4, "", "", build_id="cd"), nodes((4, 0, 4), (5, 0, 5)))
    tables = target.after({"node": 4, "waker": OTHER << 32, "waker_node": 5})
    asked = target.names.asked
    assert [(one.pid, one.start_ticks) for one in asked.values()] == [(OWN, 100), (OTHER, 200)]
    assert [one.address for one in asked.values()] == [4100, 4101]
    assert not tables["stack_frames"]["function"].any()
    number = next(iter(asked))
    target.names.found = {number: NativeName(Place("serve", "bank.c", 4), (Place("in", "b.h", 2),))}
    frame = target.stacks.read()["stack_frames"][number - 1]
    assert (frame["function"], frame["line"], frame["inlined"]) == ("serve", 4, "in\tb.h\t2")


def test_a_name_that_an_ended_process_did_not_tell_is_asked_for_again(target: Target) -> None:
    target._driven.send(frames(4, ""), nodes((4, 0, 4)))
    target.after({"node": 4})
    (number,) = target.names.asked
    target.names.found = {number: NativeName(Place("", "", 0), (), "It has ended.")}
    target.names.asked.clear()
    target.members = {OWN: 100, OTHER: 200}
    target.stacks.read()
    target.after({"node": 4, "process": OTHER})
    assert [one.pid for one in target.names.asked.values()] == [OTHER]


def test_counts_are_those_of_the_service_and_of_stacks_cut_here(
    target: Target, driven: DrivenStacks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidscope_collector.stacks.dictionary.MAX_NODES", 1)
    driven.send(counts(5, 4, 3, 2, 1))
    tables = target.after({"node": 2})
    assert tables["stack_samples"]["node"].tolist() == [1]
    assert dict(tables["stack_counts"].tolist()) == {1: 5, 2: 4, 3: 3, 4: 2, 5: 2, 6: 0}


def test_without_a_period_there_are_no_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    with DrivenStacks() as driven:
        assert Target(driven, monkeypatch).stacks.read() == {}


def test_names_are_asked_for_again_when_a_debug_file_has_come(
    target: Target, driven: DrivenStacks
) -> None:
    target._driven.send(frames(4, "", build_id="cd" * 20), nodes((4, 0, 4)))
    target.after({"node": 4})
    (number,) = target.names.asked
    target.names.found = {number: NativeName(Place("serve", "", 0))}
    assert target.stacks.read()["stack_frames"][number - 1]["function"] == "serve"
    target.names.asked.clear()
    driven.service.note_debug_files(["ab" * 20])
    target.stacks.read()
    assert target.names.asked == {}
    # The process has ended: a debug file is read by way of another one.
    target.members = {OTHER: 200}
    driven.service.note_debug_files(["cd" * 20])
    target.stacks.read()
    assert target.names.forgotten[-1] == "cd" * 20
    assert target.names.asked[number].pid == OTHER
    target.names.found = {number: unnamed("It takes too long.")}
    assert target.stacks.read()["stack_frames"][number - 1]["function"] == "serve"
    target.names.found = {number: NativeName(Place("serve", "bank.c", 9))}
    assert target.stacks.read()["stack_frames"][number - 1]["line"] == 9
