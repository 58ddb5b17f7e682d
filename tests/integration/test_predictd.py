"""The prediction service as a process: clients of three languages, users, ends and restarts."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from capabilities import needs
from prediction_service import (
    VECTORS,
    Daemon,
    LineClient,
    c_client,
    go_client,
    prediction_service,
)
from programs.build import GO
from tidscope_policies.perceptron import Rule, named, places_of, rounded
from tidscope_predictd.client import Model, ServiceError, connect, open_model
from tidscope_predictd.messages import Delete, Open, Sharing, Status, write_request

NOBODY = 65534
PATIENCE_S = 60.0
"""Timeout of replies to this process, in seconds: a busy machine makes them late, not wrong."""


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Programs by language."""
    folder = tmp_path_factory.mktemp("clients")
    folder.chmod(0o755)
    built = {"c": c_client(folder)}
    if GO is not None:
        built["go"] = go_client(folder, str(GO))
    return built


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with prediction_service(tmp_path) as running:
        yield running


@pytest.fixture
def opened() -> Iterator[Callable[..., Model]]:
    """Opens models, and closes them in the end."""
    models: list[Model] = []

    def open_one(name: str, daemon: Daemon, **how: Any) -> Model:
        models.append(open_model(name, path=daemon.socket, timeout_s=PATIENCE_S, **how))
        return models[-1]

    yield open_one
    for model in models:
        model.close()


@pytest.mark.parametrize("language", ["c", pytest.param("go", marks=needs("go"))])
def test_clients_compute_what_the_vectors_say(
    language: str, clients: dict[str, list[str]], daemon: Daemon
) -> None:
    client = LineClient(clients[language], daemon, "vectors")
    assert client.opened == "done"
    for feature, entry in VECTORS["entries"]:
        assert client.ask("entry", feature) == str(entry)
    for text, feature in VECTORS["named"]:
        assert client.ask("named", text) == str(feature)
    for number, nearest in VECTORS["rounded"]:
        assert client.ask("rounded", number) == str(nearest)
    for step in VECTORS["script"]:
        if step["do"] == "predict":
            assert client.ask("flush") == "done"
            assert client.ask("predict", *step["features"]) == str(step["sum"]), step
        else:
            if step["do"] == "reset":
                assert client.ask("flush") == "done"
            assert client.ask(step["do"], *step["features"]) == "done"
    assert client.ask("lost") == "0"
    assert client.close() == 0


def test_the_python_client_computes_what_the_vectors_say(
    daemon: Daemon, opened: Callable[..., Model]
) -> None:
    assert [[one, places_of([one])[0]] for one, _ in VECTORS["entries"]] == VECTORS["entries"]
    assert [[one, named(one)] for one, _ in VECTORS["named"]] == VECTORS["named"]
    assert [[one, rounded(one)] for one, _ in VECTORS["rounded"]] == VECTORS["rounded"]
    model = opened("vectors", daemon)
    for step in VECTORS["script"]:
        features = step["features"]
        if step["do"] == "predict":
            model.flush()
            assert model.predict(features) == step["sum"], step
        elif step["do"] == "reset":
            model.flush()
            model.reset(features or None)
        else:
            model.update(features, answer=step["do"] == "yes")
    model.close()


@pytest.mark.parametrize("language", ["c", pytest.param("go", marks=needs("go"))])
def test_what_one_process_teaches_another_predicts(
    language: str, clients: dict[str, list[str]], daemon: Daemon, opened: Callable[..., Model]
) -> None:
    teacher = opened("taught", daemon)
    client = LineClient(clients[language], daemon, "taught")
    for _ in range(20):
        teacher.update([5, -6], answer=True)
    teacher.flush()
    assert client.ask("predict", 5, -6) == "10"
    for _ in range(64):
        assert client.ask("no", 9) == "done"
    assert teacher.predict([9]) == -9
    assert teacher.counts.updates == 84
    assert client.close() == 0
    teacher.close()


@needs("root")
@pytest.mark.parametrize("language", ["c", pytest.param("go", marks=needs("go"))])
def test_other_users_see_what_is_shared(
    language: str,
    clients: dict[str, list[str]],
    daemon: Daemon,
    tmp_path: Path,
    opened: Callable[..., Model],
) -> None:
    for folder in (tmp_path, *tmp_path.parents):
        if folder != Path("/") and folder.owner() == "root" and folder.stat().st_mode & 0o005 == 0:
            folder.chmod(0o711)
    own = opened("mine", daemon, sharing=Sharing.READ)
    own.update([1], answer=True)
    own.flush()
    own_id = str(os.getuid())

    def other() -> LineClient:
        return LineClient(clients[language], daemon, "mine", 0, own_id, NOBODY)

    reader = other()
    assert reader.opened == "done"
    assert reader.ask("predict", 1) == "1"
    assert reader.ask("yes", 1) == "done"
    assert "ermi" in reader.ask("flush")
    assert (reader.ask("lost"), own.predict([1])) == ("1", 1)
    own.share(Sharing.WRITE)
    assert reader.ask("yes", 1) == "done"
    assert reader.ask("flush") == "done"
    assert own.predict([1]) == 2
    assert "ermi" in reader.ask("reset")
    own.share(Sharing.OFF)
    # A closed model's mapping is void, and the model cannot return.
    assert (reader.ask("closed"), reader.ask("predict", 1)) == ("true", "0")
    late = other()
    assert (late.opened == "done", late.close()) == (False, 0)
    again = opened("mine", daemon)
    assert again.predict([1]) == 2
    assert reader.close() == 0


def test_models_survive_an_end(tmp_path: Path, opened: Callable[..., Model]) -> None:
    with prediction_service(tmp_path) as first:
        model = opened("kept", first, rule=Rule(3, 9), sharing=Sharing.READ)
        for _ in range(5):
            model.update([1, 2, 3], answer=False)
        model.flush()
        assert first.end() == 0
        with pytest.raises(ServiceError):
            model.reset()
        # Reading needs nobody.
        assert model.predict([1, 2, 3]) == -6
    with prediction_service(tmp_path) as second:
        again = opened("kept", second)
        assert again.rule == Rule(3, 9)
        assert again.predict([1, 2, 3]) == -6
        assert again.counts.updates == 5


def test_a_damaged_model_is_put_aside_and_said(
    tmp_path: Path, opened: Callable[..., Model]
) -> None:
    with prediction_service(tmp_path) as first:
        opened("kept", first)
    (stored,) = (tmp_path / "models").glob("*.model")
    stored.write_bytes(stored.read_bytes()[:-1] + b"\xff")
    with prediction_service(tmp_path) as second:
        assert "checksum" in "".join(second.said)
        assert opened("kept", second).predict([1]) == 0
    assert stored.with_suffix(".damaged").exists()


def test_a_killed_daemon_is_replaced(tmp_path: Path, opened: Callable[..., Model]) -> None:
    with prediction_service(tmp_path) as first:
        first.end(signal.SIGKILL)
    with prediction_service(tmp_path) as second:
        assert opened("new", second).predict([1]) == 0


def test_two_daemons_do_not_share_a_socket(daemon: Daemon) -> None:
    command = [sys.executable, "-m", "tidscope_backend", "predictd"]
    places = ["--socket", str(daemon.socket), "--folder", str(daemon.socket.parent / "other")]
    done = subprocess.run([*command, *places], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "another daemon serves" in done.stderr


def test_nobody_but_the_daemon_writes_the_memory(daemon: Daemon) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
        link.connect(str(daemon.socket))
        link.send(write_request(Open("mine", create=True)))
        _, (descriptor,), _, _ = socket.recv_fds(link, 100, 1)
    for change in (
        lambda: os.pwrite(descriptor, b"\1", 5000),
        lambda: os.ftruncate(descriptor, 0),
        lambda: os.pwrite(os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR), b"\1", 5000),
    ):
        with pytest.raises(OSError) as refused:
            change()
        assert refused.value.errno in (errno.EPERM, errno.EACCES)
    os.close(descriptor)


@pytest.mark.parametrize(
    "packet",
    [
        b"x",
        b"\1\0\7\0",
        b"\1\0\x63\0",
        b"\2\0\7\0\0\0\0\0",
        write_request(Delete(0)) + b"more",
        b"\1\0\2\0" + bytes(65600),
    ],
    ids=["short", "no body", "no such kind", "other version", "longer", "too long"],
)
def test_a_client_that_breaks_the_rules_is_disconnected(
    packet: bytes, daemon: Daemon, opened: Callable[..., Model]
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
        link.connect(str(daemon.socket))
        link.send(packet)
        assert link.recv(100) == b"\1\0\1\0"
        assert link.recv(100) == b""
    assert opened("others", daemon).predict([1]) == 0


def test_a_client_that_reads_no_replies_is_disconnected(daemon: Daemon) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
        link.connect(str(daemon.socket))
        link.settimeout(120)
        request = write_request(Open("mine", create=True))
        with pytest.raises(OSError) as ended:
            while True:
                link.send(request)
        assert ended.value.errno in (errno.EPIPE, errno.ECONNRESET)


def test_the_list_of_models(daemon: Daemon, opened: Callable[..., Model]) -> None:
    model = opened("listed", daemon)
    for answer in (True, True, False, True):
        model.update([3], answer=answer)
    model.flush()
    connection = connect(daemon.socket, PATIENCE_S)
    (listed,) = connection.models()
    connection.close()
    assert listed["shown_users"] == [{"pid": os.getpid(), "uid": os.getuid(), "updates": 4}]
    chosen = {name: listed[name] for name in ("name", "owner", "updates", "hits", "undecided")}
    assert chosen == {
        "name": "listed",
        "owner": os.getuid(),
        "updates": 4,
        "hits": 2,
        "undecided": 1,
    }
    assert (listed["used_weights"], listed["users"], listed["administered"]) == (1, 1, True)
    command = [sys.executable, "-m", "tidscope_backend", "predictd", "--list"]
    places = ["--socket", str(daemon.socket)]
    done = subprocess.run([*command, *places], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1].split() == [
        *("listed", str(os.getuid()), "off", "1", "4", "67", "%", "1")
    ]
    as_json = subprocess.run([*command, "--json", *places], capture_output=True, check=True)
    assert json.loads(as_json.stdout)[0]["name"] == "listed"


def test_many_models_are_listed_in_pages_and_bounded(
    daemon: Daemon, opened: Callable[..., Model]
) -> None:
    models = [opened(f"model-{number}", daemon) for number in range(64)]
    with pytest.raises(ServiceError) as refused:
        opened("one-more", daemon)
    assert refused.value.status is Status.FULL
    connection = connect(daemon.socket, PATIENCE_S)
    assert len(connection.models()) == 64
    models[0].delete()
    with pytest.raises(ServiceError) as gone:
        models[0].reset()
    assert gone.value.status is Status.NOT_FOUND
    assert models[0].closed
    opened("one-more", daemon)
    assert len(connection.models()) == 64
    connection.close()


@needs("root")
def test_the_daemon_has_no_rights_left(daemon: Daemon) -> None:
    status = Path(f"/proc/{daemon.process.pid}/status").read_text().splitlines()
    facts = dict(line.split(":\t") for line in status if ":\t" in line)
    assert (facts["CapEff"].strip("0"), facts["NoNewPrivs"]) == ("", "1")
    if not any("system calls" in line for line in daemon.said):
        assert facts["Seccomp"] == "2"
