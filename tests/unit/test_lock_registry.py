"""Numbers of locks: stable, shared by the addresses of one lock, bounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.inspection.lock_kinds import Found
from tidscope_collector.locks import registry as module
from tidscope_collector.locks.registry import Addresses, LockRegistry


def addresses(*values: int) -> Addresses:
    return np.array(values, np.uint64)


def lock(base: int, name: str = "", place: str = "heap") -> Found:
    found = Found("lock", name, base, "heap", "")
    return found._replace(place="stack") if place == "stack" else found


def test_addresses_of_one_lock_share_its_number() -> None:
    made = LockRegistry()
    made.enter(
        {40: Found("condition", "", 0, "heap", ""), 44: Found("condition", "", 0, "heap", "")}
    )
    assert made.numbers(addresses(40, 44, 48)).tolist() == [1, 1, 0]
    assert [(one.lock, one.address, one.name) for one in made.names()] == [(1, 0, "heap #1")]


def test_parked_threads_of_one_kind_share_a_number() -> None:
    made = LockRegistry()
    made.enter(
        {8: Found("park", "JVM park", 8, "heap", ""), 16: Found("park", "JVM park", 16, "heap", "")}
    )
    made.enter({24: Found("park", "idle", 24, "heap", "")})
    assert made.numbers(addresses(8, 16, 24)).tolist() == [1, 1, 2]


def test_places_are_counted_in_order_of_appearance() -> None:
    made = LockRegistry()
    made.enter({800: lock(800)})
    made.enter({80: lock(80), 8: lock(8, place="stack"), 16: lock(16, "pool")})
    names = {one.address: one.name for one in made.names()}
    assert names == {800: "heap #1", 80: "heap #2", 8: "stack #1", 16: "pool"}


def test_after_an_execution_addresses_have_new_numbers() -> None:
    made = LockRegistry()
    made.enter({8: lock(8, "first")})
    made.forget_addresses()
    assert made.numbers(addresses(8)).tolist() == [0]
    made.enter({8: lock(8, "second")})
    assert made.numbers(addresses(8)).tolist() == [2]
    assert [one.name for one in made.names(after=1)] == ["second"]


def test_locks_without_addresses_keep_their_number_too() -> None:
    made = LockRegistry()
    first = made.number_of("go-mutex-profile", "main.work", "lock")
    made.forget_addresses()
    assert made.number_of("go-mutex-profile", "main.work", "lock") == first == 1
    assert made.number_of("go-metrics", "main.work", "lock") == 2


def test_those_beyond_the_most_have_no_number_and_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_LOCKS", 2)
    made = LockRegistry()
    made.enter({one: lock(one) for one in (8, 16, 24, 32)})
    assert made.numbers(addresses(8, 16, 24, 32)).tolist() == [1, 2, 0, 0]
    assert made.without_number == 2
    assert made.unknown(addresses(24, 40)).tolist() == [40]
    assert made.number_of("go-metrics", "all", "lock") == 0


def test_the_text_of_names_is_bounded() -> None:
    made = LockRegistry()
    for one in range(1000):
        made.enter({one: Found("lock", "x" * 512, one, "file", f"/{one}/" + "y" * 8192)})
    kept = sum(len(one.name) + len(one.symbol_file) for one in made.names())
    assert kept < module.MAX_CHARACTERS + 16384
    assert made.without_number > 400


@given(st.lists(st.lists(st.integers(0, (1 << 64) - 1), max_size=8), max_size=6))
def test_a_number_never_changes(batches: list[list[int]]) -> None:
    made = LockRegistry()
    given_numbers: dict[int, int] = {}
    for batch in batches:
        asked = np.array(batch, np.uint64)
        new = made.unknown(asked).tolist()
        assert sorted(new) == sorted(set(batch) - given_numbers.keys())
        made.enter({one: lock(one) for one in new})
        numbers = made.numbers(asked).tolist()
        for one, number in zip(batch, numbers, strict=True):
            assert given_numbers.setdefault(one, number) == number > 0
    assert len(set(given_numbers.values())) == len(given_numbers) == made.revision
