"""Totals of the threads of a run, by role and of the process."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.states import STATE_FIELDS


@dataclass(frozen=True)
class Totals:
    """Sums over lives of threads.

    Attributes:
        lives: how many threads lived.
        fields: field name to what they did within the run, in the field's unit. A field that none
            of them has is not in it.
    """

    lives: int
    fields: Mapping[str, int]


def totals_by_role(threads: pa.Table) -> dict[str, Totals]:
    """Add up `last - first` of each life, by the role that it had last.

    A life that lacks a value of a field, first or last, does not count for it, as in RoleTotals.
    """
    if not threads.num_rows:
        return {}
    encoded = pc.dictionary_encode(threads.column("role")).combine_chunks()
    roles = encoded.dictionary.to_pylist()
    places = encoded.indices.to_numpy(zero_copy_only=False)
    lives = np.bincount(places, minlength=len(roles))
    first, last = threads.column("first"), threads.column("last")
    sums: dict[str, tuple[list[int], list[int]]] = {}
    for name in last.type.names:
        done = pc.subtract(_counter(last, name), _counter(first, name))
        if name in STATE_FIELDS:
            # Time in a state falls by microseconds when the kernel's count replaces ours.
            done = pc.max_element_wise(done, 0, skip_nulls=False)
        # A counter that fell was reset: what the thread did is unknown.
        done = pc.if_else(pc.greater_equal(done, 0), done, None)
        there = pc.is_valid(done).to_numpy(zero_copy_only=False)
        amounts = pc.fill_null(done, 0).to_numpy(zero_copy_only=False)
        sum_of = np.zeros(len(roles), np.int64)
        np.add.at(sum_of, places, amounts)
        sums[name] = (sum_of.tolist(), np.bincount(places, there, len(roles)).tolist())
    return {
        role: Totals(
            int(lives[place]),
            {name: sum_of[place] for name, (sum_of, known) in sums.items() if known[place]},
        )
        for place, role in enumerate(roles)
    }


def whole(by_role: Mapping[str, Totals]) -> Totals:
    """All roles together: the process."""
    fields: dict[str, int] = {}
    for totals in by_role.values():
        for name, value in totals.fields.items():
            fields[name] = fields.get(name, 0) + value
    return Totals(sum(totals.lives for totals in by_role.values()), fields)


def _counter(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A field of a struct column; where the struct is null, so is the field."""
    return pc.struct_field(column, name).cast(pa.int64())
