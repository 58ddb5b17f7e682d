"""What the programs of a group say of themselves: names of threads, GOMAXPROCS, titles."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from group_targets import MOUNTED, GroupTargets, control_group, group_targets, move
from programs.go_programs import GoProgramRun
from programs.named_java import NamedJava
from tidscope_collector.naming import thread_names
from tidscope_collector.naming.thread_names import NamingOptions
from tidscope_collector.processes import details
from tidscope_wire.frame import split
from tidscope_wire.frame_tables import decode_tables
from tidscope_wire.generated.models import (
    FrameHeader,
    GomaxprocsChanged,
    GroupSelector,
    ThreadBorn,
    ThreadRenamed,
)

pytestmark = [needs("root"), needs("btf"), needs("go")]

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


def test_threads_of_all_programs_have_their_own_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine an answer takes its time, and many times that is rested.
    monkeypatch.setattr(thread_names, "REST", 1)
    monkeypatch.setattr(thread_names, "LONGEST_RETRY_S", 2.0)
    monkeypatch.setattr(details, "AGAIN_S", 2.0)
    naming = NamingOptions(ask_programs=True)
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
