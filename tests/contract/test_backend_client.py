"""The client of commands against a real backend that closes kept connections."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from backend_server import TOKEN, Backend, running_backend
from tidscope_backend.cli.backend_client import BackendClient, UnavailableError
from tidscope_backend.settings import KEEP_ALIVE_SECONDS
from tidscope_wire.generated.models import HealthResponse


@pytest_asyncio.fixture
async def backend() -> AsyncIterator[Backend]:
    async with running_backend() as running:
        yield running


def close_unnoticed(client: BackendClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Close the connection once the client has found it open."""
    assert client._connection is not None
    client._connection.sock.shutdown(socket.SHUT_RDWR)
    monkeypatch.setattr(client, "_is_open", lambda: True)


async def test_a_reading_request_is_sent_again(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_twice() -> HealthResponse:
        with BackendClient(f"127.0.0.1:{backend.port}", TOKEN) as client:
            client.request_model("/health", HealthResponse)
            close_unnoticed(client, monkeypatch)
            return client.request_model("/health", HealthResponse)

    assert (await asyncio.to_thread(read_twice)).collectors == 0


async def test_a_connection_that_is_about_to_be_closed_is_not_used(backend: Backend) -> None:
    def change_after_a_pause() -> None:
        with BackendClient(f"127.0.0.1:{backend.port}", TOKEN) as client:
            client.request("/health")
            before = client._connection
            client._answered_s -= KEEP_ALIVE_SECONDS
            client.request("/session", "DELETE")
            assert client._connection is not before

    await asyncio.to_thread(change_after_a_pause)


async def test_a_request_that_changes_something_is_not(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change() -> None:
        with BackendClient(f"127.0.0.1:{backend.port}", TOKEN) as client:
            client.request("/health")
            close_unnoticed(client, monkeypatch)
            client.request("/session", "DELETE")

    with pytest.raises(UnavailableError):
        await asyncio.to_thread(change)
