"""Locks in frames: names and waits of programs of known contention, as a reader of frames knows."""

import asyncio

from capabilities import needs
from followed_target import FollowedTarget
from processes import wait_until
from programs.contended import attach_socket, contended_go, contended_java, contended_python
from tidscope_collector.inspection.lock_kinds import GO_IDLE
from tidscope_collector.locks.runtime_locks import ALL
from tidscope_collector.waits.source import LedgerOptions
from tidscope_wire.frame import split
from tidscope_wire.frame_tables import decode_tables
from whole_site import site

pytestmark = [needs("root"), needs("btf")]

ATTACHED = "-XX:+StartAttachListener"
ASKING = LedgerOptions(ask_programs=True)


def names_in(followed: FollowedTarget, wanted: set[str]) -> dict[str, int]:
    """Kinds and numbers of locks by name, as soon as all that are wanted have waits."""
    while True:
        followed.next()
        tables = followed.seen.tables
        if not {"locks", "lock_names"} <= tables.keys():
            continue
        waited = set(tables["locks"]["lock"].tolist())
        rows = zip(
            tables["lock_names"]["name"].tolist(),
            tables["lock_names"]["lock"].tolist(),
            strict=True,
        )
        names = {name: lock for name, lock in rows if lock in waited}
        if names.keys() >= wanted:
            return names


def test_waits_for_the_gil_are_in_frames_by_thread() -> None:
    with contended_python(3, work="hold") as program, FollowedTarget(program.pid) as followed:
        number = names_in(followed, {"GIL"})["GIL"]
        rows = followed.seen.tables["locks"]
        tids = set(followed.seen.rows) - {program.pid}
        kinds = followed.seen.tables["lock_names"]
        assert kinds["kind"][kinds["lock"] == number].tolist() == ["gil"]
        gil = rows[rows["lock"] == number]
    assert tids <= set(gil["tid"].tolist())
    assert (gil["wait_ns"][[tid in tids for tid in gil["tid"].tolist()]] > 0).all()


@needs("go")
def test_a_go_program_is_asked_only_where_that_is_allowed() -> None:
    held = "mutex released by main.(*pool).use"
    with contended_go("profile") as program:
        with FollowedTarget(program.pid, ledger=ASKING) as followed:
            names = names_in(followed, {held, GO_IDLE})
            rows = followed.seen.tables["locks"]
            assert rows["tid"][rows["lock"] == names[held]].tolist() == [0]
        with FollowedTarget(program.pid) as followed:
            assert held not in names_in(followed, {GO_IDLE})


@needs("go")
async def test_a_confined_collector_reads_programs_where_it_may() -> None:
    """It connects to other ports than the backend's only for this and to steer.

    A Java virtual machine is asked twice, ten seconds apart, until there are waits.
    """
    monitor = "java.lang.Object in Contended.useMonitor"
    async with site(options=("--no-steering", "--ask-programs")) as found:
        with contended_go("metrics") as program, contended_java(ATTACHED) as machine:
            await asyncio.to_thread(wait_until, attach_socket(machine.pid).exists)
            names = set[str]()
            for pid in (machine.pid, program.pid):
                await found.attach(pid, rate_hz=2)
            while not names >= {ALL, monitor}:
                _, data = await found.page.frame()
                tables = decode_tables(*split(data))
                if "lock_names" in tables:
                    names |= set(tables["lock_names"]["name"].tolist())
