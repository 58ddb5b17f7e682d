"""A process that executes a program while looked at is no half of each; late answers count."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_proc import FakeProc, stat_line
from tidscope_collector.inspection.conversation import Conversation, ProgramReader, SeenProgram
from tidscope_collector.sampling.program import Program, ProgramWatch

PID = 7
SHELL, SLEEP = Program("/bin/sh", "sh", 1000), Program("/bin/sleep", "sleep", 2000)


class Process:
    """One whose files say what it runs."""

    def __init__(self, folder: Path) -> None:
        self._proc = FakeProc(folder)
        self._proc.process(PID)
        self.tasks = os.open(folder / f"{PID}/task", os.O_RDONLY | os.O_DIRECTORY)

    def executes(self, program: Program, *, stack_shown: bool = True) -> None:
        name, stack = program.name.encode(), program.stack if stack_shown else 0
        self._proc.write(f"{PID}/task/{PID}/stat", stat_line(PID, name, stack=stack))
        link = self._proc.root / f"{PID}/task/{PID}/exe"
        link.unlink(missing_ok=True)
        link.symlink_to(str(program.executable))


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    made = Process(tmp_path)
    yield made
    os.close(made.tasks)


class Answers(ProgramReader):
    """A child that sees the shell, and then sleep, which is executed in between."""

    def __init__(self, execute: Callable[[], None]) -> None:
        self._execute = execute
        self.first = SeenProgram(executable=SHELL.executable, stack=SHELL.stack)

    def observe(self, patience_s: float = 0) -> SeenProgram | None:
        self._execute()
        return SeenProgram(executable=SLEEP.executable, stack=SLEEP.stack)

    def close(self) -> None: ...


def test_what_a_child_saw_has_the_name_of_the_same_program(process: Process) -> None:
    process.executes(SHELL, stack_shown=False)
    reader = Answers(lambda: process.executes(SLEEP, stack_shown=False))
    watch = ProgramWatch(process.tasks, PID, SHELL.executable, SHELL.name, lambda: reader)
    change = watch.change()
    assert change is not None
    assert (change.program, change.previous, change.executed) == (SLEEP, SHELL.executable, True)


class Slow(Answers):
    """A child whose answers are late, but for the first."""

    late = True

    def observe(self, patience_s: float = 0) -> SeenProgram | None:
        return None if self.late else super().observe(patience_s)


def test_an_execution_before_the_second_answer_is_noticed(process: Process) -> None:
    """Path and name stay the same, so that only the stack tells."""
    again = Program(SHELL.executable, SHELL.name, SHELL.stack + 16)
    process.executes(SHELL, stack_shown=False)
    reader = Slow(lambda: process.executes(again, stack_shown=False))
    watch = ProgramWatch(process.tasks, PID, SHELL.executable, SHELL.name, lambda: reader)
    assert watch.program == SHELL
    assert watch.change() is None
    reader.late = False
    change = watch.change()
    assert change is not None
    assert change.executed


def test_what_is_seen_directly_is_of_one_program(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    process.executes(SHELL)
    watch = ProgramWatch(process.tasks, PID, SHELL.executable, SHELL.name)
    read = ProgramWatch._executable

    def executes_behind_it(watched: ProgramWatch) -> str | None:
        found = read(watched)
        process.executes(SLEEP)
        return found

    monkeypatch.setattr(ProgramWatch, "_executable", executes_behind_it)
    change = watch.change()
    assert change is not None
    assert (change.program, change.previous, change.executed) == (SLEEP, SHELL.executable, True)


def test_an_execution_in_progress_is_looked_at_again(process: Process) -> None:
    """The kernel sets path and name before the start of the stack."""
    process.executes(SHELL)
    watch = ProgramWatch(process.tasks, PID, SHELL.executable, SHELL.name)
    process.executes(SLEEP, stack_shown=False)
    assert (watch.change(), watch.executing) == (None, True)
    assert watch.program == SHELL
    process.executes(SLEEP)
    change = watch.change()
    assert change is not None
    assert (change.program, change.previous, change.executed) == (SLEEP, SHELL.executable, True)
    assert not watch.executing


class AnsweredByTest(ProgramReader):
    """A reader whose child is the test."""

    def __init__(self, connection: socket.socket) -> None:
        self._conversation = Conversation(0, connection, 16384)


def test_a_late_answer_serves_the_next_request() -> None:
    ours, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, child:
        reader = AnsweredByTest(ours)
        assert reader.observe(patience_s=0) is None
        seen = SeenProgram(executable=SLEEP.executable, stack=SLEEP.stack)
        child.send(seen.model_dump_json().encode())
        assert reader.observe(patience_s=0) == seen
        child.setblocking(False)
        assert child.recv(16) == b"?"
        with pytest.raises(BlockingIOError):
            child.recv(16)
