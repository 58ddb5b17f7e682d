"""Stacks where no watchpoint can be set: context switches are looked at in windows of time."""

import mmap
import struct
from collections.abc import Iterator

import pytest
from capabilities import needs
from measured_code import MeasuredCode, check_named, check_shares, measured
from programs.known_code import KnownCode, command
from stack_collector import StackCollector
from tidscope_collector.waits.states import State

pytestmark = [needs("root"), needs("btf"), needs("stacks")]

TRIGGER_AT = 24
"""Offset of `trigger_at` in struct sampling of sampled_stays.bpf.h."""
WINDOWS = 10
"""Periods a window: `windowPeriod` divided by `window`."""


@pytest.fixture(scope="module")
def work() -> Iterator[MeasuredCode]:
    with StackCollector() as collector, KnownCode(command("c")) as program:
        target = collector.attach(program.pid)
        ledger = collector.sources.ledger.program
        assert ledger is not None
        with mmap.mmap(ledger.stack_maps[0], mmap.PAGESIZE) as sampling:
            # No processor watches a word that is not aligned.
            sampling[TRIGGER_AT : TRIGGER_AT + 8] = struct.pack("<Q", 1)
        yield measured(collector, program, target, 15)
        status = collector.service.status
        assert status is not None
        assert status.trigger == "context_switches"
        assert status.reason.startswith("no watchpoint: CPU 0: ")
        assert "in windows of time" in str(collector.service.finding())


def test_each_wait_has_its_code(work: MeasuredCode) -> None:
    check_named(work)


def test_times_in_functions_are_those_that_the_program_measures(work: MeasuredCode) -> None:
    check_shares(work)


def test_stays_that_end_outside_windows_have_their_length(work: MeasuredCode) -> None:
    rows = work.rows(work.account.workers)
    waits = rows[rows["state"] != State.ON_CPU]
    assert len(waits) > 100
    assert (waits["wait_ns"] > 0).mean() > 0.99
    assert waits["weight"].min() >= WINDOWS
