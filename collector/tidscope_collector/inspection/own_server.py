"""What a program serves by HTTP at a port of its own, read over loopback.

It is asked at a port on which the program itself and nobody else listens, so that nobody can make
the collector ask somebody else. The program may answer as it likes: an answer is over at its
deadline, whatever trickles in until then.
"""

import http.client
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

DEADLINE_S = 1.5
MAX_BYTES = 4 << 20
HOST = "127.0.0.1"


class NotServedError(Exception):
    """There is no answer, or not the one that was asked for; the text is a sentence for people."""


class NotOwnPortError(Exception):
    """The port must not be asked; the text says why."""


def fetch(port: int, path: str, refusal: Callable[[], str], accept: str) -> bytes:
    """What is served at a path.

    Args:
        port: of the program.
        path: below it.
        refusal: why the port must not be asked now; empty: it is the program's, and only its.
        accept: which form is wanted, as the header Accept has it.

    Raises:
        NotOwnPortError: the port is not the program's, or not any more.
        NotServedError: nobody answers within DEADLINE_S, or with something else than a page of at
            most MAX_BYTES.
    """
    address = f"http://{HOST}:{port}{path}"
    _check(refusal)
    connection = http.client.HTTPConnection(HOST, port)
    connection.sock = opened = _Connection(time.monotonic() + DEADLINE_S)
    try:
        opened.connect((HOST, port))
        # Who listened before and after the connection was made is who accepts it.
        _check(refusal)
        connection.request("GET", path, headers={"Accept": accept})
        answer = connection.getresponse()
        body = answer.read(MAX_BYTES + 1)
    except TimeoutError as error:
        raise NotServedError(f"{address} does not answer within {DEADLINE_S:g} s.") from error
    except (OSError, http.client.HTTPException) as error:
        raise NotServedError(f"{address} does not answer: {error}.") from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise NotServedError(f"{address} answers {answer.status} {answer.reason}.")
    if len(body) > MAX_BYTES:
        raise NotServedError(f"{address} serves more than {MAX_BYTES} bytes.")
    return body


def _check(refusal: Callable[[], str]) -> None:
    why = refusal()
    if why:
        raise NotOwnPortError(why)


class _Connection(socket.socket):
    """A TCP connection of which all calls together have one deadline.

    Args:
        deadline_s: of time.monotonic().
    """

    def __init__(self, deadline_s: float) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._deadline_s = deadline_s
        self.settimeout(DEADLINE_S)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """As a socket does; http.client reads through nothing else."""
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self.settimeout(left_s)
        return super().recv_into(buffer, nbytes, flags)
