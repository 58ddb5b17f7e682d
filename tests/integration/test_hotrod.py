"""HotROD, Jaeger's example: what its mutex costs requests, and its traces out of a real Jaeger."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import pytest
from backend_server import running_backend
from capabilities import missing, needs
from installation import Installation, running_installation
from programs.hotrod import Hotrod, build_hotrod
from programs.jaeger import Jaeger, build_jaeger
from tidscope_backend.settings import SpanPorts
from tidscope_wire.generated.models import (
    SpanThread,
    TraceDetail,
    TraceDifference,
    TraceEndpoints,
    TraceList,
    TracesImported,
    TraceSummary,
)

TOKEN = "token-of-senders-of-spans"
ENDPOINT = {"service": "frontend", "operation": "/dispatch"}
SELECT = ("mysql", "SQL SELECT")
CLIENTS = 5
REQUESTS = 10


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    try:
        build_hotrod()
    except RuntimeError as error:
        raise missing("go-modules", str(error)) from None


@pytest.fixture
async def installation(tmp_path: Path) -> AsyncIterator[Installation]:
    changes = {"spans_token": TOKEN, "span_ports": SpanPorts(0, 0)}
    options = ("--no-steering", "--ask-programs")
    async with (
        asyncio.timeout(360),
        running_installation(tmp_path / "runs", (), options, **changes) as found,
    ):
        yield found


async def start(installation: Installation, *options: str) -> Hotrod:
    answer = await installation.client.get("/api/v1/traces/endpoints")
    port = TraceEndpoints.model_validate_json(answer.content).received.http_port
    spans = f"http://127.0.0.1:{port}/v1/traces"
    return await asyncio.to_thread(partial(Hotrod, spans, TOKEN, *options))


def is_whole(trace: TraceSummary) -> bool:
    """True if a trace has all its spans: 37, and one more for each call that failed."""
    return trace.spans == 37 + trace.errors


async def enough(installation: Installation, since_ns: int) -> None:
    """Wait until so many requests have come with all their spans, which come once a second.

    A trace may lack a span for ever: then wait until none has come for ten seconds.
    """
    before, same = -1, 0
    while True:
        answer = await installation.client.get(
            "/api/v1/traces", params={**ENDPOINT, "since_ns": since_ns}
        )
        traces = TraceList.model_validate_json(answer.content).traces
        spans = sum(one.spans for one in traces)
        before, same = spans, same + 1 if spans == before else 0
        if len(traces) >= REQUESTS and (all(map(is_whole, traces)) or same >= 20):
            return
        await asyncio.sleep(0.5)


async def newest(installation: Installation) -> str | None:
    """The newest trace that has all its spans."""
    answer = await installation.client.get("/api/v1/traces", params=ENDPOINT)
    traces = TraceList.model_validate_json(answer.raise_for_status().content).traces
    return next((one.trace_id for one in traces if is_whole(one)), None)


async def difference(installation: Installation, at_ns: int) -> TraceDifference:
    """Requests before a time and after it."""
    sets = {"base": urlencode({"until_ns": at_ns}), "other": urlencode({"since_ns": at_ns})}
    answer = await installation.client.get("/api/v1/traces/difference", params={**ENDPOINT, **sets})
    return TraceDifference.model_validate_json(answer.raise_for_status().content)


async def thread_of(
    installation: Installation, trace: str, operation: tuple[str, str]
) -> SpanThread:
    answer = await installation.client.get(f"/api/v1/traces/{trace}")
    found = TraceDetail.model_validate_json(answer.raise_for_status().content)
    (span,) = (one for one in found.spans if (one.service, one.operation) == operation)
    return next(one for one in found.threads if one.span_id == span.span_id)


def locked(thread: SpanThread) -> float:
    """Share of its own time that was waited for locks."""
    return sum(part.ns for part in thread.parts if part.reason == "locks") / thread.own_ns


def grown_most(found: TraceDifference) -> int:
    """Row of the call whose own time grew most."""
    tree = found.tree
    grown = [
        other - base
        for base, other in zip(tree.base_exclusive_ns, tree.other_exclusive_ns, strict=True)
    ]
    return grown.index(max(grown))


@needs("root")
@needs("btf")
@needs("go")
@pytest.mark.timeout(400)
async def test_the_mutexed_operation_grew_most_and_its_process_waited_for_the_mutex(
    installation: Installation,
) -> None:
    with await start(installation, "-M") as program:
        await asyncio.to_thread(program.load, REQUESTS, CLIENTS)
        await enough(installation, 0)
    between_ns = time.time_ns()
    with await start(installation) as program:
        target, _ = await installation.attach(program.pid, rate_hz=20)
        # A lock wait that the first reading finds has no beginning. Two clients wait less for each
        # other than more clients will.
        while True:
            await asyncio.to_thread(program.load, 6, 2)
            trace = await newest(installation)
            if trace is not None and (await thread_of(installation, trace, SELECT)).locks:
                break
        loaded_ns = time.time_ns()
        await asyncio.to_thread(program.load, 2 * REQUESTS, CLIENTS)
        await enough(installation, loaded_ns)
        # The profile is read every ten seconds at least.
        while True:
            found = await difference(installation, between_ns)
            row = grown_most(found)
            thread = await thread_of(installation, found.tree.exemplars[row][0], SELECT)
            if thread.locks and locked(thread) > 0.1:
                break
            await asyncio.sleep(1)
    name = found.tree.name[row]
    assert (name.service, name.operation) == SELECT
    base_ns, other_ns = found.tree.base_exclusive_ns[row], found.tree.other_exclusive_ns[row]
    # Alone it takes 0.3 s; with the mutex others are in front.
    assert base_ns > 0.2e9
    assert other_ns > 1.5 * base_ns
    assert (thread.joined_by, thread.target_id) == ("process", target.id)
    assert thread.pid == program.pid
    (lock, *_) = thread.locks
    assert lock.source == "go-mutex-profile"
    assert lock.name.startswith("mutex released by ")
    assert lock.name.endswith("/hotrod/pkg/tracing.(*Mutex).Unlock")


SENT = 4


@pytest.fixture(scope="module")
def jaeger_built() -> None:
    if "TIDSCOPE_BUILD_JAEGER" not in os.environ:
        raise missing("jaeger")
    build_jaeger()


@needs("go")
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("jaeger_built")
async def test_traces_of_hotrod_come_from_its_query_service(tmp_path: Path) -> None:
    async with running_backend(runs_dir=tmp_path) as backend, backend.program() as client:
        with Jaeger() as jaeger, Hotrod(jaeger.spans, "none", "-W", "10") as program:
            await asyncio.to_thread(program.load, SENT, 1)
            asked = {"port": jaeger.query, "service": "frontend", "limit": 20, "lookback_s": 3600}
            while True:
                answer = await client.post("/api/v1/traces/jaeger", json=asked)
                assert answer.status_code == 201, answer.text
                found = TracesImported.model_validate_json(answer.content)
                listed = await client.get("/api/v1/traces", params={"operation": "/dispatch"})
                traces = TraceList.model_validate_json(listed.content).traces
                # A request has a call of the customer service, of the driver's with 11 of Redis
                # and more after errors, and ten of the route service; spans come in batches.
                if len(traces) == SENT and all(one.spans >= 35 for one in traces):
                    break
                await asyncio.sleep(0.5)
        assert found.rejected == 0
        answer = await client.get(f"/api/v1/traces/{traces[0].trace_id}")
    detail = TraceDetail.model_validate_json(answer.content)
    assert {span.service for span in detail.spans} == {
        *("frontend", "customer", "mysql", "driver", "redis-manual", "route")
    }
    assert {span.pid for span in detail.spans} == {program.pid}
    assert sum(part.end_ns - part.start_ns for part in detail.path) == traces[0].duration_ns
