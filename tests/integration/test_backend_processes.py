"""`tidscope up` and `serve` as processes: addresses, signals, restarts, rights, no orphans."""

import asyncio
import json
import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from capabilities import needs
from other_user import IN_PUBLIC, ROOT, public_path, python_for
from processes import arguments, descendants, is_running, status, wait_for_end, wait_until
from tidscope_backend.cli.launched_collector import Launcher
from tidscope_backend.collector_launcher import KILL, START
from tidscope_backend.confinement import LAUNCHER
from tidscope_confinement import capabilities

COMMAND = [sys.executable, "-m", "tidscope_backend"]
SECRETS = ("TIDSCOPE_TOKEN", "TIDSCOPE_COLLECTOR_SECRET", "SUDO_UID", "SUDO_GID")


@dataclass(frozen=True)
class Up:
    """A running `tidscope up`."""

    process: subprocess.Popen[str]
    url: str
    address: str
    token: str
    view_url: str
    spans_token: str | None
    backend_pid: int
    collector_pid: int | None

    def client(self) -> httpx.Client:
        """A client that shows the token and outlasts a restart of the backend."""
        return httpx.Client(
            base_url=self.address,
            headers={"authorization": f"Bearer {self.token}"},
            timeout=120,
            transport=httpx.HTTPTransport(retries=5),
        )

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Send a signal and wait; exit code and what was said on standard error."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=120)
        return self.process.returncode, said


def environment(**more: str) -> dict[str, str]:
    return {**{k: v for k, v in os.environ.items() if k not in SECRETS}, **more}


@contextmanager
def up(
    *options: str, python: str = sys.executable, within: Sequence[str] = (), **variables: str
) -> Iterator[Up]:
    process = subprocess.Popen(
        [*within, python, *COMMAND[1:], "up", "--port", "0", "--no-open", "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**variables),
    )
    with process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.communicate(timeout=120)
            yield Up(process, **json.loads(line))
        finally:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=120)


def run(*options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(**variables),
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
        assert not [pid for pid in children if is_running(pid)]
        port = int(running.address.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port)):
            pass


def test_a_backend_that_was_killed_comes_back_with_the_same_session() -> None:
    with up("--no-collector") as running, running.client() as client:
        os.kill(running.backend_pid, signal.SIGKILL)
        wait_for_end(running.backend_pid)
        # The listening socket never closed: the request waits for the new process.
        health = client.get("/api/v1/health").json()
        assert health["uptime_s"] < 10
        _, said = running.end(signal.SIGTERM)
        assert "the backend ended by SIGKILL; it starts again" in said


def test_children_end_when_up_is_killed() -> None:
    with up("--no-collector") as running:
        running.process.kill()
        wait_for_end(running.backend_pid)


def test_no_secret_on_a_command_line_or_in_the_log() -> None:
    secret = "collector-secret-value"
    with up("--no-collector", TIDSCOPE_COLLECTOR_SECRET=secret) as running:
        for pid in (running.process.pid, *descendants(running.process.pid)):
            line = " ".join(arguments(pid))
            assert running.token not in line
            assert secret not in line
        with httpx.Client() as client:
            body = {"token": running.token}
            sent = {"origin": running.address}
            address = f"{running.address}/api/v1/session"
            answer = client.post(address, json=body, headers=sent)
            assert answer.status_code == 201
            credential = answer.json()["credential"]
            assert client.post(address, json={"token": "wrong"}, headers=sent).status_code == 401
            # Where somebody puts it all the same.
            client.get(running.address, params={"token": running.token})
        _, said = running.end(signal.SIGTERM)
        assert "listening" in said
        assert running.token not in said
        assert credential not in said
        assert secret not in said


def test_the_token_can_be_given() -> None:
    with up("--no-collector", TIDSCOPE_TOKEN="given-token-of-a-person") as running:
        assert running.token == "given-token-of-a-person"
        with running.client() as client:
            assert client.get("/api/v1/health").status_code == 200


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
        (["up", "--port", "70000"], {}, "'70000' is not a port"),
        (["up", "--budget-percent", "-1"], {}, "'-1' is not a percentage of 0 or more"),
        (["up", "--budget-percent", "inf"], {}, "'inf' is not a percentage of 0 or more"),
        (["collect"], {}, "TIDSCOPE_COLLECTOR_SECRET is not set"),
        (
            ["collect"],
            {"TIDSCOPE_COLLECTOR_SECRET": "x" * 15},
            "TIDSCOPE_COLLECTOR_SECRET has 15 characters",
        ),
        (["up", "--trusted-proxy", "10.0.0.1/8"], {}, "10.0.0.1/8 has host bits set"),
        (["serve", "--trusted-proxy", "proxy"], {}, "use one such as 10.0.0.0/24"),
        (
            ["collect", "--backend", "nonsense"],
            {"TIDSCOPE_COLLECTOR_SECRET": "collector-secret-value"},
            "--backend nonsense: not an address",
        ),
        (["dance"], {}, "invalid choice: 'dance'"),
    ],
)
def test_what_cannot_be_done_is_named(
    options: list[str], variables: dict[str, str], validation_text: str
) -> None:
    done = run(*options, **variables)
    assert done.returncode in (1, 2)
    assert validation_text in done.stderr
    assert "Traceback" not in done.stderr


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
        assert httpx.get(f"{running.address}/metrics", headers=headers).status_code == 200
        assert running.collector_pid is not None
        held = Path(f"/proc/{running.collector_pid}/environ").read_bytes()
        assert b"TIDSCOPE_COLLECTOR_SECRET" in held
        for token in tokens.values():
            assert token.encode() not in held


def test_serve_alone_ends_on_a_signal() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
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
        # It can still be ended, and ends with its parent, although it is another user's.
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


@needs("root")
def test_root_is_reported_that_it_need_not_be() -> None:
    with up("--no-collector") as running:
        _, said = running.end(signal.SIGTERM)
    assert "the backend is user root, without root's capabilities" in said
    assert "--user NAME" in said


@dataclass(frozen=True)
class Kept:
    """A row of the table in docs/security.md: what a process keeps."""

    name: str
    command: str
    user: str
    capabilities: frozenset[int]


def documented() -> list[Kept]:
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    table = text.partition("What `tidscope up` keeps")[2].partition("The launcher starts")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    numbers = {name: number for number, name in capabilities.NAMES.items()}
    numbers |= {"CAP_SETGID": capabilities.SETGID, "CAP_SETPCAP": capabilities.SETPCAP}
    found = []
    for row in rows:
        name, command, user, held = (cell.strip() for cell in row)
        kept = [] if held == "none" else held.split(", ")
        found.append(Kept(name, command.strip("`"), user, frozenset(numbers[one] for one in kept)))
    return found


def held_by(pid: int, which: str) -> frozenset[int]:
    bits = int(status(pid, which)[0], 16)
    return frozenset(number for number in range(64) if bits >> number & 1)


def is_row(pid: int, row: Kept, backend_uid: int) -> bool:
    uid = backend_uid if row.user == "the backend's" else 0
    passed_on = row.capabilities if row.name.startswith("launcher") else frozenset()
    return (
        row.command in " ".join(arguments(pid))
        and set(status(pid, "Uid")) == {str(uid)}
        and held_by(pid, "CapEff") == held_by(pid, "CapPrm") == row.capabilities
        and held_by(pid, "CapBnd") == passed_on
    )


@contextmanager
def installation_for(user: str) -> Iterator[Path]:
    """An interpreter that another user may run, and that finds this checkout within IN_PUBLIC."""
    with tempfile.TemporaryDirectory(prefix="tidscope-venv-") as folder:
        Path(folder).chmod(0o755)
        subprocess.run([python_for(user), "-m", "venv", "--without-pip", folder], check=True)
        (packages,) = Path(folder).glob("lib/python*/site-packages")
        lines = public_path().replace(os.pathsep, "\n")
        (packages / "public.pth").write_text(f"{lines}\n")
        yield Path(folder) / "bin" / "python"


@needs("root")
@pytest.mark.parametrize("user", ["root", "nobody"])
def test_each_process_of_roots_tidscope_keeps_what_is_documented(user: str) -> None:
    rows, uid = documented(), pwd.getpwnam(user).pw_uid
    secret = "collector-secret-of-the-test"
    with ExitStack() as held:
        options: dict[str, Any] = {"TIDSCOPE_COLLECTOR_SECRET": secret}
        if user != "root":
            python = held.enter_context(installation_for(user))
            options |= {"python": str(python), "within": IN_PUBLIC}
        running = held.enter_context(up(*(() if user == "root" else ("--user", user)), **options))
        top = running.process.pid
        wait_until(lambda: unseen(top, rows, uid) == [])
        for pid in (top, *descendants(top)):
            shown = arguments(pid)
            assert any(is_row(pid, row, uid) for row in rows), (shown, kept_by(pid))
            assert (status(pid, "NoNewPrivs"), status(pid, "Seccomp")) == (["1"], ["2"]), shown
            assert held_by(pid, "CapInh") | held_by(pid, "CapAmb") == frozenset(), shown
            environ = Path(f"/proc/{pid}/environ").read_bytes()
            for one in (secret, running.token):
                assert one.encode() not in environ, shown
        # The rights outlast a crash of the collector, and those of the backend stay as they are.
        collector = running.collector_pid
        assert collector is not None
        os.kill(collector, signal.SIGKILL)
        os.kill(running.backend_pid, signal.SIGKILL)
        wait_for_end(collector)
        wait_until(lambda: unseen(top, rows, uid) == [])
        with running.client() as client:
            wait_until(lambda: client.get("/api/v1/health").json()["collectors"] == 1)
        children = descendants(top)
        code, said = running.end(signal.SIGTERM)
        assert code == 0, said
        assert not [pid for pid in children if is_running(pid)]


def unseen(top: int, rows: Sequence[Kept], uid: int) -> list[str]:
    """Rows that no process fits."""
    pids = [top, *descendants(top)]
    return [row.name for row in rows if not any(fits(pid, row, uid) for pid in pids)]


def fits(pid: int, row: Kept, uid: int) -> bool:
    try:
        return is_row(pid, row, uid)
    except (FileNotFoundError, ProcessLookupError, KeyError):
        return False


def kept_by(pid: int) -> dict[str, list[str]]:
    return {key: status(pid, key) for key in ("Uid", "CapEff", "CapPrm", "CapBnd")}


@needs("root")
def test_collector_and_launcher_end_when_up_is_killed() -> None:
    with up() as running:
        children = descendants(running.process.pid)
        running.process.kill()
        for pid in children:
            wait_for_end(pid, seconds=60)


@needs("root")
def test_a_backend_alone_gives_up_roots_rights() -> None:
    token = "given-token-of-a-person"
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(TIDSCOPE_TOKEN=token),
    )
    with process:
        assert process.stderr is not None
        assert "port" in process.stderr.readline()
        assert held_by(process.pid, "CapPrm") | held_by(process.pid, "CapBnd") == frozenset()
        assert (status(process.pid, "NoNewPrivs"), status(process.pid, "Seccomp")) == (["1"], ["2"])
        assert token.encode() not in Path(f"/proc/{process.pid}/environ").read_bytes()
        for thread in Path(f"/proc/{process.pid}/task").iterdir():
            assert held_by(int(thread.name), "CapPrm") == frozenset()
        process.terminate()
        process.communicate(timeout=120)


@needs("root")
def test_a_launcher_runs_nothing_but_what_it_was_given() -> None:
    """Whoever has its socket can start, end and kill one process."""
    command = ["/bin/sh", "-c", "echo $0 $A >&2; exec sleep 60", "given"]
    with Launcher(command, {"A": "b"}) as launcher:
        assert held_by(launcher.process.pid, "CapPrm") == LAUNCHER

        async def tried() -> int:
            collector = await launcher.start()
            # A second start, and whatever else.
            for byte in (START, b"x", b"{"):
                launcher.order(byte)
            await asyncio.to_thread(
                wait_until, lambda: arguments(collector.pid) == ["sleep", "60"], 30
            )
            launcher.order(KILL)
            return await collector.wait()

        code = asyncio.run(tried())
        assert code == -signal.SIGKILL
        assert descendants(launcher.process.pid) == []
    assert launcher.process.returncode == 0


def test_the_second_address_lets_watch_only() -> None:
    with up("--no-collector") as running:
        token = running.view_url.partition("#token=")[2]
        shown = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=running.address, headers=shown, timeout=120) as client:
            assert client.get("/api/v1/session").json() == {"role": "viewer", "id": None}
            assert client.post("/api/v1/demo").status_code == 403
        with running.client() as client:
            assert client.get("/api/v1/session").json() == {"role": "operator", "id": None}
