"""Waits of a run, by function, become waits of sections."""

from typing import Any

from tidscope_backend.locks.waits import contention_of

PUT, LOCK, UNLOCK = "a.org/t.(*T).Put", "a.org/t.(*T).lock", "a.org/t.(*T).unlock"


def section(function: str, via: str = "") -> dict[str, Any]:
    return {"function": function, "unlocked_at": [{"line": 3, "via": via}]}


def test_waits_are_those_of_the_function_that_unlocks() -> None:
    found = contention_of([section("a.org/t.F"), section(PUT)], {PUT: (900, 3)}, 2.0)
    assert found["sections"] == [{"index": 1, "wait_ns": 900, "waits": 3}]
    assert (found["seconds"], found["wait_ns"], found["waits"]) == (2.0, 900, 3)
    assert found["elsewhere"] == []


def test_waits_of_several_sections_are_divided() -> None:
    sections = [section(PUT), section(PUT), section("a.org/t.G", UNLOCK)]
    found = contention_of(sections, {PUT: (900, 4), UNLOCK: (50, 1)}, 1.0)
    assert [(one["index"], one["wait_ns"]) for one in found["sections"]] == [
        (0, 450),
        (1, 450),
        (2, 50),
    ]


def test_a_function_that_calls_an_unlock_does_not_unlock() -> None:
    found = contention_of([section(PUT, UNLOCK)], {PUT: (900, 4)}, 1.0)
    assert found["sections"] == []
    assert found["elsewhere"] == [
        {"function": PUT, "file": "", "line": 0, "wait_ns": 900, "waits": 4}
    ]
