"""A backend takes the frames of the sampler's uplink, for `with_python.rs`.

Usage: backend.py PROGRAM [FRAMES], the example `uplink`.
"""

import asyncio
import json
import secrets
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from backend_builders import FIELDS, TARGET_ID, host, target
from backend_server import SECRET, TOKEN, Backend, running_backend
from tidscope_wire.frame import FrameDecoder
from tidscope_wire.generated.models import (
    CollectorFrames,
    CollectorWelcome,
    HealthResponse,
    MachineCounters,
    ProcessGauges,
    ProofResponse,
)
from tidscope_wire.proof import (
    NONCE_BYTES,
    PROOF_SCHEME,
    SignInAttempt,
    authorization,
    host_credential,
)


async def proof(backend: Backend, attempt: SignInAttempt) -> str:
    """The authorization of a collector."""
    async with backend.client(authorization=PROOF_SCHEME) as client:
        content = attempt.request.model_dump_json()
        headers = {"content-type": "application/json"}
        answer = await client.post("/api/v1/proof", content=content, headers=headers)
    answer.raise_for_status()
    return authorization(attempt.answer(ProofResponse.model_validate_json(answer.content)))


async def send(backend: Backend, program: str, frames: int, threads: int) -> tuple[int, int]:
    """Let the program send frames; bytes that were not confirmed, and CPU time in nanoseconds."""
    running = await asyncio.create_subprocess_exec(
        program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert running.stdin is not None and running.stdout is not None
    port = urlsplit(backend.url).port
    control = await backend.collector(targets=[target()]).__aenter__()
    welcome = await control.command(CollectorWelcome)
    assert welcome.frames is not None
    hello = CollectorFrames(protocol=1, host=host().id, ticket=welcome.frames)
    gauges = ProcessGauges(gomaxprocs=None, rss_bytes=5, cpu_ns=None)
    machine = MachineCounters(time_ns=1, cpu_busy_us=None, package_uj=None, domains_uj=[], gaps=0)
    answer: object = {
        "port": port,
        "host": f"127.0.0.1:{port}",
        "path": "/ws/collector/frames",
        "hello": hello.model_dump_json(),
        "target": TARGET_ID,
        "fields": FIELDS,
        "threads": threads,
        "frames": frames,
        "pause_us": 1000,
        "process": gauges.model_dump_json(),
        "machine": machine.model_dump_json(),
    }
    while True:
        running.stdin.write(json.dumps(answer).encode() + b"\n")
        what, *given = (await running.stdout.readline()).decode().split()
        if what == "headers":
            nonce = secrets.token_bytes(NONCE_BYTES)
            attempt = SignInAttempt(host_credential(SECRET), nonce, port)
            answer = {"Authorization": await proof(backend, attempt)}
        elif what == "accept":
            # On a busy machine a nonce may be too old; the program tries again.
            answer = bool(given)
            if given:
                attempt.check_accepted(given[0])
        else:
            assert (what, await running.wait()) == ("done", 0)
            await control.socket.close()
            return int(given[0]), int(given[1])


async def test(program: str, frames: int, threads: int) -> None:
    """All frames arrive, are confirmed and reach a page."""
    with tempfile.TemporaryDirectory() as folder:
        async with asyncio.timeout(120), running_backend(state_dir=Path(folder)) as backend:
            unconfirmed, cpu_ns = await send(backend, program, frames, threads)
            assert unconfirmed == 0
            async with httpx.AsyncClient(
                base_url=backend.url, headers={"authorization": f"Bearer {TOKEN}"}
            ) as client:
                health = HealthResponse.model_validate_json(
                    (await client.get("/api/v1/health")).content
                )
            assert health.frames == frames
            async with backend.page() as page:
                await page.subscribe(TARGET_ID)
                decoder, seq = FrameDecoder(), 0
                while seq < frames:
                    message = await page.socket.recv()
                    if isinstance(message, bytes):
                        header, rows = decoder.decode(message)
                        assert header.first_seq == seq + 1
                        seq = header.seq
                        assert set(rows.columns[FIELDS[0]].tolist()) == {1000 * seq}
                        assert len(rows.tid) == threads
    sys.stdout.write(
        f"{frames} frames of {threads} threads, {cpu_ns / frames / 1000:.1f} us CPU each\n"
    )


if __name__ == "__main__":
    asyncio.run(test(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 120, 30))
    # Frames of some megabytes are sent in parts.
    asyncio.run(test(sys.argv[1], 3, 60_000))
