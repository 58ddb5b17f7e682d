"""Programs of tidscope as processes of any user: collector, `tidscope serve`, `tidscope up`."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import httpx
import ports
from backend_server import NO_KEPT_CONNECTIONS, SECRET, TOKEN
from capabilities import missing
from processes import wait_until

NOBODY = 65534
WITHOUT_NET_ADMIN = ("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin")
"""Root in everything else."""


def as_user(uid: int) -> tuple[str, ...]:
    """A command that runs another one as a user without rights.

    One is left, to read files: the interpreter and this repository may lie in a private folder.
    It opens no file of /proc that the kernel guards with the rules of ptrace.
    """
    right = "-all,+dac_read_search"
    if not _bounding_set() & 1 << 2:
        right = "-all,+dac_override"
    return (
        *("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"),
        *(f"--inh-caps={right}", f"--ambient-caps={right}", f"--bounding-set={right}"),
    )


def hiding_processes(mode: int) -> tuple[str, ...]:
    """A command that runs another one where /proc hides the processes of others."""
    mount = f'mount -t proc -o hidepid={mode} proc /proc && exec "$@"'
    return ("unshare", "--mount", "sh", "-c", mount, "sh")


def _bounding_set() -> int:
    found = re.search(r"^CapBnd:\s*(\w+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1], 16)


class CollectorProcess:
    """A running collector; use in an ``async with`` statement, at whose end it has ended well.

    Args:
        port: port of the backend.
        within: a command that runs its arguments in other circumstances.
        secret: secret that it shows.
        options: further ones of its command line.
        host: address of the backend.

    Attributes:
        audit: path of its audit log.
    """

    def __init__(
        self,
        port: int,
        within: Sequence[str] = (),
        secret: str = SECRET,
        options: Sequence[str] = (),
        host: str = "127.0.0.1",
    ) -> None:
        self._command = [
            *within,
            *(sys.executable, "-m", "tidscope_collector", "run"),
            *("--backend", f"ws://{host}:{port}/ws/collector"),
            *options,
        ]
        self._secret = secret
        self._folder = tempfile.TemporaryDirectory(prefix="collector-")
        self.audit = Path(self._folder.name) / "audit.jsonl"
        self._command += ["--audit", str(self.audit)]
        self._log = Path(self._folder.name) / "log"
        self._process: asyncio.subprocess.Process | None = None
        self._killed = False

    @property
    def pid(self) -> int:
        """Process ID of the collector."""
        assert self._process is not None
        return self._process.pid

    @property
    def said(self) -> str:
        """Return its standard error up to now."""
        return self._log.read_text()

    async def says(self, text: str, times: int = 1) -> None:
        """Wait until it has written this so often."""
        await asyncio.to_thread(wait_until, lambda: self.said.count(text) >= times)

    async def __aenter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, "TIDSCOPE_COLLECTOR_SECRET": self._secret},
            )
        return self

    async def kill(self) -> None:
        """End it as nothing it could prepare for; that it did not end well is no failure then."""
        assert self._process is not None
        self._killed = True
        self._process.kill()
        await self._process.wait()

    async def __aexit__(self, *_: object) -> None:
        assert self._process is not None
        process = self._process
        try:
            if process.returncode is None:
                process.terminate()
            async with asyncio.timeout(200):
                await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
            said = self.said
            self._folder.cleanup()
        wanted = -signal.SIGKILL if self._killed else 0
        assert process.returncode == wanted, f"status {process.returncode}: {said}"
        assert "Traceback" not in said, said


ENVIRONMENT = {**os.environ, "TIDSCOPE_TOKEN": TOKEN, "TIDSCOPE_COLLECTOR_SECRET": SECRET}


@asynccontextmanager
async def served(
    port: int, within: Sequence[str] = (), options: Sequence[str] = (), **environment: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run it, and kill it at the end.

    Args:
        port: port that it listens on.
        within: a command that runs its arguments some other way, such as ["prlimit", …].
        options: further ones of its command line.
        environment: variables on top of the inherited ones.
    """
    process = await asyncio.create_subprocess_exec(
        *within,
        *(sys.executable, "-m", "tidscope_backend", "serve", "--port", str(port), *options),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**ENVIRONMENT, **environment},
    )
    try:
        assert process.stderr is not None
        # The backend prints a line once it listens.
        while f"port {port}" not in (line := (await process.stderr.readline()).decode()):
            assert line, "the backend has ended"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


free_port = ports.free_port
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
    ring_pid: int | None

    def client(self) -> httpx.Client:
        """A client that shows the token and outlasts a restart of the backend.

        Each request has a connection of its own; see `Backend.client`. Retries of a connection,
        with growing pauses, take a minute.
        """
        return httpx.Client(
            base_url=self.address,
            headers={"authorization": f"Bearer {self.token}"},
            timeout=120,
            transport=httpx.HTTPTransport(retries=8, limits=NO_KEPT_CONNECTIONS),
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
    *options: str,
    verb: str = "up",
    python: str = sys.executable,
    within: Sequence[str] = (),
    **variables: str,
) -> Iterator[Up]:
    process = subprocess.Popen(
        [*within, python, *COMMAND[1:], verb, "--port", "0", "--no-open", "--json", *options],
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


ROOT = Path(__file__).parents[1]
PUBLIC = "/mnt"
IN_PUBLIC = ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /mnt && exec "$@"', str(ROOT))
"""Runs a command where this checkout is mounted once more, outside all private folders."""


def python_for(user: str) -> str:
    """An interpreter of this version that a user may run: ours may lie in a private folder."""
    for candidate in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        try:
            subprocess.run([candidate, "-c", ""], user=user, check=True)
        except (PermissionError, FileNotFoundError):
            continue
        return candidate
    raise missing("python-for-others", user)


def public_path() -> str:
    """PYTHONPATH of what runs within IN_PUBLIC; its standard library is that interpreter's own."""
    paths = [path for path in sys.path if path and not path.startswith(sys.base_prefix)]
    return os.pathsep.join(path.replace(str(ROOT), PUBLIC, 1) for path in paths)
