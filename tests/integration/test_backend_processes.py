"""`tidscope up` and `serve` as processes: addresses, signals, restarts, rights, no orphans."""

import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from capabilities import needs
from ports import free_port
from processes import arguments, descendants, is_running, status, wait_for_end
from tidscope_backend.cli import main
from tidscope_processes import (
    COMMAND,
    IN_PUBLIC,
    ROOT,
    environment,
    public_path,
    python_for,
    run,
    up,
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_and_frees_the_port(number: signal.Signals) -> None:
    with up("--no-collector") as running:
        assert running.url == f"{running.address}/#token={running.token}"
        with running.client() as client:
            assert client.get("/api/v1/health").json()["collectors"] == 0
        children = descendants(running.process.pid)
        assert running.backend_pid in children
        code, _ = running.end(number)
        assert code == 0
        assert not is_running(running.backend_pid)
        for pid in children:
            wait_for_end(pid)
        port = int(running.address.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port)):
            pass


def test_a_backend_that_was_killed_comes_back_with_the_same_session() -> None:
    with up("--no-collector") as running, running.client() as client:
        killed_s = time.monotonic()
        os.kill(running.backend_pid, signal.SIGKILL)
        wait_for_end(running.backend_pid)
        # The listening socket never closed: the request waits for the new process.
        health = client.get("/api/v1/health").json()
        assert health["uptime_s"] < time.monotonic() - killed_s
        _, said = running.end(signal.SIGTERM)
        assert "the backend ended by SIGKILL; it starts again" in said


def test_children_end_when_up_is_killed() -> None:
    with up("--no-collector") as running:
        running.process.kill()
        wait_for_end(running.backend_pid)


def test_no_secret_on_a_command_line_or_in_the_log_and_root_is_named() -> None:
    secret = "collector-secret-value"
    with up("--no-collector", TIDSCOPE_COLLECTOR_SECRET=secret) as running:
        for pid in (running.process.pid, *descendants(running.process.pid)):
            with suppress(FileNotFoundError, ProcessLookupError):  # It has ended meanwhile.
                line = " ".join(arguments(pid))
                assert running.token not in line
                assert secret not in line
        with httpx.Client(timeout=120) as client:
            body = {"token": running.token}
            sent = {"origin": running.address}
            address = f"{running.address}/api/v1/session"
            answer = client.post(address, json=body, headers=sent)
            assert answer.status_code == 201
            credential = answer.json()["credential"]
            assert client.post(address, json={"token": "wrong"}, headers=sent).status_code == 401
            # A folder in which somebody puts the program.
            client.get(running.address, params={"token": running.token})
        _, said = running.end(signal.SIGTERM)
        assert "listening" in said
        assert running.token not in said
        assert credential not in said
        assert secret not in said
        if os.geteuid() == 0:
            assert "the backend is user root, without root's capabilities" in said
            assert "--user NAME" in said


def test_a_token_can_be_given_and_the_second_address_lets_watch_only() -> None:
    with up("--no-collector", TIDSCOPE_TOKEN="given-token-of-a-person") as running:
        assert running.token == "given-token-of-a-person"
        with running.client() as client:
            assert client.get("/api/v1/health").status_code == 200
            assert client.get("/api/v1/session").json() == {"role": "operator", "id": None}
        token = running.view_url.partition("#token=")[2]
        shown = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=running.address, headers=shown, timeout=120) as client:
            assert client.get("/api/v1/session").json() == {"role": "viewer", "id": None}
            assert client.post("/api/v1/demo").status_code == 403


def test_commands_of_its_user_need_no_token_while_it_runs() -> None:
    with up("--no-collector") as running:
        port = running.address.rpartition(":")[2]
        attach = ("attach", "--pid", str(os.getpid()), "--port", port)
        done = run(*attach)
        assert done.returncode == 1
        assert "no collector is connected" in done.stderr.lower()
        running.end(signal.SIGTERM)
        assert f"no tidscope of this user runs at 127.0.0.1:{port}" in run(*attach).stderr


@pytest.mark.parametrize("verb", [["serve"], ["up", "--no-collector"]])
def test_a_port_that_is_taken(verb: Sequence[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(*verb, "--port", str(port))
    assert done.returncode == 1
    assert f"port {port} of 127.0.0.1 is in use" in done.stderr
    assert f"--port {port + 1}" in done.stderr


@pytest.mark.parametrize(
    ("options", "variables", "validation_text"),
    [
        (["serve", "--host", "192.0.2.1"], {}, "not an address of this machine"),
        (["serve"], {"TIDSCOPE_TOKEN": "abc"}, "TIDSCOPE_TOKEN has 3 characters"),
        (["up", "--user", "no-such-user"], {}, "there is no such user"),
        (["collect"], {}, "TIDSCOPE_COLLECTOR_SECRET is not set"),
        (
            ["collect"],
            {"TIDSCOPE_COLLECTOR_SECRET": "x" * 15},
            "TIDSCOPE_COLLECTOR_SECRET has 15 characters",
        ),
        (
            ["collect", "--backend", "nonsense"],
            {"TIDSCOPE_COLLECTOR_SECRET": "collector-secret-value"},
            "--backend nonsense: not an address",
        ),
    ],
)
def test_what_cannot_be_done_is_named(
    options: list[str], variables: dict[str, str], validation_text: str
) -> None:
    done = run(*options, **variables)
    assert done.returncode in (1, 2)
    assert validation_text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "validation_text"),
    [
        (["up", "--port", "70000"], "'70000' is not a port"),
        (["up", "--budget-percent", "-1"], "'-1' is not a percentage of 0 or more"),
        (["up", "--budget-percent", "inf"], "'inf' is not a percentage of 0 or more"),
        (["up", "--trusted-proxy", "10.0.0.1/8"], "10.0.0.1/8 has host bits set"),
        (["serve", "--trusted-proxy", "proxy"], "use one such as 10.0.0.0/24"),
        (["dance"], "invalid choice: 'dance'"),
    ],
)
def test_a_wrong_option_is_named(
    options: list[str], validation_text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(options)
    assert validation_text in capsys.readouterr().err


@pytest.mark.parametrize("secret", ["", "x" * 15])
def test_a_collector_refuses_a_short_secret(secret: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tidscope_collector", "run", "--backend", "ws://127.0.0.1:1/x"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(TIDSCOPE_COLLECTOR_SECRET=secret),
    )
    assert done.returncode == 2
    assert "of at least 16 characters" in done.stderr
    assert not secret or secret not in done.stderr


def test_the_collector_gets_no_token_of_the_backend() -> None:
    tokens = {name: f"{name}-of-the-test" for name in ("TIDSCOPE_TOKEN", "TIDSCOPE_METRICS_TOKEN")}
    with up(**tokens) as running:
        headers = {"authorization": f"Bearer {tokens['TIDSCOPE_METRICS_TOKEN']}"}
        address = f"{running.address}/metrics"
        assert httpx.get(address, headers=headers, timeout=120).status_code == 200
        assert running.collector_pid is not None
        held = Path(f"/proc/{running.collector_pid}/environ").read_bytes()
        assert b"TIDSCOPE_COLLECTOR_SECRET" in held
        for token in tokens.values():
            assert token.encode() not in held


def test_serve_alone_ends_on_a_signal() -> None:
    port = free_port()
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(TIDSCOPE_TOKEN="given-token-of-a-person"),
    )
    with process:
        assert process.stderr is not None
        assert f"port {port}" in process.stderr.readline()
        answer = httpx.get(
            f"http://127.0.0.1:{port}/api/v1/health",
            headers={"authorization": "Bearer given-token-of-a-person"},
            timeout=120,
        )
        assert answer.status_code == 200
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "Traceback" not in said


@needs("root")
@pytest.mark.parametrize("how", ["sudo", "--user"])
def test_the_backend_becomes_the_user_who_called_sudo(how: str) -> None:
    nobody = pwd.getpwnam("nobody")
    variables = {"SUDO_UID": str(nobody.pw_uid), "SUDO_GID": str(nobody.pw_gid)}
    options = [] if how == "sudo" else ["--user", "nobody"]
    variables = variables if how == "sudo" else {}
    variables["PYTHONPATH"] = public_path()
    python = python_for("nobody")
    with up("--no-collector", *options, python=python, within=IN_PUBLIC, **variables) as running:
        assert set(status(running.backend_pid, "Uid")) == {str(nobody.pw_uid)}
        assert set(status(running.backend_pid, "Gid")) == {str(nobody.pw_gid)}
        groups = {str(gid) for gid in os.getgrouplist("nobody", nobody.pw_gid)}
        assert set(status(running.backend_pid, "Groups")) == groups
        assert set(status(running.process.pid, "Uid")) == {str(nobody.pw_uid)}
        with running.client() as client:
            assert client.get("/api/v1/health").json()["uid"] == nobody.pw_uid
        # The process of another user can still be ended, and ends with its parent.
        running.process.kill()
        wait_for_end(running.backend_pid)


@needs("root")
def test_a_user_who_may_not_read_the_installation_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "tidscope_backend").symlink_to(ROOT / "backend" / "tidscope_backend")
    (tmp_path / "python").symlink_to(python_for("nobody"))
    paths = [str(tmp_path), *(path for path in sys.path if path)]
    done = subprocess.run(
        [str(tmp_path / "python"), *COMMAND[1:], "up", "--port", "0", "--user", "nobody"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(PYTHONPATH=os.pathsep.join(paths)),
    )
    assert done.returncode == 1
    assert "nobody cannot run this installation" in done.stderr
    assert "--user NAME" in done.stderr
    assert "Traceback" not in done.stderr
