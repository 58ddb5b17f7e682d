"""A target that executes another program is shown as that program."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from capabilities import needs
from followed_target import Sampled
from programs.build import build_go
from programs.go_programs import SOURCE
from tidscope_wire.generated.models import FrameHeader, ProgramExecuted, Target
from whole_site import Site

pytestmark = needs("root")


class Shell:
    """A shell that executes a command when it is asked to; use it in a ``with`` statement."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            ["sh", "-c", 'read line; exec "$@"', "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        self.pid = self._process.pid

    def execute(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def __enter__(self) -> "Shell":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def sampled() -> Iterator[Sampled]:
    made = Sampled()
    yield made
    made.close()


def until(sampled: Sampled, holds: Callable[[FrameHeader], bool]) -> FrameHeader:
    header = sampled.next()
    while not holds(header):
        header = sampled.next()
    return header


def executed(header: FrameHeader) -> list[ProgramExecuted]:
    return [event for event in header.events if isinstance(event, ProgramExecuted)]


def now(sampled: Sampled, target: Target) -> Target:
    return next(one for one in sampled.targets.all() if one.id == target.id)


def test_name_executable_and_arguments_are_those_of_the_new_program(sampled: Sampled) -> None:
    with Shell("sleep", "600") as shell:
        target, _ = sampled.targets.attach(shell.pid, None, 20)
        assert target.process.name == "sh"
        sampled.next()
        shell.execute()
        (event,) = executed(until(sampled, lambda header: bool(executed(header))))
        assert (event.name, event.previous) == ("sleep", target.process.executable)
        assert Path(event.executable or "").name == "sleep"
        until(sampled, lambda _: now(sampled, target).process.name != "sh")
        process = now(sampled, target).process
        assert (process.name, process.command) == ("sleep", "sleep 600")
        assert (process.executable, process.start_ticks) == (
            event.executable,
            target.process.start_ticks,
        )


def test_a_go_program_is_found_after_it_was_executed(sampled: Sampled) -> None:
    with Shell("env", "GOMAXPROCS=3", str(build_go(SOURCE))) as shell:
        target, _ = sampled.targets.attach(shell.pid, None, 20)
        assert (target.process.runtime, target.gomaxprocs_reason) == ("native", "Not a Go program.")
        shell.execute()
        header = until(sampled, lambda header: header.process.gomaxprocs is not None)
        assert header.process.gomaxprocs == 3
        found = now(sampled, target)
        assert (found.process.runtime, found.gomaxprocs_reason) == ("go", "")
        assert found.gomaxprocs == 3


def test_a_go_program_is_forgotten_after_it_executed_another_one(sampled: Sampled) -> None:
    go = f"GOMAXPROCS=3 EXEC=/bin/sh exec {build_go(SOURCE)} 5"
    with Shell("sh", "-c", go) as shell:
        target, _ = sampled.targets.attach(shell.pid, None, 20)
        shell.execute()
        until(sampled, lambda header: header.process.gomaxprocs == 3)
        subprocess.run(["kill", "-USR1", str(shell.pid)], check=True)
        header = until(sampled, lambda header: bool(executed(header)))
        assert header.process.gomaxprocs is None
        until(sampled, lambda _: now(sampled, target).process.runtime == "native")
        assert now(sampled, target).gomaxprocs_reason == "Not a Go program."


def test_the_same_program_executed_again_is_noticed(sampled: Sampled) -> None:
    with Shell("sh", "-c", "read again; exit") as shell:
        target, _ = sampled.targets.attach(shell.pid, None, 20)
        sampled.next()
        shell.execute()
        (event,) = executed(until(sampled, lambda header: bool(executed(header))))
        assert event.executable == event.previous
        until(sampled, lambda _: "again" in (now(sampled, target).process.command or ""))


@pytest.mark.asyncio(loop_scope="module")
async def test_the_page_learns_of_it(root: Site) -> None:
    with Shell("sleep", "600") as shell:
        target, follower = await root.attach(shell.pid)
        shell.execute()
        event = await follower.until_event(ProgramExecuted)
        assert event.name == "sleep"
        while (await root.target(target.id)).process.name != "sleep":
            await follower.next()
