"""Traces of a real Jaeger are what the services sent to it."""

import asyncio
import os
from pathlib import Path

import pytest
from backend_server import running_backend
from capabilities import missing, needs
from programs.hotrod import Hotrod
from programs.jaeger import Jaeger, build_jaeger
from tidscope_wire.generated.models import TraceDetail, TraceList, TracesImported

REQUESTS = 4
pytestmark = [needs("go"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    if "TIDSCOPE_BUILD_JAEGER" not in os.environ:
        raise missing("jaeger")
    build_jaeger()


async def test_traces_of_hotrod_come_from_its_query_service(tmp_path: Path) -> None:
    async with running_backend(runs_dir=tmp_path) as backend, backend.program() as client:
        with Jaeger() as jaeger, Hotrod(jaeger.spans, "none", "-W", "10") as program:
            await asyncio.to_thread(program.load, REQUESTS, 1)
            asked = {"port": jaeger.query, "service": "frontend", "limit": 20, "lookback_s": 3600}
            while True:
                answer = await client.post("/api/v1/traces/jaeger", json=asked)
                assert answer.status_code == 201, answer.text
                found = TracesImported.model_validate_json(answer.content)
                listed = await client.get("/api/v1/traces", params={"operation": "/dispatch"})
                traces = TraceList.model_validate_json(listed.content).traces
                # A request has a call of the customer service, of the driver's with 11 of Redis
                # and more after errors, and ten of the route service; spans come in batches.
                if len(traces) == REQUESTS and all(one.spans >= 35 for one in traces):
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
