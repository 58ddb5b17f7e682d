"""Rates from counters: one table for Python and for the page."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tidscope_wire.rates import increases, rates_per_s

CASES = json.loads(Path(__file__).with_name("rates.json").read_text(encoding="utf-8"))["cases"]
OPTIONS = ("wraps_at", "max_per_s", "exit_ns")


def readings(case: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a case."""
    values = [one["value"] for one in case["samples"]]
    return {
        "time_ns": np.array([one["time_ns"] for one in case["samples"]], np.int64),
        "values": np.array([np.nan if one is None else one for one in values], np.float64),
        "gaps": np.array([one.get("gap", False) for one in case["samples"]], np.bool_),
        **{name: case[name] for name in OPTIONS if name in case},
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_rates_are_those_of_the_table(case: dict[str, Any]) -> None:
    found = rates_per_s(**readings(case)).tolist()
    assert [None if math.isnan(one) else one for one in found] == case["rates_per_s"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_increase_is_known_where_its_rate_is(case: dict[str, Any]) -> None:
    given = readings(case)
    before = given["values"].copy()
    found = increases(**given)
    assert (~np.isnan(found)).tolist() == [one is not None for one in case["rates_per_s"]]
    assert np.array_equal(before, given["values"], equal_nan=True), "inputs stay as they are"


def test_every_case_says_what_it_means() -> None:
    assert all(case["meaning"].endswith(".") for case in CASES)
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert all(len(case["samples"]) == len(case["rates_per_s"]) for case in CASES)
