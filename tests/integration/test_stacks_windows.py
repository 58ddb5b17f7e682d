"""Stacks where the kernel lacks the tracepoint: from context switches, in windows of time."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from measured_code import MeasuredCode, check_named, check_shares, measured
from programs.build import GO
from programs.known_code import KnownCode, command
from stack_collector import StackCollector
from tidscope_collector.stacks.program import CAN_START, PROGRAM, outlook, start_program
from tidscope_collector.waits.states import State

pytestmark = [needs("root"), needs("btf"), needs("stacks"), needs("go")]

WINDOWS = 10
"""Periods a window: `windowPeriod` divided by `window`."""
SOURCES = Path(__file__).parents[2] / "stacks"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that takes stacks, without a tracepoint that this kernel has."""
    if outlook() != CAN_START:
        return PROGRAM
    made = tmp_path_factory.mktemp("stacks") / "tidscope-stacks"
    options = ("-mod=readonly", "-trimpath", "-ldflags=-X main.triggerPoint=no_such_tracepoint")
    subprocess.run(
        [str(GO), "build", "-C", str(SOURCES), *options, "-o", str(made)],
        env={**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"},
        check=True,
    )
    return made


@pytest.fixture(scope="module")
def work(program: Path) -> Iterator[MeasuredCode]:
    with (
        StackCollector(start_program(program)) as collector,
        KnownCode(command("c")) as working,
    ):
        target = collector.attach(working.pid)
        yield measured(collector, working, target, 15)
        status = collector.service.status
        assert status is not None
        assert status.trigger == "context_switches"
        assert status.reason.startswith("no tracepoint: ")
        assert ("no_such_tracepoint" in status.reason) is (program != PROGRAM)
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
