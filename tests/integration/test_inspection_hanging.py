"""Files and memory of targets that do not answer hold up nothing but the child that reads them."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from followed_target import Sampled
from processes import start_ticks
from programs.hanging import BlockingRun, HangingDisk
from tidscope_collector.agent.client import AgentClientError, NoAgentError, open_agent
from tidscope_collector.inspection.agent_sockets import FOLDER_VARIABLE
from tidscope_collector.inspection.asking import children
from tidscope_collector.inspection.gomaxprocs import open_gomaxprocs
from tidscope_collector.processes.listing import ProcessLister
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.models import GomaxprocsChanged

pytestmark = needs("root")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[HangingDisk]:
    with HangingDisk(tmp_path / "disk") as mounted:
        yield mounted


@pytest.fixture
def sampled() -> Iterator[Sampled]:
    made = Sampled()
    yield made
    made.close()


def test_memory_that_does_not_answer_costs_readings_and_no_samples(
    disk: HangingDisk, sampled: Sampled
) -> None:
    with BlockingRun() as program:
        target, _ = sampled.targets.attach(program.pid, None, 50)
        assert (target.gomaxprocs, sampled.next().process.gomaxprocs) == (7, 7)
        assert program.say(f"open {disk.page}") == "done"
        disk.hang()
        # Only now: what a sample has read before stays in memory.
        assert program.say("memory") == "done"
        gauges = sampled.next().process
        while gauges.gomaxprocs is not None:
            gauges = sampled.next().process
        missed = gauges.gomaxprocs_missed
        assert missed is not None
        for further in range(1, 20):
            gauges = sampled.next().process
            assert (gauges.gomaxprocs, gauges.gomaxprocs_missed) == (None, missed + further)
        disk.answer()
        header = sampled.next()
        while header.process.gomaxprocs is None:
            header = sampled.next()
        assert header.process.gomaxprocs == 5
        assert GomaxprocsChanged(size=5, previous=7) in header.events
        sampled.targets.detach(target.id)


def test_a_target_with_such_memory_is_let_go(disk: HangingDisk, sampled: Sampled) -> None:
    with BlockingRun() as program:
        target, _ = sampled.targets.attach(program.pid, None, 50)
        assert program.say(f"open {disk.page}") == "done"
        disk.hang()
        # Only now: what a sample has read before stays in memory.
        assert program.say("memory") == "done"
        while sampled.next().process.gomaxprocs is not None:
            pass
        assert sampled.targets.detach(target.id).state == "detached"
        disk.answer()


def test_an_executable_that_does_not_answer_is_listed_and_attached_to(
    disk: HangingDisk, sampled: Sampled
) -> None:
    with BlockingRun(disk.program) as program, BlockingRun() as other:
        disk.hang()
        listed = {process.pid: process for process in ProcessLister().processes()}
        found = listed[program.pid]
        assert (found.command, found.runtime) == ("[program]", "unknown")
        # Nobody else is left out for it.
        assert (listed[other.pid].runtime, listed[other.pid].runtime_version) == ("go", "go1.26.8")
        target, _ = sampled.targets.attach(program.pid, None, 50)
        assert target.gomaxprocs is None
        assert "do not answer" in target.gomaxprocs_reason
        assert sampled.next().live_threads == 1
        disk.answer()


def test_an_agents_folder_that_does_not_answer_is_given_up(disk: HangingDisk) -> None:
    with subprocess.Popen(["sleep", "600"], env={FOLDER_VARIABLE: disk.folder}) as program:
        start = start_ticks(program.pid)
        with pytest.raises(NoAgentError, match="there is no"):
            open_agent(ProcFs(), program.pid, start)
        disk.hang()
        with pytest.raises(AgentClientError, match="does not answer"):
            open_agent(ProcFs(), program.pid, start)
        disk.answer()
        program.kill()


def test_children_that_cannot_be_ended_are_bounded(
    disk: HangingDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidscope_collector.confinement.children.MAX_STUCK", 1)
    monkeypatch.setattr("tidscope_collector.inspection.reader.PROGRAM_S", 0.2)
    with BlockingRun(disk.program) as program:
        start = start_ticks(program.pid)
        disk.hang()
        assert "do not answer" in open_gomaxprocs(program.pid, start).reason
        assert "children wait for" in open_gomaxprocs(program.pid, start).reason
        disk.answer()
        # Who waited has ended now.
        while (found := open_gomaxprocs(program.pid, start)).reader is None:
            assert "children wait for" in found.reason
        found.reader.close()
    assert children().given_up > 0
