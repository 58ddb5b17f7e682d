"""Sessions over HTTP and over the page's socket: they end when they should, and not before."""

import asyncio
import errno
import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from backend_server import TOKEN, Backend, kind, running_backend
from live_page import LivePage
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import LiveState
from websockets.exceptions import ConnectionClosed

WAIT = 200
VIEW_TOKEN = "view-token-of-the-tests"
RUN = "/api/v1/runs/r/export?format=csv"


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with asyncio.timeout(WAIT), running_backend(view_token=VIEW_TOKEN) as running:
        yield running


async def closed(page: LivePage) -> int:
    """The code that an open page's socket is closed with."""
    with pytest.raises(ConnectionClosed) as error:
        while True:
            await page.socket.recv()
    assert error.value.rcvd is not None
    return error.value.rcvd.code


async def test_signing_out_closes_the_sessions_sockets_and_no_others(backend: Backend) -> None:
    one, other = await backend.sign_in(), await backend.sign_in()
    async with (
        LivePage(backend.socket_url, None, backend.url, one.credential) as first,
        LivePage(backend.socket_url, None, backend.url, one.credential) as second,
        LivePage(backend.socket_url, None, backend.url, other.credential) as stays,
    ):
        for page in (first, second, stays):
            await page.text(LiveState)
        async with backend.person(one) as person:
            assert (await person.delete("/api/v1/session")).status_code == 204
        assert await closed(first) == CloseCode.UNAUTHENTICATED
        assert await closed(second) == CloseCode.UNAUTHENTICATED
        async with backend.person(other) as person:
            assert (await person.get("/api/v1/health")).status_code == 200
            (row,) = (await person.get("/api/v1/sessions")).json()["sessions"]
            assert (row["id"], row["own"], row["role"]) == (other.id, True, "operator")
    async with LivePage(backend.socket_url, None, backend.url, one.credential) as page:
        assert await closed(page) == CloseCode.UNAUTHENTICATED


async def test_an_operator_ends_sessions_and_a_viewer_does_not(backend: Backend) -> None:
    operator, viewer = await backend.sign_in(), await backend.sign_in(VIEW_TOKEN)
    assert viewer.role == "viewer"
    async with backend.person(viewer) as person:
        assert kind(await person.get("/api/v1/sessions")) == (403, "view-only")
        answer = await person.delete(f"/api/v1/sessions/{operator.id}")
        assert kind(answer) == (403, "view-only")
    async with (
        LivePage(backend.socket_url, None, backend.url, viewer.credential) as page,
        backend.person(operator) as person,
    ):
        await page.text(LiveState)
        listed = (await person.get("/api/v1/sessions")).json()["sessions"]
        assert {row["id"] for row in listed} == {operator.id, viewer.id}
        assert TOKEN not in str(listed)
        assert operator.credential not in str(listed)
        assert (await person.delete(f"/api/v1/sessions/{viewer.id}")).status_code == 204
        assert await closed(page) == CloseCode.UNAUTHENTICATED
        answer = await person.delete(f"/api/v1/sessions/{viewer.id}")
        assert kind(answer) == (404, "unknown-session")
    async with backend.person(viewer) as person:
        assert kind(await person.get("/api/v1/health")) == (401, "unauthenticated")


async def test_a_session_outlives_a_restart_with_the_same_token_only(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with asyncio.timeout(WAIT):
        async with running_backend(state_dir=state, view_token=VIEW_TOKEN) as backend:
            session, ended = await backend.sign_in(), await backend.sign_in()
            viewer = await backend.sign_in(VIEW_TOKEN)
            async with backend.person(ended) as person:
                await person.delete("/api/v1/session")
        file = state / "sessions-8787.json"
        assert file.stat().st_mode & 0o777 == 0o600
        for secret in (session.credential, viewer.credential, TOKEN, VIEW_TOKEN):
            assert secret.removeprefix("tds_") not in file.read_text()
        # The view token is another one: those who only watched have to sign in again.
        async with running_backend(state_dir=state) as backend:
            for one, status in ((session, 200), (ended, 401), (viewer, 401)):
                async with backend.person(one) as person:
                    assert (await person.get("/api/v1/health")).status_code == status
        async with (
            running_backend(state_dir=state, token="another-token-of-tests") as backend,
            backend.person(session) as person,
        ):
            assert (await person.get("/api/v1/health")).status_code == 401


@pytest.mark.parametrize("text", ["", "{", "[]", '{"salt": "", "tokens": {}, "sessions": [{}]}'])
async def test_a_file_that_cannot_be_used_ends_sessions_and_nothing_else(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "sessions-8787.json"
    file.write_text(text)
    file.chmod(0o600)
    async with asyncio.timeout(WAIT), running_backend(state_dir=tmp_path) as backend:
        await backend.sign_in()
    assert len(json.loads(file.read_text())["sessions"]) == 1


async def test_a_session_that_was_ended_stays_so_where_the_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(WAIT):
        async with running_backend(state_dir=tmp_path) as backend:
            session = await backend.sign_in()
            with monkeypatch.context() as patch:
                patch.setattr("json.dump", no_space)
                async with backend.person(session) as person:
                    assert (await person.delete("/api/v1/session")).status_code == 204
        async with (
            running_backend(state_dir=tmp_path) as backend,
            backend.person(session) as person,
        ):
            assert (await person.get("/api/v1/health")).status_code == 401


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


async def test_files_of_ports_that_are_used_no_more_go(tmp_path: Path) -> None:
    old, new = tmp_path / "sessions-1.json", tmp_path / "sessions-2.json"
    for file in (old, new):
        file.write_text("{}")
    long_ago = time.time() - 31 * 24 * 3600
    os.utime(old, (long_ago, long_ago))
    async with asyncio.timeout(WAIT), running_backend(state_dir=tmp_path):
        pass
    assert (old.exists(), new.exists()) == (False, True)


async def test_a_file_that_others_may_write_is_not_believed(tmp_path: Path) -> None:
    async with asyncio.timeout(WAIT):
        async with running_backend(state_dir=tmp_path) as backend:
            session = await backend.sign_in()
        file = tmp_path / "sessions-8787.json"
        file.chmod(0o666)
        async with (
            running_backend(state_dir=tmp_path) as backend,
            backend.person(session) as person,
        ):
            assert (await person.get("/api/v1/health")).status_code == 401


async def test_an_expired_session_is_refused_and_its_socket_closes() -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend(session_seconds=0.5) as backend,
    ):
        session = await backend.sign_in()
        async with LivePage(backend.socket_url, None, backend.url, session.credential) as page:
            assert await closed(page) == CloseCode.UNAUTHENTICATED
        async with backend.person(session) as person:
            assert kind(await person.get("/api/v1/health")) == (401, "unauthenticated")
        async with LivePage(backend.socket_url, None, backend.url, session.credential) as page:
            assert await closed(page) == CloseCode.UNAUTHENTICATED


async def test_sessions_that_have_ended_do_not_count_as_wrong_tokens(backend: Backend) -> None:
    session = await backend.sign_in()
    async with backend.person(session) as person:
        await person.delete("/api/v1/session")
        for _ in range(12):
            assert kind(await person.get("/api/v1/health")) == (401, "unauthenticated")


async def test_a_ticket_is_good_once_for_its_path_and_its_session(backend: Backend) -> None:
    session = await backend.sign_in()

    async with backend.person(session) as person, backend.client() as browser:

        async def ticket() -> str:
            answer = await person.post("/api/v1/session/tickets", json={"path": RUN})
            assert answer.status_code == 201
            return str(answer.json()["ticket"])

        # There is no such run: the ticket was accepted where that is said.
        unknown = (404, "unknown-run")
        good = await ticket()
        assert kind(await browser.get(f"{RUN}&ticket={good}")) == unknown
        assert kind(await browser.get(f"{RUN}&ticket={good}")) == (401, "unauthenticated")
        for address in (
            "/api/v1/runs/other/export?format=csv&ticket=",
            "/api/v1/runs/r/export?ticket=",
            "/api/v1/runs/r/export?format=folder&ticket=",
            "/api/v1/health?ticket=",
        ):
            answer = await browser.get(address + await ticket())
            assert kind(answer) == (401, "unauthenticated"), address
        waiting = await ticket()
        await person.delete("/api/v1/session")
        assert kind(await browser.get(f"{RUN}&ticket={waiting}")) == (401, "unauthenticated")


@pytest.mark.parametrize("path", ["/api/v1/session", "/api/v1/sessions", "/metrics", "/x", "x"])
async def test_a_ticket_is_for_what_viewers_may_read(backend: Backend, path: str) -> None:
    async with backend.person(await backend.sign_in()) as person:
        answer = await person.post("/api/v1/session/tickets", json={"path": path})
        assert answer.status_code == (201 if path == "/api/v1/session" else 422)


async def test_the_metrics_token_reads_metrics_and_nothing_else() -> None:
    metrics = "metrics-token-of-the-tests"
    async with (
        asyncio.timeout(WAIT),
        running_backend(metrics_token=metrics) as backend,
        backend.client(authorization=f"Bearer {metrics}") as prometheus,
    ):
        assert (await prometheus.get("/metrics")).status_code == 200
        for path in ("/api/v1/health", "/api/v1/session", "/api/v1/runs", "/api/v1/sessions"):
            assert kind(await prometheus.get(path)) == (401, "unauthenticated")
        answer = await prometheus.post("/api/v1/session", json={"token": metrics})
        assert kind(answer) == (401, "unauthenticated")
        async with LivePage(backend.socket_url, metrics) as page:
            assert await closed(page) == CloseCode.UNAUTHENTICATED
