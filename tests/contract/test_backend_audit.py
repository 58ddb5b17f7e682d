"""The backend's audit log: who changed what, by which session, and what became of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from answering_collector import answering_collector
from backend_builders import TARGET_ID, stream
from backend_server import TOKEN, Backend, running_backend
from scripted_run import write_run
from tidscope_backend.security.audit import ACTIONS, REFUSED_SIGN_INS, UNLOGGED
from tidscope_backend.security.rights import ROUTES
from tidscope_wire.audit import FILE, read_records
from tidscope_wire.generated.models import AuditRecord

RUN = "r-20261121-120000-000001"
TARGET = f"/api/v1/targets/{TARGET_ID}"


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    write_run(tmp_path / "runs", 1)
    async with running_backend(
        runs_dir=tmp_path / "runs", state_dir=tmp_path / "state", web_dir=tmp_path
    ) as running:
        yield running


def records(backend: Backend) -> list[AuditRecord]:
    """All lines but the first, which says that the backend has started."""
    assert backend.settings.state_dir is not None
    start, *others = read_records(backend.settings.state_dir / FILE)
    assert (start.action, start.actor.label) == ("start", "tidscope")
    return others


def test_every_route_that_changes_something_is_logged() -> None:
    changing = {route for route in ROUTES if route[0] not in ("GET", "WEBSOCKET")}
    assert changing == {*ACTIONS, *UNLOGGED}


async def test_every_change_has_a_line_with_its_session(backend: Backend) -> None:
    async with backend.client(origin=backend.url, **{"user-agent": "Browser/1"}) as page:
        opened = (await page.post("/api/v1/session", json={"token": TOKEN})).json()
        page.headers["authorization"] = f"Bearer {opened['credential']}"
        async with answering_collector(backend) as (collector, commands):
            await collector.send(*stream(1, 5, baseline=True))
            archive = (await page.get(f"/api/v1/runs/{RUN}/export")).content
            other = (await page.post("/api/v1/session", json={"token": TOKEN})).json()["id"]
            asked = [
                await page.post("/api/v1/targets", json={"pid": 1}),
                await page.patch(TARGET, json={"rate_hz": 5}),
                await page.put("/api/v1/doctor/delay-accounting", json={"on": True}),
                await page.put(f"{TARGET}/steering", json={"policy": "fixed"}),
                await page.post(f"{TARGET}/steering/restart"),
                await page.delete(f"{TARGET}/steering"),
                recorded := await page.post("/api/v1/runs", json={"target": TARGET_ID}),
                await page.post(f"/api/v1/runs/{recorded.json()['id']}/stop"),
                await page.patch(f"/api/v1/runs/{RUN}", json={"name": "new", "notes": "x"}),
                await page.delete(f"/api/v1/runs/{RUN}"),
                await page.post(f"/api/v1/runs/{RUN}/restore"),
                await page.post("/api/v1/runs/import", content=archive),
                await page.delete(TARGET),
                await page.delete("/api/v1/demo"),
                await page.delete(f"/api/v1/sessions/{other}"),
                await page.delete("/api/v1/session"),
            ]
    assert {answer.status_code // 100 for answer in asked} == {2}
    own, second, *lines = records(backend)
    assert (own.action, own.object, own.actor.session) == ("sign-in", opened["id"], None)
    assert own.details == {"role": "operator", "program": "Browser/1"}
    assert second.object == other
    assert [line.action for line in lines] == [
        *("attach", "set-rate", "set-delay-accounting", "steer", "restart-search", "release"),
        *("record", "stop", "patch", "delete", "restore", "import"),
        *("detach", "stop-demo", "end-session", "sign-out"),
    ]
    assert {line.outcome for line in (own, second, *lines)} == {"done"}
    assert {(line.actor.session, line.actor.role) for line in lines} == {(opened["id"], "operator")}
    made, imported = recorded.json()["id"], asked[11].json()["id"]
    assert [line.object for line in lines] == [
        *(TARGET_ID, TARGET_ID, None, TARGET_ID, TARGET_ID, TARGET_ID),
        *(made, made, RUN, RUN, RUN, imported),
        *(TARGET_ID, None, other, None),
    ]
    assert lines[0].details["pid"] == "1"
    assert lines[8].details == {"members": "name, notes"}
    # The collector gets the same.
    actors = [command.actor for command in commands if hasattr(command, "actor")]
    assert actors == [lines[0].actor] * 7


async def test_what_is_refused_is_logged_with_the_reason(backend: Backend) -> None:
    async with backend.program() as client:
        await client.delete("/api/v1/runs/r-1")
        await client.post("/api/v1/targets", json={"pid": 1})
    deleted, attached = records(backend)
    assert (deleted.action, deleted.outcome, deleted.object) == ("delete", "refused", "r-1")
    assert deleted.details["problem"] == "unknown-run"
    assert deleted.actor.role == "operator"
    assert "program at 127.0.0.1" in deleted.actor.label
    assert (attached.outcome, attached.details["problem"]) == ("failed", "no-collector")


async def test_wrong_tokens_are_logged_without_them_and_cannot_push_out_the_rest(
    backend: Backend,
) -> None:
    wrong = "wrong-token-of-somebody"
    async with backend.client(origin=backend.url) as page:
        for _ in range(3 * REFUSED_SIGN_INS):
            await page.post("/api/v1/session", json={"token": wrong})
        assert (await page.post("/api/v1/session", json={"token": TOKEN})).status_code == 201
    *refused, done = records(backend)
    assert REFUSED_SIGN_INS <= len(refused) < 3 * REFUSED_SIGN_INS
    assert {line.outcome for line in refused} == {"refused"}
    assert {line.actor.label for line in refused} == {"somebody at 127.0.0.1"}
    # Omitted lines are counted.
    assert len(refused) + sum(line.lost for line in (*refused, done)) == 3 * REFUSED_SIGN_INS
    assert backend.settings.state_dir is not None
    assert wrong not in (backend.settings.state_dir / FILE).read_text()


async def test_a_full_disk_keeps_nobody_out(backend: Backend) -> None:
    assert backend.settings.state_dir is not None
    log = backend.settings.state_dir / FILE
    async with backend.program() as client:
        await client.get("/api/v1/health")  # The start is logged.
    await asyncio.to_thread(log.unlink)
    await asyncio.to_thread(log.symlink_to, "/dev/full")
    async with backend.client(origin=backend.url) as page:
        answer = await page.post("/api/v1/session", json={"token": TOKEN})
        assert answer.status_code == 201
    async with backend.program() as client:
        assert (await client.delete(f"/api/v1/runs/{RUN}")).status_code == 204
    await asyncio.to_thread(log.unlink)
    async with backend.program() as client:
        assert (await client.post(f"/api/v1/runs/{RUN}/restore")).status_code == 200
    (restored,) = read_records(log)
    assert (restored.action, restored.lost) == ("restore", 2)
