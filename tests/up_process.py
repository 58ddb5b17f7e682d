"""A `tidscope up` as a process, and other commands beside it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

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
