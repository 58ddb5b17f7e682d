"""Sign-in with mutual proof: the backend proves that it knows the secret, then the collector does.

Nothing derived from the secret is sent to a program that has not proven that it knows it.
"""

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from pydantic import ValidationError
from tidscope_wire.generated.limits import MAX_COLLECTOR_COMMAND_BYTES
from tidscope_wire.generated.models import Problem, ProofResponse
from tidscope_wire.proof import (
    NONCE_BYTES,
    PROOF_SCHEME,
    Credential,
    ImpostorError,
    SignInAttempt,
    authorization,
)
from websockets.asyncio.client import ClientConnection, connect, unix_connect

UNIX = "unix:"
PROOF_PATH = "/api/v1/proof"
ANSWER_S = 10.0
MAX_ANSWER_BYTES = 65536
PORTS = {"ws": 80, "wss": 443}
_REFUSED = (b"403", b"429")
_NEW_ONE = "renew it at the proxy, and see that the clocks of both hosts are right"
_OTHER_NAME = "give --backend a name that the certificate has"
_AUTHORITY = "name the file of the authority that signed it in SSL_CERT_FILE"
_CERTIFICATE_HINTS = {
    **{9: _NEW_ONE, 10: _NEW_ONE},
    **{62: _OTHER_NAME, 64: _OTHER_NAME},
    **{18: _AUTHORITY, 19: _AUTHORITY, 20: _AUTHORITY, 21: _AUTHORITY},
}
"""Hints for OpenSSL's reasons to refuse a certificate (X509_V_ERR)."""


class SignInError(Exception):
    """Signing in failed; the text says why."""


class SignIn:
    """Signs in to one backend.

    Args:
        url: ws:// or wss:// address of /ws/collector.
        credential: secret known to both sides.
    """

    def __init__(self, url: str, credential: Credential) -> None:
        parts = urlsplit(url)
        self._parts = parts
        self._port = parts.port or PORTS[parts.scheme]
        self._secure = parts.scheme == "wss"
        self._address = f"{parts.hostname}:{self._port}"
        self._credential = credential
        self._attempt: SignInAttempt | None = None

    async def headers(self) -> dict[str, str]:
        """Verify the backend's proof, then return the headers of the upgrade request.

        Raises:
            SignInError: the backend gave no valid proof.
            OSError: the backend does not answer.
        """
        # Over TLS the certificate identifies the peer, and its port may be a proxy's.
        port = None if self._secure else self._port
        attempt = SignInAttempt(self._credential, secrets.token_bytes(NONCE_BYTES), port)
        try:
            async with asyncio.timeout(ANSWER_S):
                status, body = await self._post(attempt.request.model_dump_json().encode())
        except TimeoutError:
            raise ConnectionError(
                f"the program at {self._address} gave no proof within {ANSWER_S:g} s"
            ) from None
        except ssl.SSLCertVerificationError as error:
            hint = _CERTIFICATE_HINTS.get(error.verify_code)
            raise SignInError(
                f"the certificate of {self._address} is refused: {error.verify_message}"
                f"{f'; {hint}' if hint else ''}"
            ) from None
        except ssl.SSLError as error:
            raise SignInError(
                f"the program at {self._address} does not speak TLS as it has to "
                f"({error.reason or error}); wss:// is for a proxy that ends TLS before the backend"
            ) from None
        except ConnectionResetError:
            # Servers of TLS may end the connection before they have read the request.
            if self._secure or not await self._speaks_tls():
                raise
            raise self._other_scheme() from None
        if status in _REFUSED:
            raise SignInError(f"the program at {self._address} gave no proof: {_problem(body)}")
        if status != b"200" and not self._secure and await self._speaks_tls():
            raise self._other_scheme()
        try:
            proof = attempt.answer(ProofResponse.model_validate_json(body))
        except (ImpostorError, ValidationError):
            raise self._impostor() from None
        self._attempt = attempt
        return {"Authorization": authorization(proof)}

    async def check_accepted(self, link: ClientConnection) -> None:
        """Check in the upgrade response that the program that gave the proof accepted ours.

        Raises:
            SignInError: the response has no valid proof.
            ConnectionClosed: the backend closed the connection and gives a reason.
        """
        accepted = link.response.headers.get(PROOF_SCHEME) if link.response is not None else None
        if accepted is None:
            # Browsers learn refusal reasons only from a close frame, so collectors get the same.
            with suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_S):
                    await link.recv()
        self.check(accepted)

    def check(self, accepted: str | None) -> None:
        """Check the proof in the upgrade response, None without one. Raises SignInError."""
        try:
            if self._attempt is None or accepted is None:
                raise ImpostorError
            self._attempt.check_accepted(accepted)
        except ImpostorError:
            raise self._impostor() from None

    def _impostor(self) -> SignInError:
        return SignInError(
            f"the program at {self._address} does not know the secret, so nothing was sent to it; "
            "if it is the backend, give both the same TIDSCOPE_COLLECTOR_SECRET; a tunnel has to "
            "have the backend's own port number"
        )

    def _other_scheme(self) -> SignInError:
        return SignInError(
            f"the program at {self._address} speaks TLS: give --backend wss://{self._parts.netloc}"
        )

    async def _speaks_tls(self) -> bool:
        """Return True if the program answers a TLS handshake, whatever its certificate."""
        context = ssl.create_default_context()
        # Nothing is sent to it: only its kind is of interest.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            async with asyncio.timeout(ANSWER_S):
                _, writer = await asyncio.open_connection(
                    self._parts.hostname, self._port, ssl=context
                )
        except ssl.SSLError as error:
            return "ALERT" in str(error.reason)
        except (OSError, TimeoutError):
            return False
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        return True

    async def _post(self, body: bytes) -> tuple[bytes, bytes]:
        """Request the proof by HTTP/1.0, whose answer ends with the connection."""
        reader, writer = await asyncio.open_connection(
            self._parts.hostname, self._port, ssl=self._secure or None, limit=MAX_ANSWER_BYTES
        )
        try:
            head = (
                f"POST {PROOF_PATH} HTTP/1.0\r\nHost: {self._parts.netloc}\r\n"
                f"Authorization: {PROOF_SCHEME}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await writer.drain()
            answer = b""
            while len(answer) <= MAX_ANSWER_BYTES and (part := await reader.read(MAX_ANSWER_BYTES)):
                answer += part
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        start, _, content = answer.partition(b"\r\n\r\n")
        return start.split(b" ", 2)[1] if start.count(b" ") else b"", content


def is_address(url: str) -> bool:
    """Return True if this is a ws:// or wss:// address of a backend."""
    try:
        parts = urlsplit(url)
        return parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


CLOSE_S = 2.0
"""Timeout for the answer to a close frame, in seconds: a collector has to end before it is killed,
also if the other side hangs."""


@asynccontextmanager
async def open_link(url: str, sign_in: SignIn | None) -> AsyncIterator[ClientConnection]:
    """Connect to a backend after verifying its proof.

    Args:
        url: ws:// or wss:// address of /ws/collector, or unix:PATH.
        sign_in: sign-in for that address; None for a Unix socket.

    Raises:
        SignInError: the backend gave no valid proof.
        OSError, InvalidHandshake, InvalidURI: as `connect` of websockets.
    """
    headers = await sign_in.headers() if sign_in is not None else {}
    if url.startswith(UNIX):
        connecting = unix_connect(
            url.removeprefix(UNIX),
            "ws://localhost/ws/collector",
            compression=None,
            max_size=MAX_COLLECTOR_COMMAND_BYTES,
            close_timeout=CLOSE_S,
        )
    else:
        connecting = connect(
            url,
            additional_headers=headers,
            compression=None,
            max_size=MAX_COLLECTOR_COMMAND_BYTES,
            close_timeout=CLOSE_S,
            proxy=None,
        )
    async with connecting as link:
        if sign_in is not None:
            await sign_in.check_accepted(link)
        yield link


def _problem(body: bytes) -> str:
    """Return the refusal of an unauthenticated program, for the error message."""
    try:
        problem = Problem.model_validate_json(body)
    except ValidationError:
        return "it refuses"
    return f"it says {problem.detail!r} ({problem.hint!r})"
