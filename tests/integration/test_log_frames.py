"""Rows of a log that the collector gives to the sampler: each is in one frame."""

import os
import time

import numpy as np
from followed_target import FollowedTarget
from tidscope_collector.sampling.tables import as_given
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.models import FrameTable


def samples(*waits: tuple[int, int]) -> Table:
    """Rows of a log: number and length of each stay."""
    table = np.zeros(len(waits), dtype_of("stack_samples"))
    table["sample"], table["wait_ns"] = zip(*waits, strict=True)
    return table


def test_a_row_is_in_the_next_frame_and_in_no_other() -> None:
    with FollowedTarget(os.getpid()) as followed:
        native, target = followed.sources.native, followed.target.id

        def give(*waits: tuple[int, int]) -> None:
            native.give_tables(target, as_given({"stack_samples": samples(*waits)}), 1)

        give((1, 0), (2, 5))
        give((3, 0), (1, 7))
        followed.flush()
        assert followed.seen.tables["stack_samples"][["sample", "wait_ns"]].tolist() == [
            *((1, 7), (2, 5), (3, 0))
        ]
        sent: list[FrameTable] = []
        end_s = time.monotonic() + 2.5
        # The collector reads the tables of the target meanwhile, which have no rows of the log.
        while time.monotonic() < end_s:
            sent += [one for one in followed.next().tables or () if one.name == "stack_samples"]
        assert sent == []
        give((3, 9))
        followed.flush()
        assert followed.seen.tables["stack_samples"]["wait_ns"].tolist() == [7, 5, 9]
