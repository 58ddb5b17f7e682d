"""Processes outside a target: each by ID and start, with its control group."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import missing, needs
from group_targets import MOUNTED, control_group, move
from ledger_keeper import LedgerKeeper, Table
from processes import status, wait_until
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.waits.wire_tables import LedgerTables

pytestmark = [needs("root"), needs("btf")]

LOOP = ("sh", "-c", "while :; do :; done")
NEXT_ID = Path("/proc/sys/kernel/ns_last_pid")
ATTEMPTS = 200
"""Other processes of a busy machine take IDs, too."""


@pytest.fixture(scope="module")
def keeper() -> Iterator[LedgerKeeper]:
    made = LedgerKeeper()
    yield made
    made.close()


@contextmanager
def on_one_cpu(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program on the last CPU."""
    cpu = str(max(os.sched_getaffinity(0)))
    with subprocess.Popen(["taskset", "-c", cpu, *command], stdout=subprocess.DEVNULL) as program:
        try:
            # Until taskset has executed the program, it is a party of another name.
            wait_until(lambda: status(program.pid, "Name") == [command[0]])
            yield program
        finally:
            program.kill()


def start_ticks(pid: int) -> int:
    return parse_stat(ProcFs().read(f"{pid}/stat")).start_ticks


def named(tables: LedgerTables, wanted: set[tuple[int, int]]) -> tuple[Table, Table]:
    """Takers and parties, once each of the processes is a described party."""
    while True:
        read = tables.read()
        parties = read["parties"]
        known = parties[(parties["cgroup"] != "") & (parties["title"] != "")]
        if wanted <= set(zip(known["pid"].tolist(), known["start_ticks"].tolist(), strict=True)):
            return read["takers"], parties
        time.sleep(0.05)


def party_of(parties: Table, pid: int, start: int) -> dict[str, object]:
    [row] = parties[(parties["pid"] == pid) & (parties["start_ticks"] == start)]
    return dict(zip(parties.dtype.names or (), row.tolist(), strict=True))


def test_programs_of_one_name_have_their_control_groups(keeper: LedgerKeeper) -> None:
    at = f"tidscope-test-{os.getpid()}"
    with (
        control_group(MOUNTED[0], f"{at}/one") as first,
        control_group(MOUNTED[0], f"{at}/two") as second,
        on_one_cpu(*LOOP) as target,
        on_one_cpu(*LOOP) as one,
        on_one_cpu(*LOOP) as two,
    ):
        move(one.pid, first)
        move(two.pid, second)
        keeper.watch(target.pid)
        wanted = {(each.pid, start_ticks(each.pid)) for each in (one, two)}
        with keeper.wire_tables(target.pid) as tables:
            takers, parties = named(tables, wanted)
        keeper.forget(target.pid)
        for process, group in ((one, "one"), (two, "two")):
            party = party_of(parties, process.pid, start_ticks(process.pid))
            assert party["cgroup"] == f"/{at}/{group}"
            assert (party["name"], party["many"]) == ("sh", 0)
            assert str(party["title"]).endswith(LOOP[-1])
            rows = takers[takers["party"] == party["party"]]
            assert set(rows["pid"].tolist()) == {process.pid}
            assert rows["ns"].sum() > 0
    own = takers[takers["pid"] == target.pid]
    assert set(own["party"].tolist()) <= {0}


@contextmanager
def with_id(pid: int) -> Iterator[subprocess.Popen[bytes]]:
    """A program that gets an ID which has just become free."""
    for _ in range(ATTEMPTS):
        NEXT_ID.write_text(str(pid - 1))
        with on_one_cpu("yes") as program:
            if program.pid == pid:
                yield program
                return
    raise missing("root", f"the ID {pid} stayed taken")


def test_a_process_with_a_used_id_is_another_party(keeper: LedgerKeeper) -> None:
    with on_one_cpu(*LOOP) as target:
        keeper.watch(target.pid)
        with keeper.wire_tables(target.pid) as tables:
            with on_one_cpu(*LOOP) as first:
                before = first.pid, start_ticks(first.pid)
                named(tables, {before})
            with with_id(before[0]) as second:
                after = second.pid, start_ticks(second.pid)
                takers, parties = named(tables, {before, after})
        keeper.forget(target.pid)
    rows = [party_of(parties, *each) for each in (before, after)]
    assert str(rows[0]["title"]).endswith(LOOP[-1])
    assert str(rows[1]["title"]).endswith("yes")
    assert rows[0]["party"] != rows[1]["party"]
    for row in rows:
        took = takers[takers["party"] == row["party"]]
        assert set(took["pid"].tolist()) == {before[0]}
        assert set(took["name"].tolist()) == {row["name"]}
        assert took["ns"].sum() > 0


def test_a_process_goes_by_the_program_that_it_executes(
    keeper: LedgerKeeper, tmp_path: Path
) -> None:
    go_on = tmp_path / "go-on"
    script = f"while [ ! -e {go_on} ]; do :; done; exec yes"
    with on_one_cpu(*LOOP) as target, on_one_cpu("sh", "-c", script) as other:
        identity = other.pid, start_ticks(other.pid)
        keeper.watch(target.pid)
        with keeper.wire_tables(target.pid) as tables:
            named(tables, {identity})
            for name in ("sh", "yes"):
                read = tables.read()
                while (party := party_of(read["parties"], *identity))["name"] != name:
                    time.sleep(0.05)
                    read = tables.read()
                go_on.touch()
        keeper.forget(target.pid)
    takers = read["takers"]
    names = takers["name"][takers["party"] == party["party"]]
    assert set(names.tolist()) == {"yes"}
