"""Goroutines of a real Go program in frames: how many wait for what, and where."""

import os
from collections.abc import Mapping
from pathlib import Path

from capabilities import needs
from followed_target import FollowedTarget
from group_targets import MOUNTED, Heard, control_group, group_targets, move
from programs.build import build_go
from programs.running import RunningProgram
from tidscope_collector.waits.source import LedgerOptions
from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.models import GroupSelector, TableName

pytestmark = [needs("root"), needs("btf"), needs("go")]
SOURCE = Path(__file__).parents[1] / "programs" / "waiting.go"
ASKING = LedgerOptions(ask_programs=True)


def waiting_go() -> RunningProgram:
    program = RunningProgram([build_go(SOURCE)])
    program.line()
    return program


def line_of(code: str) -> int:
    """Number of the first line of the program with this code."""
    lines = SOURCE.read_text().splitlines()
    return next(number for number, text in enumerate(lines, 1) if code in text)


def goroutines_in(
    tables: Mapping[TableName, Table], pid: int
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Number, time in goroutine-nanoseconds, and line of goroutines by reason and function."""
    if not tables.keys() >= {"goroutines", "goroutine_stacks"}:
        return {}
    figures = {int(row["stack"]): row for row in tables["goroutines"]}
    named = [row for row in tables["goroutine_stacks"] if row["pid"] == pid]
    # A stack that only the first reading had has no figures.
    names = [row for row in named if row["stack"] in figures]
    return {
        (row["reason"], row["function"]): (
            int(figures[row["stack"]]["count"]),
            int(figures[row["stack"]]["goroutine_ns"]),
            int(row["line"]),
        )
        for row in names
    }


def covered_ns(tables: Mapping[TableName, Table]) -> int:
    return int(tables["goroutines"]["covered_ns"].max()) if "goroutines" in tables else 0


def test_goroutines_are_in_frames_by_what_they_wait_for_and_where() -> None:
    with waiting_go() as program, FollowedTarget(program.pid, ledger=ASKING) as followed:
        while not covered_ns(followed.seen.tables):
            followed.next()
        tables = followed.seen.tables
        found = goroutines_in(tables, program.pid)
    covered = covered_ns(tables)
    expected = {
        ("chan send", "main.takePlace"): (5, "full <- 1"),
        ("sync.Mutex.Lock", "main.useLock"): (4, "func useLock"),
        ("chan receive", "main.waitForWork"): (3, "<-work"),
        ("select", "main.choose"): (2, "select {"),
        ("sleep", "main.hold"): (6, "func hold"),
    }
    for key, (count, code) in expected.items():
        assert found[key] == (count, count * covered, line_of(code)), key
    # The main goroutine, and the server's.
    assert found["all", ""][0] >= 5 + 4 + 3 + 2 + 6 + 2
    stacks = tables["goroutine_stacks"]
    (frames,) = stacks["frames"][stacks["function"] == "main.takePlace"].tolist()
    functions = [line.split("\t")[0] for line in frames.split("\n")]
    assert functions[:2] == ["runtime.gopark", "runtime.chansend"]
    assert functions[-2:] == ["main.takePlace", "main.start.func1"]


def test_goroutines_are_read_only_where_that_is_allowed_and_somebody_looks() -> None:
    with waiting_go() as program:
        with FollowedTarget(program.pid) as followed:
            while "locks" not in followed.seen.tables:
                followed.next()
            assert "goroutines" not in followed.seen.tables
        with FollowedTarget(program.pid, rate_hz=1, ledger=ASKING) as followed:
            while "locks" not in followed.seen.tables:
                followed.next()
            assert "goroutines" not in followed.seen.tables
            followed.targets.set_rate(followed.target.id, 10)
            while not goroutines_in(followed.seen.tables, program.pid):
                followed.next()


def test_programs_of_a_group_are_read_until_they_end() -> None:
    with control_group(MOUNTED[0], f"tidscope-goroutines-{os.getpid()}") as folder:
        programs = waiting_go(), waiting_go()
        with programs[0] as lead, programs[1] as other, group_targets(ledger=ASKING) as groups:
            for program in (lead, other):
                move(program.pid, folder)
            target = groups.attach(GroupSelector(kind="cgroup", value=f"/{folder.name}"))

            def waits_of(heard: Heard, pid: int) -> tuple[int, int, int]:
                found = goroutines_in(heard.tables, pid)
                return found.get(("chan send", "main.takePlace"), (0, 0, 0))

            def are_read(heard: Heard) -> bool:
                waits = [waits_of(heard, program.pid) for program in (lead, other)]
                return all(count == 5 and ns > 0 for count, ns, _ in waits)

            tables = groups.hear(until=are_read).tables
            names, figures = tables["goroutine_stacks"], tables["goroutines"]
            # Without time a row is gone as soon as it has no goroutines.
            timed = figures["stack"][figures["goroutine_ns"] > 0]
            stacks = {*names["stack"][names["pid"] == other.pid].tolist()} & {*timed.tolist()}
            other.close()

            def has_none(heard: Heard) -> bool:
                rows = heard.tables.get("goroutines", ())
                gone = {int(row["stack"]) for row in rows if row["count"] == 0}
                return gone >= stacks

            groups.hear(until=has_none)
            groups.targets.detach(target.id)
