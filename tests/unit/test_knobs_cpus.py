"""Which CPUs a steered process gets."""

import pytest
from tidscope_collector.steering.knobs.cpus import CpuShares, choose_cpus


@pytest.mark.parametrize(
    ("number", "own", "others", "wanted"),
    [
        (0, (), [], set()),
        (2, (), [], {0, 1}),
        (4, (), [], {0, 1, 2, 3}),
        (2, (), [{0}], {1, 2}),
        (2, (), [{0}, {1}], {2, 3}),
        (2, {2, 3}, [], {2, 3}),
        (1, {2, 3}, [], {2}),
        (3, {2, 3}, [], {0, 2, 3}),
        (3, {2, 3}, [{0}], {1, 2, 3}),
        (3, (), [{0, 1}], {0, 2, 3}),
        (2, {0, 1}, [{0, 1, 2, 3}], {0, 1}),
        (2, {0, 1}, [{0, 1}], {2, 3}),
        (2, (), [{0, 1, 2, 3}, {0, 1}], {2, 3}),
    ],
)
def test_those_that_others_leave_then_ones_own_then_the_lowest(
    number: int, own: set[int], others: list[set[int]], wanted: set[int]
) -> None:
    assert choose_cpus([3, 2, 1, 0], number, own, others) == wanted


def test_shares_are_remembered_and_given_back() -> None:
    shares = CpuShares()
    assert shares.allocate(10, range(4), 2) == {0, 1}
    assert shares.allocate(11, range(4), 2) == {2, 3}
    assert shares.allocate(10, range(4), 3) == {0, 1, 2}
    assert shares.allocate(11, range(4), 1) == {3}
    shares.free(10)
    shares.free(10)
    assert shares.allocate(11, range(4), 4) == {0, 1, 2, 3}
    assert shares.allocate(12, range(2, 4), 1) == {2}
