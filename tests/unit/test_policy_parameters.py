"""Parameters are typed, bounded and described."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from policy_harness import flat, pool, seen
from tidscope_policies.algorithms.kalman_kg import KalmanKgParameters
from tidscope_policies.algorithms.linear import LinearParameters
from tidscope_policies.contract import Decision
from tidscope_policies.parameters import (
    ParameterError,
    ParameterInfo,
    describe,
    make_parameters,
)
from tidscope_policies.registry import POLICIES

NAMES = [
    *("fixed", "linear", "hillclimb", "bidirectional", "bidirectional-printed", "ait", "pss"),
    "ait-printed",
    *("kalman-kg", "cooperative"),
]


def test_all_policies_are_there() -> None:
    assert set(NAMES) <= set(POLICIES)
    assert all(name == entry.name for name, entry in POLICIES.items())


def test_a_parameter_as_a_form_shows_it() -> None:
    interval, warm_up, lowest, *_ = describe(LinearParameters)
    assert interval.name == "interval_s"
    assert warm_up == ParameterInfo(
        name="warm_up_s",
        unit="s",
        integer=False,
        default=10.0,
        low=0.0,
        high=600.0,
        meaning="time before the first search begins",
    )
    assert (lowest.integer, lowest.unit) == (True, "threads")


@pytest.mark.parametrize("name", NAMES)
def test_defaults_lie_in_their_bounds_and_ends_can_be_set(name: str) -> None:
    entry = POLICIES[name]
    for info in entry.parameters:
        assert info.low <= info.default <= info.high, info.name
        assert info.meaning
        for value in (info.low, info.high):
            made = vars(make_parameters(entry.kind, {info.name: value}))
            assert made[info.name] == value
            assert isinstance(made[info.name], int if info.integer else float)


def test_intervals() -> None:
    intervals = {name: POLICIES[name].make().interval_s for name in NAMES}
    assert intervals == {name: 1.0 if name == "hillclimb" else 2.0 for name in NAMES}
    assert POLICIES["linear"].make({"interval_s": 5}).interval_s == 5.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"warmup": 1},
            "no parameter 'warmup'; there are: interval_s, warm_up_s, lowest, plateau, "
            "dip_gate, share",
        ),
        ({"warm_up_s": -1}, "warm_up_s: -1 is not from 0 to 600"),
        ({"warm_up_s": float("nan")}, "warm_up_s: nan is not from 0 to 600"),
        ({"warm_up_s": True}, "warm_up_s: True is not from 0 to 600"),
        ({"lowest": 2.5}, "lowest: 2.5 is not a whole number"),
        ({"lowest": 1e6}, "lowest: 1000000.0 is not from 0 to 65536"),
    ],
)
def test_what_is_wrong_is_named(given: Mapping[str, float], said: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make_parameters(LinearParameters, given)
    assert str(caught.value) == said


def test_every_decision_has_a_state_and_a_sentence() -> None:
    for name in NAMES:
        steered = pool(name, flat)
        steered.run(40)
        steered.step(moved_by_other=True)
        steered.policy.restart("a person asked")
        steered.run(20)
        for decided in steered.decisions:
            assert 2 < len(decided.state) < 40, name
            assert decided.reason[0].isupper() or decided.reason[0].isdigit(), (name, decided)
            assert decided.reason.endswith("."), (name, decided)


def test_decisions_and_observations_cannot_be_changed() -> None:
    for frozen in (seen(1.0, 8), Decision(8, "keeping", "Because."), KalmanKgParameters()):
        name = next(iter(type(frozen).__dataclass_fields__))
        with pytest.raises(AttributeError):
            setattr(frozen, name, 1)
    assert replace(Decision(8, "keeping", "Because."), size=9).size == 9
