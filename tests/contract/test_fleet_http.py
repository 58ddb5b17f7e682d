"""Many hosts over REST: a real backend, its process for questions, and kept rows."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from ab_command import command_of
from backend_builders import HOST_ID, host
from backend_server import Backend, kind, running_backend
from httpx import AsyncClient
from made_hosts import BEGAN, rows_of_hosts
from processes import wait_until
from tidscope_backend.fleet.part_store import STAGED
from tidscope_backend.fleet.role_keeper import write_part
from tidscope_backend.fleet.role_table import FOLDER
from tidscope_wire.generated.models import (
    CollectorHello,
    CollectorWelcome,
    FleetAcross,
    FleetComparison,
    FleetHosts,
)

BEGAN_MS = int(BEGAN.timestamp() * 1000)
PAST = {"since_ms": BEGAN_MS, "until_ms": BEGAN_MS + 610_000}
VIEW_TOKEN = "view-token-of-the-tests"


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    rows = rows_of_hosts(["a", "b", "c"], {"worker": {"cpu_run_ns": 1e9}})
    write_part(tmp_path / "runs" / FOLDER / STAGED, rows)
    async with running_backend(runs_dir=tmp_path / "runs", view_token=VIEW_TOKEN) as running:
        yield running


async def test_who_may_look_can_ask_about_any_time(backend: Backend) -> None:
    labelled = host().model_copy(update={"labels": {"region": "b"}})
    async with backend.collector(host=labelled), backend.viewer() as client:
        now = FleetHosts.model_validate_json((await client.get("/api/v1/fleet/hosts")).content)
        assert [(one.host, one.connected, one.states) for one in now.hosts] == [(HOST_ID, True, [])]
        assert now.hosts[0].labels == {"region": "b"}
        assert not now.kept
        assert now.note is None
        answer = await client.get("/api/v1/fleet/hosts", params=PAST)
        past = FleetHosts.model_validate_json(answer.content)
        assert [one.name for one in past.hosts] == ["a", "b", "c", "box"]
        asked: dict[str, str | int] = {
            **PAST,
            "program": "server",
            "role": "worker",
            "counter": "cpu_run_ns",
        }
        answer = await client.get("/api/v1/fleet/across", params=asked)
        values = FleetAcross.model_validate_json(answer.content).hosts
        assert [one.value for one in values] == pytest.approx([1e9] * 3)
        answer = await client.get("/api/v1/fleet/compare", params={**PAST, "other": "host=c"})
        found = FleetComparison.model_validate_json(answer.content)
        assert (found.first, found.other) == (["a", "b"], ["c"])
        refusable: tuple[dict[str, str | int], ...] = (
            {"counter": "cpu_run_ns; drop table roles"},
            {"since_ms": BEGAN_MS, "until_ms": BEGAN_MS},
            {"since_ms": 0, "until_ms": BEGAN_MS},
        )
        for wrong in refusable:
            refused = await client.get("/api/v1/fleet/across", params=wrong)
            assert kind(refused) == (422, "bad-request")


async def test_answers_say_which_clocks_differ(tmp_path: Path) -> None:
    async def say(ahead_s: int, number: int) -> None:
        one = host(f"h-{number:012x}", f"box-{number}")
        unix_us = time.time_ns() // 1000 + ahead_s * 1_000_000
        hello = CollectorHello(protocol=1, host=one, targets=[], policies=[], unix_us=unix_us)
        await collectors[number].say(hello)
        await collectors[number].command(CollectorWelcome)

    async def note(client: AsyncClient, **window: int) -> str | None:
        answer = await client.get("/api/v1/fleet/hosts", params={**PAST, **window})
        return FleetHosts.model_validate_json(answer.content).note

    async with (
        # The collectors say hello late: the first question starts a process.
        running_backend(state_dir=tmp_path, hello_seconds=120) as backend,
        backend.collector(silent=True, secret=backend.add_host("right")) as right,
        backend.collector(silent=True, secret=backend.add_host("ahead")) as ahead,
        backend.collector(silent=True, secret=backend.add_host("behind")) as behind,
        backend.program() as client,
    ):
        collectors = right, ahead, behind
        await say(0, 0)
        assert await note(client) is None
        await say(3600, 1)
        said = await note(client, since_ms=BEGAN_MS + 1)
        assert said is not None
        assert said.startswith("The clock of box-1 differs")
        await say(-3600, 2)
        said = await note(client, since_ms=BEGAN_MS + 2)
        assert said is not None
        assert said.startswith("The clock of 2 hosts, such as box-")


async def test_a_process_that_was_killed_is_started_again(backend: Backend) -> None:
    async with backend.program() as client:
        assert (await client.get("/api/v1/fleet/hosts", params=PAST)).status_code == 200
        (answering,) = answering_processes()
        os.kill(answering, signal.SIGKILL)
        await asyncio.to_thread(wait_until, lambda: not answering_processes())
        other = {**PAST, "since_ms": BEGAN_MS + 1}
        statuses = [
            (await client.get("/api/v1/fleet/hosts", params=other)).status_code for _ in range(2)
        ]
        assert statuses[-1] == 200
    assert len(answering_processes()) == 1


def answering_processes() -> list[int]:
    """Return our children that answer questions."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children if b"fleet.answering" in command_of(int(pid))]
