"""The listening socket, with clear messages for failures."""

import errno
import os
import socket
from ipaddress import ip_address

BACKLOG = 4096
"""Maximum connections queued by the kernel, which has a further limit; more are not answered."""
UNACKNOWLEDGED_MS = 60_000


class SocketError(Exception):
    """Listening on the address failed; the text says why and what to do."""


def open_socket(host: str, port: int) -> socket.socket:
    """Listen on an address.

    Raises:
        SocketError: the address is in use, not permitted, or not local.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SocketError(f"--host {host}: {error.strerror or error}") from None
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _end_unread_connections(sock)
        sock.bind(address)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise SocketError(_explain(error, host, port)) from None
    return sock


def adopt_socket(descriptor: int) -> socket.socket:
    """Take over a listening socket, such as systemd's. Raises OSError."""
    sock = socket.socket(fileno=descriptor)
    sock.set_inheritable(False)
    _end_unread_connections(sock)
    return sock


def _end_unread_connections(sock: socket.socket) -> None:
    """Set a timeout that accepted connections inherit; it ends unread ones with their buffers."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS)


def _explain(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use by another program (maybe another tidscope); "
            f"end it, or choose another port: --port {port + 1}"
        )
    if error.errno == errno.EACCES:
        return f"port {port} needs root; choose one above 1023: --port 8787"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine; use --host 127.0.0.1"
    return f"cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}"


def reachable(host: str, port: int) -> str:
    """Return host and port for local access to a listening socket, in URL form."""
    try:
        address = ip_address(host)
    except ValueError:
        return f"{host}:{port}"
    if address.version == 6:
        return f"[{'::1' if address.is_unspecified else address}]:{port}"
    return f"{'127.0.0.1' if address.is_unspecified else address}:{port}"
