"""Threads of running Java virtual machines under their whole names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import needs
from followed_target import FollowedTarget
from processes import descendants, start_ticks
from programs.contended import attach_socket
from programs.named_java import NamedJava
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.reader import ask_java_names
from tidscope_collector.naming.thread_names import NamingOptions
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.models import (
    FrameHeader,
    RoleTotals,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)

PROC = ProcFs()
EXEC, POLLER = "http-nio-127.0.0.1-18085-exec-3", "http-nio-127.0.0.1-18085-Poller"
LONG_WAIT = 400
"""Frames that may pass until names are there: 20 seconds of an idle machine."""


class Named:
    """A target and the names of its threads, as a reader of its frames knows them."""

    def __init__(self, followed: FollowedTarget) -> None:
        self._followed = followed
        self.names: dict[int, str] = {}
        self.ended: list[str] = []
        self.roles: dict[str | None, RoleTotals] = {}
        assert followed.seen.header is not None
        self._take(followed.seen.header)

    def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(LONG_WAIT):
            if condition():
                return
            self._take(self._followed.next())
        raise AssertionError(f"not in {LONG_WAIT} frames: {sorted(self.names.values())}")

    def count(self, name: str) -> int:
        return list(self.names.values()).count(name)

    def _take(self, header: FrameHeader) -> None:
        for event in header.events:
            match event:
                case ThreadBorn(tid=tid, name=name):
                    self.names[tid] = name
                case ThreadRenamed(tid=tid, name=name, previous=previous):
                    assert self.names[tid] == previous
                    self.names[tid] = name
                case ThreadExited(tid=tid, name=name):
                    self.names.pop(tid, None)
                    self.ended.append(name)
                case _:
                    pass
        if header.roles is not None:
            self.roles = {one.role: one for one in header.roles}


@contextmanager
def named(pid: int) -> Iterator[Named]:
    with FollowedTarget(pid, naming=NamingOptions(ask_programs=True)) as followed:
        yield Named(followed)


def test_threads_have_their_whole_names_from_birth_to_end() -> None:
    with NamedJava([EXEC, POLLER]) as program, named(program.pid) as found:
        found.until(lambda: found.count(EXEC) == found.count(POLLER) == 1)
        assert found.count("C2 CompilerThread0") == found.count("C1 CompilerThread0") == 1
        assert found.count("main") == 1
        # What the kernel calls both of them is nobody's name any more.
        assert found.count(EXEC[:15]) == 0
        found.until(lambda: any("-exec-" in str(role) for role in found.roles))
        program.start("a-thread-that-began-later-1")
        found.until(lambda: found.count("a-thread-that-began-later-1") == 1)
        program.rename(EXEC, "named-otherwise-by-itself")
        found.until(lambda: found.count("named-otherwise-by-itself") == 1)
        assert found.count(EXEC) == 0
        program.end(POLLER)
        found.until(lambda: POLLER in found.ended)
        # Nothing was printed: the signal did not ask for a dump on the program's output.
        assert program.output == []
        assert not Path(f"/proc/{program.pid}/root/tmp/.attach_pid{program.pid}").exists()


def test_where_nobody_is_asked_threads_have_the_names_of_the_kernel() -> None:
    with NamedJava([EXEC, POLLER]) as program, FollowedTarget(program.pid) as followed:
        found = Named(followed)
        found.until(lambda: found.count(EXEC[:15]) == 2)
        assert not attach_socket(program.pid).exists()


def test_a_machine_that_cannot_be_attached_to_is_not_signalled() -> None:
    """SIGQUIT would let it write a dump into its output."""
    with NamedJava([EXEC], ["-XX:+DisableAttachMechanism"]) as program:
        with pytest.raises(NoAnswerError, match="DisableAttachMechanism"):
            ask_java_names(program.pid, start_ticks(program.pid))
        program.start("still-alive")
        assert program.output == []


def test_a_machine_without_signals_has_its_socket_open() -> None:
    """SIGQUIT would end it; it is not needed."""
    with NamedJava([EXEC], ["-Xrs"]) as program:
        assert EXEC in ask_java_names(program.pid, start_ticks(program.pid)).values()
        program.start("still-alive")


@needs("root")
def test_threads_of_a_machine_in_a_pid_namespace_have_our_ids() -> None:
    within = ("unshare", "--pid", "--fork", "--kill-child")
    with NamedJava([EXEC], within=within) as program:
        (machine,) = descendants(program.pid)
        found = ask_java_names(machine, start_ticks(machine))
        tids = {int(task.name) for task in Path(f"/proc/{machine}/task").iterdir()}
        attach_socket(machine, 1).unlink()
    (tid,) = (tid for tid, name in found.items() if name == EXEC)
    assert tid in tids
