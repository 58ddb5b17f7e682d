"""Pools of several programs of a group in its frames: each program's own, exactly."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from capabilities import needs
from group_targets import MOUNTED, GroupTargets, Heard, control_group, group_targets, move
from programs.agent_program import LANGUAGES, AgentFolder, AgentProgram
from tidscope_wire.generated.models import GroupSelector

pytestmark = [needs("root"), needs("btf"), pytest.mark.timeout(120)]


@pytest.fixture
def group() -> Iterator[Path]:
    with control_group(MOUNTED[0], f"tidscope-pools-{os.getpid()}") as made:
        yield made


@pytest.fixture
def sockets() -> Iterator[Path]:
    with AgentFolder() as path:
        yield path


def finished(heard: Heard) -> dict[int, int]:
    """Jobs of each program's pool, by its id."""
    pools = heard.tables.get("pools", ())
    return {int(row["pid"]): int(row["finished"]) for row in pools if row["name"] == "pool"}


def hear_jobs(groups: GroupTargets, wanted: dict[int, int]) -> Heard:
    return groups.hear(until=lambda heard: finished(heard) == wanted)


def test_each_program_of_a_group_has_its_own_pools(group: Path, sockets: Path) -> None:
    with ExitStack() as opened:
        programs = [opened.enter_context(AgentProgram(one, sockets)) for one in LANGUAGES]
        for program in programs:
            move(program.pid, group)
            program.ask("ops 100")
        groups = opened.enter_context(group_targets())
        target = groups.attach(GroupSelector(kind="cgroup", value=f"/{group.name}"))
        hear_jobs(groups, {program.pid: 0 for program in programs})
        jobs = {program.pid: 123 + at for at, program in enumerate(programs)}
        for program in programs:
            program.ask(f"ops {jobs[program.pid]}")
        heard = hear_jobs(groups, jobs)
        numbers = dict(heard.processes[["pid", "process"]].tolist())
        for row in heard.tables["pools"]:
            assert row["process"] == numbers[row["pid"]]
        # Of a program that ended the rows stay as they were.
        first, *others = programs
        assert first.end() == 0
        groups.until(lambda header: header.group is not None and header.group.ended > 0)
        others[0].ask("ops 1")
        hear_jobs(groups, jobs | {others[0].pid: jobs[others[0].pid] + 1})
        groups.targets.detach(target.id)
