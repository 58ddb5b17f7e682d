"""Every agent, in every language, is the same agent at its socket."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from asked_children import wait_for_children
from processes import start_ticks, wait_for_end
from programs.agent_program import LANGUAGES, LOWER, ORIGINAL, UPPER, AgentFolder, AgentProgram
from raw_connections import RawAgent
from tidscope_collector.agent.client import (
    AgentClient,
    AgentLostError,
    AgentRefusedError,
    NoAgentError,
    StaleSocketError,
    open_agent,
)
from tidscope_collector.inspection.answering import LONGEST_TIMEOUT_S
from tidscope_collector.inspection.gomaxprocs import open_gomaxprocs
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.agent import AgentPool

PROC = ProcFs()
NOBODY = 65534
LONG_S = 60.0
LARGEST_ID = (1 << 53) - 1
KNOBS = dict.fromkeys(LANGUAGES, "pool") | {"go": "gomaxprocs"}
RUNTIMES = {"rust": "native", "c": "native"}
"""Names that differ from the name of the language."""
CALL = b'{"jsonrpc": "2.0", "id": 7, "method": "hello"}\n'
PARSE, INVALID, METHOD, PARAMS = -32700, -32600, -32601, -32602
BOUNDS, BUSY, CLIENTS = -32001, -32003, -32004

CLIENT = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
answers = s.makefile()
for line in sys.stdin:
    s.sendall(line.encode())
    print(answers.readline(), end="", flush=True)
"""
AS_NOBODY = """
import os, socket, sys
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
s = socket.socket(socket.AF_UNIX)
s.settimeout(120)
try:
    s.connect(sys.argv[1])
    s.sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "hello"}\\n')
    print(repr(s.recv(100)))
except OSError as error:
    print(type(error).__name__)
"""
STALE = """
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(f"{os.environ['TIDSCOPE_AGENT_DIR']}/{os.getpid()}.sock")
s.listen()
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture(scope="module", autouse=True)
def children() -> None:
    wait_for_children()


@pytest.fixture
def folder() -> Iterator[Path]:
    with AgentFolder() as path:
        yield path


@pytest.fixture(scope="module", params=LANGUAGES)
def started(request: pytest.FixtureRequest) -> Iterator[AgentProgram]:
    """One program a language."""
    with AgentFolder() as path, AgentProgram(request.param, path) as running:
        assert running.socket == path / f"{running.pid}.sock"
        yield running


@pytest.fixture
def program(started: AgentProgram) -> Iterator[AgentProgram]:
    """One program for many tests; each test leaves it running and unchanged."""
    yield started
    started.socket.chmod(0o600)
    started.socket.parent.chmod(0o700)
    until(partial(is_released, started))


def opened(program: AgentProgram) -> AgentClient:
    """A client with the longest timeouts."""
    start = start_ticks(program.pid)
    return open_agent(PROC, program.pid, start, timeout_s=60, opening_s=LONGEST_TIMEOUT_S)


def is_released(program: AgentProgram) -> bool:
    """Ask for the original size; whether it is in effect."""
    try:
        again = opened(program)
    except AgentRefusedError:
        return False  # The agent may not have noticed yet that earlier clients left.
    again.release()
    size = again.read().size
    again.close()
    return size == ORIGINAL


@pytest.fixture(params=LANGUAGES)
def fresh(request: pytest.FixtureRequest, folder: Path) -> Iterator[AgentProgram]:
    """Program of its own for tests that end it, close its agent, or count its clients."""
    with AgentProgram(request.param, folder) as running:
        yield running


@pytest.fixture
def client(program: AgentProgram) -> Iterator[AgentClient]:
    made = opened(program)
    yield made
    made.close()


def until(condition: Callable[[], bool]) -> None:
    """Wait for what nothing announces."""
    deadline = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.005)


def has_size(client: AgentClient, size: int) -> bool:
    return client.read().size == size


def works_with(program: AgentProgram, size: int) -> bool:
    """True if the program has this size, by its own account and seen from outside."""
    if program.language == "go":
        reader = open_gomaxprocs(program.pid, start_ticks(program.pid)).reader
        assert reader is not None
        seen = reader.read()
        reader.close()
        if seen != size:
            return False
    return program.ask(f"busy {size}") == f"busy {size}"


def test_hello_says_who_it_is(program: AgentProgram, client: AgentClient) -> None:
    hello = client.hello
    runtime = RUNTIMES.get(program.language, program.language)
    assert (hello.pid, hello.runtime, hello.protocol) == (program.pid, runtime, 2)
    assert hello.knob == KNOBS[program.language]
    assert (hello.lower, hello.upper) == (LOWER, UPPER)
    assert (hello.size, hello.original) == (ORIGINAL, ORIGINAL)
    assert hello.version.count(".") == 2


def test_the_socket_is_for_its_owner_alone(program: AgentProgram) -> None:
    status = program.socket.lstat()
    assert stat.S_ISSOCK(status.st_mode)
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert os.listdir(program.socket.parent) == [program.socket.name]


def test_read_grows_by_what_was_done(program: AgentProgram, client: AgentClient) -> None:
    before = client.read()
    for number in (1, 1000, 12345):
        assert program.ask(f"ops {number}") == f"ops {number}"
        after = client.read()
        assert after.ops - before.ops == number
        assert after.monotonic_ns > before.monotonic_ns
        if program.language == "go":
            assert (after.queue_wait_ns, after.queue_waits) == (None, None)
        else:
            assert (after.queue_waits or 0) - (before.queue_waits or 0) == number
            assert (after.queue_wait_ns or 0) > (before.queue_wait_ns or 0)
        before = after


def pool_of(client: AgentClient) -> AgentPool:
    """The pool that runs what `ops` asks for."""
    found = client.read_pools()
    assert found.omitted == 0
    assert len({one.name for one in found.pools}) == len(found.pools)
    return next(one for one in found.pools if one.name == "pool")


def test_pools_have_each_job_once(program: AgentProgram, client: AgentClient) -> None:
    before = pool_of(client)
    program.ask("ops 500")
    after = pool_of(client)
    for figure in ("submitted", "started", "finished"):
        assert getattr(after, figure) - getattr(before, figure) == 500
    assert after.failed == before.failed == 0
    assert (after.queue, after.size) == (0, ORIGINAL)
    # A worker says that a job is done before it is free.
    until(lambda: pool_of(client).busy == 0)
    assert after.response is not None and after.queue_wait is not None
    assert sum(after.response) == after.finished
    assert sum(after.queue_wait) == after.started


def test_times_of_jobs_add_up(program: AgentProgram, client: AgentClient) -> None:
    program.ask("ops 500")
    pool = pool_of(client)
    assert pool.response_ns is not None and pool.queue_wait_ns is not None
    assert pool.response_ns == pool.queue_wait_ns + (pool.run_ns or 0)
    # Each bucket's jobs took at most its upper bound, and at least its lower one.
    for total, counts in ((pool.response_ns, pool.response), (pool.queue_wait_ns, pool.queue_wait)):
        assert counts is not None
        least = sum(count * (1 << b + 9) for b, count in enumerate(counts) if b > 0)
        assert least <= total < sum(count * (1 << b + 10) for b, count in enumerate(counts))


def test_idle_time_grows_while_workers_wait(program: AgentProgram, client: AgentClient) -> None:
    # More than one worker has to be there: as many jobs run at once.
    program.ask("busy 3" if program.language != "go" else "ops 500")
    until(lambda: pool_of(client).busy == 0)
    begun_ns = time.monotonic_ns()
    before = pool_of(client)
    time.sleep(0.1)  # Nothing is to happen in it.
    after, took_ns = pool_of(client), time.monotonic_ns() - begun_ns
    grown_ns = (after.idle_ns or 0) - (before.idle_ns or 0)
    assert 100_000_000 <= grown_ns <= ORIGINAL * took_ns


def test_set_changes_what_is_in_force(program: AgentProgram, client: AgentClient) -> None:
    assert works_with(program, ORIGINAL)
    for size in (UPPER, 2, 5, LOWER):
        assert client.set(size, LONG_S).wanted == size
        until(partial(has_size, client, size))
        assert client.set(size, LONG_S).size == size
        assert works_with(program, size)


@pytest.mark.parametrize("size", [LOWER - 1, UPPER + 1, 1 << 20])
def test_bounds_cannot_be_left(program: AgentProgram, client: AgentClient, size: int) -> None:
    with RawAgent(program.socket) as raw:
        error = raw.call("set", params={"size": size, "lease_s": 5})["error"]
        assert error["code"] == (PARAMS if size < 1 else BOUNDS)
        assert raw.call("hello")["result"]["size"] == ORIGINAL
    assert client.read().size == ORIGINAL
    assert works_with(program, ORIGINAL)


def test_a_lease_that_is_over_restores(program: AgentProgram, client: AgentClient) -> None:
    client.set(5, 0.2)
    until(lambda: client.read().size == ORIGINAL)
    assert works_with(program, ORIGINAL)


def test_a_lease_that_is_renewed_goes_on(program: AgentProgram, client: AgentClient) -> None:
    client.set(5, 0.3)
    client.set(5, LONG_S)
    time.sleep(0.5)  # Nothing is to happen in it.
    assert client.read().size == 5
    assert works_with(program, 5)


def test_release_restores_at_once(program: AgentProgram, client: AgentClient) -> None:
    client.set(5, LONG_S)
    assert client.release().wanted == ORIGINAL
    until(lambda: client.read().size == ORIGINAL)
    assert works_with(program, ORIGINAL)
    assert client.release().size == ORIGINAL


def test_a_killed_client_leaves_its_lease_and_no_more(
    program: AgentProgram, client: AgentClient
) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(program.socket)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        asked, answers = other.stdin, other.stdout
        assert asked is not None and answers is not None

        def hold(lease_s: float) -> object:
            params = {"size": 5, "lease_s": lease_s}
            call = {"jsonrpc": "2.0", "id": 1, "method": "set", "params": params}
            asked.write(f"{json.dumps(call)}\n")
            asked.flush()
            return json.loads(answers.readline())["result"]

        assert hold(LONG_S) == {"size": 5, "wanted": 5}
        with pytest.raises(AgentRefusedError, match="another client") as refused:
            client.set(4, LONG_S)
        assert refused.value.code == BUSY
        assert hold(1.5) == {"size": 5, "wanted": 5}
        os.kill(other.pid, signal.SIGKILL)
    until(lambda: client.read().size == ORIGINAL)
    assert works_with(program, ORIGINAL)


def test_the_lease_of_one_who_left_can_be_taken_over(
    program: AgentProgram, client: AgentClient
) -> None:
    leaving = opened(program)
    leaving.set(5, LONG_S)
    with pytest.raises(AgentRefusedError):
        client.set(4, LONG_S)
    leaving.close()

    def taken() -> bool:
        try:
            return client.set(4, LONG_S).wanted == 4
        except AgentRefusedError:
            return False  # The agent may not have noticed yet that the other client left.

    until(taken)
    until(lambda: client.read().size == 4)
    assert client.hello.original == ORIGINAL
    client.release()
    until(lambda: client.read().size == ORIGINAL)


def test_anybody_may_release(program: AgentProgram, client: AgentClient) -> None:
    with RawAgent(program.socket) as raw:
        raw.call("set", params={"size": 5, "lease_s": 60})
        assert client.release().wanted == ORIGINAL
        until(lambda: client.read().size == ORIGINAL)
        client.set(2, LONG_S)
        assert raw.call("set", params={"size": 5, "lease_s": 60})["error"]["code"] == BUSY


def test_closing_the_agent_restores_and_cleans_up(fresh: AgentProgram) -> None:
    client = opened(fresh)
    client.set(5, LONG_S)
    fresh.ask("close")
    assert works_with(fresh, ORIGINAL)
    assert not fresh.socket.exists()
    with pytest.raises(AgentLostError):
        client.read()
    with pytest.raises(AgentLostError):
        client.read()
    with pytest.raises(NoAgentError, match="has no agent"):
        open_agent(PROC, fresh.pid, start_ticks(fresh.pid))
    client.close()


def test_the_program_ends_with_its_input(fresh: AgentProgram) -> None:
    client = opened(fresh)
    client.set(5, LONG_S)
    assert fresh.end() == 0
    assert not fresh.socket.exists()
    client.close()


def test_a_killed_program_is_lost_and_leaves_a_stale_socket(
    fresh: AgentProgram, folder: Path
) -> None:
    start = start_ticks(fresh.pid)
    client = opened(fresh)
    fresh.kill()
    with pytest.raises(AgentLostError):
        client.read()
    assert client.restart_requested() is False
    assert fresh.socket.exists()
    with pytest.raises(NoAgentError, match="has ended"):
        open_agent(PROC, fresh.pid, start)
    # Another process gets the name: here by renaming, since its id cannot be chosen.
    other = subprocess.Popen(
        ["cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"TIDSCOPE_AGENT_DIR": str(folder)},
    )
    with other:
        # After the first answer the environment is in /proc; at the end of Popen it is not.
        assert other.stdin is not None and other.stdout is not None
        other.stdin.write(b"ready\n")
        other.stdin.flush()
        assert other.stdout.readline() == b"ready\n"
        fresh.socket.rename(folder / f"{other.pid}.sock")
        with pytest.raises(StaleSocketError, match="has ended"):
            open_agent(PROC, other.pid, start_ticks(other.pid))
    client.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stale_socket_is_replaced(language: str, folder: Path) -> None:
    before = (sys.executable, "-c", STALE)
    with AgentProgram(language, folder, before=before) as program:
        client = opened(program)
        assert client.hello.pid == program.pid
        client.close()


def test_others_are_kept_out_by_the_mode(program: AgentProgram) -> None:
    program.socket.parent.chmod(0o755)
    assert as_nobody(program.socket) == "PermissionError"


def test_others_are_kept_out_by_their_uid(program: AgentProgram) -> None:
    program.socket.parent.chmod(0o755)
    program.socket.chmod(0o666)
    assert as_nobody(program.socket) in ("b''", "ConnectionResetError", "BrokenPipeError")
    opened(program).close()


def as_nobody(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(path)], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def failure_of(data: bytes, program: AgentProgram) -> tuple[int, int | None]:
    """Code and id of the failure that this gets, after which the connection must end."""
    with RawAgent(program.socket) as raw:
        raw.send(data)
        answer = raw.answer()
        assert raw.answer() is None
        return answer["error"]["code"], answer["id"]


GARBAGE: dict[str, tuple[bytes, int, int | None]] = {
    "words": (b"who are you?\n", PARSE, None),
    "empty": (b"\n", PARSE, None),
    "zeros": (b"\0" * 64 + b"\n", PARSE, None),
    "not utf-8": (CALL.replace(b"hello", b"h\xff"), PARSE, None),
    "surrogate": (CALL.replace(b"hello", b"h\xed\xa0\x80"), PARSE, None),
    "depth": (b"[" * 4000 + b"\n", PARSE, None),
    "two": (b"{}{}\n", PARSE, None),
    "not a number": (CALL.replace(b"7", b"NaN"), PARSE, None),
    "leading zero": (CALL.replace(b"7", b"07"), PARSE, None),
    "comma": (CALL.replace(b"}", b",}"), PARSE, None),
    "tab in a string": (CALL.replace(b"hello", b"he\tllo"), PARSE, None),
    "list": (b"[]\n", INVALID, None),
    "batch": (b"[" + CALL.strip() + b"]\n", INVALID, None),
    "null": (b"null\n", INVALID, None),
    "number": (b"1\n", INVALID, None),
    "nothing": (b"{}\n", INVALID, None),
    "text id": (CALL.replace(b"7", b'"7"'), INVALID, None),
    "true id": (CALL.replace(b"7", b"true"), INVALID, None),
    "negative id": (CALL.replace(b"7", b"-7"), INVALID, None),
    "half id": (CALL.replace(b"7", b"7.5"), INVALID, None),
    "huge id": (CALL.replace(b"7", b"9" * 400), INVALID, None),
    "no version": (CALL.replace(b'"jsonrpc": "2.0", ', b""), INVALID, 7),
    "version 1": (CALL.replace(b"2.0", b"1.0"), INVALID, 7),
    "no method": (b'{"jsonrpc": "2.0", "id": 7}\n', INVALID, 7),
    "number method": (CALL.replace(b'"hello"', b"5"), INVALID, 7),
    "other case": (CALL.replace(b"method", b"Method"), INVALID, 7),
    "surplus": (CALL.replace(b"}", b', "x": 1}'), INVALID, 7),
    "notification": (b'{"jsonrpc": "2.0", "method": "hello"}\n', INVALID, None),
    "long line": (CALL.replace(b"hello", b"h" * 5000), INVALID, None),
    "no end": (b"x" * 300_000, INVALID, None),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_garbage_gets_an_error_and_the_end(language: str, folder: Path) -> None:
    with AgentProgram(language, folder) as program:
        found = {name: failure_of(row[0], program) for name, row in GARBAGE.items()}
        assert found == {name: row[1:] for name, row in GARBAGE.items()}
        # Valid JSON, but nested deeper than a reader must follow.
        assert failure_of(b"[" * 2000 + b"]" * 2000 + b"\n", program)[0] in (PARSE, INVALID)
        opened(program).close()


BAD_PARAMS: list[object] = [
    None,
    [],
    5,
    {},
    {"size": 4},
    {"lease_s": 4},
    {"size": 4, "lease_s": 4, "more": 1},
    {"size": "4", "lease_s": 4},
    {"size": 4.5, "lease_s": 4},
    {"size": True, "lease_s": 4},
    {"size": None, "lease_s": 4},
    {"size": -4, "lease_s": 4},
    {"size": 1 << 70, "lease_s": 4},
    {"size": 4, "lease_s": 0},
    {"size": 4, "lease_s": -1},
    {"size": 4, "lease_s": 60.5},
    {"size": 4, "lease_s": 1e300},
    {"size": 4, "lease_s": "4"},
    {"size": 4, "lease_s": True},
    {"size": 4, "lease_s": None},
]


def test_a_refused_call_leaves_the_connection(program: AgentProgram) -> None:
    with RawAgent(program.socket) as raw:
        for number, params in enumerate(BAD_PARAMS):
            answer = raw.call("set", number, params=params)
            assert (answer["id"], answer["error"]["code"]) == (number, PARAMS), params
        assert raw.call("set")["error"]["code"] == PARAMS
        assert raw.call("hello", params={})["error"]["code"] == PARAMS
        for method in ("Hello", "restart_search", "", "h" * 4000, "\n"):
            answer = raw.call(method, LARGEST_ID)
            assert (answer["id"], answer["error"]["code"]) == (LARGEST_ID, METHOD)
        assert raw.call("hello")["result"]["size"] == ORIGINAL


def test_lines_in_pieces_and_lines_together(program: AgentProgram, client: AgentClient) -> None:
    with RawAgent(program.socket) as raw:
        for byte in CALL:
            raw.send(bytes([byte]))
        assert raw.answer()["result"]["pid"] == program.pid
        calls = [CALL.replace(b"7", str(number).encode()) for number in range(10)]
        raw.send(b"".join(calls))
        assert [raw.answer()["id"] for _ in calls] == list(range(10))
        raw.send(CALL[:20])
        assert client.read().size == ORIGINAL
        raw.socket.shutdown(socket.SHUT_WR)
        assert raw.answer() is None
    assert client.read().size == ORIGINAL


def test_one_who_does_not_listen_is_dropped(program: AgentProgram, client: AgentClient) -> None:
    with RawAgent(program.socket) as raw:
        raw.socket.settimeout(120)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while True:
                raw.socket.sendall(CALL * 1000)
    assert client.read().size == ORIGINAL
    assert program.ask("ops 1") == "ops 1"


def test_clients_are_limited(fresh: AgentProgram) -> None:
    client = opened(fresh)
    others = [RawAgent(fresh.socket) for _ in range(7)]
    try:
        assert all(raw.call("hello")["result"]["size"] == ORIGINAL for raw in others)
        with pytest.raises(AgentRefusedError) as refused:
            opened(fresh)
        assert refused.value.code == CLIENTS
        assert client.read().size == ORIGINAL
        others.pop().__exit__(None, None, None)

        def admitted() -> bool:
            try:
                opened(fresh).close()
            except AgentRefusedError:
                return False  # The agent may not have noticed yet that the other client left.
            return True

        until(admitted)
    finally:
        for raw in others:
            raw.__exit__(None, None, None)
    client.close()


def test_the_program_asks_for_a_new_search(program: AgentProgram, client: AgentClient) -> None:
    other = opened(program)
    assert client.restart_requested() is False
    assert program.ask("restart") == "restart"
    until(client.restart_requested)
    assert client.restart_requested() is False
    # Before an answer, it is noticed as well.
    assert program.ask("restart") == "restart"
    assert other.read().size == ORIGINAL
    until(other.restart_requested)
    other.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_of_another_user(language: str, folder: Path) -> None:
    folder.chmod(0o711)
    own = folder / "own"
    own.mkdir(0o700)
    os.chown(own, NOBODY, NOBODY)
    with AgentProgram(language, own, user=NOBODY) as program:
        client = opened(program)
        assert program.socket.lstat().st_uid == NOBODY
        assert client.set(2, LONG_S).wanted == 2
        client.close()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_change_is_refused(language: str, folder: Path, mode: int) -> None:
    folder.chmod(mode)
    with AgentProgram(language, folder) as program:
        assert program.said.startswith("failed:")
        assert "others may write" in program.said
    assert not os.listdir(folder)


def test_nothing_of_it_is_left_behind(fresh: AgentProgram) -> None:
    client = opened(fresh)
    client.close()
    assert fresh.end() == 0
    wait_for_end(fresh.pid)
    assert not os.listdir(fresh.socket.parent)
