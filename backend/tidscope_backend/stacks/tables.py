"""Stacks of a window, as tables. Pure."""

from collections.abc import Iterator
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
        for period in np.sort(self.periods, order="begin_ns"):
            since_ns = max(int(period["begin_ns"]), self.since_ns)
            end_ns = int(period["end_ns"]) or FOREVER
            begin, end = max(from_ns, since_ns), min(to_ns, end_ns)
            if begin < end:
                yield Wanted(begin, end, since_ns)


def no_stacks() -> StackTables:
    """Return tables without rows."""
    return StackTables(
        empty_table("stack_frames"),
        empty_table("stack_nodes"),
        empty_table("stack_periods"),
        empty_table("stack_samples"),
        0,
    )
