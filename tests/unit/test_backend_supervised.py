"""The supervised backend, its user and its settings."""

import argparse
import asyncio
import io
import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from capabilities import needs
from processes import is_running, wait_until
from tidscope_backend.cli import backend_user
from tidscope_backend.cli.backend_user import BackendUser, choose_backend_user, choose_server_user
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.server_options import (
    add_server_options,
    retention_arguments,
    retention_bytes,
    retention_seconds,
)
from tidscope_backend.cli.supervisor import MAX_SHORT_RUNS, Program, Supervisor, say
from tidscope_backend.processes import SupervisorLog, read_ends
from tidscope_backend.settings import runs_directory

WAIT = 200


def supervised(
    say: Callable[[str], None],
    *command: str,
    pause: float = 0.2,
    log: SupervisorLog | None = None,
) -> Supervisor:
    program = Program("helper", command, dict(os.environ))
    return Supervisor(program.name, program.start, say, log, first_pause_seconds=pause)


async def test_what_ends_at_once_again_and_again_is_given_up() -> None:
    said: list[str] = []
    child = supervised(said.append, "/bin/sh", "-c", "exit 7", pause=0.001)
    with pytest.raises(CommandError, match=f"helper ended with code 7, {MAX_SHORT_RUNS} times"):
        await asyncio.wait_for(child.run(), WAIT)
    assert len(said) == MAX_SHORT_RUNS - 1
    assert "starts again in 0.002 s" in said[0]
    assert "starts again in 0.032 s" in said[-1]
    assert child.pid is None


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The disk that standard error goes to is full."""
    with (
        Path("/dev/full").open("wb", buffering=0) as device,
        io.TextIOWrapper(device, write_through=True) as full,
    ):
        monkeypatch.setattr("sys.stderr", full)
        yield


async def test_it_is_started_again_although_its_end_cannot_be_printed(full_disk: None) -> None:
    child = supervised(say, "/bin/sh", "-c", "exit 7", pause=0.001)
    with pytest.raises(CommandError, match=f"{MAX_SHORT_RUNS} times"):
        await asyncio.wait_for(child.run(), WAIT)


@pytest.mark.parametrize("first", ["true", "trap '' TERM"])
async def test_it_ends_when_cancelled_even_if_it_does_not_want_to(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidscope_backend.cli.supervisor.END_SECONDS", 0.3)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said: list[str] = []
    child = supervised(said.append, "/bin/sh", "-c", f"{first}; echo > {pipe}; exec sleep 60")
    running = asyncio.create_task(child.run())
    await asyncio.to_thread(pipe.read_text)
    # The program may work before the supervisor knows its process ID.
    await asyncio.to_thread(wait_until, lambda: child.pid is not None, WAIT)
    pid = child.pid
    assert pid is not None
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not is_running(pid)
    assert child.pid is None
    if first.startswith("trap"):
        assert said == ["the helper does not end by itself; it is killed"]


class Unkillable:
    """A process inside a system call that not even a kill ends."""

    pid, returncode = 1, None

    def __init__(self) -> None:
        self.received: list[str] = []

    async def wait(self) -> int:
        return await asyncio.Future[int]()

    def terminate(self) -> None:
        self.received.append("terminate")

    def kill(self) -> None:
        self.received.append("kill")


async def test_it_does_not_wait_for_what_cannot_be_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("END_SECONDS", "KILLED_SECONDS"):
        monkeypatch.setattr(f"tidscope_backend.cli.supervisor.{name}", 0.01)
    process, said = Unkillable(), list[str]()
    began = asyncio.Event()

    async def start() -> Unkillable:
        began.set()
        return process

    running = asyncio.create_task(Supervisor("helper", start, said.append).run())
    await began.wait()
    # The supervisor now waits for the process.
    await asyncio.sleep(0)
    running.cancel()
    async with asyncio.timeout(WAIT):
        await asyncio.gather(running, return_exceptions=True)
    assert process.received == ["terminate", "kill"]
    assert said[-1] == "the helper waits for a disk that hangs, and ends when it answers"


async def test_an_interpreter_that_may_not_be_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbidden = tmp_path / "python"
    forbidden.touch(mode=0o644)
    monkeypatch.setattr("tidscope_backend.processes.sys.executable", str(forbidden))
    child = supervised(print, "/bin/true")
    with pytest.raises(CommandError, match=f"may not run {forbidden}"):
        await asyncio.wait_for(child.run(), WAIT)


def test_the_backend_becomes_who_called_sudo() -> None:
    nobody = pwd.getpwnam("nobody")
    sudo = {"SUDO_UID": str(nobody.pw_uid), "SUDO_GID": str(nobody.pw_gid)}
    account = choose_backend_user(None, sudo, euid=0)
    assert account is not None
    assert (account.name, account.uid, account.gid) == ("nobody", nobody.pw_uid, nobody.pw_gid)
    assert nobody.pw_gid in account.groups
    assert account.environ({"A": "b"}) == {
        "A": "b",
        "HOME": nobody.pw_dir,
        "USER": "nobody",
        "LOGNAME": "nobody",
    }


def test_a_caller_without_a_name_is_a_number() -> None:
    account = choose_backend_user(None, {"SUDO_UID": "4000000", "SUDO_GID": "4000001"}, euid=0)
    assert account is not None
    assert (account.uid, account.gid, account.groups) == (4_000_000, 4_000_001, (4_000_001,))


@pytest.mark.parametrize(
    ("environ", "euid"), [({}, 0), ({"SUDO_UID": "0"}, 0), ({"SUDO_UID": "1000"}, 1000), ({}, 1000)]
)
def test_else_it_stays_who_it_is(environ: dict[str, str], euid: int) -> None:
    assert choose_backend_user(None, environ, euid) is None


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """Folders of state and runs."""
    return {"XDG_STATE_HOME": str(tmp_path / "state"), "TIDSCOPE_RUNS": str(tmp_path / "runs")}


def made(folders: dict[str, str], state: int | None, runs: int | None) -> None:
    for path, uid in (
        (Path(folders["XDG_STATE_HOME"]) / "tidscope", state),
        (Path(folders["TIDSCOPE_RUNS"]), runs),
    ):
        if uid is not None:
            path.mkdir(parents=True)
            os.chown(path, uid, uid)


@needs("root")
@pytest.mark.parametrize("which", ["state", "runs", "both"])
def test_roots_backend_becomes_the_owner_of_its_folders(
    folders: dict[str, str], which: str
) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    made(folders, nobody if which != "runs" else None, nobody if which != "state" else None)
    account = choose_server_user(None, folders, euid=0)
    assert account is not None
    assert account.uid == nobody
    # The folders stay where they are, though that user's home is elsewhere.
    own = account.environ(folders)
    assert {name: own[name] for name in folders} == folders


@needs("root")
@pytest.mark.parametrize(("state", "runs"), [(0, None), (None, 0), (0, 65534), (65534, 1)])
def test_it_stays_root_where_folders_are_roots_or_of_two_users(
    folders: dict[str, str], state: int | None, runs: int | None
) -> None:
    made(folders, state, runs)
    assert choose_server_user(None, folders, euid=0) is None


def test_without_folders_it_becomes_the_system_user_if_there_is_one(
    folders: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_user, "SYSTEM_USER", "no-such-user")
    assert choose_server_user(None, folders, euid=0) is None
    monkeypatch.setattr(backend_user, "SYSTEM_USER", "nobody")
    account = choose_server_user(None, folders, euid=0)
    assert account is not None
    assert account.name == "nobody"
    assert choose_server_user(None, folders, euid=1000) is None


def test_a_secret_that_was_read_is_in_no_environment() -> None:
    script = (
        "import os; from tidscope_backend.settings import take_secrets; "
        "had = take_secrets()['TIDSCOPE_COLLECTOR_SECRET']; "
        "shown = open('/proc/self/environ', 'rb').read(); "
        "print(had, had.encode() in shown, 'TIDSCOPE_COLLECTOR_SECRET' in os.environ)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TIDSCOPE_COLLECTOR_SECRET": "a-secret"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["a-secret", "False", "False"]


def test_only_root_becomes_another() -> None:
    with pytest.raises(CommandError, match="only root"):
        choose_backend_user("root", {}, euid=1000)
    with pytest.raises(CommandError, match="no such user"):
        choose_backend_user("no-such-user", {}, euid=0)


async def test_the_log_says_which_program_ended_when_and_how() -> None:
    log = SupervisorLog()
    with closing(log):
        for ending in ("exit 7", "kill -KILL $$"):
            child = supervised(lambda _: None, "/bin/sh", "-c", ending, pause=0.001, log=log)
            with pytest.raises(CommandError):
                await asyncio.wait_for(child.run(), WAIT)
        ends = read_ends(log.reading)
        assert [one.how for one in ends] == (
            ["with code 7"] * MAX_SHORT_RUNS + ["by SIGKILL"] * MAX_SHORT_RUNS
        )
        assert {one.name for one in ends} == {"helper"}
        assert len({one.pid for one in ends}) == len(ends)
        # Whoever reads it cannot change it.
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.write(log.reading, b"x")
    assert read_ends(None) == []


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_server_options(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"TIDSCOPE_RUNS": "/a", "XDG_DATA_HOME": "/b", "HOME": "/c"}, Path("/a")),
        ({"XDG_DATA_HOME": "/b", "HOME": "/c"}, Path("/b/tidscope/runs")),
        ({"XDG_DATA_HOME": "b", "HOME": "/c"}, Path("/c/.local/share/tidscope/runs")),
        ({"HOME": "/c"}, Path("/c/.local/share/tidscope/runs")),
        ({"TIDSCOPE_RUNS": "here"}, Path.cwd() / "here"),
        ({}, None),
    ],
)
def test_where_runs_lie(environ: dict[str, str], folder: Path | None) -> None:
    assert runs_directory(environ) == folder


def test_a_backend_of_another_user_keeps_them_with_that_user() -> None:
    user = BackendUser("someone", 1000, 1000, (1000,), "/home/someone")
    root = {"HOME": "/root", "XDG_DATA_HOME": "/root/data", "PATH": "/bin"}
    assert runs_directory(user.environ(root)) == Path("/home/someone/.local/share/tidscope/runs")
    # A folder requested by name is used for any user.
    assert runs_directory(user.environ({**root, "TIDSCOPE_RUNS": "/srv"})) == Path("/srv")


def test_options_are_passed_on_as_they_were() -> None:
    off = parsed()
    assert (retention_seconds(off), retention_bytes(off), retention_arguments(off)) == (
        None,
        None,
        [],
    )
    on = parsed("--keep-runs-days", "0.5", "--keep-runs-gib", "2")
    assert (retention_seconds(on), retention_bytes(on)) == (43200, 2 * 1024**3)
    assert parsed(*retention_arguments(on)) == on


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "x", ""])
def test_what_is_no_bound_is_refused(text: str) -> None:
    with pytest.raises(SystemExit):
        parsed("--keep-runs-days", text)
