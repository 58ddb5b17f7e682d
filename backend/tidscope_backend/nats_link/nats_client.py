"""The client of NATS, which keeps to TLS. Loaded with nats-py alone."""

from nats.aio.client import Client
from nats.errors import Error


class NoTlsError(Error):
    """A server does not require TLS, and the addresses demand it."""

    def __str__(self) -> str:
        return "the one that answers does not require TLS, which tls:// demands"


class NatsClient(Client):
    """A client that signs in over TLS alone, if that is demanded.

    nats-py 2.16 speaks TLS if the server's first line says so, which is sent in the clear, and
    whatever the address says. An attacker between could change that line.

    Args:
        needs_tls: True if TLS is demanded.
    """

    def __init__(self, *, needs_tls: bool) -> None:
        super().__init__()
        self._needs_tls = needs_tls

    def _connect_command(self) -> bytes:
        """Return the line that signs in."""
        if self._needs_tls and not self._server_info.get("tls_required", False):
            raise NoTlsError
        return super()._connect_command()
