"""Own accounts of programs of a group: thread names, GOMAXPROCS, titles, pools."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from capabilities import needs
from group_targets import MOUNTED, GroupTargets, Heard, control_group, group_targets, move
from programs.agent_program import LANGUAGES, AgentFolder, AgentProgram
from programs.go_programs import GoProgramRun
from programs.named_java import NamedJava
from tidscope_collector.naming import thread_names
from tidscope_collector.naming.thread_names import NamingOptions
from tidscope_collector.processes import details
from tidscope_wire.frame import split
from tidscope_wire.generated.models import (
    FrameHeader,
    GomaxprocsChanged,
    GroupSelector,
    ThreadBorn,
    ThreadRenamed,
)
from tidscope_wire.table_streams import decode_tables

EXEC = "http-nio-127.0.0.1-18085-exec-3"


@pytest.fixture
def folder() -> Iterator[Path]:
    with control_group(MOUNTED[0], f"tidscope-test-{os.getpid()}") as made:
        yield made


def until_names(groups: GroupTargets, wanted: set[tuple[int, str]]) -> None:
    """Take frames until these threads of these processes have these names."""
    named: dict[tuple[int | None, int], str] = {}

    def are_there(header: FrameHeader) -> bool:
        for event in header.events:
            if isinstance(event, ThreadBorn | ThreadRenamed):
                named[event.pid, event.tid] = event.name
        return wanted <= {(pid or 0, name) for (pid, _), name in named.items()}

    groups.until(are_there)


def until_size(groups: GroupTargets, pid: int, size: int) -> None:
    """Take frames until the table of processes says so."""

    def is_there(_: FrameHeader) -> bool:
        table = decode_tables(*split(groups.kept[-1])).get("processes")
        if table is None:
            return False
        return (pid, size) in zip(table["pid"].tolist(), table["gomaxprocs"].tolist(), strict=True)

    groups.until(is_there)


@needs("root")
@needs("btf")
@needs("go")
def test_each_go_program_has_its_own_gomaxprocs(folder: Path) -> None:
    with GoProgramRun((5,)) as lead, GoProgramRun((7,), gomaxprocs=2) as other:
        move(lead.pid, folder)
        move(other.pid, folder)
        with group_targets() as groups:
            target = groups.attach(GroupSelector(kind="cgroup", value=f"/{folder.name}"))
            assert target.process.pid == lead.pid
            until_size(groups, lead.pid, 3)
            until_size(groups, other.pid, 2)
            other.step()
            lead.step()
            until_size(groups, other.pid, 7)
            until_size(groups, lead.pid, 5)
            groups.targets.detach(target.id)
            events = groups.hear().events
    changes = {
        (one.pid, one.previous, one.size) for one in events if isinstance(one, GomaxprocsChanged)
    }
    assert changes == {(lead.pid, 3, 5), (other.pid, 2, 7)}


@needs("root")
@needs("btf")
@needs("go")
def test_threads_of_all_programs_have_their_own_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine an answer takes its time, and many times that is rested.
    monkeypatch.setattr(thread_names, "REST", 1)
    monkeypatch.setattr(thread_names, "LONGEST_RETRY_S", 2.0)
    monkeypatch.setattr(details, "AGAIN_S", 2.0)
    naming = NamingOptions(read_programs=True, ask_programs=True)
    with GoProgramRun() as lead, GoProgramRun() as other, NamedJava([EXEC]) as java:
        for pid in (lead.pid, other.pid, java.pid):
            move(pid, folder)
        with group_targets(naming=naming) as groups:
            target = groups.attach(GroupSelector(kind="cgroup", value=f"/{folder.name}"))
            wanted = {(lead.pid, "sysmon"), (other.pid, "sysmon"), (java.pid, EXEC)}
            until_names(groups, wanted)
            java.start("a-thread-that-began-later-1")
            until_names(groups, {(java.pid, "a-thread-that-began-later-1")})
            known = groups.targets.attached(target.id)
            assert known.thread_names is not None
            assert "of 3 programs" in known.thread_names
            groups.targets.detach(target.id)


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


@needs("root")
@needs("btf")
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
        # Rows of an ended program stay unchanged.
        first, *others = programs
        assert first.end() == 0
        groups.until(lambda header: header.group is not None and header.group.ended > 0)
        others[0].ask("ops 1")
        hear_jobs(groups, jobs | {others[0].pid: jobs[others[0].pid] + 1})
        groups.targets.detach(target.id)
