"""A collector over TLS: which certificates it refuses, and what it says to do about that."""

import asyncio
import ssl
from pathlib import Path

import pytest
from backend_server import SECRET
from certificates import make_authority, make_certificate
from tidscope_collector.uplink.sign_in import SignIn, SignInError
from tidscope_wire.proof import host_credential


async def refusal(folder: Path | None, scheme: str = "wss") -> str:
    """Sign in to a server with the certificate of a folder, or without TLS; what is said."""
    context: ssl.SSLContext | None = None
    if folder is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "tls.crt", folder / "tls.key")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.0 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        address = f"{scheme}://localhost:{port}/ws/collector"
        with pytest.raises(SignInError) as refused:
            await SignIn(address, host_credential(SECRET)).headers()
    text = str(refused.value)
    assert f"localhost:{port}" in text
    return text


async def test_what_is_refused_is_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    monkeypatch.setenv("SSL_CERT_FILE", str(make_authority(mine)))
    make_authority(other)
    make_certificate(mine)
    make_certificate(other)
    # The certificate is accepted; the server does not know the secret.
    assert "does not know the secret" in await refusal(mine)
    wrong = await refusal(other)
    assert "is refused: unable to get local issuer certificate; name the file" in wrong
    assert "SSL_CERT_FILE" in wrong
    make_certificate(mine, days=-1)
    assert "is refused: certificate has expired; renew it" in await refusal(mine)
    make_certificate(mine, name="backend.example")
    assert "give --backend a name that the certificate has" in await refusal(mine)
    assert "does not speak TLS" in await refusal(None)
    assert "speaks TLS: give --backend wss://localhost:" in await refusal(mine, "ws")
    assert "does not know the secret" in await refusal(None, "ws")
