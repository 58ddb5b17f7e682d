"""Users of the prediction service take turns, whatever number of connections they have."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_predictd import server as module
from tidscope_predictd.daemon import listen
from tidscope_predictd.messages import List, Request, write_request
from tidscope_predictd.models import Storage
from tidscope_predictd.server import Client, Server, Turns

MANY, FEW = 1000, 2000
CONNECTIONS = 40
REQUESTS = 3


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=60))
def test_nobody_is_served_twice_before_each_user_was_served_once(
    waiting: list[tuple[int, int]],
) -> None:
    turns: Turns[tuple[int, int]] = Turns()
    for one in waiting:
        turns.add(one[0], one)
    served = []
    while (taken := turns.take()) is not None:
        served.append(taken)
    assert sorted(served) == sorted(set(waiting))
    assert not turns
    users = [user for user, _ in served]
    for first, user in enumerate(users):
        if user in users[first + 1 :]:
            again = users.index(user, first + 1)
            assert set(users[again:]) - {user} <= set(users[first + 1 : again])


def test_a_client_that_has_gone_has_no_turn() -> None:
    turns: Turns[str] = Turns()
    turns.add(1, "a")
    turns.add(1, "b")
    turns.remove(1, "a")
    turns.remove(1, "a")
    turns.remove(2, "c")
    assert (turns.take(), turns.take()) == ("b", None)


class Storm:
    """A server in this thread: one user with many connections, and another one with one.

    Attributes:
        served: user of each request, in order.
        handled: called after each request with how many were served.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.served: list[int] = []
        self.handled: Callable[[int], None] = lambda _: None
        self._users = iter([MANY] * CONNECTIONS + [FEW])
        self._path = folder / "socket"
        self._server = Server(listen(self._path), Storage(folder))
        monkeypatch.setattr(module, "peer", lambda _: (1, next(self._users)))
        monkeypatch.setattr(self._server, "_handle", self._handle)
        self.links = [self._connect() for _ in range(CONNECTIONS + 1)]

    def send(self, link: socket.socket) -> None:
        link.send(write_request(List(0)))

    def serve(self) -> None:
        """Serve until every request is served."""
        self._server.serve()
        for link in self.links:
            link.close()

    def _connect(self) -> socket.socket:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        made.connect(str(self._path))
        return made

    def _handle(self, client: Client, _: Request) -> None:
        self.served.append(client.uid)
        self.handled(len(self.served))
        if len(self.served) == CONNECTIONS * REQUESTS + 1:
            self._server.stop_end.send(b"x")


def test_many_connections_of_one_user_delay_others_by_one_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storm = Storm(tmp_path, monkeypatch)
    *many, few = storm.links
    for link in many:
        for _ in range(REQUESTS):
            storm.send(link)
    storm.send(few)
    storm.serve()
    assert storm.served.index(FEW) <= 1


def test_who_comes_while_many_are_served_is_served_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROUND_S", 0.0)
    storm = Storm(tmp_path, monkeypatch)
    *many, few = storm.links
    for link in many:
        for _ in range(REQUESTS):
            storm.send(link)
    storm.handled = lambda count: storm.send(few) if count == 5 else None
    storm.serve()
    assert storm.served.index(FEW) <= 7
