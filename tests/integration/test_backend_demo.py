"""The demo program: threads that the kernel knows by name, started and ended with the backend."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from asked_children import wait_for_children
from backend_builders import target
from backend_server import Backend, running_backend
from fake_collector import FakeCollector
from processes import is_running, start_ticks, thread_names, wait_for_end, wait_until
from programs.agent_program import AgentFolder
from tidscope_collector.agent.client import AgentClient, open_agent
from tidscope_collector.inspection.answering import LONGEST_TIMEOUT_S
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.agent import AgentReading
from tidscope_wire.generated.models import (
    AttachCommand,
    DemoResponse,
    Problem,
    RefusedReply,
)
from tidscope_wire.problems import make_problem

PROGRAM = [sys.executable, "-m", "tidscope_backend.demo"]
WAIT = 200


NAMED = {
    *("hash-worker-1", "disk-writer-2", "net-client-3", "net-server", "account-3", "clients"),
    *("reader", "sleeper", "request-8"),
}


def opened_by(pid: int) -> list[str]:
    """Files that a process has open, without those that it closes meanwhile."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(str(link.readlink()))
    return found


def test_it_runs_many_named_threads_and_ends_on_a_signal() -> None:
    with subprocess.Popen(PROGRAM, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        # Each thread names itself.
        wait_until(lambda: thread_names(process.pid) >= NAMED)
        assert 28 <= len(thread_names(process.pid)) <= 40
        files = opened_by(process.pid)
        process.terminate()
        assert process.wait(120) == 0
    # The files have no name, so nothing is left behind at any end.
    assert all("(deleted)" in name for name in files if name.startswith("/tmp"))


def test_a_smaller_pool_does_more_and_the_demo_leaves_its_size_alone() -> None:
    with AgentFolder() as folder:
        environment = {**os.environ, "TIDSCOPE_AGENT_DIR": str(folder)}
        with subprocess.Popen(PROGRAM, stdout=subprocess.PIPE, env=environment) as process:
            wait_for_children()
            wait_until((folder / f"{process.pid}.sock").exists)
            client = open_agent(
                *(ProcFs(), process.pid, start_ticks(process.pid)),
                timeout_s=60,
                opening_s=LONGEST_TIMEOUT_S,
            )
            assert (client.hello.knob, client.hello.size, client.hello.original) == ("pool", 8, 8)
            rates = [jobs_per_second(client, size) for size in (8, 4)]
            assert rates[1] > 1.5 * rates[0]
            assert client.release().wanted == 8
            client.close()
            process.terminate()
            assert process.wait(120) == 0


def jobs_per_second(client: AgentClient, size: int) -> float:
    """Throughput of the pool at a size, over 60 jobs after the first ten."""

    def done(jobs: int) -> AgentReading:
        wait_until(lambda: client.set(size, 60).size == size and client.read().ops >= jobs, 240)
        return client.read()

    first = done(client.read().ops + 10)
    last = done(first.ops + 60)
    return (last.ops - first.ops) / (last.monotonic_ns - first.monotonic_ns) * 1e9


def test_it_starts_short_lived_threads() -> None:
    with subprocess.Popen(PROGRAM, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seen: set[str] = set()
        while len(seen) < 3:
            seen |= {name for name in thread_names(process.pid) if name.startswith("task-")}
            assert process.poll() is None
            os.sched_yield()
        process.terminate()


def test_it_ends_with_its_parent() -> None:
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys\n"
            "child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)\n"
            "child.stdout.readline()\n"
            "print(child.pid, flush=True)\n"
            "child.wait()\n",
            *PROGRAM,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.send_signal(signal.SIGKILL)
        wait_for_end(pid)


async def started(client: httpx.AsyncClient, collector: FakeCollector) -> int:
    """Start the demo over REST; its process id."""
    asking = asyncio.create_task(client.post("/api/v1/demo"))
    command = await collector.attached()
    answer = await asking
    assert answer.status_code == 201
    assert DemoResponse.model_validate_json(answer.content).target == target()
    assert command.pid is not None
    assert command.start_ticks == start_ticks(command.pid)
    return command.pid


async def test_it_is_started_once_and_ended_on_request() -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend() as backend,
        backend.program() as client,
        backend.collector() as collector,
    ):
        await collector.greeted()
        pid = await started(client, collector)
        await asyncio.to_thread(wait_until, lambda: "hash-worker-1" in thread_names(pid))
        assert await started(client, collector) == pid
        assert (await client.delete("/api/v1/demo")).status_code == 204
        assert not is_running(pid)
        assert (await client.delete("/api/v1/demo")).status_code == 204
        assert await started(client, collector) != pid


async def test_it_ends_with_the_backend() -> None:
    async with asyncio.timeout(WAIT):
        async with (
            running_backend() as backend,
            backend.program() as client,
            backend.collector() as collector,
        ):
            await collector.greeted()
            pid = await started(client, collector)
        assert not is_running(pid)


async def refused_start(backend: Backend, collector: FakeCollector) -> tuple[Problem, int]:
    async with backend.program() as client:
        asking = asyncio.create_task(client.post("/api/v1/demo"))
        command = await collector.command(AttachCommand)
        said = make_problem("not-permitted", "the kernel says no", "be root")
        await collector.say(RefusedReply(request_id=command.request_id, problem=said))
        assert command.pid is not None
        return Problem.model_validate_json((await asking).content), command.pid


async def test_it_does_not_go_on_if_it_cannot_be_attached_to() -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend() as backend,
        backend.collector() as collector,
    ):
        await collector.greeted()
        document, pid = await refused_start(backend, collector)
        assert document.type == "urn:tidscope:problem:demo-failed"
        assert "the kernel says no" in document.detail
        assert not is_running(pid)


async def test_a_program_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidscope_backend.demo.demo_process.sys.executable", "/bin/false")
    async with (
        asyncio.timeout(WAIT),
        running_backend() as backend,
        backend.program() as client,
        backend.collector() as collector,
    ):
        await collector.greeted()
        answer = await client.post("/api/v1/demo")
        assert answer.status_code == 500
        assert "code 1" in Problem.model_validate_json(answer.content).detail
