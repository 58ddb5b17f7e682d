"""Stacks of programs that are stripped, replaced on disk, executed, forked, or in another mount."""

import json
import shutil
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import missing, needs
from measured_code import (
    NAMED,
    MeasuredCode,
    check_named,
    check_released,
    check_shares,
    functions_of,
    measured,
)
from programs.build import build_c
from programs.known_code import HERE, CodeAccount, KnownCode, command
from programs.running import RunningProgram
from pydantic import TypeAdapter
from stack_collector import StackCollector, StackedTarget
from tidscope_wire.generated.models import GroupSelector

pytestmark = [needs("root"), needs("btf"), needs("stacks"), needs("stack-trigger")]


@pytest.fixture(scope="module")
def collector() -> Iterator[StackCollector]:
    with StackCollector() as made:
        yield made


def copied(program: Path, folder: Path) -> Path:
    """Copy a program, whole before it has its name."""
    shutil.copy(program, folder / "new")
    (folder / "new").replace(folder / program.name)
    return folder / program.name


class Symbols:
    """Functions of an executable by address, from its symbol table."""

    def __init__(self, path: Path) -> None:
        listed = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
        rows = (line.split() for line in listed.splitlines())
        found = sorted((int(row[0], 16), row[2]) for row in rows if row[1] in ("t", "T"))
        self._addresses = [address for address, _ in found]
        self._names = [name for _, name in found]

    def at(self, address: int) -> str:
        """Return the function at an address."""
        return self._names[bisect_right(self._addresses, address) - 1]


def test_a_stripped_program_has_addresses(collector: StackCollector, tmp_path: Path) -> None:
    (built,) = command("c")
    program = copied(Path(built), tmp_path)
    subprocess.run(["strip", program], check=True)
    symbols = Symbols(Path(built))
    with KnownCode([program]) as running:
        target = collector.attach(running.pid)
        collector.sample(target)
        while not (target.samples["node"] > 0).any():
            running.begin(0.3)
            running.account()
            collector.now_ns(target)
        running.begin(3)
        account = running.account()
        collector.settle(target)
    code, frames = target.code(), target.table("stack_frames")
    own = frames[frames["module"] == program.name]
    assert len(own)
    assert not own["function"].any()
    assert len(set(own["build_id"])) == 1
    assert own["build_id"][0]
    # Return addresses are behind calls; the last instruction of a function may be one.
    places = {
        f"{program.name}+{int(one['address']):#x}": symbols.at(int(one["address"]) - 1)
        for one in own
    }
    rows = target.samples
    last = rows[(rows["node"] > 0) & (rows["tid"] == max(account.workers))]
    stacks = [code.stack(int(node)) for node in last["node"]]
    right = [any(places.get(one.function, "") in account.ns for one in stack) for stack in stacks]
    assert len(right) > 50
    assert sum(right) >= NAMED * len(right)
    collector.detach(target)


def test_a_program_that_was_replaced_on_disk_keeps_its_names(
    collector: StackCollector, tmp_path: Path
) -> None:
    """The file at its path has other functions at the same addresses."""
    (built,) = command("c")
    program = copied(Path(built), tmp_path)
    with KnownCode([program]) as running:
        other = build_c(HERE / "known_waits.c")
        shutil.copy(other, tmp_path / "other")
        (tmp_path / "other").replace(program)
        target = collector.attach(running.pid)
        found = measured(collector, running, target, 3)
        check_named(found)
        collector.detach(target)


def test_a_program_that_executes_another_one_is_that_one(
    collector: StackCollector, tmp_path: Path
) -> None:
    words = " ".join(map(str, command("c++")))
    with RunningProgram(["sh", "-c", f"read line; echo begun; read line; exec {words}"]) as shell:
        target = collector.attach(shell.pid)
        collector.sample(target)
        assert shell.ask("\n") == "begun"
        collector.now_ns(target)
        shell.tell("\n")
        assert shell.line() == "ready"
        running = AsKnownCode(shell)
        found = measured(collector, running, target, 3)
        check_named(found)
        collector.detach(target)


class AsKnownCode(KnownCode):
    """A program that has become one of known_code.py."""

    def __init__(self, program: RunningProgram) -> None:
        self._program = program
        self.pid = program.pid

    def tell(self, words: str) -> None:
        """Write to it."""
        self._program.tell(words)

    def line(self) -> str:
        """Wait for its next line."""
        return self._program.line()


def test_a_tree_of_processes_that_fork_and_execute(collector: StackCollector) -> None:
    words = [list(map(str, command(one))) for one in ("c", "c++")]
    script = HERE / "forking_code.py"
    with RunningProgram([sys.executable, script, json.dumps(words)]) as parent:
        assert parent.line() == "ready"
        target = collector.attach_group(GroupSelector(kind="tree", pid=parent.pid))
        collector.sample(target)
        collector.until(lambda: collector.service.periods() != [])
        # Names are asked for while processes live; those of processes that have ended come later.
        while len(named_files(target)) < len(words):
            forked(parent, 4)
            collector.now_ns(target)
        begin = collector.now_ns(target)
        accounts = forked(parent, 5)
        window = begin, collector.settle(target)
        assert collector.state(target).trigger == "tracepoint"
        # Each child is a new process to the unwinder, which takes some of its time.
        for account in accounts:
            found = MeasuredCode(target, window, account)
            rows = found.rows(account.workers)
            assert (rows["node"] > 0).mean() > 0.5
            check_named(known_from(found))
            check_released_once_known(found)
        collector.detach(target)


def named_files(target: StackedTarget) -> set[str]:
    """Return build IDs of files in which functions of known_code.py have their names."""
    frames = target.table("stack_frames")
    names = zip(frames["build_id"].tolist(), frames["function"].tolist(), strict=True)
    return {build_id for build_id, function in names if "wait_longer" in function}


def forked(parent: RunningProgram, seconds: float) -> list[CodeAccount]:
    """Let children work; return their accounts."""
    return TypeAdapter(list[CodeAccount]).validate_json(parent.ask(f"{seconds}\n"))


def known_from(found: MeasuredCode) -> MeasuredCode:
    """Return the part of a work from its first known stacks on."""
    rows = found.rows(found.account.workers)
    known = rows[rows["node"] > 0]
    first = int(known["begin_ns"].min()) + 500_000_000
    return found._replace(window=(first, found.window[1]))


def check_released_once_known(found: MeasuredCode) -> None:
    part = known_from(found)
    code = found.target.code()
    rows = part.rows([found.account.waiter])
    rows = rows[rows["waker_node"] > 0]
    assert len(rows) >= 20
    for row in rows:
        function = functions_of(code.stack(int(row["waker_node"])), found.account.releasers)
        assert found.account.releasers[function] == row["waker_tid"]


def test_a_program_that_only_another_mount_namespace_has(
    collector: StackCollector, tmp_path: Path
) -> None:
    """In a mount namespace, as in a container, another file has the program's path."""
    (built,) = command("c")
    program = copied(Path(built), tmp_path)
    inner = Path("/mnt") / program.name
    assert not inner.exists()
    within = ["unshare", "--mount", "sh", "-c", f'mount --bind "{tmp_path}" /mnt && exec {inner}']
    if subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        raise missing("mount-namespace")
    with KnownCode(within) as running:
        target = collector.attach(running.pid)
        found = measured(collector, running, target, 3)
        check_named(found)
        check_shares(found)
        check_released(found)
        collector.detach(target)
