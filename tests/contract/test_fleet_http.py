"""Many hosts over REST: a real backend, its process for questions, and kept rows."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from backend_builders import HOST_ID, host
from backend_server import Backend, kind, running_backend
from made_hosts import BEGAN, rows_of_hosts
from processes import wait_until
from tidscope_backend.fleet.part_store import STAGED
from tidscope_backend.fleet.role_keeper import write_part
from tidscope_backend.fleet.role_table import FOLDER
from tidscope_wire.generated.models import FleetAcross, FleetComparison, FleetHosts

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
    return [
        int(pid)
        for pid in children
        if b"fleet.answering" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
