"""Metrics by OTLP, taken by a server of the test's own and decoded by the published proto."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from backend_builders import TARGET_ID, frame_bytes, target
from backend_server import Backend, running_backend
from fake_collector import FakeCollector
from hostile_inputs import NAMES
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest as Export,
)
from prometheus_client.parser import text_string_to_metric_families as parse_text
from tidscope_backend.settings import OTLP_VARIABLE, SettingsError, metrics_address, settings_from
from tidscope_wire.frame import join, split
from tidscope_wire.generated.models import RoleTotals

CPU = "tidscope_thread_cpu_run_seconds"
CUMULATIVE = 2
"""AGGREGATION_TEMPORALITY_CUMULATIVE of metrics.proto."""
ATTACHED_NS = target().attached_unix_us * 1000


class Taker:
    """Takes exports.

    Attributes:
        port: where.
        status: status that it answers with.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.status = 200
        self._came: asyncio.Queue[tuple[str, Export]] = asyncio.Queue()
        taker = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.headers["Content-Type"] == "application/x-protobuf"
                loop.call_soon_threadsafe(
                    taker._came.put_nowait, (self.path, Export.FromString(body))
                )
                self.send_response(taker.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing is logged."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port: int = self.server.server_address[1]

    async def next(self) -> tuple[str, Export]:
        """The next export that comes."""
        return await self._came.get()

    async def until(self, name: str) -> Export:
        """The next export with a metric of this name."""
        while True:
            _, reported = await self.next()
            if name in metrics_of(reported):
                return reported


def metrics_of(reported: Export) -> dict[str, Any]:
    (resource,) = reported.resource_metrics
    (scope,) = resource.scope_metrics
    return {metric.name: metric for metric in scope.metrics}


def labels(point: Any) -> dict[str, str]:
    return {one.key: one.value.string_value for one in point.attributes}


@contextmanager
def taking() -> Iterator[Taker]:
    taker = Taker(asyncio.get_running_loop())
    thread = threading.Thread(target=taker.server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield taker
    finally:
        taker.server.shutdown()
        thread.join()
        taker.server.server_close()


@asynccontextmanager
async def steadily(endpoint: str) -> AsyncIterator[Backend]:
    async with (
        asyncio.timeout(200),
        running_backend(otlp_endpoint=endpoint, otlp_seconds=0.05) as backend,
    ):
        yield backend


async def send(collector: FakeCollector, seq: int, cpu_s: int) -> None:
    header, body = split(frame_bytes(seq, identity={1: (0, "main")}))
    role = RoleTotals(role="main", live=1, exited=0, totals={"cpu_run_ns": cpu_s * 10**9})
    update = {"roles": [role]}
    await collector.send(join(header.model_copy(update=update), bytes(body)))


async def test_the_same_families_cumulative() -> None:
    with taking() as taker:
        endpoint = f"http://127.0.0.1:{taker.port}"
        async with steadily(endpoint) as backend, backend.collector(targets=[target()]) as made:
            assert (await taker.next())[0] == "/v1/metrics"
            await send(made, 1, 7)
            reported = await taker.until(CPU)
            await send(made, 2, 9)
            while metrics_of(later := await taker.until(CPU))[CPU].sum.data_points[0].as_double < 9:
                pass
            async with backend.program() as client:
                scraped = (await client.get("/metrics")).text
    (resource,) = reported.resource_metrics
    named = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert named["service.name"] == "tidscope"
    first, second = metrics_of(reported)[CPU], metrics_of(later)[CPU]
    assert (first.unit, first.sum.is_monotonic) == ("s", True)
    assert first.sum.aggregation_temporality == CUMULATIVE
    (a,), (b,) = first.sum.data_points, second.sum.data_points
    assert (a.as_double, b.as_double) == (7, 9)
    assert labels(a) == labels(b) == {"target": TARGET_ID, "role": "main"}
    assert a.start_time_unix_nano == b.start_time_unix_nano == ATTACHED_NS
    assert a.time_unix_nano < b.time_unix_nano
    up = metrics_of(later)["tidscope_target_up"]
    assert [point.as_double for point in up.gauge.data_points] == [1]
    # OTLP sends the same families as Prometheus scrapes.
    ours = {
        sample.name.removesuffix("_total")
        for family in parse_text(scraped)
        for sample in family.samples
        if sample.name.startswith("tidscope_")
    }
    assert ours == metrics_of(later).keys()


async def test_hostile_names_arrive_as_they_are() -> None:
    """A protobuf needs no escapes: each role is a series, with its name and its value."""
    named = target()
    named = named.model_copy(
        update={"process": named.process.model_copy(update={"name": "".join(NAMES)})}
    )
    with taking() as taker:
        async with (
            steadily(f"http://127.0.0.1:{taker.port}") as backend,
            backend.collector(targets=[named]) as made,
        ):
            header, body = split(frame_bytes(1, identity={1: (0, "main")}))
            roles = [
                RoleTotals(role=name, live=1, exited=0, totals={"cpu_run_ns": n * 10**9})
                for n, name in enumerate(NAMES)
            ]
            frame = join(header.model_copy(update={"roles": roles}), bytes(body))
            await made.send(frame)
            found = metrics_of(await taker.until(CPU))
    points = found[CPU].sum.data_points
    assert {labels(point)["role"]: point.as_double for point in points} == {
        name: n for n, name in enumerate(NAMES)
    }
    (about,) = found["tidscope_target_info"].gauge.data_points
    assert labels(about)["process"] == "".join(NAMES)


async def test_a_collector_that_is_away_is_counted_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    with taking() as taker:
        taker.status = 400
        async with steadily(f"http://127.0.0.1:{taker.port}/elsewhere") as backend:
            for _ in range(3):
                assert (await taker.next())[0] == "/elsewhere"
            async with backend.program() as client:
                assert (await client.get("/api/v1/health")).status_code == 200
                text = (await client.get("/metrics")).text
            failed = value_of(text, "tidscope_otlp_failed_exports_total")
            assert failed >= 2
            taker.status = 200
            while value_of(text, "tidscope_otlp_exports_total") < 1:
                await taker.next()
                async with backend.program() as client:
                    text = (await client.get("/metrics")).text
    reported = [
        record.getMessage() for record in caplog.records if record.name.startswith("tidscope")
    ]
    assert [line.split(" at ")[0].split(" to ")[0] for line in reported] == [
        "metrics cannot be sent",
        "metrics arrive",
    ]
    assert not [one for one in caplog.records if one.name.startswith("opentelemetry")]


async def test_an_address_where_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    with taking() as taker:
        port = taker.port
    async with steadily(f"http://127.0.0.1:{port}") as backend, backend.program() as client:
        assert (await client.get("/api/v1/health")).status_code == 200
    assert "Traceback" not in caplog.text


def value_of(text: str, name: str) -> float:
    return next(
        sample.value
        for family in parse_text(text)
        for sample in family.samples
        if sample.name == name
    )


def test_addresses() -> None:
    assert metrics_address("http://otel:4318") == "http://otel:4318/v1/metrics"
    assert metrics_address("https://otel/") == "https://otel/v1/metrics"
    assert metrics_address("http://otel:4318/v1/own") == "http://otel:4318/v1/own"
    assert settings_from({OTLP_VARIABLE: "http://otel"}).otlp_endpoint == "http://otel"
    assert settings_from({}).otlp_endpoint is None
    for wrong in ("otel:4318", "ftp://otel", "http://", "http://otel:port", "http://otel:99999"):
        with pytest.raises(SettingsError, match=OTLP_VARIABLE):
            settings_from({OTLP_VARIABLE: wrong})
