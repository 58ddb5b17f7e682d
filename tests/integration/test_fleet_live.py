"""Collectors and backends over real NATS servers: found, looked at, cut off, refused."""

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from backend_builders import TARGET_ID, stream, target
from backend_server import Backend, running_backend
from capabilities import needs
from fleet_host import LONGEST_S, connected, running_host, said
from live_page import LivePage
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats_servers import Servers, collecting
from processes import wait_until
from tidscope_backend.nats_link import relay_session
from tidscope_backend.nats_link.subjects import Subjects
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_wire.frame import join, split
from tidscope_wire.generated.models import (
    FramesLost,
    HealthResponse,
    LiveState,
    RoleTotals,
    RunManifest,
    Target,
)
from uplink_harness import quiet_targets

PATIENCE_S = 60
"""Timeout of a NATS client, in seconds."""


@pytest.fixture
def targets() -> Iterator[TargetRegistry]:
    with quiet_targets() as held:
        yield held


@asynccontextmanager
async def thief(servers: Servers) -> AsyncIterator[tuple[Client, list[Exception]]]:
    """A client with the key of another host, and what servers refuse it."""
    refused: list[Exception] = []

    async def note(error: Exception) -> None:
        refused.append(error)

    client = Client()
    seed = servers.keys["thief"].seed
    # An attempt that fails is noted, too.
    await client.connect(
        [*servers.urls], nkeys_seed_str=seed, error_cb=note, connect_timeout=PATIENCE_S
    )
    try:
        yield client, refused
    finally:
        await client.close()


def with_roles(frame: bytes, roles: list[RoleTotals]) -> bytes:
    """A frame whose header has totals by role."""
    header, body = split(frame)
    return join(header.model_copy(update={"roles": roles}), bytes(body))


async def reported(backend: Backend) -> HealthResponse:
    async with backend.program() as client:
        answer = await client.get("/api/v1/health")
    return HealthResponse.model_validate_json(answer.raise_for_status().content)


async def has_frames(backend: Backend, count: int) -> None:
    """Wait until a backend has so many frames."""
    async with asyncio.timeout(LONGEST_S):
        while (await reported(backend)).frames < count:
            pass


def losses(page: LivePage) -> list[tuple[int, int]]:
    return [(text.from_seq, text.to_seq) for text in page.texts if isinstance(text, FramesLost)]


async def test_two_backends_see_a_host_and_frames_leave_it_for_who_looks(
    tmp_path: Path, targets: TargetRegistry
) -> None:
    async with (
        Servers(tmp_path) as servers,
        running_host(servers, targets) as (relay, harness),
        running_backend(fleet=servers.settings("backend")) as first,
        running_backend(fleet=servers.settings("backend")) as second,
        first.page() as page,
        second.page() as other,
    ):
        harness.put(stream(1, 5))
        await connected(page)
        await connected(other)
        assert relay.counts.sent == 0
        await page.subscribe(TARGET_ID)
        assert await page.frames(5) == [(one, one) for one in range(1, 6)]
        harness.put(stream(6, 9), first=6)
        assert await page.frames(9) == [(one, one) for one in range(6, 10)]
        assert relay.counts.sent == 9
        # Nothing was sent to the other one before; it begins with the baseline.
        await other.subscribe(TARGET_ID)
        assert (await other.frames(9))[-1] == (9, 9)
        assert losses(page) == losses(other) == []


async def test_frames_that_a_confirmation_lets_go_are_counted_as_sent(
    tmp_path: Path, targets: TargetRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = stream(1, 10)
    monkeypatch.setattr(relay_session, "WINDOW_BYTES", sum(map(len, frames[:5])))
    async with (
        Servers(tmp_path) as servers,
        running_host(servers, targets) as (relay, harness),
        running_backend(fleet=servers.settings("backend")) as backend,
        backend.page() as page,
    ):
        harness.put(frames)
        await connected(page)
        await page.subscribe(TARGET_ID)
        assert await page.frames(10) == [(one, one) for one in range(1, 11)]
        assert relay.counts.sent == 10
        async with asyncio.timeout(LONGEST_S), backend.program() as client:
            text = ""
            while 'tidscope_relay_frames_sent_total{name="box"} 10.0' not in text:
                text = (await client.get("/metrics")).text
        assert 'tidscope_relay_frames_total{name="box"} 10.0' in text
        assert 'tidscope_relay_reconnects_total{name="box"} 0.0' in text
        assert 'tidscope_relay_messages_dropped_total{name="box"} 0.0' in text
        assert re.search(r'tidscope_relay_sent_bytes_total\{name="box"\} [1-9]', text)


async def test_commands_of_two_backends_get_their_own_replies(
    tmp_path: Path, targets: TargetRegistry
) -> None:
    async with (
        Servers(tmp_path) as servers,
        running_host(servers, targets) as (_, harness),
        running_backend(fleet=servers.settings("backend"), command_seconds=LONGEST_S) as first,
        running_backend(fleet=servers.settings("backend"), command_seconds=LONGEST_S) as second,
        first.page() as page,
        second.page() as other,
    ):
        harness.put(stream(1, 5))
        await connected(page)
        await connected(other)
        async with first.program() as one, second.program() as two:
            lists = [client.get("/api/v1/processes") for client in (one, two) for _ in range(5)]
            assert [answer.status_code for answer in await asyncio.gather(*lists)] == [200] * 10
        harness.put(stream(6, 6), first=6, of=target(rate_hz=3))
        for one_page in (page, other):
            async with asyncio.timeout(LONGEST_S):
                while (await one_page.text(LiveState)).targets[0].rate_hz != 3:
                    pass


async def test_a_recorded_target_travels_although_no_page_reads_it(
    tmp_path: Path, targets: TargetRegistry
) -> None:
    async with (
        Servers(tmp_path) as servers,
        running_host(servers, targets) as (relay, harness),
        running_backend(fleet=servers.settings("backend"), runs_dir=tmp_path / "runs") as backend,
        backend.page() as page,
        backend.program() as client,
    ):
        harness.put(stream(1, 25))
        await connected(page)
        async with asyncio.timeout(LONGEST_S):
            while relay.counts.taken < 25:
                await reported(backend)
        answer = await client.post("/api/v1/runs", json={"target": TARGET_ID})
        run = RunManifest.model_validate_json(answer.raise_for_status().content).id
        # The relay sends from its newest key frame on, 21, once it knows of the recording.
        await has_frames(backend, 5)
        harness.put(stream(26, 40), first=26)
        await has_frames(backend, 20)
        answer = await client.get(f"/api/v1/runs/{run}")
        manifest = RunManifest.model_validate_json(answer.raise_for_status().content)
        assert (manifest.losses.frames, relay.counts.sent) == (0, 20)


# nats-py 2.16 leaves the stream of an attempt that failed to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_page_goes_on_while_each_server_is_killed_or_paused_in_turn(
    tmp_path: Path, targets: TargetRegistry
) -> None:
    """Each frame comes once, or is named; a recording of the same time has the same frames."""
    async with (
        Servers(tmp_path, count=3) as servers,
        running_host(servers, targets) as (relay, harness),
        running_backend(fleet=servers.settings("backend"), queue_frames=10_000) as backend,
        backend.page() as page,
    ):
        harness.put(stream(1, 5))
        await connected(page)
        await page.subscribe(TARGET_ID)
        seen = await page.frames(5)
        last = 5
        for place, number in ((0, signal.SIGSTOP), (1, signal.SIGKILL), (2, signal.SIGKILL)):
            servers.signal(place, number)
            # More frames come while the server is away, and after it.
            for _ in range(20):
                harness.put(stream(last + 1, last + 10), first=last + 1)
                last += 10
                await asyncio.sleep(0)
            async with asyncio.timeout(LONGEST_S):
                seen += await page.frames(last)
            if number == signal.SIGSTOP:
                servers.signal(place, signal.SIGCONT)
            else:
                servers.kill(place)
                servers.start(place)
                await servers.ready(place)
        arrived = [one for first, end in seen for one in range(first, end + 1)]
        lost = [one for first, end in losses(page) for one in range(first, end + 1)]
        assert sorted(arrived + lost) == list(range(1, last + 1))
        health = await reported(backend)
        assert health.lost == len(lost)
        assert relay.counts.reconnects >= 1


async def test_a_key_speaks_for_its_own_host_and_hears_nothing_of_another(
    tmp_path: Path, targets: TargetRegistry
) -> None:
    async with (
        Servers(tmp_path, hosts=("box", "thief")) as servers,
        running_host(servers, targets) as (_, harness),
        running_backend(fleet=servers.settings("backend")) as backend,
        backend.page() as page,
        thief(servers) as (client, refused),
    ):
        box, own = Subjects("box"), Subjects("thief")
        heard: list[str] = []

        async def hear(message: Msg) -> None:
            heard.append(message.subject)

        for subject in (box.to_all, box.here, box.roles, box.from_("*"), own.from_("*"), ">"):
            await client.subscribe(subject, cb=hear)
        for subject in (box.here, box.roles, box.from_("1"), box.to("1"), own.to("1")):
            await client.publish(subject, b"{}")
        await client.flush(PATIENCE_S)
        # nats-py reports refusals in tasks of its own, which may run after flush() has returned.
        await asyncio.to_thread(wait_until, lambda: len(refused) >= 11)
        assert len(refused) == 11
        assert all("permissions violation" in str(one) for one in refused)
        harness.put(stream(1, 5))
        await connected(page)
        await page.subscribe(TARGET_ID)
        await page.frames(5)
        await client.flush(PATIENCE_S)
        assert heard == []


async def test_a_host_cannot_take_the_id_of_another(
    tmp_path: Path, targets: TargetRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        Servers(tmp_path, hosts=("box", "thief")) as servers,
        running_host(servers, targets) as (_, harness),
        running_backend(fleet=servers.settings("backend")) as backend,
        backend.page() as page,
    ):
        harness.put(stream(1, 5))
        await connected(page)
        async with running_host(servers, targets, "thief"):
            await said(caplog, "has the secret of nats:box, not of nats:thief")
        await page.subscribe(TARGET_ID)
        await page.frames(5)
        harness.put(stream(6, 9), first=6)
        await page.frames(9)


async def test_a_revoked_key_is_said_on_both_sides(
    tmp_path: Path, targets: TargetRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        Servers(tmp_path) as servers,
        running_host(servers, targets) as (_, harness),
        running_backend(fleet=servers.settings("backend", silent_s=2.0)) as backend,
        backend.page() as page,
    ):
        harness.put(stream(1, 5))
        await connected(page)
        servers.revoke("box")
        await said(caplog, "the NATS server refuses the key of host box")
        await said(caplog, "host box over NATS: silent for 2 s: the host is cut off, or the NATS")
        async with asyncio.timeout(LONGEST_S):
            while any(host.connected for host in (await page.text(LiveState)).hosts):
                pass


async def test_roles_travel_although_nobody_looks(tmp_path: Path, targets: TargetRegistry) -> None:
    async with (
        Servers(tmp_path) as servers,
        running_host(servers, targets) as (relay, harness),
        running_backend(fleet=servers.settings("backend")) as backend,
        backend.page() as page,
    ):
        harness.put(stream(1, 5))
        await connected(page)
        roles = [
            RoleTotals(role="worker-#", live=2, exited=1, totals={"cpu_run_ns": 5_000_000_000})
        ]
        harness.put([with_roles(stream(6, 6)[0], roles)], first=6, key_every=1)
        async with asyncio.timeout(LONGEST_S), backend.program() as client:
            text = ""
            while 'role="worker-#"' not in text:
                text = (await client.get("/metrics")).text
        assert relay.counts.sent == 0


@needs("root")
async def test_the_command_gives_a_host_to_backends_and_says_goodbye(tmp_path: Path) -> None:
    async with (
        Servers(tmp_path, hosts=("box",)) as servers,
        running_backend(fleet=servers.settings("backend")) as backend,
        backend.page() as page,
    ):
        async with (
            collecting(servers, tmp_path) as collector,
            asyncio.timeout(LONGEST_S),
            backend.program() as client,
        ):
            while not any(host.connected for host in (await page.text(LiveState)).hosts):
                pass
            answer = await client.post("/api/v1/targets", json={"pid": collector.pid})
            attached = Target.model_validate_json(answer.raise_for_status().content)
            await page.subscribe(attached.id)
            await page.frame()
            await page.unsubscribe(attached.id)
        async with asyncio.timeout(LONGEST_S):
            while (await reported(backend)).collectors:
                pass
