"""The ring while the processes around it are killed, and on a disk that is full or hangs."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from backend_builders import FIELDS, TARGET_ID, frame_bytes
from capabilities import missing
from live_page import LivePage
from loop_disk import LoopDisk
from processes import status as process_status
from programs.known_work import KnownWork
from run_folders import until
from tidscope_backend.processes import run_module
from tidscope_backend.ring.bounds import tracks_in
from tidscope_backend.ring.listing import FOLDER, ring_tracks
from tidscope_backend.ring.status import RingStatus, open_status, read_status
from tidscope_backend.store.reader import RunReader
from tidscope_processes import Up, run, up
from uplink_harness import MIB, UplinkHarness, quiet_targets

RATE_HZ = 50
ROOM = 3 * 1024 * 1024
PART_S = 61
"""Seconds between two made-up key frames: each begins a part."""
UNBOUNDED = ("--max-bytes", "999000000")
LONGEST_S = 200


def eventually(done: Callable[[], bool]) -> None:
    """Wait for something that programs bring about."""
    asyncio.run(until(done))


def ring_pid(running: Up) -> int | None:
    """Process ID of the process that writes the ring."""
    found = subprocess.run(
        ["pgrep", "--parent", str(running.process.pid), "-f", "ring.keeper"],
        capture_output=True,
        text=True,
        check=False,
    )
    return int(found.stdout) if found.stdout.strip() else None


def tracks(http: httpx.Client) -> list[dict[str, Any]]:
    """Tracks that the backend lists, newest first."""
    found: list[dict[str, Any]] = http.get("/api/v1/ring").raise_for_status().json()["tracks"]
    return found


def seqs(run_folder: Path) -> list[int]:
    """Numbers of the frames of a run or a track."""
    while True:
        try:
            found: list[int] = RunReader(run_folder).signals(["seq"])["seq"].to_pylist()
        except FileNotFoundError:
            # An old part was deleted while it was read.
            assert run_folder.exists()
        else:
            return found


def threads(run_folder: Path) -> list[dict[str, Any]]:
    """Threads of a run, by ID."""
    rows: list[dict[str, Any]] = RunReader(run_folder).threads().to_pylist()
    return sorted(rows, key=lambda row: (row["tid"], row["from_ns"]))


def test_what_is_cut_is_what_is_recorded_though_programs_are_killed(tmp_path: Path) -> None:
    with (
        KnownWork() as program,
        up("--keep-minutes", "5", TIDSCOPE_RUNS=str(tmp_path)) as running,
        running.client() as http,
    ):
        target = http.post("/api/v1/targets", json={"pid": program.pid, "rate_hz": RATE_HZ})
        name = target.raise_for_status().json()["id"]
        eventually(lambda: len(tracks(http)) == 1)
        recorded = http.post("/api/v1/runs", json={"target": name}).raise_for_status().json()["id"]
        program.command("b")
        killed = ring_pid(running)
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: ring_pid(running) not in (killed, None))
        program.command("s")
        # The collector goes on without the backend, and the ring with the collector.
        os.kill(running.backend_pid, signal.SIGKILL)
        eventually(lambda: _is_back(running))
        program.command("b")
        done = http.post(f"/api/v1/runs/{recorded}/stop").raise_for_status().json()
        assert (done["state"], done["losses"]["frames"]) == ("complete", 0)
        wanted = {
            "from_unix_us": done["started_unix_us"],
            "to_unix_us": done["started_unix_us"] + (done["to_ns"] - done["from_ns"]) // 1000,
        }
        eventually(lambda: tracks(http)[0]["to_unix_us"] > wanted["to_unix_us"])
        (track,) = tracks(http)
        # The wall clock of the last frame may be a microsecond off the monotonic one.
        last = RunReader(tmp_path / recorded).signals(["unix_us"])["unix_us"][-1].as_py()
        body = {**wanted, "to_unix_us": last, "track": track["id"]}
        cut = http.post("/api/v1/ring/cuts", json=body).raise_for_status().json()
        assert seqs(tmp_path / cut["id"]) == seqs(tmp_path / recorded)
        assert threads(tmp_path / cut["id"]) == threads(tmp_path / recorded)
        assert {**cut["losses"], "deadlines_missed": 0} == {**done["losses"], "deadlines_missed": 0}
        assert cut["counts"]["threads"] == done["counts"]["threads"]
        seen = http.get("/metrics").text
        assert 'tidscope_ring_frames_total{outcome="lost"} 0.0' in seen

        # A killed collector's targets end; its successor's are tracks of their own.
        assert running.collector_pid is not None
        os.kill(running.collector_pid, signal.SIGKILL)
        eventually(lambda: len(tracks(http)) == 2)
        program.command("q")
        program.wait()
        eventually(lambda: tracks(http)[0]["target"]["state"] == "exited")
    # Nothing runs any more: what was kept can be cut all the same.
    numbers = [seqs(one.path) for one in tracks_in(tmp_path / FOLDER)]
    assert [one == list(range(1, len(one) + 1)) for one in numbers] == [True, True]
    newest = ring_tracks(tmp_path / FOLDER)[0]
    listed = run("runs", "kept", TIDSCOPE_RUNS=str(tmp_path))
    assert newest.id in listed.stdout
    made = run("runs", "cut", str(program.pid), "--name", "late", TIDSCOPE_RUNS=str(tmp_path))
    assert made.returncode == 0, made.stderr
    path = Path(made.stdout.removeprefix("cut ").strip())
    assert seqs(path) == seqs(tmp_path / FOLDER / newest.id)
    shown = run("runs", "show", "late", TIDSCOPE_RUNS=str(tmp_path))
    assert shown.returncode == 0, shown.stderr


def _is_back(running: Up) -> bool:
    try:
        answer = httpx.get(
            f"{running.address}/api/v1/health",
            headers={"authorization": f"Bearer {running.token}"},
        )
    except httpx.HTTPError:
        return False
    return answer.is_success and answer.json()["collectors"] > 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of three megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", str(place)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        raise missing("mount", mounted.stderr.strip())
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@asynccontextmanager
async def keeper(
    folder: Path, listening: socket.socket, status: int, *options: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The process that writes a ring; killed at the end."""
    descriptors = (listening.fileno(), status)
    command = [
        *run_module("tidscope_backend.ring.keeper", "--folder", str(folder)),
        *("--socket-fd", str(descriptors[0]), "--status-fd", str(descriptors[1])),
        *("--max-age-s", "3600", *options),
    ]
    assert command[0] == sys.executable
    process = await asyncio.create_subprocess_exec(*command, pass_fds=descriptors)
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def collecting(path: Path) -> AsyncIterator[tuple[UplinkHarness, socket.socket, int]]:
    """A collector's link to a ring, the socket that it connects to, and the ring's status."""
    status = open_status()
    try:
        with quiet_targets() as targets, socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
            listening.listen()
            async with UplinkHarness(targets, f"unix:{path}") as collector:
                yield collector, listening, status
    finally:
        os.close(status)


def large(seq: int) -> bytes:
    """A key frame of some 40 KiB that begins a part."""
    rows = {tid: [seq * tid] * len(FIELDS) for tid in range(1, 1001)}
    names = {tid: (-tid, f"w-{tid}") for tid in rows}
    return frame_bytes(seq, rows, identity=names, time_ns=seq * PART_S * 10**9)


def state(status: int) -> RingStatus:
    """Status that the process gives."""
    return read_status(status) or RingStatus()


async def test_a_full_disk_costs_the_oldest_parts_and_a_bound_holds(
    small_disk: Path, tmp_path: Path
) -> None:
    async with collecting(tmp_path / "socket") as (collector, listening, status):
        async with keeper(small_disk / "ring", listening, status, *UNBOUNDED):
            await until(lambda: _connects(collector))
            for seq in range(1, 201):
                collector.put([large(seq)], seq, key_every=1)
                if seq % 10 == 0:
                    await asyncio.to_thread(collector.frames.native.deliver, 60)
            await until(lambda: state(status).frames == 200)
            assert state(status).evicted_early > 0
            assert (state(status).lost, state(status).disk_full) == (0, 0)
            (track,) = ring_tracks(small_disk / "ring")
            kept = seqs(small_disk / "ring" / track.id)
            assert kept == list(range(kept[0], 201))
            assert kept[0] > 100
        await until(lambda: not collector.frames.native.load()["connected"])
        # A process that was killed is followed by one with less room, which seals parts.
        limits = ("--max-bytes", "400000", "--seal-s", "0")
        async with keeper(small_disk / "ring", listening, status, *limits):
            folder = tracks_in(small_disk / "ring")[0]
            await until(lambda: bool(folder.sealed_parts()))
            await until(lambda: _connects(collector))
            collector.put([large(201)], 201, key_every=1)
            await asyncio.to_thread(collector.frames.native.deliver, 60)
            await until(lambda: 0 < state(status).bytes <= 400_000)
            kept = seqs(folder.path)
            assert kept == list(range(kept[0], 202))
            assert state(status).unsealed == 0


def _connects(collector: UplinkHarness) -> bool:
    """True if connected; else try again, as the process may begin later than a try waits for it."""
    connected: bool = collector.frames.native.load()["connected"]
    if not connected:
        collector.go_on()
    return connected


def hangs(pid: int) -> bool:
    """True if a process is inside a system call that not even a kill ends."""
    return process_status(pid, "State")[0] == "D"


async def test_a_hanging_disk_stops_no_page_and_costs_no_frame(disk: LoopDisk) -> None:
    runs = disk.place / "runs"
    with (
        KnownWork() as program,
        up("--keep-minutes", "5", TIDSCOPE_RUNS=str(runs)) as running,
        running.client() as http,
    ):
        target = http.post("/api/v1/targets", json={"pid": program.pid, "rate_hz": RATE_HZ})
        name = target.raise_for_status().json()["id"]
        await until(lambda: bool(ring_tracks(runs / FOLDER)))
        track = runs / FOLDER / ring_tracks(runs / FOLDER)[0].id
        ring = running.ring_pid
        assert ring is not None
        async with (
            asyncio.timeout(LONGEST_S),
            LivePage(running.address.replace("http", "ws", 1), running.token) as page,
        ):
            await page.subscribe(name)
            before, _ = await page.frame()
            with disk.frozen():
                await until(lambda: hangs(ring))
                written = seqs(track)[-1]
                shown = await page.frames(max(before.seq, written) + 2 * RATE_HZ)
                assert hangs(ring)
                assert seqs(track)[-1] == written
                # Questions about the ring are answered meanwhile, too.
                assert [one["id"] for one in tracks(http)] == [track.name]
            assert [first for first, _ in shown] == [
                before.seq + 1,
                *(seq + 1 for _, seq in shown[:-1]),
            ]
            await until(lambda: seqs(track)[-1] > shown[-1][1])
        assert 'tidscope_ring_frames_total{outcome="lost"} 0.0' in http.get("/metrics").text
    kept = seqs(track)
    assert kept == list(range(1, len(kept) + 1))


async def test_a_longer_hang_costs_the_oldest_frames_that_wait_and_counts_them(
    disk: LoopDisk, tmp_path: Path
) -> None:
    last = 100
    folder = disk.place / "ring"
    async with (
        asyncio.timeout(LONGEST_S),
        collecting(tmp_path / "socket") as (collector, listening, status),
        keeper(folder, listening, status, *UNBOUNDED) as process,
    ):
        native = collector.frames.native
        await until(lambda: _connects(collector))
        collector.put([large(1)], key_every=1)
        await asyncio.to_thread(native.deliver, 60)
        with disk.frozen():
            collector.put([large(seq) for seq in range(2, last + 1)], 2, key_every=1)
            sending = asyncio.create_task(asyncio.to_thread(native.deliver, 120))
            await until(lambda: hangs(process.pid))
            assert native.load()["undelivered_bytes"] <= MIB
        assert await sending == 0
        await until(lambda: state(status).frames + state(status).lost == last)
        (track,) = ring_tracks(folder)
        kept = seqs(folder / track.id)
        lost = sorted(set(range(1, last + 1)) - set(kept))
        assert (state(status).frames, state(status).lost) == (len(kept), len(lost))
        assert native.load()["dropped"] == {TARGET_ID: len(lost)}
        # The bound leaves room for the newest ones.
        newest = last - MIB // len(large(last))
        assert lost[-1] == newest
        # Frames that were sent while others still came are not lost: they divide the others.
        holes = sum(after > before + 1 for before, after in pairwise(lost))
        assert state(status).gaps >= 1 + holes
