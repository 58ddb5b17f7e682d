"""Spans of an attached program, joined with what its threads did: live, and from a run."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from backend_server import TOKEN
from capabilities import needs
from installation import Installation, running_installation
from tidscope_backend.settings import SpanPorts
from tidscope_backend.store.reader import RunReader
from tidscope_backend.traces.folder import SpanRetention
from tidscope_backend.traces.joining.joiner import join
from tidscope_backend.traces.joining.places import Places
from tidscope_backend.traces.queries import SpanQueries
from tidscope_backend.traces.span_store import SpanStore
from tidscope_traces.critical.path import critical_path
from tidscope_traces.spans.model import make_trace
from tidscope_wire.generated.models import (
    RunManifest,
    RunsResponse,
    SpanThread,
    TraceDetail,
    TraceEndpoints,
    TraceList,
)

PROGRAM = Path(__file__).parents[1] / "programs" / "traced.py"
SPANS_TOKEN = "token-of-senders-of-spans"
PATIENCE_S = 15.0
"""Locks are read once in three seconds, more seldom where that costs much."""
pytestmark = [needs("root"), needs("btf"), pytest.mark.timeout(300)]


@pytest.fixture
async def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
async def installation(runs: Path) -> AsyncIterator[Installation]:
    changes = {"spans_token": SPANS_TOKEN, "span_ports": SpanPorts(0, 0)}
    # Beside other load a budget would lower the rate: a few samples leave doubt about a short span.
    options = ("--budget-percent", "0")
    async with asyncio.timeout(280), running_installation(runs, (), options, **changes) as found:
        yield found


class Traced:
    """The program, and its requests."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def request(self, which: bytes = b"") -> dict[str, Any]:
        """Let it serve one; its answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(which + b"\n")
        return await self.answer()

    async def answer(self) -> dict[str, Any]:
        """The next line that it prints."""
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(await self.process.stdout.readline())
        return found


@pytest.fixture
async def traced(installation: Installation) -> AsyncIterator[Traced]:
    answer = await installation.client.get("/api/v1/traces/endpoints")
    port = TraceEndpoints.model_validate_json(answer.content).received.http_port
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(PROGRAM), f"http://127.0.0.1:{port}/v1/traces", SPANS_TOKEN),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    found = Traced(process)
    await found.answer()
    yield found
    process.kill()
    await process.communicate()


async def detail(installation: Installation, trace: str) -> TraceDetail:
    answer = await installation.client.get(f"/api/v1/traces/{trace}")
    return TraceDetail.model_validate_json(answer.raise_for_status().content)


async def measured(installation: Installation, trace: str) -> TraceDetail | None:
    """Return the trace once samples leave little doubt and a reading of locks has its wait.

    None if they came too late to say that of this one.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE_S
    while loop.time() < until:
        seen = await detail(installation, trace)
        wait, compute = (by_operation(seen)[one] for one in ("wait", "compute"))
        read = sum(lock.wait_ns for lock in wait.locks) > 0.5 * wait.own_ns
        # Unseen time, and a wait for a CPU behind the lock, may be parts of both.
        shares = share(wait, "locks"), share(compute, "running", "runnable")
        if read and min(wait.coverage, compute.coverage) > 0.8 and min(shares) > 0.85:
            return seen
        await asyncio.sleep(0.2)
    return None


def by_operation(found: TraceDetail) -> dict[str, SpanThread]:
    names = {span.span_id: span.operation for span in found.spans}
    return {names[one.span_id]: one for one in found.threads}


def share(thread: SpanThread, *reasons: str) -> float:
    return sum(part.ns for part in thread.parts if part.reason in reasons) / thread.own_ns


async def test_a_request_that_waits_for_a_lock_says_so_and_who_held_it(
    installation: Installation, traced: Traced, runs: Path
) -> None:
    target, _ = await installation.attach(traced.process.pid, rate_hz=50)
    answer = await installation.client.post("/api/v1/runs", json={"target": target.id})
    run = RunManifest.model_validate_json(answer.raise_for_status().content)
    # One more request where samples or readings of locks came too late to say much of the last one.
    served = []
    seen = None
    while seen is None:
        served.append(found := await traced.request())
        seen = await measured(installation, found["trace"])
    wait, compute = (by_operation(seen)[one] for one in ("wait", "compute"))
    for one in (wait, compute):
        assert (one.joined_by, one.tid, one.target_id) == ("thread", found["waiter"], target.id)
        assert one.thread_name == "waiter"
        assert sum(part.ns for part in one.parts) == one.own_ns
    assert share(wait, "locks") > 0.8, wait
    assert share(compute, "running", "runnable") > 0.8, compute
    assert wait.locks[0].woken_by == "holder", wait.locks
    assert wait.locks[0].wait_ns > 0.5 * wait.own_ns

    answer = await installation.client.get(
        "/api/v1/traces", params={"pid": traced.process.pid, "thread_id": found["waiter"]}
    )
    listed = TraceList.model_validate_json(answer.content).traces
    assert [one.trace_id for one in listed] == [one["trace"] for one in reversed(served)]

    await installation.client.post(f"/api/v1/runs/{run.id}/stop")
    answer = await installation.client.get("/api/v1/runs")
    runs_there = RunsResponse.model_validate_json(answer.content).runs
    store = SpanStore(lambda: runs, runs, SpanRetention(None, None), lambda: 0.0)
    spans = SpanQueries(store.read).trace(found["trace"])
    recorded = Places([], runs_there, lambda one: RunReader(runs / one))
    path = critical_path(make_trace(found["trace"], spans))
    replayed = {one.span_id: one for one in await asyncio.to_thread(join, path, recorded)}
    again = replayed[wait.span_id]
    assert (again.run_id, again.target_id, again.tid) == (run.id, None, found["waiter"])
    assert share(again, "locks") > 0.8, again

    # Without the thread the whole process is split: one of its threads computes, or none does.
    nameless = [span._replace(thread_id=None) for span in spans]
    path = critical_path(make_trace(found["trace"], nameless))
    whole = {one.span_id: one for one in await asyncio.to_thread(join, path, recorded)}
    assert {one.joined_by for one in whole.values()} == {"process"}
    assert share(whole[wait.span_id], "locks", "idle") > 0.5, whole
    assert share(whole[compute.span_id], "running", "runnable") > 0.5, whole


async def test_a_thread_without_a_name_gets_that_of_its_spans(
    installation: Installation, traced: Traced
) -> None:
    await installation.attach(traced.process.pid, rate_hz=50)
    async with asyncio.timeout(200):
        while True:
            found = await traced.request(b"note")
            note = by_operation(await detail(installation, found["trace"]))["note"]
            if note.thread_name == "order -worker":
                break
    assert note.tid == found["noter"]
    # The spans call the thread Thread-2, but it has a name in the kernel.
    found = await traced.request()
    seen = by_operation(await detail(installation, found["trace"]))
    assert seen["wait"].thread_name == "waiter"


async def test_spans_of_who_is_not_attached_say_why_they_are_not_joined(
    installation: Installation, traced: Traced
) -> None:
    found = await traced.request()
    seen = await detail(installation, found["trace"])
    assert {one.joined_by for one in seen.threads} == {None}
    assert {one.note for one in seen.threads} == {
        f"process {traced.process.pid} was neither attached nor recorded at that time"
    }
    async with installation.backend.viewer() as viewer:
        answer = await viewer.get(f"/api/v1/traces/{found['trace']}")
    hidden = TraceDetail.model_validate_json(answer.content)
    assert all(not span.attributes for span in hidden.spans)
    assert TOKEN not in answer.text
