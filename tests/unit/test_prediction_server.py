"""The prediction service: messages, turns and connections."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tidscope_policies.perceptron import Rule
from tidscope_predictd import server as module
from tidscope_predictd.client import ServiceError, connect, open_model
from tidscope_predictd.daemon import listen
from tidscope_predictd.messages import (
    OWN,
    Answer,
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
    read_reply,
    read_request,
    write_reply,
    write_request,
)
from tidscope_predictd.models import Storage
from tidscope_predictd.server import MAX_HANDLES, Client, Server, Turns

WORDS = st.integers(0, 2**32 - 1)
FEATURES = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=16).map(tuple)
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)
RULES = st.builds(Rule, st.integers(0, 2032), st.integers(1, 127))
REQUESTS: st.SearchStrategy[Request] = st.one_of(
    st.builds(Open, NAMES, WORDS, st.booleans(), st.sampled_from(Sharing), RULES),
    st.builds(
        Update,
        WORDS,
        st.lists(st.builds(Answer, FEATURES, st.booleans()), min_size=1, max_size=5).map(tuple),
    ),
    st.builds(Reset, WORDS, st.one_of(st.just(()), FEATURES)),
    st.builds(Predict, WORDS, FEATURES),
    st.builds(Share, WORDS, st.sampled_from(Sharing)),
    st.builds(Delete, WORDS),
    st.builds(List, WORDS),
)


@given(REQUESTS)
def test_what_is_written_is_read(request: Request) -> None:
    assert read_request(write_request(request)) == request


@given(REQUESTS, st.data())
def test_what_is_cut_off_or_longer_is_malformed(request: Request, data: st.DataObject) -> None:
    packet = write_request(request)
    cut = data.draw(st.integers(0, len(packet) - 1))
    for damaged in (packet[:cut], packet + b"\0"):
        with pytest.raises(MalformedError):
            read_request(damaged)


@given(st.binary(max_size=200), st.integers(0, 9))
@example(b"\x00\x00\x00\x00\x01\x00\x01\x11" + bytes(136), 2)
def test_any_bytes_are_read_or_malformed(body: bytes, kind: int) -> None:
    packet = bytes([1, 0, kind, 0]) + body
    try:
        assert write_request(read_request(packet)) == packet
    except MalformedError:
        pass


def test_bytes_of_each_request() -> None:
    """Messages as in docs/prediction.md; the clients in C and Go write the same."""
    opened = write_request(Open("ab", OWN, create=True, sharing=Sharing.READ, rule=Rule(8, 31)))
    assert opened.hex() == "01000100" + "ffffffff" + "01" + "01" + "0800" + "1f" + "02" + "6162"
    updated = write_request(Update(3, (Answer((1,), False), Answer((-1, 2), True))))
    assert updated.hex() == (
        "01000200" + "03000000" + "0200" + "ff01" + "0100000000000000" + "0102" + "f" * 16
    ) + ("0200000000000000")
    assert write_request(Reset(3, (1,))).hex() == "01000300" + "0300000000010100000000000000"
    assert write_request(Reset(3, ())).hex() == "01000300" + "030000000100"
    assert write_request(Predict(3, (1,))).hex() == "01000400" + "03000000010100000000000000"
    assert write_request(Share(3, Sharing.WRITE)).hex() == "01000500" + "0300000002"
    assert write_request(Delete(3)).hex() == "01000600" + "03000000"
    assert write_request(List(3)).hex() == "01000700" + "03000000"


def test_features_are_sent_modulo_two_to_the_64th() -> None:
    sent = read_request(write_request(Predict(0, (2**64 - 1, -(2**63) - 1))))
    assert sent == Predict(0, (-1, 2**63 - 1))


@pytest.mark.parametrize(
    "request_",
    [
        Open(""),
        Open("a/b"),
        Open("x" * 65),
        Open("a", rule=Rule(8, 200)),
        Update(0, ()),
        Update(0, (Answer((1,), True),) * 257),
        Predict(0, ()),
        Predict(0, (1,) * 17),
    ],
    ids=str,
)
def test_what_cannot_be_sent(request_: Request) -> None:
    with pytest.raises(ValueError, match=r"want|name"):
        write_request(request_)


def test_replies() -> None:
    assert read_reply(write_reply(Status.FULL, b"why")) == (Status.FULL, b"why")
    for damaged in (b"", b"\1\0\0", b"\2\0\0\0", b"\1\0\x09\0"):
        with pytest.raises(MalformedError):
            read_reply(damaged)


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """The socket of a server that runs."""
    server = Server(listen(tmp_path / "socket"), Storage(tmp_path), save_after_s=0)
    thread = threading.Thread(target=server.serve)
    thread.start()
    yield tmp_path / "socket"
    server.stop_end.send(b"x")
    thread.join()


def test_updates_are_there_when_flush_returns(path: Path, tmp_path: Path) -> None:
    model = open_model("a", path=path)
    for _ in range(3):
        model.update([1, 2], answer=True)
    assert model.predict([1, 2]) == 0
    model.flush()
    assert model.predict([1, 2]) == 6
    assert (model.counts.updates, model.closed, model.lost) == (3, False, 0)
    assert len(model.weights()) == 16 * 1024
    model.reset([1])
    assert model.predict([1, 2]) == 3
    model.reset()
    assert model.predict([1, 2]) == 0
    model.share(Sharing.READ)
    # Changes are saved at once here, each after the reply to it: another request waits for that.
    model.share(Sharing.READ)
    model.close()
    model.close()
    assert (tmp_path / f"{os.getuid()}-a.model").exists()


def test_a_batch_is_sent_by_itself(path: Path) -> None:
    model = open_model("a", path=path)
    for _ in range(64):
        model.update([1], answer=False)
    assert model.predict([1]) == -9
    model.close()


def test_predictions_by_socket(path: Path) -> None:
    connection = connect(path)
    handle, memory = connection.open(Open("a", create=True))
    assert connection.ask(Predict(handle, (1, 2))) == bytes(4)
    memory.close()
    connection.close()


def test_refusals(path: Path) -> None:
    connection = connect(path)
    for request, status in (
        (Open("none"), Status.NOT_FOUND),
        (Predict(0, (1,)), Status.NOT_FOUND),
        (Share(7, Sharing.OFF), Status.NOT_FOUND),
    ):
        with pytest.raises(ServiceError) as refused:
            connection.ask(request)
        assert refused.value.status is status
    for _ in range(MAX_HANDLES):
        connection.ask(Open("a", create=True))
    with pytest.raises(ServiceError) as full:
        connection.ask(Open("a"))
    assert full.value.status is Status.FULL
    assert [one["name"] for one in connection.models()] == ["a"]
    connection.close()


def test_a_deleted_model_is_gone(path: Path, tmp_path: Path) -> None:
    model = open_model("a", path=path)
    model.update([1], answer=True)
    model.flush()
    model.delete()
    assert (model.closed, model.predict([1])) == (True, 0)
    model.update([1], answer=True)
    with pytest.raises(ServiceError, match="not found"):
        model.flush()
    assert model.lost == 1
    assert list(tmp_path.glob("*.model")) == []
    with pytest.raises(ServiceError, match="not found"):
        open_model("a", path=path, create=False)
    model.close()


def test_no_daemon(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match=r"no prediction service at .*none: it is not running$"):
        open_model("a", path=tmp_path / "none")


def test_names_that_cannot_be(path: Path) -> None:
    with pytest.raises(ValueError, match="name"):
        open_model("a b", path=path)


def test_a_daemon_that_answers_nonsense(tmp_path: Path) -> None:
    """An answer is taken apart strictly, and what is no model's memory is not mapped."""
    file = os.open("/dev/null", os.O_RDONLY)
    answers: list[tuple[bytes, list[int]]] = [
        (b"\1\0\0\0\0\0\0\0", []),
        (b"\1\0\0\0\0\0\0\0", [file]),
        (b"\1\0\0\0", [file]),
        (b"\1\0\x63\0", [file]),
        (b"x", []),
    ]

    def serve(listening: socket.socket) -> None:
        for body, files in answers:
            link, _ = listening.accept()
            link.recv(1000)
            socket.send_fds(link, [body], files)
            link.close()

    with listen(tmp_path / "socket") as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        for _ in answers:
            with pytest.raises(ServiceError):
                open_model("a", path=tmp_path / "socket")
        thread.join()
    os.close(file)


MANY, FEW = 1000, 2000
CONNECTIONS = 40
TURN_REQUESTS = 3


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
        if len(self.served) == CONNECTIONS * TURN_REQUESTS + 1:
            self._server.stop_end.send(b"x")


def test_many_connections_of_one_user_delay_others_by_one_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storm = Storm(tmp_path, monkeypatch)
    *many, few = storm.links
    for link in many:
        for _ in range(TURN_REQUESTS):
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
        for _ in range(TURN_REQUESTS):
            storm.send(link)
    storm.handled = lambda count: storm.send(few) if count == 5 else None
    storm.serve()
    assert storm.served.index(FEW) <= 7
