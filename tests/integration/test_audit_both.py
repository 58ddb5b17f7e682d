"""The audit logs of a real backend and a real, confined collector tell the same story."""

import asyncio
from pathlib import Path

from backend_server import TOKEN, running_backend
from programs.known_work import KnownWork
from receiver import connected
from tidscope_processes import CollectorProcess
from tidscope_wire.audit import FILE, FILE_BYTES, read_records

WAIT = 200


async def test_a_session_is_found_in_both_logs(known_work: KnownWork, tmp_path: Path) -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend(state_dir=tmp_path, command_seconds=60) as backend,
        CollectorProcess(backend.port) as collector,
        backend.page() as live,
        backend.client(origin=backend.url) as page,
    ):
        await connected(live)
        opened = (await page.post("/api/v1/session", json={"token": TOKEN})).json()
        page.headers["authorization"] = f"Bearer {opened['credential']}"
        body = {"pid": known_work.pid, "rate_hz": 5}
        target = (await page.post("/api/v1/targets", json=body)).raise_for_status().json()["id"]
        path = f"/api/v1/targets/{target}"
        assert (await page.patch(path, json={"rate_hz": 7})).status_code == 200
        assert (await page.delete(f"{path}/steering")).status_code == 409
        assert (await page.delete(path)).status_code == 204
        assert (await page.post("/api/v1/targets", json={"pid": 2})).status_code == 422
        first, *lines = read_records(collector.audit)
        mode = collector.audit.stat().st_mode & 0o777
    assert (first.action, first.actor.label, mode) == ("start", "tidscope", 0o600)
    expected = [
        ("attach", "done"),
        ("set-rate", "done"),
        ("release", "refused"),
        ("detach", "done"),
        ("attach", "refused"),
    ]
    assert [(line.action, line.outcome) for line in lines] == expected
    assert {line.actor.session for line in lines} == {opened["id"]}
    assert {line.object for line in lines[:4]} == {target}
    assert {line.details["pid"] for line in lines[:4]} == {str(known_work.pid)}
    assert lines[2].details["problem"] == "not-steered"
    assert (lines[4].object, lines[4].details["problem"]) == ("process 2", "kernel-thread")
    backends = [line for line in read_records(tmp_path / FILE) if line.actor.session]
    assert [(line.action, line.outcome) for line in backends] == expected
    assert [line.actor for line in backends] == [line.actor for line in lines]


async def test_a_confined_collector_can_rotate_its_log() -> None:
    async with asyncio.timeout(WAIT), running_backend() as backend:
        collector = CollectorProcess(backend.port)
        full = b"x" * (FILE_BYTES - 1) + b"\n"
        await asyncio.to_thread(collector.audit.write_bytes, full)
        async with collector, backend.page() as live:
            await connected(live)
            older = collector.audit.with_name(f"{collector.audit.name}.1")
            assert older.stat().st_size == FILE_BYTES
            (start,) = read_records(collector.audit)
            assert start.action == "start"
