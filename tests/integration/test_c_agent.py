"""The C agent in a C++ program that resizes its threads itself; other promises are all agents'."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from asked_children import wait_for_children
from processes import start_ticks
from programs.agent_program import AGENTS, SANITIZED, AgentFolder, AgentProgram
from programs.build import build_cpp
from tidscope_collector.agent.client import AgentClient, open_agent
from tidscope_collector.inspection.answering import LONGEST_TIMEOUT_S
from tidscope_collector.procfs.files import ProcFs

SOURCE = Path(__file__).parents[1] / "programs" / "agent_c" / "own.cc"


def client_of(pid: int) -> AgentClient:
    start = start_ticks(pid)
    return open_agent(ProcFs(), pid, start, timeout_s=60, opening_s=LONGEST_TIMEOUT_S)


@pytest.fixture(scope="module")
def program() -> Iterator[AgentProgram]:
    wait_for_children()
    built = build_cpp(SOURCE, "-std=c++17", "-pedantic", f"-I{AGENTS / 'c'}", *SANITIZED)
    with AgentFolder() as folder, AgentProgram("c", folder, instead=[str(built)]) as started:
        yield started


def test_the_program_sets_its_size_and_counts_its_operations(program: AgentProgram) -> None:
    client = client_of(program.pid)
    hello = client.hello
    assert (hello.knob, hello.size, hello.line) == ("pool", 3, "threads = {size}")
    assert client.set(5, 60).size == 5
    assert program.ask("size") == "size 5"
    before = client.read().ops
    assert program.ask("ops 7") == "ops 7"
    reading = client.read()
    assert (reading.ops - before, reading.size) == (7, 5)
    client.release()
    assert program.ask("size") == "size 3"
    client.close()


def test_jobs_that_it_counts_make_the_figures_known(program: AgentProgram) -> None:
    client = client_of(program.pid)
    (before,) = client.read_pools().pools
    assert (before.name, before.size, before.finished, before.idle_ns) == ("own", 3, None, None)
    reading = client.read()
    assert reading.queue_waits is None
    assert program.ask("throw") == "throw"
    (after,) = client.read_pools().pools
    assert (after.submitted, after.finished, after.failed, after.busy) == (1, 1, 1, 0)
    assert after.idle_ns is None
    assert (client.read().ops - reading.ops, client.read().queue_waits) == (1, 1)
    client.close()


def test_a_child_after_fork_may_have_an_agent_of_its_own(program: AgentProgram) -> None:
    """The parent's agent serves on, also after the child has ended."""
    client = client_of(program.pid)
    word, pid, path = program.ask("fork").split()
    assert (word, Path(path).name) == ("fork", f"{pid}.sock")
    own = client_of(int(pid))
    assert own.hello.pid == int(pid)
    assert own.set(2, 60).size == 2
    own.close()
    assert program.ask("wait") == "wait 0"
    assert not Path(path).exists()
    assert (client.read().size, program.socket.exists()) == (3, True)
    client.close()
