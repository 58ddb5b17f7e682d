"""A target is the process that was attached to, also after exec; none takes its place."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE

import pytest
from capabilities import needs
from followed_target import Sampled
from installation import Installation
from processes import start_ticks, wait_until
from programs.build import build_go
from programs.go_programs import SOURCE
from programs.known_work import KnownWork
from tidscope_collector.agent.client import NoAgentError, open_agent
from tidscope_collector.inspection import go_questions
from tidscope_collector.inspection.gomaxprocs import open_gomaxprocs
from tidscope_collector.inspection.own_server import OwnedPort
from tidscope_collector.inspection.process_files import open_file
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.models import FrameHeader, ProgramExecuted, Target

PROC = ProcFs()
REUSED_ID = Path(__file__).parents[1] / "programs" / "reused_id.py"
LISTEN = (
    "import socket, sys\n"
    "server = socket.socket()\n"
    "if len(sys.argv) > 2: server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)\n"
    "server.bind(('0.0.0.0', int(sys.argv[1])))\n"
    "server.listen()\n"
    "print(server.getsockname()[1], flush=True)\n"
    "input()\n"
)


class Listener:
    """A program that listens on a port; use it in a ``with`` statement."""

    def __init__(
        self, port: int = 0, *, shared: bool = False, within: tuple[str, ...] = ()
    ) -> None:
        self._process = subprocess.Popen(
            [*within, sys.executable, "-c", LISTEN, str(port), *(["shared"] if shared else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.pid = self._process.pid

    def owned(self) -> OwnedPort:
        return OwnedPort(self.pid, start_ticks(self.pid), self.port)

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate("\n")


def test_memory_of_a_program_that_is_executed_meanwhile_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a program would choose where in the memory of the next one is read."""
    with subprocess.Popen(["sh", "-c", "read line; exec sleep 60"], stdin=PIPE) as program:
        stdin = program.stdin
        assert stdin is not None

        def open_after_execution(folder: int, name: str) -> int:
            if name == "mem":
                stdin.write(b"\n")
                stdin.flush()
                wait_until(lambda: os.readlink("exe", dir_fd=folder).endswith("/sleep"))
            return open_file(folder, name)

        folder = os.open(f"/proc/{program.pid}", os.O_RDONLY | os.O_DIRECTORY)
        own = os.open(f"/proc/{os.getpid()}", os.O_RDONLY | os.O_DIRECTORY)
        assert go_questions.open_execution(own).memory >= 0
        monkeypatch.setattr(go_questions, "open_file", open_after_execution)
        with pytest.raises(ProcessLookupError):
            go_questions.open_execution(folder)
        program.kill()


@needs("root")
@needs("two-cpus")
def test_an_affinity_is_not_set_on_who_got_the_id() -> None:
    done = subprocess.run(
        ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, str(REUSED_ID)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True 0\n"


def test_a_port_of_the_target_is_asked() -> None:
    with Listener() as target:
        port = target.owned()
        assert [port.refusal(), port.refusal()] == ["", ""]


def test_a_port_that_another_process_took_is_not_asked() -> None:
    with Listener() as target:
        port = OwnedPort(os.getpid(), start_ticks(os.getpid()), target.port)
        assert "belongs to another process" in port.refusal()
    # A bound socket that does not listen keeps the port from the programs of other tests.
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        kept.bind(("127.0.0.1", 0))
        taken = kept.getsockname()[1]
        port = OwnedPort(os.getpid(), start_ticks(os.getpid()), taken)
        with socket.create_server(("127.0.0.1", taken), reuse_port=True):
            assert port.refusal() == ""
        assert "Nobody listens" in port.refusal()
        with Listener(taken, shared=True):
            assert "belongs to another process" in port.refusal()


def test_a_port_that_two_processes_share_is_not_asked() -> None:
    with Listener(shared=True) as target:
        port = target.owned()
        assert port.refusal() == ""
        with Listener(target.port, shared=True):
            assert "belongs to another process" in port.refusal()


@needs("root")
def test_a_port_of_another_network_namespace_is_not_asked() -> None:
    with Listener() as other, Listener(other.port, within=("unshare", "--net")) as target:
        assert "another network namespace" in target.owned().refusal()
        assert other.owned().refusal() == ""


def test_a_process_that_got_the_id_is_not_examined(known_work: KnownWork) -> None:
    """The start time distinguishes the process from the intended one."""
    pid, earlier = known_work.pid, start_ticks(known_work.pid) - 1
    assert "No such process" in open_gomaxprocs(pid, earlier).reason
    with pytest.raises(NoAgentError, match="has ended"):
        open_agent(PROC, pid, earlier)
    assert "has ended" in OwnedPort(pid, earlier, 80).refusal()


class Shell:
    """A shell that executes a command when it is asked to; use it in a ``with`` statement."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            ["sh", "-c", 'echo ready; read line; exec "$@"', "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.pid = self._process.pid
        # For a moment after its execution the process still has the name of the test.
        assert self.line() == b"ready\n"

    def line(self) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

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


@needs("root")
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


@needs("root")
def test_a_go_program_is_found_after_it_was_executed(sampled: Sampled) -> None:
    with Shell("env", "GOMAXPROCS=3", str(build_go(SOURCE))) as shell:
        target, _ = sampled.targets.attach(shell.pid, None, 20)
        assert (target.process.runtime, target.gomaxprocs_reason) == ("native", "Not a Go program.")
        shell.execute()
        header = until(sampled, lambda header: header.process.gomaxprocs is not None)
        assert header.process.gomaxprocs == 3
        # The frame may be here before the target's description.
        until(sampled, lambda _: now(sampled, target).process.runtime == "go")
        found = now(sampled, target)
        assert (found.process.runtime, found.gomaxprocs_reason) == ("go", "")
        assert found.gomaxprocs == 3


@needs("root")
def test_a_go_program_is_forgotten_after_it_executed_another_one(sampled: Sampled) -> None:
    go = f"GOMAXPROCS=3 EXEC=/bin/sh exec {build_go(SOURCE)} 5"
    with Shell("sh", "-c", go) as shell:
        target, _ = sampled.targets.attach(shell.pid, None, 20)
        shell.execute()
        until(sampled, lambda header: header.process.gomaxprocs == 3)
        # The program writes its size when it waits for the signal, which it would lose before.
        assert shell.line() == b"3\n"
        os.kill(shell.pid, signal.SIGUSR1)
        header = until(sampled, lambda header: bool(executed(header)))
        assert header.process.gomaxprocs is None
        until(sampled, lambda _: now(sampled, target).process.runtime == "native")
        assert now(sampled, target).gomaxprocs_reason == "Not a Go program."


@needs("root")
def test_the_same_program_executed_again_is_noticed(sampled: Sampled) -> None:
    with Shell("sh", "-c", "read again; exit") as shell:
        target, _ = sampled.targets.attach(shell.pid, None, 20)
        sampled.next()
        shell.execute()
        (event,) = executed(until(sampled, lambda header: bool(executed(header))))
        assert event.executable == event.previous
        until(sampled, lambda _: "again" in (now(sampled, target).process.command or ""))


@needs("root")
@pytest.mark.asyncio(loop_scope="module")
async def test_the_page_learns_of_it(root: Installation) -> None:
    with Shell("sleep", "600") as shell:
        target, follower = await root.attach(shell.pid)
        shell.execute()
        event = await follower.until_event(ProgramExecuted)
        assert event.name == "sleep"
        while (await root.target(target.id)).process.name != "sleep":
            await follower.next()
