"""CPU affinity of all threads of a process, of a child of ours."""

import os
import subprocess
from collections.abc import Iterator

import pytest
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.stat import parse_stat
from tidscope_collector.steering.knobs.masks import ThreadMask, common_mask, read_masks, set_masks

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
