"""States at an instant: one table for Python and for the page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tidscope_collector.waits.states import State
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS, states_at

CASES = json.loads(Path(__file__).with_name("states.json").read_text(encoding="utf-8"))["cases"]
KNOWN = [case for case in CASES if case["states"] is not None]


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case["name"])
def test_states_are_those_of_the_table(case: dict[str, Any]) -> None:
    row = case["row"]
    finished = np.array([[row.get(field, 0) for field in STATE_FIELDS]], np.uint64)
    before = finished.copy()
    state, since = np.array([row[STATE]], np.uint64), np.array([row[SINCE]], np.uint64)
    found = states_at(finished, state, since, case["time_ns"])
    (values,) = found.tolist()
    named = dict(zip(STATE_FIELDS, values, strict=True))
    assert {field: value for field, value in named.items() if value} == case["states"]
    assert np.array_equal(finished, before), "the row stays as it is"


def test_threads_do_not_disturb_one_another() -> None:
    finished = np.zeros((3, len(STATE_FIELDS)), np.uint64)
    state, since = np.array([1, 0, 24], np.uint64), np.array([10, 20, 70], np.uint64)
    found = states_at(finished, state, since, 100)
    assert [(row, place, int(found[row, place])) for row, place in np.argwhere(found)] == [
        (0, 0, 90),
        (2, 23, 30),
    ]
    each = states_at(finished, state, since, np.array([11, 100, 60], np.uint64))
    assert [tuple(one) for one in np.argwhere(each)] == [(0, 0)]
    assert each[0, 0] == 1


def test_fields_stand_in_the_order_of_the_numbers() -> None:
    assert [f"state_{state.name.lower()}_ns" for state in State if state] == list(STATE_FIELDS)


def test_every_case_says_what_it_means() -> None:
    assert all(case["meaning"].endswith(".") for case in CASES)
    assert len({case["name"] for case in CASES}) == len(CASES)
