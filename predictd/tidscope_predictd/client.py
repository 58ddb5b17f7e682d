"""A client of the prediction service: it reads in shared memory, and sends what was learnt.

model = open_model("my-cache", sharing=Sharing.READ)
if model.predict([size, kind]) > 0: …
model.update([size, kind], answer=True)
model.flush()
"""

import json
import os
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tidscope_policies import perceptron
from tidscope_policies.perceptron import Rule

from tidscope_predictd.layout import Counts, Memory, map_memory
from tidscope_predictd.messages import (
    MAX_BYTES,
    MAX_UPDATES,
    OWN,
    Answer,
    Delete,
    List,
    MalformedError,
    Open,
    Request,
    Reset,
    Share,
    Sharing,
    Status,
    Update,
    read_reply,
    write_request,
)

VARIABLE = "TIDSCOPE_PREDICTD"
SYSTEM_SOCKET = Path("/run/tidscope-predictd/socket")
BATCH = 64
TIMEOUT_S = 1.0


class ServiceError(Exception):
    """The daemon cannot be reached, does not answer, or refused.

    Attributes:
        status: what it answered; None if it did not.
    """

    def __init__(self, text: str, status: Status | None = None) -> None:
        super().__init__(text)
        self.status = status


def socket_path() -> Path:
    """Where the daemon is: as TIDSCOPE_PREDICTD says, or at the usual place."""
    return Path(os.environ.get(VARIABLE) or SYSTEM_SOCKET)


class Connection:
    """A connection to the daemon; one thread uses it at a time.

    Args:
        link: connected; owned by the connection.
        timeout_s: how long an answer may take.
    """

    def __init__(self, link: socket.socket, timeout_s: float = TIMEOUT_S) -> None:
        self._link = link
        self._link.settimeout(timeout_s)

    def ask(self, request: Request) -> bytes:
        """The body of the reply.

        Raises:
            ServiceError: refused, or no answer; without an answer the connection is closed.
        """
        body, descriptors = self._ask(request)
        for descriptor in descriptors:
            os.close(descriptor)
        return body

    def open(self, request: Open) -> tuple[int, Memory]:
        """A model's handle, and its memory, which the caller closes.

        Raises:
            ServiceError: refused, no answer, or not the memory of a model.
        """
        body, descriptors = self._ask(request)
        try:
            if len(descriptors) != 1 or len(body) != 4:
                raise ServiceError("the service sent no model")
            return struct.unpack("<I", body)[0], map_memory(descriptors[0])
        except (OSError, ValueError) as error:
            raise ServiceError(f"the service sent no model: {error}") from error
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def models(self) -> list[dict[str, Any]]:
        """What the daemon says of all models that this user may see.

        Raises:
            ServiceError: refused, or no answer.
        """
        found: list[dict[str, Any]] = []
        following: int | None = 0
        while following is not None:
            try:
                page = json.loads(self.ask(List(following)))
                found += page["models"]
                following = page["next"]
            except (ValueError, KeyError, TypeError) as error:
                raise ServiceError("the list of models is damaged") from error
        return found

    def close(self) -> None:
        """Disconnect; twice does no harm."""
        self._link.close()

    def _ask(self, request: Request) -> tuple[bytes, list[int]]:
        descriptors: list[int] = []
        try:
            self._link.send(write_request(request))
            packet, descriptors, flags, _ = socket.recv_fds(self._link, MAX_BYTES, 1)
            if not packet or flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
                raise MalformedError("the connection ended" if not packet else "cut off")
            status, body = read_reply(packet)
        except (OSError, MalformedError) as error:
            # A late answer would be taken for that to the next request.
            self._link.close()
            for descriptor in descriptors:
                os.close(descriptor)
            raise ServiceError(f"the prediction service does not answer: {error}") from error
        if status is not Status.DONE:
            for descriptor in descriptors:
                os.close(descriptor)
            raise ServiceError(status.name.lower().replace("_", " "), status)
        return body, descriptors


def connect(path: Path | None = None, timeout_s: float = TIMEOUT_S) -> Connection:
    """A connection to the daemon at a socket.

    Raises:
        ServiceError: there is no daemon.
    """
    path = path or socket_path()
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.settimeout(timeout_s)
    try:
        link.connect(str(path))
    except OSError as error:
        link.close()
        raise ServiceError(f"no prediction service at {path}: {_why(error)}") from error
    return Connection(link, timeout_s)


def _why(error: OSError) -> str:
    """Why nothing answers at a socket, for people."""
    if isinstance(error, FileNotFoundError | ConnectionRefusedError):
        return "it is not running"
    if isinstance(error, PermissionError):
        return "this user may not use it"
    return error.strerror or str(error)


class Model:
    """A model of the service; one thread uses it at a time.

    Args:
        connection: owned by the model.
        handle, memory: as the connection gave them.
        batch: so many updates are sent together.

    Attributes:
        lost: updates that the daemon did not take.
    """

    def __init__(
        self, connection: Connection, handle: int, memory: Memory, batch: int = BATCH
    ) -> None:
        self._connection, self._handle, self._memory = connection, handle, memory
        self._batch = min(max(batch, 1), MAX_UPDATES)
        self._waiting: list[Answer] = []
        self.lost = 0

    @property
    def closed(self) -> bool:
        """Whether nobody writes it any more, so that it is to be opened again."""
        return self._memory.closed

    @property
    def rule(self) -> Rule:
        """How it learns."""
        return self._memory.rule

    @property
    def counts(self) -> Counts:
        """What happened to it."""
        return self._memory.counts

    def weights(self) -> bytes:
        """All weights as they are now: 16 tables of 1024 signed bytes."""
        return bytes(self._memory.weights)

    def predict(self, features: Sequence[int]) -> int:
        """The sum of the weights: above 0 yes, below 0 no, 0 undecided. No system call.

        Raises:
            ValueError: no features, or more than 16.
        """
        return perceptron.predict(self._memory.weights, features)

    def update(self, features: Sequence[int], *, answer: bool) -> None:
        """Learn what the answer was, at the latest with `flush`.

        Raises:
            ValueError: no features, or more than 16.
            ServiceError: as of `flush`.
        """
        perceptron.places_of(features)
        self._waiting.append(Answer(tuple(features), answer))
        if len(self._waiting) >= self._batch:
            self.flush()

    def flush(self) -> None:
        """Send what waits; when this returns, the weights have changed.

        Raises:
            ServiceError: the daemon did not take it: it is lost, and counted so.
        """
        if not self._waiting:
            return
        sent, self._waiting = tuple(self._waiting), []
        try:
            self._connection.ask(Update(self._handle, sent))
        except ServiceError:
            self.lost += len(sent)
            raise

    def reset(self, features: Sequence[int] | None = None) -> None:
        """Forget what these features pick; without features everything, which only its owner may.

        Raises:
            ValueError: no features in the list, or more than 16.
            ServiceError: refused, or no answer.
        """
        if features is not None:
            perceptron.places_of(features)
        self._waiting.clear()
        self._connection.ask(Reset(self._handle, tuple(features or ())))

    def share(self, sharing: Sharing) -> None:
        """Change what other users may do. This model is closed if they may do less.

        Raises:
            ServiceError: refused, or no answer.
        """
        self._connection.ask(Share(self._handle, sharing))

    def delete(self) -> None:
        """Delete the model, for everybody.

        Raises:
            ServiceError: refused, or no answer.
        """
        self._connection.ask(Delete(self._handle))

    def close(self) -> None:
        """Send what waits, if that is possible, and disconnect."""
        with suppress(ServiceError):
            self.flush()
        self._connection.close()
        self._memory.close()


def open_model(
    name: str,
    *,
    owner: int = OWN,
    create: bool = True,
    sharing: Sharing = Sharing.OFF,
    rule: Rule | None = None,
    path: Path | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Model:
    """Open a model of the service; sharing and rule are those of a model that is made.

    Raises:
        ValueError: the name or the rule cannot be.
        ServiceError: there is no daemon, or it refused.
    """
    connection = connect(path, timeout_s)
    return open_over(
        connection, Open(name, owner, create and owner == OWN, sharing, rule or Rule())
    )


def open_over(connection: Connection, request: Open) -> Model:
    """Open a model over a connection, which it owns from now on.

    Raises:
        ValueError: the name or the rule cannot be.
        ServiceError: the daemon refused, or does not answer.
    """
    try:
        handle, memory = connection.open(request)
    except (ServiceError, ValueError):
        connection.close()
        raise
    return Model(connection, handle, memory)
