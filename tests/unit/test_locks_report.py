"""`tidscope locks`: profiles, waits of runs, and the report."""

from pathlib import Path
from typing import Any

import pytest
from tidscope_backend.cli import main
from tidscope_backend.locks import toolchain
from tidscope_backend.locks.findings import Evidence, Hint, LockUse, Measured, MeasuredSection
from tidscope_backend.locks.report import Finding, LockReport
from tidscope_backend.locks.waits import ProfileError, contention_of, fetch, is_address

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


def test_an_address_is_no_file() -> None:
    assert is_address("http://127.0.0.1:6060/debug/pprof/mutex")
    assert not is_address("mutex.pprof")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://192.0.2.1:6060/debug/pprof/mutex", "not this host"),
        ("http://example.com:6060/debug/pprof/mutex", "not this host"),
        ("http:///debug", "not this host"),
        ("https://127.0.0.1:6060/debug/pprof/mutex", "is not http://"),
        ("http://127.0.0.1/debug/pprof/mutex", "is not http://"),
        ("http://127.0.0.1:1/debug/pprof/mutex", "does not answer"),
        ("http://[::1]:1", "does not answer"),
    ],
)
def test_an_address_elsewhere_is_refused(address: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=words):
        fetch(address, 1.0, tmp_path / "profile")
    assert not (tmp_path / "profile").exists()


def test_a_missing_toolchain_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(toolchain, "DEFAULT_SEARCH_PATH", "/nowhere")
    assert main(["locks"]) == 1
    assert "there is no Go toolchain" in capsys.readouterr().err


def test_missing_sources_are_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(toolchain, "PLACES", (tmp_path,))
    with pytest.raises(toolchain.ToolchainError, match="lacks the sources"):
        toolchain.sources()


def test_a_missing_profile_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["locks", "--profile", str(tmp_path / "none.pprof")]) == 1
    assert "there is no file" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--threshold", "--seconds"])
@pytest.mark.parametrize("number", ["0", "-1", "nan", "much"])
def test_numbers_are_above_zero(
    option: str, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["locks", f"{option}={number}"])
    assert "is not a number above 0" in capsys.readouterr().err


PUT, WAITED_LOCK, UNLOCK = "a.org/t.(*T).Put", "a.org/t.(*T).lock", "a.org/t.(*T).unlock"


def waited_section(function: str, via: str = "") -> dict[str, Any]:
    return {"function": function, "unlocked_at": [{"line": 3, "via": via}]}


def test_waits_are_those_of_the_function_that_unlocks() -> None:
    found = contention_of([waited_section("a.org/t.F"), waited_section(PUT)], {PUT: (900, 3)}, 2.0)
    assert found["sections"] == [{"index": 1, "wait_ns": 900, "waits": 3}]
    assert (found["seconds"], found["wait_ns"], found["waits"]) == (2.0, 900, 3)
    assert found["elsewhere"] == []


def test_waits_of_several_sections_are_divided() -> None:
    sections = [waited_section(PUT), waited_section(PUT), waited_section("a.org/t.G", UNLOCK)]
    found = contention_of(sections, {PUT: (900, 4), UNLOCK: (50, 1)}, 1.0)
    assert [(one["index"], one["wait_ns"]) for one in found["sections"]] == [
        (0, 450),
        (1, 450),
        (2, 50),
    ]


def test_a_function_that_calls_an_unlock_does_not_unlock() -> None:
    found = contention_of([waited_section(PUT, UNLOCK)], {PUT: (900, 4)}, 1.0)
    assert found["sections"] == []
    assert found["elsewhere"] == [
        {"function": PUT, "file": "", "line": 0, "wait_ns": 900, "waits": 4}
    ]
