"""The table of critical sections, from an answer of the analyser."""

from typing import Any

from critical_sections import Row, row_of


def at(line: int, *, deferred: bool = False, via: str = "") -> dict[str, Any]:
    return {"file": "a.go", "line": line, "deferred": deferred, "via": via}


def section(
    rule: str, lock: int, *unlocks: dict[str, Any], effects: tuple[tuple[str, list[str]], ...] = ()
) -> dict[str, Any]:
    return {
        "rule": rule,
        "locked_at": [at(lock)],
        "unlocked_at": list(unlocks),
        "effects": [{"what": what, "chain": chain} for what, chain in effects],
    }


def test_each_candidate_counts_once_and_the_first_reason_excludes_it() -> None:
    answer = {
        "sections": [
            section("dominance", 1, at(2)),
            section("defer", 5, at(6, deferred=True)),
            section("paths", 10, at(12), at(14)),
            section("dominance", 20, at(24), effects=(("io", ["log"]), ("channel", []))),
            section("dominance", 30, at(34), effects=(("same-lock", []), ("sleep", ["wait"]))),
            section("defer", 40, at(41, deferred=True), effects=(("same-lock", []),)),
            # Another lock inside and an unknown call do not abort a transaction by themselves.
            section("dominance", 50, at(51), effects=(("lock", []), ("unknown", []))),
            # An operation in a called function is counted where it is written.
            section("dominance", 60, at(61, via="unlock")),
        ],
        "unpaired": [
            {"does": "rlock", "place": at(70)},
            {"does": "unlock", "place": at(80)},
        ],
    }
    assert row_of(answer) == Row(
        locks=9,
        unlocks=9,
        deferred=2,
        against_dominance=5,
        candidates=7,
        unfit_directly=1,
        unfit_in_calls=1,
        nested=1,
        left=4,
        left_deferred=1,
    )
