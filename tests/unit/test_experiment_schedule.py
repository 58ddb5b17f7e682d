"""The order of repeats, and when a cell has enough of them."""

from collections.abc import Callable

from tidscope_backend.experiments.definition import RepeatSpec
from tidscope_backend.experiments.matrix import (
    Tally,
    is_steady,
    next_cell,
    repeats_left,
    standings,
)

KEYS = [f"cell-{number}" for number in range(6)]
RULES = RepeatSpec(least=3, most=5, deviation=0.05, seed=7)


def carry_out(
    value: Callable[[str, int], float], rules: RepeatSpec = RULES, done: list[str] | None = None
) -> list[str]:
    """All repeats in their order; `done` are those that are done already."""
    order = list(done or [])
    while True:
        tallies = {key: Tally([value(key, at) for at in range(order.count(key))]) for key in KEYS}
        key = next_cell(tallies, rules)
        if key is None:
            return order
        order.append(key)


def standing(tally: Tally) -> str:
    return standings({"one": tally}, RULES)["one"]


def constant(_: str, __: int) -> float:
    return 100.0


def restless(key: str, at: int) -> float:
    return 100.0 * (1 + at) if key == KEYS[0] else 100.0


def test_each_round_has_every_cell_once_in_an_order_of_its_own() -> None:
    order = carry_out(constant)
    rounds = [order[at : at + 6] for at in range(0, 18, 6)]
    assert len(order) == 18
    assert all(sorted(one) == KEYS for one in rounds)
    assert len({tuple(one) for one in rounds}) == 3


def test_the_order_follows_from_the_seed() -> None:
    assert carry_out(constant) == carry_out(constant)
    assert carry_out(constant) != carry_out(constant, RULES.model_copy(update={"seed": 8}))


def test_what_is_resumed_goes_on_in_the_same_order() -> None:
    whole = carry_out(restless)
    for cut in range(len(whole)):
        assert carry_out(restless, done=whole[:cut]) == whole


def test_a_bound_that_is_never_reached_ends_at_the_maximum() -> None:
    order = carry_out(restless)
    assert [order.count(key) for key in KEYS] == [5, 3, 3, 3, 3, 3]
    tally = Tally([restless(KEYS[0], at) for at in range(5)])
    assert standing(tally) == "maximum"
    assert standing(Tally([100.0] * 3)) == "steady"
    assert standing(Tally([100.0] * 2)) == "open"


def test_cells_that_are_compared_have_equally_many_repeats() -> None:
    steady, unsteady, alone = Tally([100.0] * 3, family="a"), Tally([1.0, 9.0, 5.0], family="a"), ""
    tallies = {"steady": steady, "unsteady": unsteady, "alone": Tally([100.0] * 3, family=alone)}
    assert standings(tallies, RULES) == {"steady": "open", "unsteady": "open", "alone": "steady"}
    assert repeats_left(tallies, RULES) == (2, 4)
    # What has begun is done in all of them: each has a fourth one.
    fourth = Tally([100.0] * 4, family="a")
    assert standings({"steady": steady, "fourth": fourth}, RULES)["steady"] == "open"
    # What lags in a round does not begin another one.
    lagging = Tally([100.0] * 2, family="a")
    assert standings({"steady": steady, "lagging": lagging}, RULES)["steady"] == "steady"
    # Nothing more comes of the others: it need not wait.
    given_up = Tally([], failures=3, family="a")
    assert standings({"steady": steady, "other": given_up}, RULES)["steady"] == "steady"
    most = Tally([100.0] * 5, family="a")
    assert standings({"most": most, "unsteady": unsteady}, RULES)["most"] == "steady"


def test_a_cell_that_fails_is_given_up_after_three_times() -> None:
    assert standing(Tally([], failures=2)) == "open"
    assert standing(Tally([100.0], failures=3)) == "failed"
    tallies = {"bad": Tally([], failures=3), "good": Tally([1.0])}
    assert next_cell(tallies, RULES) == "good"
    assert repeats_left(tallies, RULES) == (2, 4)


def test_a_failed_repeat_counts_as_a_turn() -> None:
    tallies = {"bad": Tally([], failures=1), "good": Tally([])}
    assert next_cell(tallies, RULES) == "good"


def test_steadiness_is_of_the_repeats_and_not_of_their_mean() -> None:
    assert is_steady([100, 104, 96], 0.05)
    # More of them narrow the interval of the mean, and change nothing here.
    assert not is_steady([100, 110, 90] * 50, 0.05)
    assert not is_steady([100], 0.05)
    assert not is_steady([], 0.05)


def test_what_is_left() -> None:
    tallies = {"a": Tally([1.0, 5.0, 1.0]), "b": Tally([1.0])}
    assert repeats_left(tallies, RULES) == (1 + 2, 2 + 4)
