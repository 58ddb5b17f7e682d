"""A child that is asked the same thing again and again, and that may be late."""

import select
import socket

from tidscope_collector.inspection.reader import children


class Conversation:
    """Requests to one child, each of which it answers once; one thread uses it at a time.

    Args:
        number: of the child.
        connection: to it, owned by the conversation.
        most_bytes: of an answer.

    Attributes:
        pending: whether a request has no answer yet.
    """

    def __init__(self, number: int, connection: socket.socket, most_bytes: int) -> None:
        self._number = number
        self._connection = connection
        self._connection.setblocking(False)
        self._most_bytes = most_bytes
        self.pending = False

    def request(self) -> bool:
        """Ask; returns at once.

        Returns:
            Whether it was asked: not while the answer to an earlier request is still to come, and
            not after the end of the child.
        """
        if self.pending:
            self.receive(0)  # An answer to a request of long ago says nothing of now.
            if self.pending:
                return False
        try:
            self._connection.send(b"?")
        except OSError:
            return False
        self.pending = True
        return True

    @property
    def free(self) -> int | None:
        """The connection's descriptor, while no answer is to come; None else."""
        if self.pending:
            self.receive(0)
        return None if self.pending or self._connection.fileno() < 0 else self._connection.fileno()

    def receive(self, patience_s: float) -> bytes:
        """The answer, if it comes soon; empty if it does not, and after the end of the child."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        if not poll.poll(patience_s * 1000):
            return b""
        self.pending = False
        try:
            return self._connection.recv(self._most_bytes)
        except OSError:
            return b""

    def close(self) -> None:
        """End the child; twice does no harm."""
        if self._connection.fileno() < 0:
            return
        if self.pending:
            children().give_up(self._number, self._connection)
        else:
            self._connection.close()
