"""A tidscope for the time of a command, where none runs: `tidscope up` without a browser."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tidscope_backend.cli.backend_client import BackendClient
from tidscope_backend.cli.command import CommandError
from tidscope_backend.parent_death import bound_to_parent, run_module
from tidscope_backend.process_end import wait_or_kill

STOP_SECONDS = 30.0
SHOWN = 1000
"""Characters of its messages, if it does not start."""


@dataclass(frozen=True)
class OwnTidscope:
    """A client of it, and where its page is."""

    backend: BackendClient
    url: str


@contextmanager
def own_tidscope() -> Iterator[OwnTidscope]:
    """Start one at a free port, and end it. Raises CommandError."""
    command = run_module("tidscope_backend", "up", "--json", "--no-open", "--port", "0")
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            bound_to_parent(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=messages,
            start_new_session=True,
        )
        try:
            line = b"" if process.stdout is None else process.stdout.readline()
            if not line:
                messages.seek(0)
                said = messages.read().decode(errors="replace").strip()[-SHOWN:]
                raise CommandError(f"tidscope did not start:\n{said}")
            facts = json.loads(line)
            address = str(facts["address"]).removeprefix("http://")
            with BackendClient(address, facts["token"]) as backend:
                yield OwnTidscope(backend, facts["url"])
        finally:
            process.terminate()
            wait_or_kill(process, STOP_SECONDS)
