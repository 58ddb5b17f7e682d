"""A real backend inside a test: the app behind uvicorn, on a free port."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
from fake_collector import PLAIN, FakeCollector
from live_page import LivePage
from ports import free_port
from schema_check import check_answer
from tidscope_backend.listen_socket import open_socket
from tidscope_backend.security.host_file import FILE_NAME, HostFile
from tidscope_backend.server import make_server
from tidscope_backend.settings import Settings
from tidscope_wire.generated.models import SessionOpened
from tidscope_wire.proof import KEY_BYTES, host_secret

TOKEN = "token-of-the-tests"
NO_KEPT_CONNECTIONS = httpx.Limits(max_keepalive_connections=0)
SECRET = host_secret("default", b"secret-of-the-tests".ljust(KEY_BYTES))


@dataclass(frozen=True)
class Backend:
    """Address of a running backend, and clients for it."""

    port: int
    settings: Settings

    @property
    def url(self) -> str:
        """Origin of the page."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def socket_url(self) -> str:
        """Address for WebSockets."""
        return f"ws://127.0.0.1:{self.port}"

    def client(self, **headers: str) -> httpx.AsyncClient:
        """An HTTP client with these headers and no others.

        Each answer is compared with the OpenAPI document. Each request has a connection of its own:
        one that was kept could be closed by the backend just when it is used again.
        """
        return httpx.AsyncClient(
            base_url=self.url,
            headers=headers,
            timeout=120,
            verify=PLAIN,
            limits=NO_KEPT_CONNECTIONS,
            event_hooks={"response": [check_answer]},
        )

    def program(self) -> httpx.AsyncClient:
        """An HTTP client that shows the token as a program does."""
        return self.client(authorization=f"Bearer {TOKEN}")

    def viewer(self) -> httpx.AsyncClient:
        """Client with the token that only lets watch."""
        return self.client(authorization=f"Bearer {self.settings.view_token}")

    async def sign_in(self, token: str = TOKEN) -> SessionOpened:
        """Trade a token for a session, as the page does."""
        async with self.client(origin=self.url) as client:
            answer = await client.post("/api/v1/session", json={"token": token})
        answer.raise_for_status()
        return SessionOpened.model_validate_json(answer.content)

    def person(self, session: SessionOpened) -> httpx.AsyncClient:
        """An HTTP client that sends what the page of a session sends."""
        bearer = f"Bearer {session.credential}"
        return self.client(origin=self.url, authorization=bearer)

    def add_host(self, name: str) -> str:
        """Give a host a secret of its own, as `tidscope hosts add` does; the secret."""
        return host_secret(name, self.hosts.add(name, time.time()))

    @property
    def hosts(self) -> HostFile:
        """The file of hosts, beside the backend that reads it."""
        assert self.settings.state_dir is not None
        return HostFile(self.settings.state_dir / FILE_NAME)

    def collector(self, *, secret: str = SECRET, **arguments: Any) -> FakeCollector:
        """A scripted collector; use as a context manager to connect it."""
        return FakeCollector(self.socket_url, secret, **arguments)

    def page(self, **arguments: Any) -> LivePage:
        """A page's WebSocket; use as a context manager to connect it."""
        return LivePage(self.socket_url, TOKEN, **arguments)


@asynccontextmanager
async def running_backend(port: int = 0, **changes: Any) -> AsyncIterator[Backend]:
    """Run a backend with these settings changed; it has shut down completely at the end.

    Another one may take its port later: see `ports`.
    """
    settings = replace(Settings(token=TOKEN, collector_secret=SECRET), **changes)
    sock = open_socket("127.0.0.1", port or free_port())
    server = make_server(settings)
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        yield Backend(sock.getsockname()[1], settings)
    finally:
        server.should_exit = True
        await serving
        sock.close()


def kind(answer: httpx.Response) -> tuple[int, str]:
    """Status and kind of a refusal."""
    return answer.status_code, answer.json()["type"].rpartition(":")[2]
