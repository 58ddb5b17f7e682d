"""Collectors that are a minor version older or newer: what this backend knows of them arrives."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pyarrow as pa
import pytest
from backend_builders import TARGET_ID, host, key_frame, target
from backend_server import Backend, running_backend
from tidscope_backend import VERSION
from tidscope_wire.frame import LENGTH, split, split_text
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import CollectorHello, FramesLost, Gap, Host
from tidscope_wire.table_streams import decode_tables
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

TYPES = {"uint32": pa.uint32(), "uint64": pa.uint64(), "utf8": pa.utf8()}
GAP = Gap(from_seq=1, to_seq=2, reason="full")


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with running_backend(queue_frames=10_000) as running:
        yield running


async def closed(socket: ClientConnection) -> tuple[int, str]:
    """Code and reason with which the backend closes a connection."""
    try:
        while True:
            await socket.recv()
    except ConnectionClosed as error:
        assert error.rcvd is not None
        return error.rcvd.code, error.rcvd.reason


def other(version: str) -> Host:
    """A host whose collector is of another version."""
    made = host()
    collector = made.collector.model_copy(update={"version": version})
    return made.model_copy(update={"collector": collector})


def table(columns: Mapping[str, str]) -> bytes:
    """A table of one row, whose numbers are 7 and texts x."""
    arrays = [pa.array(["x" if kind == "utf8" else 7], TYPES[kind]) for kind in columns.values()]
    batch = pa.record_batch(arrays, names=list(columns))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data + b"\0" * (-len(data) % 8)


def altered(frame: bytes, tables: Mapping[str, bytes], **header: Any) -> bytes:
    """A frame with other tables, and more members in its header."""
    text, body = split_text(frame)
    described = [
        {"name": name, "rows": 1, "bytes": len(data), "omitted": 0, "read_ns": 1}
        for name, data in tables.items()
    ]
    made = json.dumps(json.loads(text) | {"tables": described} | header).encode()
    padding = -(LENGTH.size + len(made)) % 8
    length = LENGTH.pack(len(made) + padding)
    return b"".join((length, made, b" " * padding, body, *tables.values()))


async def test_what_a_newer_and_an_older_collector_measured_arrives(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    wakes = COLUMNS["wakes"]
    newer = altered(
        key_frame(1),
        {
            "moons": table({"tid": "uint32"}),
            "wakes": table(wakes | {"phase": "utf8"}),
            "calls": table(COLUMNS["calls"]),
        },
        later={"a": 1},
        events=[{"type": "eclipse"}, json.loads(GAP.model_dump_json()) | {"cause": "x"}],
    )
    party = {name: kind for name, kind in wakes.items() if name != "party"}
    older = altered(key_frame(2), {"wakes": table(party)})
    async with backend.page() as page:
        await page.subscribe(TARGET_ID)
        for version, frame, of_party in (("99.1.0", newer, 7), ("0.0.9", older, 0)):
            async with backend.collector(host=other(version), targets=[target()]) as collector:
                await collector.greeted()
                await collector.frames.send(frame)
                header, data = await page.frame()
            _, body = split(data)
            found = decode_tables(header, body)
            assert found["wakes"].dtype.names == tuple(wakes)
            assert int(found["wakes"]["party"][0]) == of_party
            if frame is newer:
                assert header.events == [GAP]
                assert list(found) == ["wakes", "calls"]
        assert not [text for text in page.texts if isinstance(text, FramesLost)]
    said = [record.getMessage() for record in caplog.records if "left out" in record.message]
    assert len(said) == 1
    assert f"is tidscope '99.1.0', this backend {VERSION}" in said[0]
    for name in ("table moons", "later", "events eclipse", "events.cause"):
        assert repr(name) in said[0]


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"protocol": 2, "targets": "in another form"}, CloseCode.PROTOCOL_VERSION, "version 2"),
        ({"targets": "in another form"}, CloseCode.PROTOCOL_VERSION, "99.1.0 collects"),
    ],
)
async def test_a_hello_that_cannot_be_understood_is_refused_with_both_versions(
    backend: Backend, changes: dict[str, Any], code: CloseCode, said: str
) -> None:
    hello = CollectorHello(protocol=1, host=other("99.1.0"), targets=[], policies=[])
    text = json.dumps(json.loads(hello.model_dump_json()) | changes)
    async with backend.collector(silent=True) as collector:
        await collector.socket.send(text)
        found, reason = await closed(collector.socket)
        assert (found, said in reason, VERSION in reason) == (code, True, True), reason


async def test_a_frame_that_cannot_be_understood_is_refused(backend: Backend) -> None:
    for frame in (
        altered(key_frame(1), {}, kind="sideways"),
        altered(key_frame(1), {"wakes": b"\0" * 64}),
        altered(key_frame(1), {}, events=7),
    ):
        async with backend.collector(host=other("99.1.0"), targets=[target()]) as collector:
            await collector.greeted()
            await collector.frames.send(frame)
            found, reason = await closed(collector.frames)
            assert (found, "not a frame" in reason) == (CloseCode.BAD_MESSAGE, True), reason
