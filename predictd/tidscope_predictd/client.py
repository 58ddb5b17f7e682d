"""Client of the prediction service: it reads shared memory, and sends updates.

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
        status: status of the reply; None without a reply.
    """

    def __init__(self, text: str, status: Status | None = None) -> None:
        super().__init__(text)
        self.status = status


def socket_path() -> Path:
    """Return the daemon's socket, from TIDSCOPE_PREDICTD or the default path."""
    return Path(os.environ.get(VARIABLE) or SYSTEM_SOCKET)


class Connection:
    """A connection to the daemon, to be used by one thread at a time.

    Args:
        link: connected socket; owned by the connection.
        timeout_s: timeout of a reply, in seconds.
    """

    def __init__(self, link: socket.socket, timeout_s: float = TIMEOUT_S) -> None:
        self._link = link
        self._link.settimeout(timeout_s)

    def ask(self, request: Request) -> bytes:
        """Return the body of the reply.

        Raises:
            ServiceError: the daemon refused or did not answer; without an answer the connection is
                closed.
        """
        body, descriptors = self._ask(request)
        for descriptor in descriptors:
            os.close(descriptor)
        return body

    def open(self, request: Open) -> tuple[int, Memory]:
        """Return a model's handle, and its memory, which the caller closes.

        Raises:
            ServiceError: the daemon refused, did not answer, or sent another file's descriptor.
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
        """Return the daemon's descriptions of all models that this user may see.

        Raises:
            ServiceError: the daemon refused, or did not answer.
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
        """Disconnect. Idempotent."""
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
            # A late reply would be taken for the reply to the next request.
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
    """Return a connection to the daemon at a socket.

    Raises:
        ServiceError: the daemon does not run.
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
    """Describe why a socket does not answer."""
    if isinstance(error, FileNotFoundError | ConnectionRefusedError):
        return "it is not running"
    if isinstance(error, PermissionError):
        return "this user may not use it"
    return error.strerror or str(error)


class Model:
    """A model of the service, to be used by one thread at a time.

    Args:
        connection: connection to the daemon; owned by the model.
        handle, memory: handle and memory from the connection.
        batch: number of updates sent together.

    Attributes:
        lost: number of updates that the daemon did not accept.
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
        """True if the model is no longer written, so that it has to be opened again."""
        return self._memory.closed

    @property
    def rule(self) -> Rule:
        """Learning rule."""
        return self._memory.rule

    @property
    def counts(self) -> Counts:
        """Counts of the model's updates."""
        return self._memory.counts

    def weights(self) -> bytes:
        """Return all current weights: 16 tables of 1024 signed bytes."""
        return bytes(self._memory.weights)

    def predict(self, features: Sequence[int]) -> int:
        """Return the sum of the weights: above 0 yes, below 0 no, 0 undecided. No system call.

        Raises:
            ValueError: no features, or more than 16.
        """
        return perceptron.predict(self._memory.weights, features)

    def update(self, features: Sequence[int], *, answer: bool) -> None:
        """Queue an answer for learning; it takes effect at the latest with `flush`.

        Raises:
            ValueError: no features, or more than 16.
            ServiceError: the daemon did not accept the updates.
        """
        perceptron.places_of(features)
        self._waiting.append(Answer(tuple(features), answer))
        if len(self._waiting) >= self._batch:
            self.flush()

    def flush(self) -> None:
        """Send queued updates; on return, the weights have changed.

        Raises:
            ServiceError: the daemon did not accept the updates, which are lost and counted.
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
        """Reset the weights of these features; without features all weights (owner only).

        Raises:
            ValueError: no features in the list, or more than 16.
            ServiceError: the daemon refused, or did not answer.
        """
        if features is not None:
            perceptron.places_of(features)
        self._waiting.clear()
        self._connection.ask(Reset(self._handle, tuple(features or ())))

    def share(self, sharing: Sharing) -> None:
        """Change the permissions of other users. If reduced, this model is closed.

        Raises:
            ServiceError: the daemon refused, or did not answer.
        """
        self._connection.ask(Share(self._handle, sharing))

    def delete(self) -> None:
        """Delete the model, for all users.

        Raises:
            ServiceError: the daemon refused, or did not answer.
        """
        self._connection.ask(Delete(self._handle))

    def close(self) -> None:
        """Send queued updates if possible, and disconnect."""
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
    """Open a model of the service; sharing and rule apply to a newly created model.

    Raises:
        ValueError: the name or the rule is invalid.
        ServiceError: the daemon does not run, or refused.
    """
    connection = connect(path, timeout_s)
    return open_over(
        connection, Open(name, owner, create and owner == OWN, sharing, rule or Rule())
    )


def open_over(connection: Connection, request: Open) -> Model:
    """Open a model over a connection, which the model owns afterwards.

    Raises:
        ValueError: the name or the rule is invalid.
        ServiceError: the daemon refused, or does not answer.
    """
    try:
        handle, memory = connection.open(request)
    except (ServiceError, ValueError):
        connection.close()
        raise
    return Model(connection, handle, memory)
