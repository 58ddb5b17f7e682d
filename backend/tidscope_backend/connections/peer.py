"""Whose connections count together: a local user, a remote address, or a remote IPv6 network."""

import socket
import struct
from ipaddress import IPv6Address

Peer = str

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_ESTABLISHED = 1
_MAPPED = "::ffff:"
_HEADER = struct.Struct("=IHHII")
"""nlmsghdr (linux/netlink.h): length, type, flags, sequence, port."""
_QUESTION = struct.Struct("=BBBBI")
"""Start of inet_diag_req_v2 (linux/inet_diag.h): family, protocol, extensions, pad, states."""
_UID_AT = _HEADER.size + 4 + 48 + 12
"""In inet_diag_msg: four bytes, the socket's id (48), three numbers, then the user id."""


class PeerLookup:
    """Names the peer of an accepted connection.

    All users of this machine share its addresses, so a local peer is the user who owns the other
    end, which the kernel knows: sock_diag(7), one exact lookup of 5 µs that needs no privilege.
    """

    def __init__(self) -> None:
        self._netlink: socket.socket | None = None
        self._sequence = 0
        try:
            self._netlink = socket.socket(
                socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, _NETLINK_SOCK_DIAG
            )
        except OSError:
            pass  # A kernel without it: local peers are distinguished by address only.

    def close(self) -> None:
        """Close the netlink socket."""
        if self._netlink is not None:
            self._netlink.close()

    def peer(self, connection: socket.socket, address: tuple[str, int]) -> Peer:
        """Name a peer.

        Args:
            connection: as accepted.
            address: of its other end, as accept() gave it.
        """
        host = address[0].removeprefix(_MAPPED)
        try:
            own = connection.getsockname()
        except OSError:
            return f"address {host}"
        own_host = own[0].removeprefix(_MAPPED)
        if host == own_host or host.startswith("127.") or host == "::1":
            return self.local((host, address[1]), (own_host, own[1]))
        if ":" in host:
            # A network of /64 has one owner and more addresses than any list could hold.
            prefix = IPv6Address(host.partition("%")[0]).packed[:8]
            return f"network {IPv6Address(prefix + bytes(8))}/64"
        return f"address {host}"

    def local(self, client: tuple[str, int], server: tuple[str, int]) -> Peer:
        """Name the peer of a connection within this machine, by the addresses of its ends."""
        uid = self._uid(client, server)
        return f"local address {client[0]}" if uid is None else f"user id {uid}"

    def _uid(self, client: tuple[str, int], server: tuple[str, int]) -> int | None:
        """The owner of the client's end; None if unknown, or if the client has closed it."""
        if self._netlink is None:
            return None
        family = socket.AF_INET6 if ":" in client[0] else socket.AF_INET
        ends = b"".join(
            socket.inet_pton(family, host.partition("%")[0]).ljust(16, b"\0")
            for host in (client[0], server[0])
        )
        question = (
            _QUESTION.pack(family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF)
            + struct.pack("!HH", client[1], server[1])
            + ends
            + struct.pack("=I", 0)
            + b"\xff" * 8
        )
        self._sequence = self._sequence + 1 & 0xFFFFFFFF
        header = _HEADER.pack(
            *(_HEADER.size + len(question), _SOCK_DIAG_BY_FAMILY),
            *(_NLM_F_REQUEST, self._sequence, 0),
        )
        try:
            self._netlink.send(header + question)
            answer = self._netlink.recv(4096)
            while _HEADER.unpack_from(answer)[3] != self._sequence:
                answer = self._netlink.recv(4096)
        except (OSError, struct.error):
            return None
        # A socket that its owner has closed is reported as root's.
        if len(answer) < _UID_AT + 4 or answer[_HEADER.size + 1] != _ESTABLISHED:
            return None
        uid: int = struct.unpack_from("=I", answer, _UID_AT)[0]
        return uid
