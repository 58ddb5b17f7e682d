"""Keys as numbers: rows compare as their numbers do."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.waits.sums import sum_by
from tidscope_wire.frame_tables import dtype_of, number_rows
from tidscope_wire.packed_keys import are_ascending, packed

# Some need more than 64 bits together, some have both halves in use.
WORD = st.one_of(
    st.integers(0, 3),
    st.integers(0, 2**32 - 1),
    st.builds(lambda high, low: high << 32 | low, st.integers(0, 2**16), st.integers(0, 5)),
    st.integers(0, 2**64 - 1),
)
ROWS = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[WORD] * width), min_size=1))


@given(ROWS)
def test_numbers_are_in_the_order_of_keys(rows: list[tuple[int, ...]]) -> None:
    numbers = packed([np.array(column, np.uint64) for column in zip(*rows, strict=True)])
    if numbers is None:
        bits = sum(max(column).bit_length() for column in zip(*rows, strict=True))
        assert bits > 64
        return
    order = sorted(range(len(rows)), key=lambda row: rows[row])
    assert [rows[row] for row in np.argsort(numbers, kind="stable")] == [rows[row] for row in order]
    assert len(set(numbers.tolist())) == len(set(rows))
    assert are_ascending(numbers) == (rows == sorted(set(rows)))


@given(ROWS)
def test_sums_are_those_of_a_dictionary(rows: list[tuple[int, ...]]) -> None:
    expected: dict[tuple[int, ...], int] = {}
    for place, row in enumerate(rows):
        expected[row] = expected.get(row, 0) + place
    columns = tuple(np.array(column, np.uint64) for column in zip(*rows, strict=True))
    keys, (sums,) = sum_by(columns, (np.arange(len(rows), dtype=np.uint64),))
    found = list(zip(*(column.tolist() for column in keys), strict=True))
    assert found == sorted(expected)
    assert sums.tolist() == [expected[row] for row in found]


@given(st.lists(st.tuples(*[st.integers(0, 2**32 - 1) | st.integers(0, 2)] * 3)))
def test_rows_of_tables_have_numbers_by_their_keys(rows: list[tuple[int, int, int]]) -> None:
    table = np.array([(*row, 1) for row in rows], dtype_of("stays"))
    (numbers,) = number_rows("stays", [table])
    places = {row: place for place, row in enumerate(sorted(set(rows)))}
    assert numbers.tolist() == [places[row] for row in rows]
