"""CPU affinity of all threads of a process, of a child of ours."""

import os
import subprocess
from collections.abc import Iterator

import pytest
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.steering.loop.cpu_masks import (
    CpuShares,
    ThreadMask,
    choose_cpus,
    common_mask,
    read_masks,
    set_masks,
)

PROCFS = ProcFs()


@pytest.fixture
def child() -> Iterator[tuple[int, int]]:
    """Its id and start."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid, parse_stat(PROCFS.read(f"{process.pid}/stat")).start_ticks
        process.kill()


def test_masks_are_read_set_and_left_as_they_are(child: tuple[int, int]) -> None:
    pid, start = child
    (mask,) = read_masks(PROCFS, pid, start)
    assert (mask.tid, mask.cpus) == (pid, frozenset(os.sched_getaffinity(pid)))
    one = frozenset({min(mask.cpus)})
    assert set_masks(PROCFS, pid, start, lambda _: one) == (mask.cpus != one)
    assert read_masks(PROCFS, pid, start)[0].cpus == one
    assert set_masks(PROCFS, pid, start, lambda _: None) == 0
    assert set_masks(PROCFS, pid, start, lambda _: one) == 0


def test_another_process_with_the_id_is_left_alone(child: tuple[int, int]) -> None:
    pid, start = child
    for read in (
        lambda: read_masks(PROCFS, pid, start + 1),
        lambda: set_masks(PROCFS, pid, start + 1, lambda mask: mask.cpus),
    ):
        with pytest.raises(ProcessLookupError):
            read()


def test_the_common_mask_is_the_most_frequent_and_then_the_widest() -> None:
    narrow, wide = frozenset({0}), frozenset({0, 1})
    masks = [ThreadMask(tid, 1, cpus) for tid, cpus in enumerate((narrow, wide))]
    assert common_mask(masks) == wide
    assert common_mask([*masks, ThreadMask(3, 1, narrow)]) == narrow


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
