"""Limited children end at whatever they may not do; targets that do not answer hold up no other."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from followed_target import Sampled
from processes import start_ticks, status, wait_for_end, wait_until
from programs.hanging import BlockingRun, HangingDisk
from programs.limited import ATTEMPTS
from tidscope_collector.agent.client import AgentClientError, NoAgentError, open_agent
from tidscope_collector.confinement.children import OURS, ChildError, LimitedChildren, Reply
from tidscope_collector.confinement.fork_server import OPENING
from tidscope_collector.inspection.agent_sockets import FOLDER_VARIABLE
from tidscope_collector.inspection.asking import children as children_of_this_process
from tidscope_collector.inspection.gomaxprocs import open_gomaxprocs
from tidscope_collector.processes.listing import ProcessLister
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.models import GomaxprocsChanged

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def children() -> Iterator[LimitedChildren]:
    made = LimitedChildren("programs.limited", (*OURS, TESTS))
    yield made
    made.close()


def ask(children: LimitedChildren, question: str, deadline_s: float = 60) -> Reply:
    return children.ask(question, None, deadline_s=deadline_s, most_bytes=1 << 16)


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_child_cannot(children: LimitedChildren, attempt: str) -> None:
    assert ask(children, attempt) == Reply(b"", ended=True)
    # The fork server serves the next question.
    assert ask(children, "status").ended


def test_a_child_has_no_rights_and_nothing_open(children: LimitedChildren) -> None:
    text = ask(children, "status").data.decode()
    found = dict(line.split(":", 1) for line in text.splitlines())
    held = [found[f"Cap{kind}"].strip() for kind in ("Inh", "Prm", "Eff", "Amb")]
    assert held == ["0" * 16] * 4
    assert (found["NoNewPrivs"].strip(), found["Seccomp"].strip()) == ("1", "2")
    # The answer socket, and the status file.
    assert found["descriptors"].strip() == "2"


@needs("root")
def test_the_fork_server_keeps_what_opening_takes(children: LimitedChildren) -> None:
    children.keep(OPENING)
    assert ask(children, "status").ended  # The child has been given up by now.
    # CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE
    opening = [f"{1 << 2 | 1 << 19 | 1 << 40:016x}"]
    # The keeper gives up what the server has given up.
    wait_until(lambda: status(children.pid, "CapPrm") == opening)
    for pid in (children.pid, server_of(children)):
        assert (status(pid, "CapPrm"), status(pid, "CapEff")) == (opening, opening)
        assert status(pid, "CapBnd") == ["0" * 16]
        assert (status(pid, "NoNewPrivs"), status(pid, "Seccomp")) == (["1"], ["2"])
        assert Path(f"/proc/{pid}/environ").read_bytes() == b""


def test_an_answer_without_an_end_is_cut(children: LimitedChildren) -> None:
    reply = ask(children, "flood")
    assert (len(reply.data), reply.ended) == (1 << 16, False)


def test_one_that_does_not_answer_is_ended(children: LimitedChildren) -> None:
    given_up = children.given_up
    assert ask(children, "sleep", deadline_s=0.2) == Reply(b"", ended=False)
    assert children.given_up == given_up + 1
    assert ask(children, "status").ended


def server_of(children: LimitedChildren) -> int:
    """The fork server; its keeper has no other child."""
    (server,) = map(
        int, Path(f"/proc/{children.pid}/task/{children.pid}/children").read_text().split()
    )
    return server


def test_a_fork_server_that_is_killed_is_replaced() -> None:
    """The fork server has no additional rights, and its children still answer."""
    children = LimitedChildren("programs.limited", (*OURS, TESTS))
    children.keep(OPENING)
    number, long_lived = children.begin("echo", None)
    long_lived.send(b"before")
    assert long_lived.recv(16) == b"before"
    rights = 1 << 2 | 1 << 19 | 1 << 40  # of OPENING
    wait_until(lambda: int(status(children.pid, "CapPrm")[0], 16) & ~rights == 0)
    killed = server_of(children)
    os.kill(killed, signal.SIGKILL)
    wait_for_end(killed)
    assert ask(children, "status").ended
    server = server_of(children)
    assert server != killed
    for pid in (server, children.pid):
        assert int(status(pid, "CapPrm")[0], 16) & ~rights == 0
        assert (status(pid, "NoNewPrivs"), status(pid, "Seccomp")) == (["1"], ["2"])
    long_lived.send(b"after")
    assert long_lived.recv(16) == b"after"
    # One that is not its own cannot be killed by it; that does no harm.
    children.give_up(number, long_lived)
    assert ask(children, "status").ended
    children.close()
    wait_for_end(server)


def test_without_a_fork_server_there_is_no_answer() -> None:
    children = LimitedChildren("programs.limited", (*OURS, TESTS))
    assert ask(children, "status").ended
    server = server_of(children)
    os.kill(children.pid, signal.SIGKILL)
    os.waitpid(children.pid, 0)
    # The server continues; but nothing would replace it.
    assert ask(children, "status").ended
    os.kill(server, signal.SIGKILL)
    wait_for_end(server)
    with pytest.raises(ChildError, match="restart the collector"):
        ask(children, "status")
    children.close()


def test_the_fork_server_ends_with_whoever_asks() -> None:
    children = LimitedChildren("programs.limited", (*OURS, TESTS))
    process = os.fork()
    if process == 0:
        # Another one that has the connection open must not keep it: it is closed on exec.
        os.execv("/bin/sleep", ["sleep", "60"])
    assert ask(children, "status").ended
    pid, server = children.pid, server_of(children)
    children.close()
    wait_for_end(pid)
    wait_for_end(server)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[HangingDisk]:
    with HangingDisk(tmp_path / "disk") as mounted:
        yield mounted


@pytest.fixture
def sampled() -> Iterator[Sampled]:
    made = Sampled()
    yield made
    made.close()


def unanswered(sampled: Sampled, samples: int) -> list[int | None]:
    """Counts of late answers in the first so many samples in a row that have no GOMAXPROCS.

    On a busy machine an answer may be late before the memory hangs, but it comes.
    """
    found: list[int | None] = []
    while len(found) < samples:
        gauges = sampled.next().process
        found = [*found, gauges.gomaxprocs_missed] if gauges.gomaxprocs is None else []
    return found


@needs("root")
def test_memory_that_does_not_answer_costs_readings_and_no_samples(
    disk: HangingDisk, sampled: Sampled
) -> None:
    with BlockingRun() as program:
        target, _ = sampled.targets.attach(program.pid, None, 50)
        assert target.gomaxprocs == 7
        # On a busy machine an answer may be late.
        while (gauges := sampled.next().process).gomaxprocs is None:
            pass
        assert gauges.gomaxprocs == 7
        assert program.say(f"open {disk.page}") == "done"
        disk.hang()
        # Only now: what a sample has read before stays in memory.
        assert program.say("memory") == "done"
        missed = unanswered(sampled, 20)
        assert missed[0] is not None
        assert missed == list(range(missed[0], missed[0] + 20))
        disk.answer()
        while (header := sampled.next()).process.gomaxprocs != 5:
            pass
        assert GomaxprocsChanged(size=5, previous=7) in header.events
        sampled.targets.detach(target.id)


@needs("root")
def test_a_target_with_such_memory_is_let_go(disk: HangingDisk, sampled: Sampled) -> None:
    with BlockingRun() as program:
        target, _ = sampled.targets.attach(program.pid, None, 50)
        assert program.say(f"open {disk.page}") == "done"
        disk.hang()
        # Only now: what a sample has read before stays in memory.
        assert program.say("memory") == "done"
        unanswered(sampled, 20)
        assert sampled.targets.detach(target.id).state == "detached"
        disk.answer()


@needs("root")
def test_an_executable_that_does_not_answer_is_listed_and_attached_to(
    disk: HangingDisk, sampled: Sampled
) -> None:
    with BlockingRun(disk.program) as program, BlockingRun() as other:
        disk.hang()
        listed = {process.pid: process for process in ProcessLister().processes()}
        found = listed[program.pid]
        assert (found.command, found.runtime) == ("[program]", "unknown")
        # Nobody else is left out for it.
        assert (listed[other.pid].runtime, listed[other.pid].runtime_version) == ("go", "go1.26.8")
        target, _ = sampled.targets.attach(program.pid, None, 50)
        assert target.gomaxprocs is None
        assert "do not answer" in target.gomaxprocs_reason
        assert sampled.next().live_threads == 1
        disk.answer()


@needs("root")
def test_an_agents_folder_that_does_not_answer_is_given_up(disk: HangingDisk) -> None:
    with subprocess.Popen(["sleep", "600"], env={FOLDER_VARIABLE: disk.folder}) as program:
        start = start_ticks(program.pid)
        with pytest.raises(NoAgentError, match="there is no"):
            open_agent(ProcFs(), program.pid, start)
        disk.hang()
        with pytest.raises(AgentClientError, match="does not answer"):
            open_agent(ProcFs(), program.pid, start)
        disk.answer()
        program.kill()


def wait_for_children(pid: int) -> None:
    """Wait until no child waits for a disk; a Go program can be read then."""
    while (found := open_gomaxprocs(pid, start_ticks(pid))).reader is None:
        assert "children wait for" in found.reason
    found.reader.close()


@needs("root")
def test_children_that_cannot_be_ended_are_bounded(
    disk: HangingDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidscope_collector.confinement.children.MAX_STUCK", 1)
    with BlockingRun(disk.program) as program, BlockingRun() as other:
        start = start_ticks(program.pid)
        # A child of an earlier test may be ending.
        wait_for_children(other.pid)
        monkeypatch.setattr("tidscope_collector.inspection.reader.PROGRAM_S", 0.2)
        disk.hang()
        reasons = [open_gomaxprocs(program.pid, start).reason]
        # On a busy machine a child is ended before it waits for the disk.
        while "children wait for" not in reasons[-1]:
            reasons.append(open_gomaxprocs(program.pid, start).reason)
        assert all("do not answer" in reason for reason in reasons[:-1])
        assert len(reasons) > 1
        disk.answer()
        monkeypatch.setattr("tidscope_collector.inspection.reader.PROGRAM_S", 60.0)
        wait_for_children(program.pid)
    assert children_of_this_process().given_up > 0
