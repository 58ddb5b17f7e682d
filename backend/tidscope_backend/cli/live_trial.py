"""A proof or a sweep of a live program: begun at a backend, followed, and kept as a run."""

import argparse
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tidscope_wire.generated.models import (
    AttachRequest,
    RunEvent,
    RunEventsResponse,
    RunManifest,
    Target,
    TargetState,
)

from tidscope_backend.cli.backend_client import BackendClient, RefusedError
from tidscope_backend.cli.recording_client import RecordingClient, RecordingOptions
from tidscope_backend.cli.redaction import Keeping

LOOK_SECONDS = 0.5
ENDINGS: Mapping[TargetState, str] = {
    "exited": "the program has exited",
    "detached": "the collector is gone, or somebody has detached the program",
}
"""Why a trial has no result, by the state of its target."""
RESULT_SECONDS = 10.0
"""How long the frame with the result may take to be in the run."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class TrialReading(Generic[Result]):
    """How a kind of trial is read.

    Attributes:
        look: takes what is steered; whether the trial has ended by itself, None while it goes on.
        read: takes the events of the run.
        is_result: whether what was read says how it ended.
    """

    look: Callable[[Target], bool | None]
    read: Callable[[Sequence[RunEvent]], Result]
    is_result: Callable[[Result], bool]


@dataclass(frozen=True)
class FinishedTrial(Generic[Result]):
    """A trial that has ended, with or without a result.

    Attributes:
        run: in which it is kept.
        target: the program.
        result: as the run has it.
        is_released: this command released the program.
        ending: why there is no result; empty: somebody ended it.
    """

    run: RunManifest
    target: Target
    result: Result
    is_released: bool
    ending: str


class LiveTrial(Generic[Result]):
    """Starts a trial, follows it, and keeps its run.

    Args:
        backend: where it is.
        pid: of the program.
        name: of the run.
        tag: of the run.
        reading: how it is read.
    """

    def __init__(
        self, backend: BackendClient, pid: int, name: str, tag: str, reading: TrialReading[Result]
    ) -> None:
        self._request, self._pid, self._reading = backend.request_model, pid, reading
        recording = RecordingOptions(
            name=name,
            tags=[tag],
            group=None,
            notes=None,
            rate_hz=None,
            past_s=None,
            duration_s=None,
            keeping=Keeping(arguments=True, output=False, patterns=()),
        )
        self._recorder = RecordingClient(backend, recording)
        self._state: TargetState = "attached"

    def carry_out(self, body: dict[str, object], *, release: bool) -> FinishedTrial[Result]:
        """Do it, until it ends by itself or a signal ends it.

        Args:
            body: of the request that begins it.
            release: release the program even if the trial lets a policy go on.
        """
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        target = self._recorder.attach(AttachRequest(pid=self._pid))
        run = self._recorder.start(target)
        path = f"/targets/{target.id}/steering"
        try:
            self._request(path, Target, "PUT", body)
            try:
                has_result = self._follow(target.id, stop)
            finally:
                is_released = stop.is_set() or release
                if is_released:
                    self._release(path)
            result = self._result(run, RESULT_SECONDS if has_result else 0.0)
        finally:
            run = self._stop(run)
        return FinishedTrial(run, target, result, is_released, ENDINGS.get(self._state, ""))

    def _follow(self, target: str, stop: threading.Event) -> bool:
        """Look until it ends; whether it has ended by itself."""
        while not stop.is_set():
            now = self._request(f"/targets/{target}", Target)
            self._state = now.state
            ended = self._reading.look(now)
            if ended is not None:
                return ended
            if now.state != "attached":
                return False
            stop.wait(LOOK_SECONDS)
        return False

    def _result(self, run: RunManifest, seconds: float) -> Result:
        """What the run says, once it says how the trial ended, or after so many seconds."""
        end = time.monotonic() + seconds
        while True:
            events = self._request(f"/runs/{run.id}/events", RunEventsResponse).events
            result = self._reading.read(events)
            if self._reading.is_result(result) or time.monotonic() >= end:
                return result
            time.sleep(LOOK_SECONDS)

    def _stop(self, run: RunManifest) -> RunManifest:
        try:
            return self._recorder.stop(run)
        except RefusedError:
            # It ended with the program.
            return self._recorder.manifest(run)

    def _release(self, path: str) -> None:
        try:
            self._request(path, Target, "DELETE")
        except RefusedError:
            pass  # It is no longer steered.


def process_id(text: str) -> int:
    """Parse the id of a process.

    Raises:
        argparse.ArgumentTypeError: it cannot be one.
    """
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is no process id")
    return int(text)
