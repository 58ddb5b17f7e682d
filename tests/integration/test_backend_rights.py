"""Root's `tidscope up` and `serve`: what each process keeps, as docs/security.md says."""

import asyncio
import os
import pwd
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from capabilities import needs
from processes import arguments, descendants, is_running, status, wait_for_end, wait_until
from tidscope_backend.cli.supervisor import Launcher
from tidscope_backend.collector_launcher import KILL, LAUNCHER, START
from tidscope_confinement import capabilities
from tidscope_processes import COMMAND, IN_PUBLIC, ROOT, environment, public_path, python_for, up
from tidscope_wire.generated.models import StackGraph

pytestmark = needs("root")


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
    passes_on = row.name.startswith(("launcher", "keeper of the program"))
    passed_on = row.capabilities if passes_on else frozenset()
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


@needs("stacks")
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
            with suppress(FileNotFoundError, ProcessLookupError):  # It has ended meanwhile.
                check_rights(pid, rows, uid, (secret, running.token))
        # The rights outlast a crash of the collector, and those of the backend stay as they are.
        collector = running.collector_pid
        assert collector is not None
        os.kill(collector, signal.SIGKILL)
        os.kill(running.backend_pid, signal.SIGKILL)
        wait_for_end(collector)
        wait_for_end(running.backend_pid)
        wait_until(lambda: unseen(top, rows, uid) == [])
        with running.client() as client:
            wait_until(lambda: client.get("/api/v1/health").json()["collectors"] == 1)
        children = descendants(top)
        code, said = running.end(signal.SIGTERM)
        assert code == 0, said
        for pid in children:
            wait_for_end(pid)


def check_rights(pid: int, rows: Sequence[Kept], uid: int, secrets: Sequence[str]) -> None:
    """Check that a process keeps what is documented. Children for one question end soon."""

    def is_documented_or_over() -> bool:
        return not is_running(pid) or any(fits(pid, row, uid) for row in rows)

    try:
        wait_until(is_documented_or_over)
    except AssertionError:
        raise AssertionError(f"{arguments(pid)}: {kept_by(pid)}") from None
    shown = arguments(pid)
    environ = Path(f"/proc/{pid}/environ").read_bytes()
    kept = status(pid, "NoNewPrivs"), status(pid, "Seccomp")
    passed_on = held_by(pid, "CapInh") | held_by(pid, "CapAmb")
    if is_running(pid):
        assert kept == (["1"], ["2"]), shown
        assert passed_on == frozenset(), shown
        for one in secrets:
            assert one.encode() not in environ, shown


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


SLEEPER = """
import time
def wait_in_python():
    while True:
        time.sleep(0.01)
wait_in_python()
"""


@needs("stacks")
@needs("btf")
def test_stacks_of_interpreters_are_read_within_the_filter_of_the_launcher() -> None:
    with (
        subprocess.Popen([sys.executable, "-c", SLEEPER]) as program,
        up() as running,
        running.client() as client,
    ):
        try:
            answer = client.post("/api/v1/targets", json={"pid": program.pid})
            stacks = f"/api/v1/targets/{answer.raise_for_status().json()['id']}/stacks"
            client.post(stacks, json={"seconds": 120}).raise_for_status()

            def seen() -> bool:
                graph = StackGraph.model_validate_json(
                    client.get(stacks).raise_for_status().content
                )
                return "wait_in_python" in {frame.function for frame in graph.frames}

            wait_until(seen, 120)
        finally:
            program.kill()


def test_collector_and_launcher_end_when_up_is_killed() -> None:
    with up() as running:
        children = descendants(running.process.pid)
        running.process.kill()
        for pid in children:
            wait_for_end(pid)


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
            with suppress(FileNotFoundError, ProcessLookupError):  # It has ended meanwhile.
                assert held_by(int(thread.name), "CapPrm") == frozenset()
        process.terminate()
        process.communicate(timeout=120)


def test_a_launcher_runs_nothing_but_what_it_was_given() -> None:
    """Whoever has its socket can start, end and kill one process."""
    command = ["/bin/sh", "-c", "echo $0 $A >&2; exec sleep 600", "given"]
    with Launcher(command, {"A": "b"}) as launcher:
        assert held_by(launcher.process.pid, "CapPrm") == LAUNCHER

        async def tried() -> int:
            collector = await launcher.start()
            # A second start, and whatever else.
            for byte in (START, b"x", b"{"):
                launcher.order(byte)
            await asyncio.to_thread(
                wait_until, lambda: arguments(collector.pid) == ["sleep", "600"]
            )
            launcher.order(KILL)
            return await collector.wait()

        code = asyncio.run(tried())
        assert code == -signal.SIGKILL
        assert descendants(launcher.process.pid) == []
    assert launcher.process.returncode == 0
