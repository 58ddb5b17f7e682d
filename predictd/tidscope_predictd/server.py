"""The daemon's server: one thread that serves the socket, the only writer of all models."""

import json
import selectors
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tidscope_predictd.messages import (
    MAX_BYTES,
    Delete,
    List,
    MalformedError,
    Open,
    Predict,
    Request,
    Reset,
    Share,
    Sharing,
    Status,
    Update,
    read_request,
    write_reply,
)
from tidscope_predictd.models import Models, RefusedError, SharedModel, Storage, used_weights

MAX_CONNECTIONS = 512
MAX_OF_A_USER = 128
MAX_HANDLES = 64
MAX_USERS_SHOWN = 16
BACKLOG = 64
"""Maximum connections waiting to be accepted."""
SAVE_AFTER_S = 30.0
ROUND_S = 0.002
"""Time that clients are served between checks for new connections, in seconds."""
_LIST_BYTES = 48 << 10
_CREDENTIALS = struct.Struct("iII")


@dataclass(slots=True, eq=False)
class Client:
    """A connected client.

    Attributes:
        link: socket of the connection.
        pid, uid: process and user of the peer, from the kernel.
        handles: opened models; the index is the handle.
        updates: number of answers received.
    """

    link: socket.socket
    pid: int
    uid: int
    handles: list[SharedModel] = field(default_factory=list)
    updates: Counter[SharedModel] = field(default_factory=Counter)


class Server:
    """Server of all clients, until stopped.

    Args:
        listening: listening socket, already bound; owned by the server.
        storage: storage of the models.
        administrators: user IDs with an owner's permissions on every model.
        save_after_s: delay between a change of a model and its saving, in seconds.

    Attributes:
        stop_end: file descriptor; a byte written to it ends the service. Usable for
            signal.set_wakeup_fd.
    """

    def __init__(
        self,
        listening: socket.socket,
        storage: Storage,
        administrators: Collection[int] = (),
        save_after_s: float = SAVE_AFTER_S,
    ) -> None:
        self._models = Models(administrators)
        self._storage, self._save_after_s = storage, save_after_s
        self._listening = listening
        self._clients: dict[int, Client] = {}
        self._turns: Turns[Client] = Turns()
        self._due: dict[SharedModel, float] = {}
        self._selector = selectors.DefaultSelector()
        self._stopped, self.stop_end = socket.socketpair()
        for one in (listening, self._stopped, self.stop_end):
            one.setblocking(False)
        self._selector.register(self._stopped, selectors.EVENT_READ)
        self._selector.register(listening, selectors.EVENT_READ)
        for found in storage.load():
            if isinstance(found, str):
                _log(found)
            elif not self._models.restore(found):
                _log(f"model {found.name} of user {found.owner} is not loaded: there are too many")

    def serve(self) -> None:
        """Serve until a byte is written to `stop_end`, and save changed models."""
        while True:
            for key, _ in self._selector.select(0 if self._turns else self._wait_s()):
                if key.fileobj is self._stopped:
                    self._end()
                    return
                if key.fileobj is self._listening:
                    self._accept_all()
                else:
                    client = self._clients[key.fd]
                    self._turns.add(client.uid, client)
            self._serve_round()
            self._save_one()

    def _serve_round(self) -> None:
        """Answer clients in turn, for a time that makes the cost of polling negligible."""
        end_s = time.monotonic() + ROUND_S
        while (client := self._turns.take()) is not None:
            self._answer(client)
            if time.monotonic() >= end_s:
                return

    def _accept_all(self) -> None:
        """Accept all pending connections, so that no user waits behind another's queue."""
        for _ in range(BACKLOG):
            try:
                link, _ = self._listening.accept()
            except OSError:
                return
            self._accept(link)

    def _accept(self, link: socket.socket) -> None:
        pid, uid = peer(link)
        of_user = sum(client.uid == uid for client in self._clients.values())
        if len(self._clients) >= MAX_CONNECTIONS or of_user >= MAX_OF_A_USER:
            link.close()
            return
        link.setblocking(False)
        self._clients[link.fileno()] = Client(link, pid, uid)
        self._selector.register(link, selectors.EVENT_READ)

    def _answer(self, client: Client) -> None:
        """Read one packet and answer it; a client that violates the protocol is disconnected."""
        try:
            packet = client.link.recv(MAX_BYTES + 1)
            if not packet:
                self._drop(client)
                return
            if len(packet) > MAX_BYTES:
                raise MalformedError("too long")
            self._handle(client, read_request(packet))
        except RefusedError as refused:
            self._reply(client, refused.status)
        except MalformedError:
            self._reply(client, Status.MALFORMED)
            self._drop(client)
        except BlockingIOError:
            return
        except OSError:
            self._drop(client)

    def _handle(self, client: Client, request: Request) -> None:
        if isinstance(request, List):
            self._reply(client, Status.DONE, self._list(client, request.first))
            return
        if isinstance(request, Open):
            self._open(client, request)
            return
        model = _of_handle(client, request.handle)
        body = b""
        match request:
            case Update(answers=answers):
                self._require(self._models.may(client.uid, model, Sharing.WRITE))
                model.learn(answers)
                client.updates[model] += len(answers)
                body = struct.pack("<I", len(answers))
            case Predict(features=features):
                self._require(self._models.may(client.uid, model, Sharing.READ))
                body = struct.pack("<i", model.predict(features))
            case Reset(features=features):
                allowed = (
                    self._models.may(client.uid, model, Sharing.WRITE)
                    if features
                    else self._models.may_administer(client.uid, model)
                )
                self._require(allowed)
                model.reset(features)
            case Share(sharing=sharing):
                self._require(self._models.may_administer(client.uid, model))
                model.share(sharing)
            case Delete():
                self._require(self._models.may_administer(client.uid, model))
                self._storage.delete(model.owner, model.name)
                self._due.pop(model, None)
                self._models.delete(model)
        if not model.closed and model.unsaved:
            self._due.setdefault(model, time.monotonic() + self._save_after_s)
        self._reply(client, Status.DONE, body)

    def _open(self, client: Client, request: Open) -> None:
        if len(client.handles) >= MAX_HANDLES:
            raise RefusedError(Status.FULL)
        model = self._models.open(client.uid, request)
        if model.unsaved:
            self._due.setdefault(model, time.monotonic() + self._save_after_s)
        client.handles.append(model)
        body = struct.pack("<I", len(client.handles) - 1)
        reply = write_reply(Status.DONE, body)
        socket.send_fds(client.link, [reply], [model.descriptor])

    def _list(self, client: Client, first: int) -> bytes:
        """Return one batch of the models that a client may see."""
        seen = [one for one in self._models if self._models.may(client.uid, one, Sharing.READ)]
        pages: list[bytes] = []
        place, size = first, 0
        for model in seen[first:]:
            described = json.dumps(self._describe(client, model)).encode()
            size += len(described) + 1
            if size > _LIST_BYTES and pages:
                break
            pages.append(described)
            place += 1
        following = str(place) if place < len(seen) else "null"
        return b'{"models":[%s],"next":%s}' % (b",".join(pages), following.encode())

    def _describe(self, client: Client, model: SharedModel) -> dict[str, object]:
        users = [one for one in self._clients.values() if model in one.handles]
        counts = model.counts
        return {
            "name": model.name,
            "owner": model.owner,
            "sharing": model.sharing.name.lower(),
            "threshold": model.rule.threshold,
            "limit": model.rule.limit,
            **counts._asdict(),
            "used_weights": used_weights(model.weights()),
            "users": len(users),
            "shown_users": [
                {"pid": one.pid, "uid": one.uid, "updates": one.updates[model]}
                for one in users[:MAX_USERS_SHOWN]
            ],
            "administered": self._models.may_administer(client.uid, model),
        }

    def _reply(self, client: Client, status: Status, body: bytes = b"") -> None:
        try:
            client.link.send(write_reply(status, body))
        except OSError:
            # The client does not read its replies.
            self._drop(client)

    def _drop(self, client: Client) -> None:
        number = client.link.fileno()
        if self._clients.pop(number, None) is not None:
            self._turns.remove(client.uid, client)
            self._selector.unregister(client.link)
            client.link.close()

    def _wait_s(self) -> float | None:
        due = min(self._due.values(), default=None)
        return None if due is None else max(0.0, due - time.monotonic())

    def _save_one(self) -> None:
        """Save the model that is due first; one per round, so that clients wait little."""
        model = min(self._due, key=self._due.__getitem__, default=None)
        if model is not None and self._due[model] <= time.monotonic():
            del self._due[model]
            self._save(model)

    def _save(self, model: SharedModel) -> None:
        try:
            self._storage.save(model.stored())
            model.unsaved = False
        except OSError as error:
            _log(f"model {model.name} of user {model.owner} is not saved: {error}")
            self._due[model] = time.monotonic() + self._save_after_s

    def _end(self) -> None:
        for model in list(self._due):
            self._save(model)
        for client in list(self._clients.values()):
            self._drop(client)
        self._selector.close()
        for one in (self._listening, self._stopped, self.stop_end):
            one.close()
        self._models.close()

    @staticmethod
    def _require(allowed: bool) -> None:
        if not allowed:
            raise RefusedError(Status.NOT_PERMITTED)


def peer(link: socket.socket) -> tuple[int, int]:
    """Return process and user of a connection's peer, from the kernel."""
    data = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(data)
    return pid, uid


def _of_handle(client: Client, handle: int) -> SharedModel:
    if handle >= len(client.handles):
        raise RefusedError(Status.NOT_FOUND)
    model = client.handles[handle]
    if model.closed:
        raise RefusedError(Status.NOT_FOUND)
    return model


def _log(sentence: str) -> None:
    print(f"predictd: {sentence}", file=sys.stderr, flush=True)


Waiting = TypeVar("Waiting", bound=Hashable)


class Turns(Generic[Waiting]):
    """A fair queue: each round serves one request per user, regardless of the number of clients."""

    def __init__(self) -> None:
        # Both dictionaries are ordered: the first user's first client is next.
        self._of_user: dict[int, dict[Waiting, None]] = {}

    def __bool__(self) -> bool:
        """Return True if a client is waiting."""
        return bool(self._of_user)

    def add(self, user: int, client: Waiting) -> None:
        """Queue a client; a queued client keeps its place."""
        self._of_user.setdefault(user, {}).setdefault(client)

    def take(self) -> Waiting | None:
        """Remove and return the next client; None if the queue is empty."""
        if not self._of_user:
            return None
        user = next(iter(self._of_user))
        clients = self._of_user.pop(user)
        client = next(iter(clients))
        del clients[client]
        if clients:
            self._of_user[user] = clients
        return client

    def remove(self, user: int, client: Waiting) -> None:
        """Remove a disconnected client. Idempotent."""
        clients = self._of_user.get(user, {})
        clients.pop(client, None)
        if not clients:
            self._of_user.pop(user, None)
