"""Groups of processes as the kernel has them: what they add up to is what wait4 and cgroups say."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from capabilities import needs
from group_targets import (
    MOUNTED,
    Heard,
    HeldCommand,
    control_group,
    group_targets,
    move,
    on_cpu_ns,
    used_ns,
)
from programs.build import build_c
from tidscope_collector.groups.accounts import CgroupAccount
from tidscope_collector.groups.cgroups import find_cgroups
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.walk.choice import Choice as WalkChoice
from tidscope_wire.generated.models import (
    FrameHeader,
    GroupSelector,
    ProgramExecuted,
    ThreadBorn,
    ThreadExited,
)

pytestmark = [needs("root"), needs("btf")]

PROGRAMS = Path(__file__).parents[1] / "programs"
COMMANDS = 300
SHELL_LOOP = f"for i in $(seq {COMMANDS}); do /bin/true; done"
LESS, MORE = 0.005, 0.02
"""Relative bounds of a group's CPU time below and above wait4's for the command."""

BEFORE_NS = 100_000_000


def cpu_ns(heard: Heard) -> int:
    return heard.last.exited.totals["cpu_run_ns"]


@pytest.mark.parametrize("counters", ["walk", "genetlink"])
def test_a_loop_of_short_commands_is_what_wait4_says(counters: WalkChoice) -> None:
    with group_targets(counters=counters) as groups:
        command = HeldCommand(["bash", "-c", SHELL_LOOP])
        groups.attach(GroupSelector(kind="tree", pid=command.pid))
        used = command.run()
        heard = groups.hear()
    assert heard.last.health.exit_records_lost == 0
    assert heard.counts.missed == 0
    # Each command, and the shell that expands $(seq …), which becomes seq.
    assert heard.counts.started == COMMANDS + 1
    assert heard.counts.ended == COMMANDS + 2
    assert heard.counts.live == 0
    assert heard.last.exited.threads == COMMANDS + 2
    # wait4 lacks what a command runs after its shell was woken up, and all since its last tick if
    # the shell is faster.
    assert 1 - LESS < cpu_ns(heard) / used_ns(used) < 1 + MORE
    assert heard.last.exited.totals["minor_faults"] == pytest.approx(used.ru_minflt, rel=LESS)
    assert heard.processes["count"].sum() == COMMANDS + 2
    # The shell had used some milliseconds before the attachment, which its row leaves out.
    assert cpu_ns(heard) - BEFORE_NS < heard.processes["cpu_ns"].sum() <= cpu_ns(heard)
    assert heard.processes["threads_ended"].sum() == COMMANDS + 2


def test_what_threads_run_while_others_of_their_process_end_is_counted() -> None:
    program = str(build_c(PROGRAMS / "sudden_ends.c"))
    with group_targets() as groups:
        command = HeldCommand(["bash", "-c", f"echo | {program} 30 2 64"])
        groups.attach(GroupSelector(kind="tree", pid=command.pid))
        used = command.run()
        heard = groups.hear()
    assert heard.last.health.exit_records_lost == 0
    assert heard.counts.missed == 0
    # The last process to release the memory runs for milliseconds longer. Beyond what
    # wait4 says is only what threads run after they were added to their process' account.
    assert 0.9995 < cpu_ns(heard) / used_ns(used) < 1 + MORE


def test_without_ebpf_it_is_said_that_some_may_be_missed() -> None:
    with group_targets(polled=True) as groups:
        command = HeldCommand(["bash", "-c", "cat <&0 & exec cat"], subprocess.PIPE)
        target = groups.attach(GroupSelector(kind="tree", pid=command.pid))
        command.begin()
        groups.until(lambda header: header.group is not None and header.group.live == 2)
        command.stdin.close()
        command.wait()
        heard = groups.hear()
    assert target.group is not None
    assert target.group.discovery == "polling"
    assert "a test does without" in target.group.discovery_reason
    assert heard.counts.missed is None
    assert heard.counts.ended == 2
    names = heard.processes["name"].tolist()
    assert len(names) == 2


def executed_in(header: FrameHeader) -> list[str]:
    """Names of the programs whose execution a frame reports."""
    return [event.name for event in header.events if isinstance(event, ProgramExecuted)]


def test_children_and_what_they_execute() -> None:
    with group_targets() as groups:
        command = HeldCommand(["bash", "-c", "cat; true"], subprocess.PIPE)
        groups.attach(GroupSelector(kind="tree", pid=command.pid))
        command.begin()
        groups.until(lambda header: "cat" in executed_in(header))
        command.stdin.close()
        command.wait()
        heard = groups.hear()
    born = {event.tid: event.pid for event in heard.events if isinstance(event, ThreadBorn)}
    ended = {event.tid: event.pid for event in heard.events if isinstance(event, ThreadExited)}
    assert born.items() <= ended.items()
    (shell,) = heard.processes[heard.processes["parent"] == 0].tolist()
    children = heard.processes[heard.processes["parent"] == shell[0]]
    assert "cat" in children["name"].tolist()


def test_a_control_group_is_what_its_own_clock_says() -> None:
    path = f"/tidscope-test-{os.getpid()}"
    with control_group(MOUNTED[0], path[1:]) as folder, group_targets() as groups:
        first = HeldCommand(["true"])
        move(first.pid, folder)
        command = HeldCommand(["bash", "-c", SHELL_LOOP])
        for one in (first, command):
            one.settle()
        account = CgroupAccount(find_cgroups(ProcFs(), path)[0])
        before = account.read()
        target = groups.attach(GroupSelector(kind="cgroup", value=path))
        assert target.process.pid == first.pid
        move(command.pid, folder)
        used_before_ns = on_cpu_ns(first.pid) + on_cpu_ns(command.pid)
        command.run()
        first.run()
        after = account.read()
        # The last switch of a process may come a moment after wait4 returns.
        groups.until(lambda header: header.group is not None and header.group.live == 0)
        groups.targets.detach(target.id)
        heard = groups.hear()
    assert before is not None
    assert after is not None
    assert heard.counts.missed == 0
    assert heard.counts.started == COMMANDS + 2
    assert heard.counts.ended == COMMANDS + 3
    # Exit records have the whole CPU time of both shells, the group's clock none from before.
    used = after.cpu_ns - before.cpu_ns + used_before_ns
    assert cpu_ns(heard) == pytest.approx(used, rel=0.02, abs=10_000_000)
    assert np.all(heard.processes["live"] == 0)


def test_those_that_match_come_and_go(tmp_path: Path) -> None:
    name = f"m{os.getpid()}"
    program = tmp_path / name
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o755)
    first = HeldCommand(["bash", "-c", f"{program} 0.1; {program} 0.1; {program} 0.1"])
    with group_targets() as groups:
        before = subprocess.Popen([program, "60"])
        target = groups.attach(GroupSelector(kind="match", value=f"name:{name}"))
        assert target.process.pid == before.pid
        first.run()
        before.kill()
        before.wait()
        # Ends are reported before wait4 returns, or a moment later: with the next samples.
        counts = groups.until(lambda header: header.group is not None and header.group.ended == 4)
        assert counts.started == 3
        assert counts.missed == 0
        groups.targets.detach(target.id)
        heard = groups.hear()
    assert set(heard.processes["name"].tolist()) == {name}
    assert heard.processes["count"].sum() == 4
