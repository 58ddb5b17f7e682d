"""A scripted collector that speaks the protocol over real WebSockets."""

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Self, TypeVar
from urllib.parse import urlsplit

import httpx
from backend_builders import host as a_host
from backend_builders import target
from pydantic import TypeAdapter
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.frame import FrameError, split
from tidscope_wire.generated.models import (
    AttachCommand,
    ClientProof,
    CollectorCommand,
    CollectorFrames,
    CollectorHello,
    CollectorMessage,
    CollectorWelcome,
    CutRingCommand,
    DebugFilesCommand,
    DetachCommand,
    DoctorCommand,
    FlushCommand,
    FlushReply,
    FramesLost,
    FramesReceived,
    FramesWatched,
    Host,
    ListProcessesCommand,
    ListRingCommand,
    NameThreadsCommand,
    ProofResponse,
    ReadCutCommand,
    ReleaseCommand,
    RenewSteeringCommand,
    RestartSearchCommand,
    SampleStacksCommand,
    SetDelayAccountingCommand,
    SetRateCommand,
    SizeAuditCommand,
    SteerCommand,
    SteeringOptionsCommand,
    Target,
    TargetForgotten,
    TargetReply,
)
from tidscope_wire.proof import (
    NONCE_BYTES,
    PROOF_SCHEME,
    SignInAttempt,
    authorization,
    host_credential,
)
from websockets.asyncio.client import ClientConnection, connect

Command = (
    AttachCommand
    | DetachCommand
    | SetRateCommand
    | FlushCommand
    | ListProcessesCommand
    | DoctorCommand
    | SizeAuditCommand
    | SetDelayAccountingCommand
    | SampleStacksCommand
    | NameThreadsCommand
    | DebugFilesCommand
    | SteerCommand
    | RenewSteeringCommand
    | RestartSearchCommand
    | ReleaseCommand
    | SteeringOptionsCommand
    | ListRingCommand
    | CutRingCommand
    | ReadCutCommand
)
_COMMAND: TypeAdapter[CollectorWelcome | FramesReceived | FramesWatched | Command] = TypeAdapter(
    CollectorCommand
)
C = TypeVar("C", bound=CollectorWelcome | Command)
Message = CollectorMessage

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""TLS settings for clients that speak plain HTTP; the default reads the system's certificates."""


class FakeCollector:
    """Connects, says hello, and does what the test says.

    Args:
        url: URL of the backend, ws://….
        secret: secret that it proves, as a collector does.
        host: claimed host; by default the builders' host.
        targets: claimed targets.
        protocol: version that it says it speaks.
        silent: connects without a hello.
        authorization: header that it sends in place of a proof; empty: none.
    """

    def __init__(
        self,
        url: str,
        secret: str,
        *,
        host: Host | None = None,
        targets: Sequence[Target] = (),
        protocol: int = PROTOCOL_VERSION,
        silent: bool = False,
        authorization: str | None = None,
    ) -> None:
        self._url = url
        self._secret = secret
        self._authorization = authorization
        self._hello = CollectorHello(
            policies=[], protocol=protocol, host=host or a_host(), targets=list(targets)
        )
        self._silent = silent
        self._socket: ClientConnection | None = None
        self._frames: ClientConnection | None = None
        self.welcome: CollectorWelcome | None = None
        """Answer to the hello of the data connection."""
        self.sent: dict[str, int] = {}
        """Number of the last frame sent, by target."""

    @property
    def socket(self) -> ClientConnection:
        """The control connection."""
        assert self._socket is not None
        return self._socket

    @property
    def frames(self) -> ClientConnection:
        """The data connection, which `greeted` opens."""
        assert self._frames is not None
        return self._frames

    async def __aenter__(self) -> Self:
        self._socket = await self._connect("/ws/collector")
        if not self._silent:
            await self.say(self._hello)
        return self

    async def _connect(self, path: str) -> ClientConnection:
        """Open a connection, signed in."""
        attempt: SignInAttempt | None = None
        shown = self._authorization
        if shown is None:
            attempt = SignInAttempt(
                host_credential(self._secret),
                secrets.token_bytes(NONCE_BYTES),
                urlsplit(self._url).port,
            )
            shown = authorization(await self._proof(attempt))
        socket = await connect(
            f"{self._url}{path}",
            additional_headers={"Authorization": shown} if shown else {},
            max_size=None,
            compression=None,
            open_timeout=120,
            ping_interval=None,
        )
        if attempt is not None:
            assert socket.response is not None
            attempt.check_accepted(socket.response.headers[PROOF_SCHEME])
        return socket

    async def _proof(self, attempt: SignInAttempt) -> ClientProof:
        """Ask the backend for its proof. Raises ImpostorError."""
        http = "http" + self._url.removeprefix("ws")
        async with httpx.AsyncClient(base_url=http, timeout=120, verify=PLAIN) as client:
            answer = await client.post(
                "/api/v1/proof",
                json=attempt.request.model_dump(),
                headers={"authorization": PROOF_SCHEME},
            )
        return attempt.answer(ProofResponse.model_validate_json(answer.raise_for_status().content))

    async def __aexit__(self, *_: object) -> None:
        if self._frames is not None:
            await self._frames.close()
        await self.socket.close()

    async def greeted(self) -> Self:
        """Wait for the welcome, and open the data connection."""
        given = await self.command(CollectorWelcome)
        assert given.frames is not None
        await self.open_frames(given.frames)
        return self

    async def open_frames(self, ticket: str, *, answered: bool = True) -> None:
        """Open the data connection, and wait for its welcome if one is to come."""
        self._frames = await self._connect("/ws/collector/frames")
        hello = CollectorFrames(protocol=PROTOCOL_VERSION, host=self._hello.host.id, ticket=ticket)
        await self._frames.send(hello.model_dump_json())
        if answered:
            self.welcome = CollectorWelcome.model_validate_json(await self._frames.recv())

    async def _opened_frames(self) -> ClientConnection:
        if self._frames is None:
            await self.greeted()
        return self.frames

    async def say(self, message: Message) -> None:
        """Send a message on the connection that it belongs on."""
        socket = self.socket
        if isinstance(message, FramesLost | TargetForgotten):
            socket = await self._opened_frames()
        await socket.send(message.model_dump_json())

    async def send(self, *frames: bytes) -> None:
        """Send frames."""
        socket = await self._opened_frames()
        for frame in frames:
            await socket.send(frame)
            with suppress(FrameError):
                header, _ = split(frame)
                self.sent[header.target] = header.seq

    async def receipt(self) -> FramesReceived:
        """Wait for the next receipt."""
        while True:
            message = _COMMAND.validate_json(await self.frames.recv())
            if not isinstance(message, FramesWatched):
                assert isinstance(message, FramesReceived)
                return message

    def flushed(self, command: FlushCommand) -> FlushReply:
        """The answer of a collector that has sent all it has."""
        seq = self.sent.get(command.target, 0)
        return FlushReply(request_id=command.request_id, seq=seq, exited=0)

    @asynccontextmanager
    async def confirming(self) -> AsyncIterator[None]:
        """Answer every flush; no other command may come meanwhile."""

        async def answer() -> None:
            while True:
                await self.say(self.flushed(await self.command(FlushCommand)))

        answering = asyncio.create_task(answer())
        try:
            yield
        finally:
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)

    async def next_command(self) -> Command:
        """Wait for the next command, which comes after the welcome."""
        command = _COMMAND.validate_json(await self.socket.recv())
        assert not isinstance(command, CollectorWelcome | FramesReceived | FramesWatched)
        return command

    async def command(self, kind: type[C]) -> C:
        """Wait for the welcome or the next command, which has to be of this kind."""
        command = _COMMAND.validate_json(await self.socket.recv())
        assert isinstance(command, kind), command
        return command

    async def attached(
        self, created: bool = True, make: Callable[[], Target] = target
    ) -> AttachCommand:
        """Wait for an attach command and agree to it."""
        command = await self.command(AttachCommand)
        await self.say(TargetReply(request_id=command.request_id, target=make(), created=created))
        return command
