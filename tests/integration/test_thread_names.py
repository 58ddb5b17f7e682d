"""Names and roles of threads in running programs: Go, Java, titles, and a person's own roles."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import needs
from followed_target import FollowedTarget
from group_targets import GroupTargets
from processes import descendants, start_ticks, wait_until
from programs.build import build_c
from programs.contended import attach_socket, contended_go
from programs.named_java import NamedJava
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.reader import ask_go_threads, ask_java_names
from tidscope_collector.naming.source import NOT_ASKED, TitleNames
from tidscope_collector.naming.thread_names import NamingOptions
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.frame import split
from tidscope_wire.generated.models import (
    FrameHeader,
    GroupSelector,
    RoleRule,
    RoleTotals,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)


@needs("go")
@pytest.mark.parametrize("flags", [(), ("-buildmode=pie",)])
def test_sysmon_is_one_thread_of_a_go_program_and_not_its_first(flags: tuple[str, ...]) -> None:
    with contended_go(flags=flags) as program:
        ticks = start_ticks(program.pid)
        found: dict[int, str] = {}

        def seen() -> bool:
            found.update(ask_go_threads(program.pid, ticks))
            return "sysmon" in found.values()  # The thread is recognized while it waits.

        wait_until(seen)
        for _ in range(5):
            found |= ask_go_threads(program.pid, ticks)
    assert list(found.values()).count("sysmon") == 1
    assert program.pid not in found


@needs("go")
def test_a_program_without_symbols_says_so() -> None:
    with (
        contended_go(flags=("-ldflags=-s -w",)) as program,
        pytest.raises(NoAnswerError, match="no symbols"),
    ):
        ask_go_threads(program.pid, start_ticks(program.pid))


PROC = ProcFs()
EXEC, POLLER = "http-nio-127.0.0.1-18085-exec-3", "http-nio-127.0.0.1-18085-Poller"
PATIENCE_S = 120.0
"""How long names may take to arrive on a busy machine, seconds."""


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
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, sorted(self.names.values())
            self._take(self._followed.next())

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
    naming = NamingOptions(read_programs=True, ask_programs=True)
    with FollowedTarget(pid, naming=naming) as followed:
        yield Named(followed)


def test_threads_have_their_whole_names_from_birth_to_end() -> None:
    with NamedJava([EXEC, POLLER]) as program, named(program.pid) as found:
        found.until(lambda: found.count(EXEC) == found.count(POLLER) == 1)
        assert found.count("C2 CompilerThread0") == found.count("C1 CompilerThread0") == 1
        assert found.count("main") == 1
        # The kernel's name of both threads is no longer in use.
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


def test_a_machine_is_left_alone_unless_programs_may_be_asked_and_the_target_says_so() -> None:
    naming = NamingOptions(read_programs=True)
    with (
        NamedJava([EXEC, POLLER]) as program,
        FollowedTarget(program.pid, naming=naming) as followed,
    ):
        found = Named(followed)
        found.until(lambda: found.count(EXEC[:15]) == 2)

        def said() -> str:
            return followed.targets.attached(followed.target.id).thread_names or ""

        found.until(lambda: NOT_ASKED in said())
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
        # A thread of the machine opens it beside the first ones of the program.
        wait_until(attach_socket(program.pid).exists)
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


"""Frames until a name must be there: 20 seconds of an idle machine."""


class Titled:
    """A program whose title is what a test says."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def title(self, text: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{text}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def titled(first: str) -> Iterator[Titled]:
    program = build_c(Path(__file__).parents[1] / "programs" / "titled.c")
    # The only argument has room for the titles.
    with subprocess.Popen(
        ["x" * 200], executable=program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        found = Titled(process)
        found.title(first)
        try:
            yield found
        finally:
            process.kill()


def test_the_main_thread_is_called_after_what_the_title_says() -> None:
    with titled("postgres: app shop [local] idle") as program:
        naming = NamingOptions(read_programs=True)
        with FollowedTarget(program.pid, naming=naming) as followed:
            seen: list[str] = []
            roles: set[str | None] = set()

            def take(header: FrameHeader | None) -> None:
                assert header is not None
                named = [
                    one for one in header.events if isinstance(one, ThreadBorn | ThreadRenamed)
                ]
                seen.extend(one.name for one in named)
                roles.update(one.role for one in header.roles or [])

            def until(name: str) -> None:
                deadline = time.monotonic() + PATIENCE_S
                take(followed.seen.header)
                while not (name in seen and name in roles):
                    assert time.monotonic() < deadline, f"{name} is not among {seen}, {roles}"
                    take(followed.next())

            until("postgres: client backend")
            program.title("postgres: checkpointer")
            until("postgres: checkpointer")
            # A title that is read before the first sample names the thread from its birth.
            assert seen[0] in ("titled", "postgres: client backend")
            assert {"postgres: client backend", seen[0]} <= roles


def test_a_process_that_ends_has_no_title_any_more() -> None:
    with titled("worker: one") as program:
        names = TitleNames(program.pid, start_ticks(program.pid))
        assert names.read() == {program.pid: "worker: one"}
        program.title("worker: two words")
        assert names.read() == {program.pid: "worker: two words"}
        program.title("plain")
        assert names.read() == {}
    with pytest.raises(NoAnswerError):
        names.read()
    names.close()


OWN = RoleRule(pattern="ca?", role="mine")
GIVEN = RoleRule(pattern="c*", role="of the collector")


@pytest.fixture
def program() -> Iterator[int]:
    """A process that is called cat, and waits."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # After the execution the name is that of the new program.
        process.stdin.write(b"x")
        process.stdin.flush()
        assert process.stdout.read(1) == b"x"
        yield process.pid
        process.kill()


def test_they_stand_before_those_of_the_collector(program: int) -> None:
    with FollowedTarget(program, naming=NamingOptions(role_rules=(GIVEN,))) as followed:
        header = followed.seen.header
        assert header is not None
        assert [one.role for one in header.roles or ()] == ["of the collector"]
        followed.detach()
        target, created = followed.targets.attach(program, None, 10, [OWN])
        assert created
        assert target.role_rules == [OWN, GIVEN]
        # A second attachment gets the existing target.
        assert followed.targets.attach(program, None, 10) == (target, False)


def test_a_group_is_counted_by_them(program: int) -> None:
    groups = GroupTargets()
    try:
        selector = GroupSelector(kind="tree", pid=program)
        target, _ = groups.targets.attach_group(selector, 10, [OWN])
        assert target.role_rules == [OWN]
        header, _ = split(groups.frames.get(timeout=120))
        assert [one.role for one in header.roles or ()] == ["mine"]
    finally:
        groups.close()
