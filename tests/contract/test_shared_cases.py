"""Cases that Python and the page share, and lists that must agree."""

import json
import math
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from fuzz.targets import TARGETS
from golden_cases import cases
from schema_check import schemas
from tidscope_backend.cli import steer
from tidscope_backend.state_groups import GROUPS, NATURES, fields_of_natures, name_of_state
from tidscope_backend.traces.joining.timeline import IDLE, REASONS
from tidscope_collector.steering.loop import setup
from tidscope_collector.waits.states import State
from tidscope_wire.generated.models import SpanReason
from tidscope_wire.rates import increases, rates_per_s
from tidscope_wire.role import RoleRule, role_of
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS, states_at

CASES = json.loads(Path(__file__).with_name("roles.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "role"), CASES)
def test_role_of_a_name(name: str, role: str) -> None:
    assert role_of(name) == role


BY_RULES = json.loads(Path(__file__).with_name("role_rules.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("rules", "name", "role"), BY_RULES)
def test_a_person_s_own_rules_come_first(rules: list[list[str]], name: str, role: str) -> None:
    assert role_of(name, [RoleRule(*rule) for rule in rules]) == role


STATE_CASES = json.loads(Path(__file__).with_name("states.json").read_text(encoding="utf-8"))[
    "cases"
]
KNOWN = [case for case in STATE_CASES if case["states"] is not None]


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
    assert all(case["meaning"].endswith(".") for case in STATE_CASES)
    assert len({case["name"] for case in STATE_CASES}) == len(STATE_CASES)


STATE_GROUPS = json.loads(
    Path(__file__).with_name("state_groups.json").read_text(encoding="utf-8")
)["groups"]


def test_groups_and_natures_of_states_are_those_of_the_table() -> None:
    found = [(one.id, one.label, [name_of_state(field) for field in one.fields]) for one in GROUPS]
    assert found == [(one["id"], one["label"], one["states"]) for one in STATE_GROUPS]
    wanted = {
        f"state_{state}_ns": "idle" if state in one["idle"] else one["in_totals"]
        for one in STATE_GROUPS
        for state in one["states"]
    }
    assert wanted.keys() == set(STATE_FIELDS)
    natures = fields_of_natures()
    assert tuple(natures) == NATURES
    assert {field: nature for nature in natures for field in natures[nature]} == wanted
    assert sum(map(len, natures.values())) == len(STATE_FIELDS)


RATE_CASES = json.loads(Path(__file__).with_name("rates.json").read_text(encoding="utf-8"))["cases"]
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


@pytest.mark.parametrize("case", RATE_CASES, ids=lambda case: case["name"])
def test_rates_are_those_of_the_table(case: dict[str, Any]) -> None:
    found = rates_per_s(**readings(case)).tolist()
    assert [None if math.isnan(one) else one for one in found] == case["rates_per_s"]


@pytest.mark.parametrize("case", RATE_CASES, ids=lambda case: case["name"])
def test_an_increase_is_known_where_its_rate_is(case: dict[str, Any]) -> None:
    given = readings(case)
    before = given["values"].copy()
    found = increases(**given)
    assert (~np.isnan(found)).tolist() == [one is not None for one in case["rates_per_s"]]
    assert np.array_equal(before, given["values"], equal_nan=True), "inputs stay as they are"


def test_every_case_of_rates_says_what_it_means() -> None:
    assert all(case["meaning"].endswith(".") for case in RATE_CASES)
    assert len({case["name"] for case in RATE_CASES}) == len(RATE_CASES)
    assert all(len(case["samples"]) == len(case["rates_per_s"]) for case in RATE_CASES)


# Inputs that once broke a decoder, or believed what was wrong; they must never again.
# `corpus.json` has inputs of the targets in tests/fuzz; `make fuzz` finds more.


@pytest.mark.parametrize(
    ("target", "name"), [(target, name) for target, named in cases().items() for name in named]
)
def test_a_found_case_is_got_over(target: str, name: str) -> None:
    TARGETS[target](cases()[target][name])


def test_every_case_belongs_to_a_target() -> None:
    assert cases().keys() <= TARGETS.keys()


@pytest.mark.parametrize(
    ("schema", "offered"),
    [
        ("KnobKind", (steer.KNOBS, setup.KNOBS)),
        ("SignalKind", (steer.SIGNALS, setup.SIGNALS)),
    ],
)
def test_choices_are_those_of_the_schema(
    schema: str, offered: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    kinds = tuple(schemas()[schema]["enum"])
    assert offered == (kinds, kinds)


def test_parts_of_spans_are_the_groups_of_states_and_what_no_state_is() -> None:
    reasons = get_args(get_args(SpanReason.__value__)[0])
    assert set(reasons) == {*REASONS, IDLE}
