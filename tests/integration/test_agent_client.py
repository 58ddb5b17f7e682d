"""The collector's end of the agent protocol, against everything that is no honest agent."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from asked_children import wait_for_children
from processes import start_ticks
from programs.agent_program import AgentFolder
from schema_check import check_text
from tidscope_collector.agent.client import (
    LONGEST_LINE,
    AgentClient,
    AgentClientError,
    AgentLostError,
    AgentProtocolError,
    AgentRefusedError,
    AgentTimeoutError,
    NoAgentError,
    StaleSocketError,
    WrongPeerError,
    connect,
    open_agent,
)
from tidscope_collector.inspection.agent_sockets import list_folders
from tidscope_collector.inspection.answering import LONGEST_TIMEOUT_S
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.loop.knob import AgentKnob, KnobLostError, KnobRefusedError

PROC = ProcFs()
HELLO = {
    "pid": 5,
    "runtime": "go",
    "version": "1",
    "protocol": 1,
    "knob": "gomaxprocs",
    "lower": 1,
    "upper": 8,
    "size": 4,
    "original": 4,
}
READING = {"ops": 7, "size": 4, "queue_wait_ns": None, "queue_waits": None, "monotonic_ns": 9}
NOTICE = b'{"jsonrpc":"2.0","method":"restart_search"}\n'

Script = Callable[[bytes], bytes]
"""From a line that came to the bytes that are sent back."""


def answered(number: int, result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode() + b"\n"


def proper(line: bytes) -> bytes:
    """Answers of an honest agent; a set is effective immediately."""
    call = json.loads(line)
    size = call.get("params", {}).get("size", 4)
    results = {"hello": HELLO, "read": READING}
    return answered(call["id"], results.get(call["method"], {"size": size, "wanted": size}))


@contextmanager
def scripted(script: Script) -> Iterator[AgentClient]:
    """A client of an agent that does what the script says, after an honest hello."""
    ours, its = socket.socketpair()

    def serve() -> None:
        with its, its.makefile("rb") as lines:
            try:
                for number, line in enumerate(lines):
                    check_text("AgentSetCall" if b'"set"' in line else "AgentCall", line)
                    its.sendall(proper(line) if number == 0 else script(line))
            except (BrokenPipeError, ConnectionResetError):
                pass

    server = threading.Thread(target=serve)
    server.start()
    client = AgentClient(ours, timeout_s=60)
    try:
        yield client
    finally:
        client.close()
        server.join(120)
        assert not server.is_alive()


def test_an_honest_agent() -> None:
    with scripted(proper) as client:
        assert client.hello.model_dump(exclude_none=True) == HELLO
        assert client.read().model_dump() == READING
        assert client.set(2, 1.5).model_dump() == {"size": 2, "wanted": 2}
        assert client.release().size == 4


NONSENSE: dict[str, Script] = {
    "words": lambda _: b"hello\n",
    "not utf-8": lambda _: b"\xff\n",
    "zeros": lambda _: b"\0" * 100 + b"\n",
    "depth": lambda _: b"[" * 5000 + b"\n",
    "list": lambda _: b"[]\n",
    "no result": lambda _: b'{"jsonrpc":"2.0","id":2}\n',
    "another id": lambda _: answered(3, READING),
    "another kind": lambda _: answered(2, {"size": 4, "wanted": 4}),
    "text as a number": lambda _: answered(2, READING | {"ops": "7"}),
    "negative": lambda _: answered(2, READING | {"ops": -7}),
    "half": lambda _: answered(2, READING | {"size": 1.5}),
    "truth as a number": lambda _: answered(2, READING | {"size": True}),
    "size 0": lambda _: answered(2, READING | {"size": 0}),
    "surplus": lambda _: answered(2, READING | {"more": 1}),
    "too few": lambda _: answered(2, {"ops": 7}),
    "both": lambda _: b'{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":""}}\n',
    "long line": lambda _: b"x" * 2 * LONGEST_LINE,
    "another notice": lambda _: b'{"jsonrpc":"2.0","method":"exit"}\n',
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_reported_and_ends_the_connection(name: str) -> None:
    with scripted(NONSENSE[name]) as client:
        with pytest.raises(AgentProtocolError, match="The agent sent"):
            client.read()
        with pytest.raises(AgentLostError):
            client.read()


@pytest.mark.parametrize("silence", [b"", b'{"jsonrpc":"2.0","id":2,'])
def test_silence_is_not_waited_for(silence: bytes) -> None:
    ours, its = socket.socketpair()
    with its:
        its.sendall(answered(1, HELLO) + silence)
        client = AgentClient(ours, timeout_s=0.3, hello_s=60)
        with pytest.raises(AgentTimeoutError, match=r"within 0\.3 s"):
            client.read()
        with pytest.raises(AgentLostError):
            client.read()


def test_the_first_answer_may_take_longer() -> None:
    ours, its = socket.socketpair()
    with its:
        late = threading.Timer(0.2, its.sendall, [answered(1, HELLO) + answered(2, READING)])
        late.start()
        client = AgentClient(ours, timeout_s=0.1, hello_s=60)
        assert client.hello.model_dump(exclude_none=True) == HELLO
        late.join()
        client.close()


def test_notices_do_not_make_a_call_last() -> None:
    ours, its = socket.socketpair()
    with its:
        its.sendall(answered(1, HELLO))
        client = AgentClient(ours, timeout_s=0.3, hello_s=60)

        def flood() -> None:
            try:
                while True:
                    its.sendall(NOTICE * 100)
            except (BrokenPipeError, ConnectionResetError):
                pass

        flooding = threading.Thread(target=flood)
        flooding.start()
        with pytest.raises(AgentTimeoutError):
            client.read()
        flooding.join(120)
        assert not flooding.is_alive()


def test_one_who_takes_nothing_is_not_waited_for() -> None:
    ours, its = socket.socketpair()
    with its:
        its.sendall(answered(1, HELLO))
        client = AgentClient(ours, timeout_s=0.1, hello_s=60)
        with pytest.raises(AgentTimeoutError):
            while True:  # Answers nothing, either: the first call ends it.
                client.read()


def test_notices_among_answers() -> None:
    def between(line: bytes) -> bytes:
        return NOTICE + NOTICE + proper(line) + NOTICE

    with scripted(between) as client:
        assert client.restart_requested() is False
        assert client.read().ops == 7
        assert client.restart_requested() is True
        assert client.read().ops == 7
        assert client.restart_requested() is True


def test_refusals_keep_their_code_and_words() -> None:
    def refuse(line: bytes) -> bytes:
        error = {"code": -32003, "message": "another client steers"}
        return (
            json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "error": error}).encode()
            + b"\n"
        )

    with scripted(refuse) as client:
        with pytest.raises(AgentRefusedError, match="another client steers") as refused:
            client.set(2, 1)
        assert refused.value.code == -32003
        knob = AgentKnob(client)
        with pytest.raises(KnobRefusedError, match=r"^The agent refused: another client steers\.$"):
            knob.apply(2)


def test_another_version_is_refused() -> None:
    ours, its = socket.socketpair()
    with its, pytest.raises(AgentProtocolError, match="version 3"):
        its.sendall(answered(1, HELLO | {"protocol": 3}))
        AgentClient(ours, timeout_s=60)


def test_the_knob_over_an_agent() -> None:
    leases: list[tuple[str, object]] = []

    def noting(line: bytes) -> bytes:
        call = json.loads(line)
        leases.append((call["method"], call.get("params")))
        return proper(line)

    with scripted(noting) as client:
        knob = AgentKnob(client, lease_s=5)
        described = knob.describe()
        assert (described.kind, described.lower, described.upper) == ("go-agent", 1, 8)
        knob.renew()
        assert knob.apply(2) == 2
        knob.renew()
        assert knob.read() == 4
        knob.restore()
        knob.renew()
        knob.close()
        knob.close()
        with pytest.raises(KnobLostError):
            knob.apply(2)
    wanted = {"size": 2, "lease_s": 5.0}
    assert leases == [
        ("set", wanted),
        ("set", wanted),
        ("read", None),
        ("release", None),
        ("release", None),
    ]


def test_folders_in_their_order() -> None:
    system = ["/run/user/7/tidscope", "/run/tidscope"]
    assert list_folders({}, 7) == system
    assert list_folders({"XDG_RUNTIME_DIR": "/x"}, 7) == ["/x/tidscope", *system]
    assert list_folders({"XDG_RUNTIME_DIR": "/run/user/7"}, 7) == system
    assert list_folders({"XDG_RUNTIME_DIR": "x"}, 7) == system
    assert list_folders({"TIDSCOPE_AGENT_DIR": "/a", "XDG_RUNTIME_DIR": "/x"}, 7) == ["/a"]
    assert list_folders({"TIDSCOPE_AGENT_DIR": ""}, 7) == system


LISTENER = """
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1].replace("PID", str(os.getpid())))
s.listen(int(sys.argv[2]))
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module", autouse=True)
def children() -> None:
    wait_for_children()


@pytest.fixture
def folder() -> Iterator[Path]:
    with AgentFolder() as path:
        yield path


@contextmanager
def process(folder: Path, *command: str) -> Iterator[int]:
    """A process whose agent would be in this folder; its id, once it said "ready"."""
    running = subprocess.Popen(
        command,
        env={**os.environ, "TIDSCOPE_AGENT_DIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        yield running.pid
        running.stdin.close()


def waiting(folder: Path) -> AbstractContextManager[int]:
    return process(folder, "sh", "-c", "echo ready; read forever")


def test_no_socket(folder: Path) -> None:
    with (
        waiting(folder) as pid,
        pytest.raises(NoAgentError, match=f"there is no {folder}/{pid}.sock"),
    ):
        connect(PROC, pid, start_ticks(pid), LONGEST_TIMEOUT_S)


def test_no_process() -> None:
    with pytest.raises(NoAgentError, match="has ended"):
        connect(PROC, 1 << 22, 1, LONGEST_TIMEOUT_S)


def test_another_process_in_its_place(folder: Path) -> None:
    with waiting(folder) as pid:
        path = str(folder / f"{pid}.sock")
        listener = process(folder, sys.executable, "-c", LISTENER, path, "5")
        with listener as other, pytest.raises(WrongPeerError, match=f"process {other}, not {pid}"):
            connect(PROC, pid, start_ticks(pid), LONGEST_TIMEOUT_S)


@pytest.mark.parametrize("where", ["last", "folder"])
def test_a_symbolic_link_is_not_followed(folder: Path, where: str) -> None:
    """Not even to the right socket: where links lead, others may decide."""
    (folder / "real").mkdir()
    (folder / "link").symlink_to("real")
    place = folder / ("real" if where == "last" else "link")
    path = str(folder / "real" / ("PID.other" if where == "last" else "PID.sock"))
    with process(place, sys.executable, "-c", LISTENER, path, "5") as pid:
        if where == "last":
            (folder / "real" / f"{pid}.sock").symlink_to(f"{pid}.other")
        with pytest.raises(WrongPeerError, match="symbolic link"):
            connect(PROC, pid, start_ticks(pid), LONGEST_TIMEOUT_S)


def test_a_file_in_its_place(folder: Path) -> None:
    with waiting(folder) as pid:
        (folder / f"{pid}.sock").write_text("")
        with pytest.raises(WrongPeerError, match="not a socket"):
            connect(PROC, pid, start_ticks(pid), LONGEST_TIMEOUT_S)


def test_a_way_upwards_is_not_gone(folder: Path) -> None:
    (folder / "in").mkdir()
    with waiting(folder / "in" / "..") as pid, pytest.raises(WrongPeerError, match="parent folder"):
        connect(PROC, pid, start_ticks(pid), LONGEST_TIMEOUT_S)


def test_a_socket_that_was_left(folder: Path) -> None:
    with waiting(folder) as pid:
        left = socket.socket(socket.AF_UNIX)
        left.bind(str(folder / f"{pid}.sock"))
        left.close()
        with pytest.raises(StaleSocketError, match="has ended"):
            connect(PROC, pid, start_ticks(pid), LONGEST_TIMEOUT_S)


def test_one_who_accepts_nobody(folder: Path) -> None:
    """The listen queue fills; neither the kernel nor the collector blocks."""
    path = str(folder / "PID.sock")
    with process(folder, sys.executable, "-c", LISTENER, path, "0") as pid:
        held = []
        with pytest.raises(AgentTimeoutError, match="does not accept connections"):
            for _ in range(5):
                held.append(connect(PROC, pid, start_ticks(pid), 0.2))
        assert held
        for connection in held:
            connection.close()
        with pytest.raises(AgentClientError):
            open_agent(PROC, pid, start_ticks(pid), opening_s=0.2)
