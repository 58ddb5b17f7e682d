"""Collector and backend on two hosts, with a network between that is cut, slow and lossy."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from backend_server import TOKEN
from capabilities import needs
from live_page import LivePage
from networks import FarHost, far_host
from programs.known_work import KnownWork
from receiver import connected
from run_folders import seqs
from tidscope_backend.store.folder import RunFolder
from tidscope_processes import CollectorProcess, free_port, served
from tidscope_wire.generated.models import (
    FramesLost,
    HealthResponse,
    RunManifest,
    Target,
)

pytestmark = needs("root")
ALTERED = Path(__file__).parents[1] / "altered_collector.py"


@pytest.fixture(scope="module")
def far() -> Iterator[FarHost]:
    with far_host() as made:
        yield made


@asynccontextmanager
async def program(far: FarHost, port: int) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the far backend."""
    async with httpx.AsyncClient(
        base_url=f"http://{far.address}:{port}/api/v1",
        headers={"authorization": f"Bearer {TOKEN}"},
        timeout=120,
    ) as client:
        yield client


async def attach(client: httpx.AsyncClient, pid: int) -> Target:
    answer = await client.post("/targets", json={"pid": pid, "rate_hz": 50})
    return Target.model_validate_json(answer.raise_for_status().content)


async def follow(page: LivePage, last: int, until: int) -> int:
    """Read on, each frame behind the one before; the number of the last one."""
    while last < until:
        header, _ = await page.frame()
        assert header.first_seq == last + 1
        last = header.seq
    return last


async def test_no_frame_is_lost_when_the_network_is_cut_and_the_backend_begins_again(
    far: FarHost, known_work: KnownWork
) -> None:
    """A cut notifies neither side. The collector is a newer one, which makes no difference."""
    port = free_port()
    url = f"ws://{far.address}:{port}"
    newer = (sys.executable, str(ALTERED), "--version", "99.1.0")
    async with CollectorProcess(port, newer, host=far.address), AsyncExitStack() as pages:
        async with served(port, far.within, ("--host", far.address)):
            page = await pages.enter_async_context(LivePage(url, TOKEN))
            await connected(page)
            async with program(far, port) as client:
                target = await attach(client, known_work.pid)
            await page.subscribe(target.id)
            seen = await follow(page, 0, 20)
            far.wire.cut = True
        # Killed during the cut: neither the collector nor the page hears of it.
        async with served(port, far.within, ("--host", far.address)):
            far.wire.cut = False
            fresh = await pages.enter_async_context(LivePage(url, TOKEN))
            await connected(fresh)
            await fresh.subscribe(target.id, seen)
            await follow(fresh, seen, seen + 200)
            assert not [text for text in fresh.texts if isinstance(text, FramesLost)]


CLOCK_AHEAD_S = 300
CLOCK = f"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{{
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && clock == CLOCK_REALTIME)
        now->tv_sec += {CLOCK_AHEAD_S};
    return failed;
}}
"""


def wrong_clock(folder: Path) -> tuple[str, ...]:
    """A command that runs another one with a wall clock that is five minutes ahead."""
    library = folder / "clock.so"
    command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=CLOCK, text=True, check=True)
    return ("env", f"LD_PRELOAD={library}")


async def test_each_frame_of_a_long_outage_arrives_or_is_reported_missing(
    far: FarHost, known_work: KnownWork, tmp_path: Path
) -> None:
    """Longer than the collector can keep frames, on a line that is slow and loses packets.

    The collector's clock is wrong, which its host says, and no account of time depends on it.
    """
    port = free_port()
    url = f"ws://{far.address}:{port}"
    altered = (sys.executable, str(ALTERED), "--waiting-bytes", "40000")
    within = (*wrong_clock(tmp_path), *altered)
    where = {"XDG_STATE_HOME": str(tmp_path), "TIDSCOPE_RUNS": str(tmp_path / "runs")}
    far.wire.delay_s, far.wire.loss = 0.02, 0.02
    async with (
        served(port, far.within, ("--host", far.address), **where),
        CollectorProcess(port, within, host=far.address) as collector,
    ):
        async with program(far, port) as client, LivePage(url, TOKEN) as page:
            await connected(page)
            target = await attach(client, known_work.pid)
            answer = await client.post("/runs", json={"target": target.id})
            run = RunManifest.model_validate_json(answer.raise_for_status().content)
            await page.subscribe(target.id)
            seen = await follow(page, 0, 20)
            far.wire.cut = True
            far.reset()
        await collector.says("dropped ")
        far.wire.cut = False
        await collector.says("connected to the backend", 2)
        async with program(far, port) as client, LivePage(url, TOKEN) as page:
            await page.subscribe(target.id, seen)
            missing, dropped, lost, left = 0, 0, 0, 2000
            # The collector counts about once a second, and on a busy machine drops some more then.
            while not dropped or not dropped == missing == lost:
                header, _ = await page.frame()
                missing += header.first_seq - seen - 1
                seen, dropped = header.seq, header.health.frames_dropped
                left -= 1
                assert left, (missing, dropped)
                if dropped == missing:
                    lost = (await client.get("/health")).raise_for_status().json()["lost"]
            said = [text for text in page.texts if isinstance(text, FramesLost)]
            answer = await client.post(f"/runs/{run.id}/stop")
            run = RunManifest.model_validate_json(answer.raise_for_status().content)
            answer = await client.get("/health")
            (host,) = (await client.get("/hosts")).json()["hosts"]
            health = HealthResponse.model_validate_json(answer.raise_for_status().content)
    assert missing == sum(text.to_seq - text.from_seq + 1 for text in said) == health.lost
    assert (run.losses.frames, run.state) == (missing, "incomplete")
    recorded = seqs(RunFolder(tmp_path / "runs" / run.id))
    between = [after[0] - before[1] - 1 for before, after in pairwise(recorded)]
    assert (sum(between), len([one for one in between if one])) == (missing, run.losses.gaps)
    assert recorded[-1][1] - recorded[0][0] + 1 == missing + sum(b - a + 1 for a, b in recorded)
    assert far.wire.lost > 0
    assert abs(host["clock_ahead_us"] / 1e6 - CLOCK_AHEAD_S) < CLOCK_AHEAD_S / 2
    assert run.started_unix_us - run.created_unix_us > CLOCK_AHEAD_S * 1e6 / 2
    assert run.losses.clock_jumps == 0
    assert run.losses.missing_ns <= run.to_ns - run.from_ns
