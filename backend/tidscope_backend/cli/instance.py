"""The tidscope that a verb uses: a running one, or a temporary one."""

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

from tidscope_backend.cli.backend_client import RefusedError, UnavailableError, request_model
from tidscope_backend.cli.command import CommandError
from tidscope_backend.parent_death import bound_to_parent
from tidscope_backend.settings import BROWSER_VARIABLE, RUNS_VARIABLE

END_SECONDS = 20.0


@dataclass(frozen=True)
class Instance:
    """A backend that answers.

    Attributes:
        address: host and port.
        token: sent to it.
        temporary: it was started for this command, and ends with it.
    """

    address: str
    token: str = field(repr=False)
    temporary: bool


@contextmanager
def connect_or_start(address: str, runs: Path) -> Iterator[Instance]:
    """Connect to the tidscope at an address if its token is known, else start a temporary one.

    Args:
        address: host and port.
        runs: runs directory of a temporary one.

    Raises:
        CommandError: neither is possible.
    """
    token = os.environ.get(BROWSER_VARIABLE, "")
    if token and _answers(address, token):
        yield Instance(address, token, temporary=False)
        return
    with _temporary(runs) as instance:
        yield instance


def _answers(address: str, token: str) -> bool:
    try:
        request_model(address, token, "/health", HealthResponse)
    except (UnavailableError, RefusedError):
        return False
    return True


@contextmanager
def _temporary(runs: Path) -> Iterator[Instance]:
    arguments = ["up", "--port", "0", "--no-open", "--json"]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            bound_to_parent([sys.executable, "-m", "tidscope_backend", *arguments]),
            env={**os.environ, RUNS_VARIABLE: str(runs)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            # Ctrl-C is for the command; this ends when we end it.
            start_new_session=True,
        ) as process,
    ):
        try:
            line = process.stdout.readline() if process.stdout else b""
            if not line:
                errors.seek(0)
                reason = errors.read().decode(errors="replace").strip()
                raise CommandError(
                    f"no tidscope is running here, and none can be started: {reason}"
                )
            facts = json.loads(line)
            yield Instance(facts["address"].removeprefix("http://"), facts["token"], temporary=True)
        finally:
            process.terminate()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
