"""Inputs that once broke a decoder, or believed what was wrong; they must never again.

`corpus/TARGET/NAME.bin` are inputs of the targets in tests/fuzz; `make fuzz` finds more.
"""

from pathlib import Path

import pytest
from fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
CASES = sorted(CORPUS.glob("*/*.bin"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_a_found_case_is_got_over(case: Path) -> None:
    TARGETS[case.parent.name](case.read_bytes())


def test_every_case_belongs_to_a_target() -> None:
    assert CASES
    assert {case.parent.name for case in CASES} <= set(TARGETS)
