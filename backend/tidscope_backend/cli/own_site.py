"""A tidscope of our own, for as long as a verb needs it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tidscope_wire.generated.models import HealthResponse

from tidscope_backend.cli.backend_client import RefusedError, UnavailableError, ask
from tidscope_backend.cli.failure import CommandError
from tidscope_backend.lifeline import command as with_lifeline
from tidscope_backend.settings import BROWSER_VARIABLE, RUNS_VARIABLE

END_SECONDS = 20.0


@dataclass(frozen=True)
class Reached:
    """A backend that answers.

    Attributes:
        address: host and port.
        token: shown to it.
        own: it is ours, and ends with us.
    """

    address: str
    token: str = field(repr=False)
    own: bool


@contextmanager
def reached(address: str, runs: Path) -> Iterator[Reached]:
    """The tidscope that runs at an address, if its token is known, or one of our own.

    Args:
        address: host and port.
        runs: where one of our own keeps its runs.

    Raises:
        CommandError: neither is to be had.
    """
    token = os.environ.get(BROWSER_VARIABLE, "")
    if token and _answers(address, token):
        yield Reached(address, token, own=False)
        return
    with _own(runs) as site:
        yield site


def _answers(address: str, token: str) -> bool:
    try:
        ask(address, token, "/health", HealthResponse)
    except (UnavailableError, RefusedError):
        return False
    return True


@contextmanager
def _own(runs: Path) -> Iterator[Reached]:
    arguments = ["up", "--port", "0", "--no-open", "--json"]
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            with_lifeline([sys.executable, "-m", "tidscope_backend", *arguments]),
            env={**os.environ, RUNS_VARIABLE: str(runs)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            # Ctrl-C is for the command; this ends when we say so.
            start_new_session=True,
        ) as process,
    ):
        try:
            line = process.stdout.readline() if process.stdout else b""
            if not line:
                said.seek(0)
                reason = said.read().decode(errors="replace").strip()
                raise CommandError(f"no tidscope runs here and none can be started: {reason}")
            told = json.loads(line)
            yield Reached(told["address"].removeprefix("http://"), told["token"], own=True)
        finally:
            process.terminate()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
