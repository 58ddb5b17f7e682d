"""The collector as a process of its own, with as many rights as a test gives it."""

import asyncio
import os
import re
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from backend_server import SECRET
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
        port: of the backend.
        within: a command that runs its arguments in other circumstances.
        secret: that it shows.
        options: further ones of its command line.

    Attributes:
        audit: where it logs what people did.
    """

    def __init__(
        self,
        port: int,
        within: Sequence[str] = (),
        secret: str = SECRET,
        options: Sequence[str] = (),
    ) -> None:
        self._command = [
            *within,
            *(sys.executable, "-m", "tidscope_collector", "run"),
            *("--backend", f"ws://127.0.0.1:{port}/ws/collector"),
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
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def said(self) -> str:
        """What it wrote to standard error up to now."""
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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
