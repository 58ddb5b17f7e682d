"""Hostile names in the logs of real processes, and in what is downloaded."""

import asyncio
import csv
import io
import json
import os
import re
import signal
import sys
from pathlib import Path

import httpx
import pytest
from backend_builders import FIELDS, TARGET_ID, frame_bytes, host, process, target
from backend_server import SECRET, TOKEN, running_backend
from fake_collector import FakeCollector
from prometheus_client.parser import text_string_to_metric_families
from receiver import connected
from starlette.websockets import WebSocket
from tidscope_processes import CollectorProcess, free_port
from tidscope_wire.audit import read_records
from tidscope_wire.generated.models import AuditRecord

HOSTILE = "n\"\x1b]0;owned\x07\x9b2J\r\n# tidscope 1\u202e,='\\"
COMM = b"\x1b[31m\n\rx,=1"
THREAD = "t\x1b]0;x\u009b2J".encode()
"""At most 15 bytes."""
WAIT = 200


async def log_of_served(port: int) -> tuple[asyncio.subprocess.Process, list[str]]:
    """A real `tidscope serve`, and the lines that it writes until it listens."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "serve", "--port", str(port)),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN, "TIDSCOPE_COLLECTOR_SECRET": SECRET},
    )
    lines: list[str] = []
    assert process.stderr is not None
    while not lines or f"port {port}" not in lines[-1]:
        line = (await process.stderr.readline()).decode()
        assert line, "the backend has ended"
        lines.append(line)
    return process, lines


async def test_a_host_cannot_forge_lines_of_the_backends_log() -> None:
    port = free_port()
    async with asyncio.timeout(WAIT):
        process, lines = await log_of_served(port)
        try:
            named = host(name=HOSTILE)
            async with FakeCollector(f"ws://127.0.0.1:{port}", SECRET, host=named) as collector:
                await collector.greeted()
                # A refusal quotes what it does not understand.
                await collector.socket.send(json.dumps({"type": HOSTILE}))
                await collector.socket.wait_closed()
        finally:
            process.send_signal(signal.SIGTERM)
            _, rest = await process.communicate()
    lines += rest.decode().splitlines(keepends=True)
    assert any("owned" in line and "connected" in line for line in lines)
    assert all(line.rstrip("\n").isprintable() for line in lines), lines
    assert all(re.match(r"\d{4}-\d\d-\d\d |  ", line) for line in lines), lines


async def test_a_backend_cannot_forge_lines_of_the_collectors_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send_text = WebSocket.send_text

    async def with_more(socket: WebSocket, text: str) -> None:
        await send_text(socket, text)
        await send_text(socket, json.dumps({"type": HOSTILE, HOSTILE: HOSTILE}))

    # A backend that the collector trusts, and that somebody else has taken over.
    monkeypatch.setattr(WebSocket, "send_text", with_more)
    async with running_backend() as backend, CollectorProcess(backend.port) as collector:
        said = await what_it_said(collector, "owned")
    assert all(line.isprintable() for line in said.rstrip("\n").split("\n")), said
    assert all(re.match(r"collector: |  ", line) for line in said.rstrip("\n").split("\n")), said


async def what_it_said(collector: CollectorProcess, word: str) -> str:
    """The log of a collector once a word is in it."""
    async with asyncio.timeout(WAIT):
        while True:
            if word in collector.said:
                return collector.said
            await asyncio.sleep(0.05)


NAMED = f"""
import ctypes, sys, threading, time
prctl = ctypes.CDLL(None).prctl
def live(name):
    prctl(15, name)  # PR_SET_NAME
    time.sleep(600)
threading.Thread(target=live, args=({THREAD!r},), daemon=True).start()
prctl(15, {COMM!r})
print("named", flush=True)
live({COMM!r})
"""


async def run_cli(tmp_path: Path, *arguments: str) -> list[str]:
    """Lines that a command of tidscope writes, to both of its outputs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "TIDSCOPE_RUNS": str(tmp_path), "TIDSCOPE_TOKEN": ""},
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output
    return output.decode().rstrip("\n").split("\n")


async def test_names_of_a_real_program_through_collector_log_and_command_line(
    tmp_path: Path,
) -> None:
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", NAMED, "--argument", HOSTILE), stdout=asyncio.subprocess.PIPE
    )
    assert program.stdout is not None
    try:
        assert await program.stdout.readline() == b"named\n"
        async with (
            asyncio.timeout(WAIT),
            running_backend() as backend,
            CollectorProcess(backend.port) as collector,
            backend.page() as live,
            backend.program() as client,
        ):
            await connected(live)
            answer = await client.post("/api/v1/targets", json={"pid": program.pid})
            assert answer.raise_for_status().json()["process"]["name"] == COMM.decode()
            (line,) = [each for each in read_records(collector.audit) if each.action == "attach"]
            assert line.details["process"] == COMM.decode()
            assert collector.audit.read_text().replace("\n", "").isprintable()
            said = collector.said
        async with asyncio.timeout(WAIT):
            pid = ("--pid", str(program.pid), "--duration", "0.3")
            lines = await run_cli(tmp_path, "record", *pid)
            (run,) = [name for name in os.listdir(tmp_path) if name.startswith("r-")]
            lines += await run_cli(tmp_path, "runs", "list")
            lines += await run_cli(tmp_path, "runs", "show", run)
            lines += await run_cli(tmp_path, "audit", "--file", str(log_with(tmp_path, line)))
    finally:
        program.kill()
        await program.communicate()
    lines += said.rstrip("\n").split("\n")
    assert [line for line in lines if not line.isprintable()] == []
    # The names were there to be shown.
    assert any(r"\u001b[31" in line for line in lines)
    assert any(r"\u009b" in line for line in lines)


def log_with(folder: Path, record: AuditRecord) -> Path:
    """An audit log of one line."""
    path = folder / "audit.jsonl"
    path.write_text(record.model_dump_json() + "\n")
    return path


@pytest.fixture
def frames() -> list[bytes]:
    """A target with a thread of a hostile name."""
    names = {100: (0, "main"), 101: (1, HOSTILE)}
    return [
        frame_bytes(seq, {tid: [seq, seq] for tid in names}, identity=names, baseline=seq == 1)
        for seq in (1, 2, 3)
    ]


async def test_names_in_downloads_and_metrics_stay_names(
    tmp_path: Path, frames: list[bytes]
) -> None:
    program = process().model_copy(update={"name": HOSTILE, "command": HOSTILE})
    sampled = target().model_copy(update={"process": program, "fields": list(FIELDS)})
    async with (
        asyncio.timeout(WAIT),
        running_backend(runs_dir=tmp_path) as backend,
        backend.collector(targets=[sampled], host=host(name=HOSTILE)) as collector,
        backend.program() as client,
        (await collector.greeted()).confirming(),
    ):
        await collector.send(*frames)
        made = await client.post("/api/v1/runs", json={"target": TARGET_ID, "past_s": 60})
        run = made.raise_for_status().json()
        assert run["name"] == HOSTILE
        await client.post(f"/api/v1/runs/{run['id']}/stop")
        found = {
            kind: await client.get(f"/api/v1/runs/{run['id']}/export?format={kind}")
            for kind in ("csv", "trace", "parquet", "folder")
        }
        metrics = (await client.get("/metrics")).text
    for kind, ending in (("csv", "csv"), ("trace", "trace.json"), ("folder", "tar.zst")):
        assert saved_name(found[kind]) == f"{run['id']}.{ending}"
    assert found["trace"].text.replace("\n", "").isprintable()
    events = found["trace"].json()["traceEvents"]
    assert HOSTILE in {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    rows = list(csv.DictReader(io.StringIO(found["csv"].text, newline="")))
    assert HOSTILE in {row["name"] for row in rows}
    # Each line of the metrics is one that tidscope wrote.
    labels = [
        sample.labels
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
    ]
    assert HOSTILE in {value for given in labels for value in given.values()}
    assert not any(line.startswith("# tidscope 1") for line in metrics.split("\n"))


def saved_name(answer: httpx.Response) -> str:
    """Name of the file that a browser saves an answer as."""
    given = answer.headers["content-disposition"]
    found = re.fullmatch(r'attachment; filename="([\w.-]+)"', given)
    assert found is not None, given
    return found[1]
