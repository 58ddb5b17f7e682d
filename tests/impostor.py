"""A program that has taken a backend's port: it keeps each byte that it gets, and says anything."""

import asyncio
import base64
import hashlib
import json
import re
import urllib.parse
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tidscope_wire.generated.models import ProofRequest, ProofResponse
from tidscope_wire.proof import PROOF_SCHEME, collector_subject, stretch

Answer = Callable[[ProofRequest], bytes]
SUBJECTS = ("operator", "viewer", collector_subject("default"))


def http(body: bytes, status: str = "200 OK", kind: str = "application/json") -> bytes:
    """An HTTP answer that ends with the connection."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def invented(_: ProofRequest) -> bytes:
    """Reply of a program that knows the protocol, but no secret."""
    proofs = ["12" * 32, "34" * 32]
    return http(ProofResponse(nonce="ab" * 40, proofs=proofs).model_dump_json().encode())


def reflected(request: ProofRequest) -> bytes:
    """Reply of a program that echoes its input."""
    return http(
        ProofResponse(nonce=request.nonce[:80].ljust(80, "0"), proofs=[request.nonce] * 2)
        .model_dump_json()
        .encode()
    )


def some_page(_: ProofRequest) -> bytes:
    """Reply of an unrelated web server."""
    return http(b"<h1>It works!</h1>", kind="text/html")


def nothing_there(_: ProofRequest) -> bytes:
    """Reply of another web server."""
    return http(b"not found", "404 Not Found", "text/plain")


class Impostor:
    """Listens on a port; use in an ``async with`` statement.

    Args:
        answer: reply to a request for its proof.
        port: port that it takes; 0: one of the kernel's choice.

    Attributes:
        port: port on which it listens.
        received: all that it got, connection by connection.
    """

    def __init__(self, answer: Answer = invented, port: int = 0) -> None:
        self._answer = answer
        self.port = port
        self._server: asyncio.Server | None = None
        self._asked = asyncio.Event()
        self.received: list[bytes] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self.port, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()

    async def asked(self) -> None:
        """Wait until somebody asks for its proof again."""
        self._asked.clear()
        await self._asked.wait()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(self.received)
        self.received.append(b"")
        request = b""
        try:
            while part := await reader.read(1 << 16):
                self.received[number] += part
                request += part
                head, _, body = request.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: (\d+)", head)
                if not head or (length and len(body) < int(length[1])):
                    continue
                request = b""
                if not head.startswith(b"POST /api/v1/proof "):
                    # Further requests would be answered too.
                    writer.write(http(b"{}"))
                    continue
                writer.write(self._answer(ProofRequest.model_validate_json(body)))
                await writer.drain()
                self._asked.set()
                if b"HTTP/1.0" in head:
                    return
        except ConnectionError:
            pass
        finally:
            writer.close()

    def assert_learned_nothing(self, *secrets: str) -> None:
        """Check that it received the request for its proof and nothing else, no secret at all."""
        assert self.received
        for text in self.received:
            # A client that is asked nothing goes without a word.
            for request in text.split(b"POST ")[1:]:
                head, _, body = request.partition(b"\r\n\r\n")
                assert head.startswith(b"/api/v1/proof HTTP/1."), request
                (shown,) = re.findall(rb"(?im)^authorization: *(.*?)\r?$", head)
                assert shown == PROOF_SCHEME.encode()
                assert set(json.loads(body)) == {"subject", "nonce", "port"}
            assert text.startswith(b"POST ") or not text, text
            for derived in (one for secret in secrets for one in _derived(secret)):
                assert derived not in text


def _derived(secret: str) -> set[bytes]:
    """A secret, and what a program could send in its place by mistake."""
    raw = secret.encode()
    keys = [stretch(subject, secret) for subject in SUBJECTS]
    hashes = [hashlib.new(name, raw).digest() for name in ("md5", "sha1", "sha256", "sha512")]
    return {
        raw,
        secret.rpartition(".")[2].encode(),
        urllib.parse.quote(secret).encode(),
        *(form(one) for one in (raw, *keys, *hashes) for form in _FORMS),
    }


def _hex(raw: bytes) -> bytes:
    return raw.hex().encode()


_FORMS = (_hex, base64.b64encode, base64.urlsafe_b64encode)
