"""The command line's client of a running backend's REST API.

The client proves that it knows a token, and never sends one. Each connection begins with the
backend's proof, so a program that has taken over the port learns nothing.
"""

import argparse
import json
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse
from threading import Timer
from typing import Self, TypeVar

from pydantic import BaseModel, ValidationError
from tidscope_wire.generated.models import Problem, ProofResponse, Role, SessionOpened
from tidscope_wire.proof import (
    NONCE_BYTES,
    PROOF_SCHEME,
    Credential,
    ImpostorError,
    SignInAttempt,
    stretch,
)
from tidscope_wire.readiness import is_readable

from tidscope_backend import VERSION
from tidscope_backend.cli.command import CommandError
from tidscope_backend.security.token_file import find_service_token, find_token
from tidscope_backend.settings import (
    BROWSER_VARIABLE,
    DEFAULT_HOST,
    KEEP_ALIVE_SECONDS,
    token_directory,
)

TIMEOUT_SECONDS = 25
SIGN_IN_SECONDS = 10.0
"""Timeout for signing in, in seconds: a program on the same port must not block commands."""
BAD_REQUEST, UNAUTHENTICATED = 400, 401
REFUSED_TO_PROVE = (403, 429)
MAX_PROOF_BYTES = 65536
ROLES: tuple[Role, ...] = ("operator", "viewer")
"""Roles to try, most likely first: a token does not show its role."""
M = TypeVar("M", bound=BaseModel)


class UnavailableError(Exception):
    """The backend does not answer."""


class UntrustedError(Exception):
    """The answering program does not know the token; nothing was sent to it."""


class RefusedError(Exception):
    """The backend refused; the text is the problem document's detail and hint."""


class BackendClient:
    """Client that signs in before its first request, and signs out as a context manager.

    Args:
        address: host and port.
        token: an operator's or a viewer's.
    """

    def __init__(self, address: str, token: str) -> None:
        self.address = address
        self._token = token
        self._credentials: dict[Role, Credential] = {}
        self._role: Role | None = None
        self._session: str | None = None
        self._connection: HTTPConnection | None = None
        self._answered_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._session is not None and self._is_open():
                self.request("/session", "DELETE")
        except (UnavailableError, UntrustedError, RefusedError):
            pass  # The session expires by itself.
        finally:
            self._close()

    def request_model(
        self, path: str, answer: type[M], method: str = "GET", body: object | None = None
    ) -> M:
        """Send a request and parse the answer. Blocks.

        Args:
            path: path below /api/v1.
            answer: model of the answer.
            method: HTTP method.
            body: request body, sent as JSON; None for no body.

        Raises:
            RefusedError: the backend answers with a problem document.
            UntrustedError: the peer does not know the token.
            UnavailableError: the backend does not answer.
        """
        received = self.request(path, method, body)
        try:
            return answer.model_validate_json(received)
        except ValidationError as error:
            raise UnavailableError(f"{self.address}{path}: {error}") from None

    def request(self, path: str, method: str = "GET", body: object | None = None) -> bytes:
        """Send a request and return the answer's body. Raises as `request_model`."""
        sent = None if body is None else json.dumps(body)
        try:
            status, received = self._signed_in(path, method, sent)
            if status == UNAUTHENTICATED:
                # The session has expired or was ended.
                self._session = None
                status, received = self._signed_in(path, method, sent)
            if status < BAD_REQUEST:
                return received
            problem = Problem.model_validate_json(received)
        except (OSError, HTTPException, ValidationError) as error:
            self._close()
            raise UnavailableError(f"{self.address}{path}: {error}") from None
        except BaseException:
            self._close()
            raise
        raise RefusedError(f"{problem.detail}; {problem.hint}")

    def _signed_in(self, path: str, method: str, sent: str | None) -> tuple[int, bytes]:
        connection = self._connection
        is_kept = (
            connection is not None
            and self._session is not None
            and self._is_fresh()
            and self._is_open()
        )
        if connection is None or not is_kept:
            connection = self._open()
        try:
            return self._answer(connection, method, path, sent)
        except ConnectionError:
            # A kept connection may be closed while a request is on its way (RFC 9112, 9.3.1).
            if not is_kept or method != "GET":
                raise
            return self._answer(self._open(), method, path, sent)

    def _answer(
        self, connection: HTTPConnection, method: str, path: str, sent: str | None
    ) -> tuple[int, bytes]:
        response = _exchange(connection, method, path, sent, f"Bearer {self._session}")
        received = response.read()
        self._answered_s = time.monotonic()
        return response.status, received

    def _is_open(self) -> bool:
        sock = None if self._connection is None else self._connection.sock
        return sock is not None and not is_readable(sock)

    def _is_fresh(self) -> bool:
        """Return True if the backend is not about to close the connection, as it does idle ones."""
        return time.monotonic() - self._answered_s < KEEP_ALIVE_SECONDS / 2

    def _open(self) -> HTTPConnection:
        """Connect, check the peer's identity, and sign in if necessary."""
        self._close()
        self._connection = connection = HTTPConnection(self.address, timeout=TIMEOUT_SECONDS)
        connection.connect()
        # Later requests go only to the peer authenticated on this connection.
        connection.auto_open = 0
        with _limited(connection.sock):
            return self._sign_in(connection)

    def _sign_in(self, connection: HTTPConnection) -> HTTPConnection:
        for role in ROLES if self._role is None else (self._role,):
            attempt = SignInAttempt(
                self._credential(role), secrets.token_bytes(NONCE_BYTES), connection.port
            )
            try:
                proof = attempt.answer(self._proof(connection, attempt.request.model_dump_json()))
            except ImpostorError:
                continue
            self._role = role
            if self._session is None:
                sent = proof.model_dump_json()
                response = _exchange(connection, "POST", "/proof/session", sent)
                received = response.read()
                if response.status >= BAD_REQUEST:
                    problem = Problem.model_validate_json(received)
                    raise RefusedError(f"{problem.detail}; {problem.hint}")
                self._session = SessionOpened.model_validate_json(received).credential
            return connection
        raise self._untrusted()

    def _proof(self, connection: HTTPConnection, request: str) -> ProofResponse:
        response = _exchange(connection, "POST", "/proof", request)
        received = response.read(MAX_PROOF_BYTES)
        if response.status in REFUSED_TO_PROVE:
            problem = Problem.model_validate_json(received)
            raise RefusedError(f"{problem.detail}; {problem.hint}")
        try:
            return ProofResponse.model_validate_json(received)
        except ValidationError:
            raise self._untrusted() from None

    def _credential(self, role: Role) -> Credential:
        if role not in self._credentials:
            self._credentials[role] = Credential(role, stretch(role, self._token))
        return self._credentials[role]

    def _untrusted(self) -> UntrustedError:
        return UntrustedError(
            f"the program at {self.address} does not know the token, so nothing was sent to it: "
            "it is another program, or a tidscope with another token; a tunnel has to have the "
            "backend's own port number"
        )

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@contextmanager
def _limited(sock: socket.socket) -> Iterator[None]:
    """Close a connection whose peer exceeds the time limit, for example by sending slowly."""
    timer = Timer(SIGN_IN_SECONDS, sock.shutdown, (socket.SHUT_RDWR,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _exchange(
    connection: HTTPConnection,
    method: str,
    path: str,
    sent: str | None,
    authorization: str = PROOF_SCHEME,
) -> HTTPResponse:
    own = {"User-Agent": f"tidscope/{VERSION}", "Authorization": authorization}
    if sent is not None:
        own["Content-Type"] = "application/json"
    connection.request(method, f"/api/v1{path}", sent, own)
    return connection.getresponse()


def known_token(options: argparse.Namespace) -> str:
    """Return the token of the environment, of this user's backend, or of the service; or "".

    Args:
        options: options with host and port, as added by `add_backend_options`.
    """
    token = os.environ.get(BROWSER_VARIABLE, "")
    if token or options.host != DEFAULT_HOST:
        return token
    own = find_token(token_directory(os.environ), options.port)
    return own or find_service_token(options.port) or ""


@contextmanager
def running_backend(options: argparse.Namespace) -> Iterator[BackendClient]:
    """Connect to the selected backend; in the context, refusals become CommandErrors.

    Args:
        options: options with host and port, as added by `add_backend_options`.

    Raises:
        CommandError: the token is missing, no backend answers, or the backend refuses.
    """
    token = known_token(options)
    if not token:
        raise CommandError(
            f"no tidscope of this user runs at {options.host}:{options.port}; for another one set "
            f"{BROWSER_VARIABLE} to its token: the text after #token= in the address that "
            "`tidscope up` prints"
        )
    try:
        with BackendClient(f"{options.host}:{options.port}", token) as backend:
            yield backend
    except (RefusedError, UntrustedError) as error:
        raise CommandError(str(error)) from None
    except UnavailableError as error:
        raise CommandError(f"no tidscope answers: {error}; start one by `tidscope up`") from None
