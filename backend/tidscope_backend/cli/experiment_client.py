"""Client of the tidscope used by an experiment: a running one, or a temporary `tidscope up`."""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tidscope_wire.generated.models import AttachRequest, GroupSelector, Steering, Target

from tidscope_backend.cli.backend_client import BackendClient, RefusedError, UnavailableError
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.output_relay import Keeping
from tidscope_backend.cli.recording_client import RecordingClient, RecordingOptions
from tidscope_backend.exchange.formats import pool_readings
from tidscope_backend.experiments.matrix import Cell, figures_of_run
from tidscope_backend.experiments.over_time import Seconds, seconds_of
from tidscope_backend.experiments.workload import RepeatError
from tidscope_backend.processes import bound_to_parent, run_module, wait_or_kill
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.reader import RunReader

ENDED_SECONDS = 20.0
POLL_SECONDS = 0.1
MAX_TAG = 40
T = TypeVar("T")


class ExperimentClient:
    """Attaches, records and steers through a backend.

    Args:
        backend: address and token of the backend.
        runs: the runs directory, read for figures.
        experiment: id of the experiment.
        name: name of the experiment.
    """

    def __init__(self, backend: BackendClient, runs: Path, experiment: str, name: str) -> None:
        self._backend, self._runs = backend, runs
        self._experiment, self._name = experiment, name
        self._targets: dict[str, Target] = {}

    def attach(self, pid: int, *, tree: bool) -> str:
        """Attach to a process, optionally with all descendants. Raises RepeatError."""
        client = RecordingClient(self._backend, self._options(None, None))
        group = GroupSelector(kind="tree", pid=pid) if tree else None
        request = AttachRequest(group=group) if tree else AttachRequest(pid=pid)
        target = _refusable(lambda: client.attach(request))
        self._targets[target.id] = target
        return target.id

    def record(self, target: str, group: str, cell: Cell) -> str:
        """Record a target. Raises RepeatError."""
        client = RecordingClient(self._backend, self._options(group, cell))
        return _refusable(lambda: client.start(self._targets[target])).id

    def steer(self, target: str, body: Mapping[str, object]) -> None:
        """Start a policy on a target. Raises RepeatError."""
        path = f"/targets/{target}/steering"
        _refusable(lambda: self._backend.request_model(path, Target, "PUT", dict(body)))

    def steering(self, target: str) -> Steering | None:
        """Return the current steering of a target. Raises RepeatError."""
        now = _refusable(lambda: self._backend.request_model(f"/targets/{target}", Target))
        return now.steering

    def stop(self, run: str) -> None:
        """Stop a recording if it has not ended."""
        with suppress(RefusedError, UnavailableError):
            self._backend.request(f"/runs/{run}/stop", "POST")

    def detach(self, target: str) -> None:
        """Release and forget a target."""
        self._targets.pop(target, None)
        with suppress(RefusedError, UnavailableError):
            self._backend.request(f"/targets/{target}", "DELETE")

    def figures(self, run: str) -> Mapping[str, float]:
        """Return figures of a run; empty if the backend's runs directory differs.

        The run is read immediately after its end. Sealing may take long on a busy machine and
        changes no figure.
        """
        folder = self._runs / run
        end = time.monotonic() + ENDED_SECONDS
        while folder.is_dir():
            try:
                if RunFolder(folder).read_manifest().state != "recording" or time.monotonic() > end:
                    return figures_of_run(folder)
            except (OSError, ValueError):
                # A part is being sealed concurrently.
                if time.monotonic() > end:
                    break
            time.sleep(POLL_SECONDS)
        return {}

    def seconds(self, run: str) -> Seconds:
        """Return size and throughput of the pool by second of an ended run; empty if unknown."""
        try:
            reader = RunReader(self._runs / run)
            return seconds_of(pool_readings(reader).to_pylist(), reader.manifest.from_ns)
        except (OSError, ValueError):
            return {}

    def _options(self, group: str | None, cell: Cell | None) -> RecordingOptions:
        return RecordingOptions(
            name=None if cell is None else f"{self._name}: {cell.key}"[:120],
            tags=["experiment", self._name[:MAX_TAG], self._experiment],
            group=group,
            notes=None,
            rate_hz=None,
            past_s=None,
            duration_s=None,
            keeping=Keeping(arguments=True, output=False, patterns=()),
        )


def _refusable(ask: Callable[[], T]) -> T:
    """Send a request; a refusal becomes a RepeatError."""
    try:
        return ask()
    except RefusedError as error:
        raise RepeatError(str(error)) from None


STOP_SECONDS = 30.0
SHOWN = 1000
"""Maximum characters shown of a failed start's messages."""


@dataclass(frozen=True)
class OwnTidscope:
    """Client of a tidscope started for the experiment, and the address of its page."""

    backend: BackendClient
    url: str


@contextmanager
def own_tidscope() -> Iterator[OwnTidscope]:
    """Start a tidscope on a free port, and end it afterwards. Raises CommandError."""
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
