"""`tidscope hosts`: secrets made, replaced and revoked while backend and collector run."""

import asyncio
import io
import os
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack, redirect_stdout
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import httpx
import pytest
from backend_server import NO_KEPT_CONNECTIONS, TOKEN
from capabilities import needs
from live_page import LivePage
from programs.known_work import KnownWork
from tidscope_backend.cli import main
from tidscope_backend.security.host_file import FILE_NAME, HostFile
from tidscope_processes import NOBODY, CollectorProcess, free_port, served
from tidscope_wire.audit import read_records

pytestmark = needs("root")


def hosts(state: Path, *arguments: str) -> str:
    """Run the command in this process; returns what it wrote to standard output."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TIDSCOPE_", "SUDO_"))}
    environment = {**kept, "XDG_STATE_HOME": str(state)}
    said = io.StringIO()
    with patch.dict(os.environ, environment, clear=True), redirect_stdout(said):
        assert main(["hosts", *arguments]) == 0
    return said.getvalue()


def secret_of(printed: str) -> str:
    name, _, secret = printed.strip().partition("=")
    assert name == "TIDSCOPE_COLLECTOR_SECRET"
    return secret


async def test_hosts_with_a_running_backend(tmp_path: Path, known_work: KnownWork) -> None:
    """The real programs: added while the backend runs, replaced without a gap, then ended.

    Frames stream meanwhile, and none is missing until the collector is replaced.
    """
    port, state = free_port(), tmp_path / "state"
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with (
        AsyncExitStack() as pages,
        served(port, XDG_STATE_HOME=str(state)),
        httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}",
            headers=headers,
            timeout=120,
            limits=NO_KEPT_CONNECTIONS,
        ) as client,
    ):
        first = secret_of(await asyncio.to_thread(hosts, state, "add", "web-1"))
        async with CollectorProcess(port, secret=first) as collector:
            await collector.says("connected to the backend")
            (host,) = (await client.get("/api/v1/hosts")).json()["hosts"]
            listed = await asyncio.to_thread(hosts, state, "list")
            assert ["web-1", host["id"]] == listed.splitlines()[1].split()[:2]
            assert first.rpartition(".")[2] not in listed

            attached = await client.post(
                "/api/v1/targets", json={"pid": known_work.pid, "rate_hz": 50}
            )
            target = attached.raise_for_status().json()["id"]
            page = await pages.enter_async_context(LivePage(f"ws://127.0.0.1:{port}", TOKEN))
            await page.subscribe(target)
            assert contiguous(await page.frames(20))

            second = secret_of(await asyncio.to_thread(hosts, state, "rotate", "web-1"))
            # The connection goes on with the old secret.
            assert contiguous(await page.frames(60))
            assert second != first
            assert "valid until" in await asyncio.to_thread(hosts, state, "list")
            # Both are good meanwhile: the one that is connected, and the one that takes over.
            async with CollectorProcess(port, secret=second) as successor:
                await successor.says("connected to the backend")
                await collector.says("another collector of")
                health = (await client.get("/api/v1/health")).json()
                assert (health["lost"], health["frames"] >= 60) == (0, True)
                await asyncio.to_thread(hosts, state, "rotate", "web-1", "--grace", "0")
                await successor.says("the secret of collector:web-1 is not valid any more")

            third = secret_of(await asyncio.to_thread(hosts, state, "rotate", "web-1"))
            async with CollectorProcess(port, secret=third) as last:
                await last.says("connected to the backend")
                await asyncio.to_thread(hosts, state, "revoke", "web-1")
                await last.says("the secret of collector:web-1 is not valid any more")
                await last.says("does not know the secret")
            assert (await client.get("/api/v1/health")).json()["collectors"] == 0
    log = read_records(state / "tidscope" / "audit.jsonl")
    changes = [record.action for record in log if record.object == "web-1"]
    assert changes == ["add-secret", *["rotate-secret"] * 3, "revoke-secret"]


def contiguous(frames: list[tuple[int, int]]) -> bool:
    return all(after[0] == before[1] + 1 for before, after in pairwise(frames))


async def test_a_collector_with_the_secret_of_another_host_is_refused_by_name(
    tmp_path: Path,
) -> None:
    port, state = free_port(), tmp_path / "state"
    async with served(port, XDG_STATE_HOME=str(state)):
        mine = secret_of(await asyncio.to_thread(hosts, state, "add", "mine"))
        other = secret_of(await asyncio.to_thread(hosts, state, "add", "other"))
        async with CollectorProcess(port, secret=mine) as collector:
            await collector.says("connected to the backend")
            async with CollectorProcess(port, secret=other) as impostor:
                await impostor.says("has the secret of collector:mine, not of collector:other")
                await impostor.says("give each host its own secret")
            # The collector keeps its connection.
            assert "another collector" not in collector.said


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder of commands that run in this process."""
    for name in os.environ:
        if name.startswith(("TIDSCOPE_", "SUDO_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("add", "default"), 2, "choose another name"),
        (("add", "Web 1"), 2, "is not a name"),
        (("add", "web"), 1, "tidscope hosts rotate web"),
        (("rotate", "db"), 1, "no host db has a secret"),
        (("revoke", "db"), 1, "no host db has a secret"),
        (("rotate", "web", "--grace", "-1"), 2, "is not a number of seconds"),
    ],
)
def test_what_cannot_be_done_is_named(
    state: Path,
    arguments: tuple[str, ...],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    HostFile(state / "tidscope" / FILE_NAME).add("web", 0.0)
    try:
        found = main(["hosts", *arguments])
    except SystemExit as error:
        found = int(error.code or 0)
    assert found == code
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("state")
def test_an_empty_list_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hosts", "list"]) == 0
    assert "tidscope hosts add NAME" in capsys.readouterr().out


def test_under_sudo_the_file_is_of_who_called() -> None:
    """The backend that `sudo tidscope up` starts runs as that user, and reads it there."""
    program = (
        "import pwd, sys; from tidscope_backend.cli import main; old = pwd.getpwuid; "
        "pwd.getpwuid = lambda uid: pwd.struct_passwd((*old(uid)[:5], sys.argv[1], '/bin/sh')); "
        "sys.exit(main(['hosts', 'add', 'web']))"
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")}
    # A folder that any user can reach.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as home:
        os.chown(home, NOBODY, NOBODY)
        done = subprocess.run(
            [sys.executable, "-c", program, home],
            capture_output=True,
            text=True,
            check=False,
            env={**kept, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), "XDG_STATE_HOME": "/x"},
        )
        assert done.returncode == 0, done.stderr
        (found,) = Path(home).rglob("hosts.json")
        assert (found.stat().st_uid, found.stat().st_mode & 0o777) == (NOBODY, 0o600)
