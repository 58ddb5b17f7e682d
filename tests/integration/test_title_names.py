"""What a process says in its title is the name of its main thread, as it changes."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from followed_target import FollowedTarget
from processes import start_ticks
from programs.build import build_c
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.naming.source import TitleNames
from tidscope_collector.naming.thread_names import NamingOptions
from tidscope_wire.generated.models import FrameHeader, ThreadRenamed

LONG_WAIT = 400
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
    # Its only argument has room for the titles.
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
        naming = NamingOptions(ask_programs=True)
        with FollowedTarget(program.pid, naming=naming) as followed:
            seen: list[str] = []
            roles: set[str | None] = set()

            def take(header: FrameHeader | None) -> None:
                assert header is not None
                seen.extend(one.name for one in header.events if isinstance(one, ThreadRenamed))
                roles.update(one.role for one in header.roles or [])

            def until(name: str) -> None:
                for _ in range(LONG_WAIT):
                    take(followed.seen.header)
                    if name in seen and name in roles:
                        return
                    followed.next()
                raise AssertionError(f"{name} is not among {seen}, {roles}")

            until("postgres: idle")
            program.title("postgres: app shop [local] UPDATE waiting")
            until("postgres: UPDATE waiting")
            assert {"postgres: idle", "titled"} <= roles


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
