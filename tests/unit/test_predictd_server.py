"""The daemon's server in a thread of this process, with real clients."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tidscope_predictd.client import ServiceError, connect, open_model
from tidscope_predictd.daemon import listen
from tidscope_predictd.messages import Open, Predict, Share, Sharing, Status
from tidscope_predictd.models import Storage
from tidscope_predictd.server import MAX_HANDLES, Server


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
