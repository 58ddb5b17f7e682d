"""Roles of several runs are matched by name, or as a person says."""

import pytest
from tidscope_backend.comparison.matching import Correction, match_roles, parse_correction
from tidscope_backend.comparison.sides import ComparisonError

A, B = "r-a", "r-b"


def reported(corrections: list[Correction], *weights: dict[str, int]) -> list[tuple[object, ...]]:
    found = match_roles([A, B], list(weights), corrections)
    return [(role.label, role.roles, role.manual) for role in found]


def test_same_names_match_and_others_are_listed() -> None:
    assert reported([], {"main": 5, "old-#": 1}, {"main": 4, "new-#": 100}) == [
        ("new-#", [None, "new-#"], False),
        ("main", ["main", "main"], False),
        ("old-#", ["old-#", None], False),
    ]


def test_a_person_matches_what_has_two_names() -> None:
    correction = Correction(B, "wrk-#", "worker-#")
    assert reported([correction], {"worker-#": 5, "main": 1}, {"wrk-#": 6, "main": 1}) == [
        ("worker-#", ["worker-#", "wrk-#"], True),
        ("main", ["main", "main"], False),
    ]


def test_a_role_whose_label_is_given_away_stands_for_itself() -> None:
    correction = Correction(B, "x", "main")
    assert reported([correction], {"main": 5}, {"main": 1, "x": 3}) == [
        ("main", ["main", "x"], True),
        ("main (not matched)", [None, "main"], False),
    ]


def test_two_roles_can_be_exchanged() -> None:
    corrections = [Correction(B, "x", "y"), Correction(B, "y", "x")]
    assert reported(corrections, {"x": 2, "y": 1}, {"x": 1, "y": 1}) == [
        ("x", ["x", "y"], True),
        ("y", ["y", "x"], True),
    ]


@pytest.mark.parametrize(
    ("corrections", "why"),
    [
        ([Correction("r-c", "main", "x")], "r-c, which is not compared"),
        ([Correction(A, "nobody", "x")], "'nobody', which r-a does not have"),
        ([Correction(A, "main", "z"), Correction(A, "x", "z")], "two roles of r-a the label 'z'"),
    ],
)
def test_what_cannot_be(corrections: list[Correction], why: str) -> None:
    with pytest.raises(ComparisonError, match=why):
        reported(corrections, {"main": 1, "x": 1}, {"main": 1})


def test_reading_a_correction() -> None:
    assert parse_correction("r-1:a:b=c=new") == Correction("r-1", "a:b=c", "new")
    for wrong in ("", "r-1", "r-1:", "r-1:role", "r-1:=label", "r-1:role=", ":role=label"):
        with pytest.raises(ComparisonError, match="RUN:ROLE=LABEL"):
            parse_correction(wrong)
