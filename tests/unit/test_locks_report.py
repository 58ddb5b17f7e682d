"""What `tidscope locks` prints, as text and as JSON, of findings that are given."""

from pathlib import Path
from typing import Any

import pytest
from tidscope_backend.locks.findings import Evidence, Hint, LockUse, Measured, MeasuredSection
from tidscope_backend.locks.report import Finding, LockReport

PLACE = {"file": "table/table.go", "line": 31}
STRAY = {
    "for_caller": False,
    "place": PLACE,
    "does": "Lock",
    "locks": ["example.com/table.mu", "example.com/table.other"],
    "reason": "no Unlock follows",
    "wait_ns": 0,
    "waits": 0,
}


def section(mode: str, wait_ns: int | None, *, reads_only: bool = False) -> MeasuredSection:
    facts: dict[str, Any] = {
        "mode": mode,
        "reads_only": reads_only,
        "locked_at": [{"deferred": False, "line": 31}],
        "unlocked_at": [{"deferred": True, "line": 32}],
        "instructions": 12,
        "calls": 1,
        "function": "example.com/table.(*Table).Get",
    }
    return MeasuredSection(facts, wait_ns, None if wait_ns is None else 3)


SECTIONS = (
    section("write", 900_000_000),
    section("write", 100_000_000, reads_only=True),
    section("read", None),
    section("read", 0, reads_only=True),
)
LOCK = LockUse("example.com/table.mu", "Mutex", "field", PLACE, SECTIONS, [STRAY])
PLAIN = LockUse("example.com/table.plain", "Mutex", "variable", None, (), [])
HINT = Hint("RWMutex", "Most sections only read. " * 8, [Evidence(PLACE, "reads the map")])


def report(measured: Measured | None, *, elsewhere_ns: int = 0, below: int = 0) -> LockReport:
    elsewhere = {**PLACE, "wait_ns": elsewhere_ns, "waits": 1, "function": "net/http.(*conn).serve"}
    answer = {
        "version": 1,
        "directory": "/src",
        "packages": ["example.com/table"],
        "locks": [{}, {}],
        "sections": [{}],
        "unpaired": [STRAY, {**STRAY, "for_caller": True}],
        "contention": {"elsewhere": [elsewhere]} if elsewhere_ns else None,
    }
    share = None if measured is None else 0.5
    found = [
        Finding(LOCK, share, [HINT], [Path("experiment_test.go")]),
        Finding(PLAIN, share, [], []),
    ]
    return LockReport(answer, measured, 0.01, found, below, "a profile")


def test_without_a_profile() -> None:
    found = report(None)
    lines = list(found.lines())
    assert lines[0] == "2 locks, 1 critical sections, 1 lock operations without a counterpart"
    assert lines[1].startswith("Not measured")
    assert "table.mu  (Mutex, field, table/table.go:31)" in lines
    assert "table.plain  (Mutex, variable)" in lines
    assert "  No rule fits: the sections are short and do nothing that could wait." in lines
    assert max(map(len, lines)) <= 100
    assert found.as_json()["measured"] is None
    assert found.as_json()["elsewhere"] == []


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (Measured(2.0, 1_500_000_000, 6), "1.5 s waited, 6 waits, in 2 s"),
        (Measured(0.0, 2_500_000, 6), "2.5 ms waited, 6 waits; the time that it covers"),
        (Measured(0.0, 2_500, 6), "2.5 µs waited"),
        (Measured(2.0, 25, 0), "25 ns waited, 0 waits"),
    ],
)
def test_what_was_measured(measured: Measured, said: str) -> None:
    lines = list(report(measured, elsewhere_ns=1_000_000_000, below=3).lines())
    assert said in lines[1]
    assert ("runtime.SetMutexProfileFraction." in lines) == (measured.waits == 0)
    whole = "the time" if measured.seconds else "all waits"
    assert f"3 more locks below 1 % of {whole}: --all" in lines
    assert "Waited for in other packages:" in lines
    assert "table/table.go:31  Lock table.mu or table.other: no Unlock follows" in lines[-4]


def test_sections_have_modes_and_shares() -> None:
    text = "\n".join(report(Measured(2.0, 1_000_000_000, 6)).lines())
    for part in ("45.0%  write", "5.0%  reads", "?  RLock!", "0.0%  RLock ", "31-end"):
        assert part in text
    assert "  experiment: experiment_test.go" in text
    (first, _) = report(Measured(2.0, 1_000_000_000, 6)).as_json()["findings"]
    assert first["hints"][0]["name"] == "RWMutex"
    assert [one["wait_ns"] for one in first["sections"]] == [900_000_000, 100_000_000, None, 0]
