"""NATS servers that require TLS: accepted by their authority, refused with the reason."""

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from backend_builders import TARGET_ID, stream
from backend_server import running_backend
from capabilities import needs
from certificates import make_authority, make_certificate
from fleet_host import LONGEST_S, connected, running_host, said
from nats_servers import Servers, collecting
from tidscope_wire.generated.models import LiveState
from uplink_harness import quiet_targets

# nats-py 2.16 leaves the stream of an attempt that failed to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of an authority that this process trusts, and of a certificate that it signed."""
    folder = tmp_path / "mine"
    monkeypatch.setenv("SSL_CERT_FILE", str(make_authority(folder)))
    make_certificate(folder)
    return folder


@pytest.fixture
def readable(mine: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the authority in a file that every user can read, such as that of the relay."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("SSL_CERT_FILE", shutil.copy(mine / "ca.crt", folder))
        yield


async def refusals(servers: Servers, caplog: pytest.LogCaptureFixture, *texts: str) -> None:
    """Run a relay and a backend until both have said this; neither has sent anything."""
    with quiet_targets() as targets:
        async with (
            running_host(servers, targets),
            running_backend(fleet=servers.settings("backend")),
        ):
            for text in texts:
                await said(caplog, text)
    assert "connected to the NATS server" not in caplog.text


async def test_a_host_and_a_backend_meet_at_a_server_with_tls(mine: Path, tmp_path: Path) -> None:
    with quiet_targets() as targets:
        async with (
            Servers(tmp_path, tls=mine) as servers,
            running_host(servers, targets) as (_, harness),
            running_backend(fleet=servers.settings("backend")) as backend,
            backend.page() as page,
        ):
            assert all(url.startswith("tls://localhost:") for url in servers.urls)
            harness.put(stream(1, 5))
            await connected(page)
            await page.subscribe(TARGET_ID)
            assert await page.frames(5) == [(one, one) for one in range(1, 6)]


@needs("root")
@pytest.mark.usefixtures("readable")
async def test_the_command_takes_the_authority_from_its_environment(
    mine: Path, tmp_path: Path
) -> None:
    async with (
        Servers(tmp_path, tls=mine) as servers,
        running_backend(fleet=servers.settings("backend")) as backend,
        backend.page() as page,
        collecting(servers, tmp_path),
        asyncio.timeout(LONGEST_S),
    ):
        while not any(host.connected for host in (await page.text(LiveState)).hosts):
            pass


@pytest.mark.usefixtures("mine")
async def test_the_certificate_of_an_unknown_authority_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    make_authority(tmp_path / "other")
    make_certificate(tmp_path / "other")
    async with Servers(tmp_path, tls=tmp_path / "other") as servers:
        reason = (
            "the certificate of the NATS server is refused: unable to get local issuer "
            "certificate; name the file of the authority that signed it in SSL_CERT_FILE"
        )
        await refusals(servers, caplog, f"host box: {reason}", f"a backend: {reason}")


async def test_a_certificate_of_another_name_is_refused(
    mine: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    make_certificate(mine, name="nats.example")
    async with Servers(tmp_path, tls=mine) as servers:
        await refusals(servers, caplog, "is refused: Hostname mismatch")


async def test_a_server_without_tls_is_refused_at_an_address_with_tls(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever sits between could else take TLS away."""
    caplog.set_level(logging.INFO)
    async with Servers(tmp_path) as servers:
        servers.scheme = "tls"
        reason = "no NATS server: the one that answers does not require TLS, which tls:// demands"
        await refusals(
            servers,
            caplog,
            f"host box: {reason}",
            f"a backend: {reason}",
        )
