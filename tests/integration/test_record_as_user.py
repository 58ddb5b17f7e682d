"""An ordinary user's `tidscope record -- COMMAND`, through a tidscope that has the rights."""

import asyncio
import os
import pwd
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from backend_server import TOKEN, Backend, running_backend
from capabilities import needs
from receiver import connected
from shell_terminal import ShellTerminal
from tidscope_backend.notebook import open_run
from tidscope_processes import IN_PUBLIC, CollectorProcess, public_path, python_for
from tidscope_wire.generated.models import RunManifest, TargetsResponse

pytestmark = needs("root")
NOBODY = pwd.getpwnam("nobody")
DESCRIPTORS = 177
SCRIPT = "echo $(id -u) $(ulimit -n) $(pwd) $OF_THE_USER $(tty) ${TIDSCOPE_TOKEN-none}; exit 3"
USED = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; "


@dataclass
class Person:
    """Somebody without rights, at a terminal.

    Attributes:
        backend: backend of the tidscope that runs as root.
        home: where that person may write.
    """

    backend: Backend
    home: Path

    async def record(self, script: str, token: str, *within: str) -> str:
        """Record a shell script; what the terminal has shown, and at the end the exit code."""
        return await asyncio.to_thread(self._record, script, token, within)

    def _record(self, script: str, token: str, within: tuple[str, ...]) -> str:
        identity = (f"--reuid={NOBODY.pw_uid}", f"--regid={NOBODY.pw_gid}", "--clear-groups")
        limited = f'ulimit -n {DESCRIPTORS}; cd "{self.home}"; "$@"; echo code $?'
        environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": public_path(),
            "HOME": str(self.home),
            "OF_THE_USER": "kept",
            "TIDSCOPE_TOKEN": token,
        }
        command = (
            *(*IN_PUBLIC, *within, "setpriv", *identity, "sh", "-c", limited, "sh"),
            *(python_for("nobody"), "-m", "tidscope_backend", "record"),
            *("--port", str(self.backend.port), "--", "sh", "-c", script),
        )
        with ShellTerminal(environ, command) as terminal:
            terminal.wait_for(r"(?m)^code \d+\r")
            return terminal.text

    def run(self) -> RunManifest:
        """The only run that the backend has."""
        assert self.backend.settings.runs_dir is not None
        (path,) = self.backend.settings.runs_dir.glob("r-*")
        return RunManifest.model_validate_json((path / "manifest.json").read_text())


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may pass through; other runs of pytest close their common one."""
    with tempfile.TemporaryDirectory(prefix="tidscope-person-") as made:
        found = Path(made)
        found.chmod(0o711)
        yield found


@pytest.fixture
async def person(folder: Path) -> AsyncIterator[Person]:
    runs, home = folder / "runs", folder / "home"
    runs.mkdir(0o700)
    home.mkdir()
    os.chown(home, NOBODY.pw_uid, NOBODY.pw_gid)
    async with (
        running_backend(command_seconds=60, runs_dir=runs) as backend,
        CollectorProcess(backend.port),
        backend.page() as page,
    ):
        await connected(page)
        yield Person(backend, home)


async def test_the_command_is_the_users_and_the_measuring_is_roots(person: Person) -> None:
    text = await person.record(USED + SCRIPT, TOKEN)
    home = person.home.resolve()
    assert f"{NOBODY.pw_uid} {DESCRIPTORS} {home} kept /dev/pts/" in text
    assert " none\r\n" in text
    assert "code 3" in text
    manifest = person.run()
    assert manifest.target.process.user == "nobody"
    assert manifest.target.source.kind == "taskstats"
    assert manifest.outcome is not None
    assert manifest.outcome.exit_code == 3
    # From its first instruction to its exit record, of which the user's own rights know nothing.
    assert person.backend.settings.runs_dir is not None
    run = open_run(person.backend.settings.runs_dir / manifest.id)
    assert {(one["exited"], one["exact"]) for one in run.threads().to_pylist()} == {(True, True)}
    outcome = manifest.outcome
    used_us = outcome.user_cpu_us + outcome.system_cpu_us
    shown_us = sum(one["cpu_ns"] for one in run.processes().to_pylist()) / 1000
    assert shown_us == pytest.approx(used_us, rel=0.1, abs=30_000)
    # The files are not theirs to read; the page is where the run can be seen.
    assert f"http://127.0.0.1:{person.backend.port}/runs/{manifest.id}" in text
    assert not list(person.home.iterdir())


async def test_who_may_only_watch_may_not_record(person: Person) -> None:
    """The command does not run: it would not be recorded."""
    view = person.backend.settings.view_token
    text = await person.record("echo it runs", view)
    assert "code 125" in text
    assert "only lets watch" in text
    assert "it runs" not in text


async def test_another_process_with_the_same_id_is_not_attached_to(person: Person) -> None:
    """In a pid namespace of the user's own, ids mean other processes than for the collector."""
    text = await person.record("echo it runs", TOKEN, "unshare", "--pid", "--fork", "--mount-proc")
    assert "code 125" in text
    assert "it runs" not in text
    async with person.backend.program() as client:
        answer = (await client.get("/api/v1/targets")).content
    assert TargetsResponse.model_validate_json(answer).targets == []
