"""A supervised child: started again with pauses, given up on, ended with us."""

import asyncio
import os
import pwd
from contextlib import closing
from pathlib import Path

import pytest
from processes import is_running
from tidscope_backend.cli.backend_user import choose_backend_user
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.supervisor import MAX_SHORT_RUNS, Program, Supervisor
from tidscope_backend.supervisor_log import SupervisorLog, read_ends

WAIT = 200


def program(*command: str) -> Program:
    return Program("helper", command, dict(os.environ))


async def test_what_ends_at_once_again_and_again_is_given_up() -> None:
    said: list[str] = []
    child = Supervisor(program("/bin/sh", "-c", "exit 7"), said.append, first_pause_seconds=0.001)
    with pytest.raises(CommandError, match=f"helper ended with code 7, {MAX_SHORT_RUNS} times"):
        await asyncio.wait_for(child.run(), WAIT)
    assert len(said) == MAX_SHORT_RUNS - 1
    assert "starts again in 0.002 s" in said[0]
    assert "starts again in 0.032 s" in said[-1]
    assert child.pid is None


@pytest.mark.parametrize("first", ["true", "trap '' TERM"])
async def test_it_ends_when_cancelled_even_if_it_does_not_want_to(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidscope_backend.cli.supervisor.END_SECONDS", 0.3)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said: list[str] = []
    child = Supervisor(
        program("/bin/sh", "-c", f"{first}; echo > {pipe}; exec sleep 60"), said.append
    )
    running = asyncio.create_task(child.run())
    await asyncio.to_thread(pipe.read_text)
    pid = child.pid
    assert pid is not None
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not is_running(pid)
    assert child.pid is None
    if first.startswith("trap"):
        assert said == ["the helper does not end by itself; it is killed"]


async def test_an_interpreter_that_may_not_be_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbidden = tmp_path / "python"
    forbidden.touch(mode=0o644)
    monkeypatch.setattr("tidscope_backend.parent_death.sys.executable", str(forbidden))
    child = Supervisor(program("/bin/true"), print)
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


def test_only_root_becomes_another() -> None:
    with pytest.raises(CommandError, match="only root"):
        choose_backend_user("root", {}, euid=1000)
    with pytest.raises(CommandError, match="no such user"):
        choose_backend_user("no-such-user", {}, euid=0)


async def test_the_log_says_which_program_ended_when_and_how() -> None:
    log = SupervisorLog()
    with closing(log):
        for ending in ("exit 7", "kill -KILL $$"):
            child = Supervisor(
                program("/bin/sh", "-c", ending), lambda _: None, log, first_pause_seconds=0.001
            )
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
