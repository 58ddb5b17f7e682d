"""The connection to a cluster of NATS servers, kept up until it is closed.

nats-py is loaded when a connection is made: it is an extra of the package (`tidscope[fleet]`).
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from ssl import SSLCertVerificationError, create_default_context
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tidscope_backend.settings import FleetSettings

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

_log = logging.getLogger(__name__)
PING_SECONDS = 2
"""Interval of pings; a server that misses two is left for another one."""
CONNECT_SECONDS = 3
REFUSED_SECONDS = 5.0
"""Pause after a server has refused the key, in seconds."""
FLUSH_SECONDS = 1.0
MAX_QUEUED_BYTES = 32 * 1024 * 1024
"""Maximum bytes that wait for a server; further messages are dropped, counted, and noticed by
their receivers."""
_AUTHORIZATION = ("authorization", "authentication", "revoked")
_AUTHORITY = "; name the file of the authority that signed it in SSL_CERT_FILE"
_UNKNOWN_AUTHORITY = (18, 19, 20, 21)
"""OpenSSL's reasons to refuse a certificate whose authority is not trusted (X509_V_ERR)."""
Receive = Callable[[str, bytes], None]


class _Order(NamedTuple):
    """A step of the pump.

    Attributes:
        what: publish, subscribe or unsubscribe.
        subject: subject.
        payload: payload of a message.
    """

    what: Literal["publish", "subscribe", "unsubscribe"]
    subject: str
    payload: bytes = b""


class Bus:
    """Publishes and subscribes, over whichever server of the cluster can be reached.

    Calls return at once and keep their order. Messages wait in a bounded queue while no server is
    connected.

    Args:
        settings: servers and key.
        name: name of this client, as the servers show it.

    Attributes:
        dropped: messages that found the queue full.
        sent_bytes: bytes of the messages given to servers.
        connections: connections to servers until now.
    """

    def __init__(self, settings: FleetSettings, name: str) -> None:
        self._settings = settings
        self._name = name
        self._orders: deque[_Order] = deque()
        self._queued = 0
        self._some, self._idle = asyncio.Event(), asyncio.Event()
        self._connected = asyncio.Event()
        self._receivers: dict[str, Receive] = {}
        self._said = ""
        self.dropped = self.sent_bytes = self.connections = 0

    @property
    def is_connected(self) -> bool:
        """True while a server is connected."""
        return self._connected.is_set()

    def publish(self, subject: str, payload: bytes) -> None:
        """Send a message."""
        if self._queued + len(payload) > MAX_QUEUED_BYTES:
            self.dropped += 1
            return
        self._queued += len(payload)
        self._order(_Order("publish", subject, payload))

    def subscribe(self, subject: str, receive: Receive) -> None:
        """Have messages of a subject given to a function, with their own subject."""
        self._receivers[subject] = receive
        self._order(_Order("subscribe", subject))

    def unsubscribe(self, subject: str) -> None:
        """End a subscription."""
        self._receivers.pop(subject, None)
        self._order(_Order("unsubscribe", subject))

    async def flush(self) -> None:
        """Wait a moment until all messages were handed to a connected server."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await self._idle.wait()

    async def run(self) -> None:
        """Keep connected until cancelled."""
        from nats.errors import Error

        from tidscope_backend.nats_link.nats_client import NatsClient

        while True:
            client = NatsClient(needs_tls=_needs_tls(self._settings.servers))
            ended = asyncio.Event()
            tasks = [
                asyncio.create_task(self._serve(client, ended)),
                asyncio.create_task(_until(ended)),
            ]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            except (OSError, ValueError, Error) as error:
                self._say(logging.WARNING, self._why(error))
            finally:
                self._connected.clear()
                with suppress(Exception):
                    await client.close()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(REFUSED_SECONDS)

    async def _serve(self, client: "Client", ended: asyncio.Event) -> None:
        await self._connect(client, ended)
        await self._pump(client)

    async def _connect(self, client: "Client", ended: asyncio.Event) -> None:
        async def failed(error: Exception) -> None:
            self._say(logging.WARNING, self._why(error))
            if _is_refused(error):
                ended.set()  # Another attempt at once would be refused as well.

        async def lost() -> None:
            self._connected.clear()
            if not client.is_closed:
                self._say(logging.WARNING, "the connection to the NATS server was lost")

        async def back() -> None:
            self._arrived(client)

        async def closed() -> None:
            ended.set()

        options: dict[str, Any] = {}
        if _needs_tls(self._settings.servers):
            options["tls"] = create_default_context()  # certificates by SSL_CERT_FILE
        if self._settings.seed:
            options["nkeys_seed_str"] = self._settings.seed
        await client.connect(
            servers=list(self._settings.servers),
            name=self._name,
            error_cb=failed,
            disconnected_cb=lost,
            reconnected_cb=back,
            closed_cb=closed,
            ping_interval=PING_SECONDS,
            max_outstanding_pings=2,
            connect_timeout=CONNECT_SECONDS,
            reconnect_time_wait=1,
            max_reconnect_attempts=-1,
            no_echo=True,
            **options,
        )
        self._arrived(client)

    def _arrived(self, client: "Client") -> None:
        url = client.connected_url
        at = f" at {url.hostname}:{url.port}" if url is not None else ""
        self._say(logging.INFO, f"connected to the NATS server{at}")
        self.connections += 1
        self._connected.set()

    async def _pump(self, client: "Client") -> None:
        """Carry out orders; a new client subscribes to everything first."""
        from nats.errors import Error

        held: dict[str, Subscription] = {}
        for subject in [*self._receivers]:
            held[subject] = await client.subscribe(subject, cb=self._deliver(subject))
        while True:
            while not self._orders:
                self._some.clear()
                self._idle.set()
                await self._some.wait()
            await self._connected.wait()
            order = self._orders.popleft()
            self._queued -= len(order.payload)
            if order.what == "publish":
                try:
                    await client.publish(order.subject, order.payload)
                    self.sent_bytes += len(order.payload)
                except Error:
                    # The connection was just lost; receivers notice the number.
                    self.dropped += 1
            elif order.what == "subscribe" and order.subject not in held:
                deliver = self._deliver(order.subject)
                held[order.subject] = await client.subscribe(order.subject, cb=deliver)
            elif order.what == "unsubscribe" and order.subject in held:
                await held.pop(order.subject).unsubscribe()

    def _deliver(self, subject: str) -> "Callable[[Msg], Awaitable[None]]":
        async def deliver(message: "Msg") -> None:
            receive = self._receivers.get(subject)
            if receive is not None:
                receive(message.subject, message.data)

        return deliver

    def _order(self, order: _Order) -> None:
        self._orders.append(order)
        self._idle.clear()
        self._some.set()

    def _why(self, error: Exception) -> str:
        text = str(error) or type(error).__name__
        if _is_refused(error):
            return (
                f"the NATS server refuses the key of {self._name} ({text}): it is unknown there, "
                "or was revoked; give the server its public key, or this program another seed"
            )
        if isinstance(error, SSLCertVerificationError):
            hint = _AUTHORITY if error.verify_code in _UNKNOWN_AUTHORITY else ""
            text = f"the certificate of the NATS server is refused: {error.verify_message}{hint}"
            return f"{self._name}: {text}"
        return f"{self._name}: no NATS server: {text}"

    def _say(self, level: int, text: str) -> None:
        """Log an event; a repeat of the previous text is suppressed."""
        if text != self._said:
            self._said = text
            _log.log(level, "%s", text)


def _is_refused(error: Exception) -> bool:
    if isinstance(error, SSLCertVerificationError):
        return False  # A revoked certificate is no revoked key.
    return any(word in str(error).lower() for word in _AUTHORIZATION)


def _needs_tls(servers: Sequence[str]) -> bool:
    """Return True if one address is tls://, since a cluster's servers are interchangeable."""
    return any(one.startswith("tls:") for one in servers)


async def _until(event: asyncio.Event) -> None:
    await event.wait()
