"""Minutes that a host of a fleet keeps, as runs of a backend elsewhere."""

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from backend_server import Backend, running_backend
from capabilities import needs
from fleet_host import running_host
from httpx import AsyncClient, Response
from nats_servers import Servers, collecting
from processes import wait_until
from programs.known_work import KnownWork
from recorded import FIELDS, story
from run_folders import run_folder
from tidscope_backend.nats_link import host_ring
from tidscope_backend.nats_link.host_ring import WORK, HostRing, Reply
from tidscope_backend.ring.cutting import cut_run
from tidscope_backend.ring.listing import FOLDER
from tidscope_backend.ring.status import RingStatus, open_status, write_status
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.reader import RunReader
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_wire.envelope import split
from tidscope_wire.generated.models import (
    CutRingReply,
    ReadCutReply,
    RefusedReply,
    RingResponse,
    RunManifest,
)
from uplink_harness import quiet_targets

TRACK = "r-20261129-030000-0000bb"
CUT = "r-20261129-031200-0000aa"
FRAMES = story(450, 5).frames
FIRST, LAST = (split(FRAMES[place])[0].unix_us for place in (37, 312))
LONGEST_S = 60.0


@pytest.fixture
def targets() -> Iterator[TargetRegistry]:
    with quiet_targets() as held:
        yield held


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A runs directory whose ring has a track: sealed parts, and an open one."""
    parts = [FRAMES[at : at + 100] for at in range(0, len(FRAMES), 100)]
    run_folder(tmp_path / "host" / FOLDER / TRACK, parts, FIELDS, 4)
    return tmp_path / "host"


@pytest.fixture
def ring(runs: Path) -> HostRing:
    status = open_status()
    write_status(status, RingStatus(pid=1, max_age_s=3600, max_bytes=10**9))
    return HostRing(runs, status)


def kind(answer: Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].rpartition(":")[2]


def body(host: str, **changes: Any) -> dict[str, Any]:
    return {"host": host, "track": TRACK, "from_unix_us": FIRST, "to_unix_us": LAST} | changes


def rows(run: RunReader) -> tuple[list[int], pa.Table]:
    """Numbers of the frames of a run, and its samples of full rate."""
    order = [("tid", "ascending"), ("start_ns", "ascending"), ("seq", "ascending")]
    samples = pa.concat_tables([part.samples(0) for part in run.parts]).sort_by(order)
    return run.signals(["seq"])["seq"].to_pylist(), samples


@asynccontextmanager
async def host_of(backend: Backend) -> AsyncIterator[tuple[AsyncClient, str]]:
    """A client of a backend, and the host that connects to it."""
    async with backend.program() as client:
        hosts: list[Any] = []
        while not hosts:
            hosts = (await client.get("/api/v1/hosts")).json()["hosts"]
        yield client, hosts[0]["id"]


async def test_a_window_of_another_host_is_the_run_that_the_host_would_cut(
    tmp_path: Path,
    targets: TargetRegistry,
    runs: Path,
    ring: HostRing,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host_ring, "PIECE_BYTES", 5000)
    pieces = 0

    def counted(data: bytes) -> bytes:
        nonlocal pieces
        pieces += 1
        return base64.b64encode(data)

    monkeypatch.setattr(host_ring, "b64encode", counted)
    (tmp_path / "runs").mkdir()
    async with (
        Servers(tmp_path) as servers,
        running_host(servers, targets, ring=ring),
        running_backend(fleet=servers.settings("backend"), runs_dir=tmp_path / "runs") as backend,
        host_of(backend) as (client, host),
    ):
        answer = await client.get("/api/v1/ring", params={"host": host})
        kept = RingResponse.model_validate_json(answer.raise_for_status().content)
        assert (kept.on, kept.max_age_s) == (True, 3600)
        assert [one.id for one in kept.tracks] == [TRACK]
        answer = await client.post("/api/v1/ring/cuts", json=body(host, name="at night"))
        made = RunManifest.model_validate_json(answer.raise_for_status().content)
        assert (made.name, made.end, made.state) == ("at night", "flight-recorder", "complete")
        assert pieces > 2
        assert sorted(path.name for path in (runs / WORK).iterdir()) == ["tracks.json"]

        (tmp_path / "cut").mkdir()
        cut_run(RunFolder(runs / FOLDER / TRACK), tmp_path / "cut", CUT, (FIRST, LAST))
        here, there = RunReader(tmp_path / "runs" / made.id), RunReader(tmp_path / "cut" / CUT)
        assert rows(here) == rows(there)
        assert rows(here)[0] == list(range(38, 314))

        answer = await client.post("/api/v1/ring/cuts", json=body(host, to_unix_us=1))
        assert kind(answer) == (422, "bad-request")
        answer = await client.post("/api/v1/ring/cuts", json=body(host, track=CUT))
        assert kind(answer) == (404, "unknown-target")
        for part in (runs / FOLDER / TRACK / "samples").iterdir():
            part.write_bytes(b"damaged")
        answer = await client.post("/api/v1/ring/cuts", json=body(host))
        assert kind(answer) == (422, "bad-run")
        assert len([*(tmp_path / "runs").iterdir()]) == 1


async def test_a_host_that_keeps_nothing_says_so(tmp_path: Path, targets: TargetRegistry) -> None:
    async with (
        Servers(tmp_path) as servers,
        running_host(servers, targets),
        running_backend(fleet=servers.settings("backend"), runs_dir=tmp_path) as backend,
        host_of(backend) as (client, host),
    ):
        answer = await client.get("/api/v1/ring", params={"host": host})
        kept = RingResponse.model_validate_json(answer.raise_for_status().content)
        assert (kept.on, kept.tracks) == (False, [])
        answer = await client.post("/api/v1/ring/cuts", json=body(host))
        assert kind(answer) == (409, "no-ring")


async def cut(ring: HostRing, number: int) -> CutRingReply:
    window = {"track": TRACK, "from_unix_us": FIRST, "to_unix_us": LAST}
    command = {"type": "cut_ring_command", "request_id": number, "cut": window}
    reply = await ring.answer(command)
    assert isinstance(reply, CutRingReply), reply
    return reply


async def read(ring: HostRing, made: CutRingReply) -> Reply:
    command = {"type": "read_cut_command", "request_id": 9, "cut": made.cut, "offset": 0}
    return await ring.answer(command)


async def test_archives_that_nobody_fetches_are_few_and_go(
    runs: Path, ring: HostRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_ring, "MAX_CUTS", 1)
    first, second = await cut(ring, 1), await cut(ring, 2)
    assert len(named(runs)) == 1
    refused = await read(ring, first)
    assert isinstance(refused, RefusedReply)
    assert refused.problem.type.endswith("unknown-target")
    piece = await read(ring, second)
    assert isinstance(piece, ReadCutReply)
    assert len(base64.b64decode(piece.data)) == second.bytes
    # It was read to its end.
    assert named(runs) == []
    monkeypatch.setattr(host_ring, "KEPT_S", -1.0)
    await cut(ring, 3)
    await asyncio.to_thread(wait_until, lambda: not named(runs), LONGEST_S)
    ring.close()
    assert not (runs / WORK).exists()


def named(runs: Path) -> list[str]:
    """Archives on the host's disk."""
    return [path.name for path in (runs / WORK).iterdir() if path.suffix == ".zst"]


@needs("root")
async def test_the_last_minutes_of_a_real_host_are_a_run_elsewhere(tmp_path: Path) -> None:
    keep = ("--keep-minutes", "5")
    host_runs, here = tmp_path / "host", tmp_path / "runs"
    for folder in (host_runs, here):
        folder.mkdir()
    async with asyncio.timeout(240):
        with KnownWork() as program:
            async with (
                Servers(tmp_path) as servers,
                collecting(servers, tmp_path, options=keep, TIDSCOPE_RUNS=str(host_runs)),
                running_backend(
                    command_seconds=60, fleet=servers.settings("backend"), runs_dir=here
                ) as backend,
                host_of(backend) as (client, host),
            ):
                attached = await client.post("/api/v1/targets", json={"pid": program.pid})
                assert attached.is_success, attached.text
                await asyncio.to_thread(program.command, "b")
                tracks: list[Any] = []
                while not tracks:
                    answer = await client.get("/api/v1/ring", params={"host": host})
                    tracks = answer.raise_for_status().json()["tracks"]
                (track,) = tracks
                window = {name: track[name] for name in ("from_unix_us", "to_unix_us")}
                asked = {"host": host, "track": track["id"], **window}
                answer = await client.post("/api/v1/ring/cuts", json=asked)
                made = RunManifest.model_validate_json(answer.raise_for_status().content)
    assert made.target.process.pid == program.pid
    assert RunReader(here / made.id).signals(["seq"])["seq"].to_pylist()[0] == 1
    assert not (host_runs / WORK).exists()
