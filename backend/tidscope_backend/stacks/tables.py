"""Stacks of a window, as tables. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from tidscope_wire.frame_tables import Table, empty_table

from tidscope_backend.stacks.ledger import Wanted
from tidscope_backend.stacks.trees import Stacks

FOREVER = 2**62
"""End of a period that has not ended, nanoseconds since attach."""


class StackTables(NamedTuple):
    """Stacks of a target.

    Attributes:
        frames: rows of `stack_frames`.
        nodes: rows of `stack_nodes`.
        periods: rows of `stack_periods`.
        samples: rows of `stack_samples`, the last of each sample.
        since_ns: samples of stays that began earlier may be missing, nanoseconds since attach.
        made: stacks of the same frames and nodes, if they are kept.
    """

    frames: Table
    nodes: Table
    periods: Table
    samples: Table
    since_ns: int
    made: Stacks | None = None

    @property
    def stacks(self) -> Stacks:
        """Return the stacks; made for each call unless they are kept."""
        return self.made or Stacks(self.frames, self.nodes)

    def sampled(self, from_ns: int, to_ns: int) -> Iterator[Wanted]:
        """Yield the parts of a window in which stays were sampled, in order."""
        for begin_ns, end_ns in self._periods():
            since_ns = max(begin_ns, self.since_ns)
            begin, end = max(from_ns, since_ns), min(to_ns, end_ns)
            if begin < end:
                yield Wanted(begin, end, since_ns)

    def _periods(self) -> Iterable[tuple[int, int]]:
        if not len(self.periods):
            # The collector does not tell: the first sample does.
            first = int(self.samples["begin_ns"].min(initial=FOREVER))
            return [(first, FOREVER)]
        ordered = np.sort(self.periods, order="begin_ns")
        return [(int(one["begin_ns"]), int(one["end_ns"]) or FOREVER) for one in ordered]


def no_stacks() -> StackTables:
    """Return tables without rows."""
    return StackTables(
        empty_table("stack_frames"),
        empty_table("stack_nodes"),
        empty_table("stack_periods"),
        empty_table("stack_samples"),
        0,
    )
