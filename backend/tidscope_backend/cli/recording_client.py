"""Records through a backend's REST API."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from tidscope_wire.generated.models import (
    AttachRequest,
    RunManifest,
    RunOutcome,
    Target,
    TargetsResponse,
)

from tidscope_backend.cli.backend_client import BackendClient
from tidscope_backend.cli.output_relay import Keeping
from tidscope_backend.processes import local_host_id

FIRST_SECONDS = 20.0
LAST_SECONDS = 10.0
OUTLIVED_SECONDS, OUTLIVED_FRAMES = 2.0, 3
"""Time in seconds, and frames, that processes of a command have to end after it; both must pass."""
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class RecordingOptions:
    """The target to record, and the description of the run; None if not given.

    `source` is how a collector of our own reads counters, `ledger` the arguments that say which
    ledgers of states it keeps; those of a running tidscope stay.
    """

    name: str | None
    tags: list[str]
    group: str | None
    notes: str | None
    rate_hz: float | None
    past_s: float | None
    duration_s: float | None
    keeping: Keeping
    source: str = "auto"
    ledger: tuple[str, ...] = ()

    def request(self, target: Target) -> dict[str, object]:
        """The body of the request."""
        command = target.process.command
        given = {
            "command": None if command is None else self.keeping.command_line(command),
            "name": self.name,
            "group": self.group,
            "notes": self.notes,
            "past_s": self.past_s,
            "duration_s": self.duration_s,
        }
        present = {name: value for name, value in given.items() if value is not None}
        return {"target": target.id, "tags": self.tags, **present}


class Outlived:
    """Whether processes of a group go on, although the command that started them has exited.

    Args:
        manifest: of the run, when the command has exited.
    """

    def __init__(self, manifest: RunManifest) -> None:
        self._is_group = manifest.target.group is not None
        self._enough_s = time.monotonic() + OUTLIVED_SECONDS
        self._first: int | None = None

    def is_seen(self, frames: int) -> bool:
        """Whether it is sure; `frames` is how many there are now."""
        if self._first is None:
            self._first = frames
        more = frames - self._first
        return self._is_group and more >= OUTLIVED_FRAMES and time.monotonic() > self._enough_s


class RunRecorder(Protocol):
    """Records one run. Every method raises the errors of a BackendClient."""

    def attached(self) -> set[str]:
        """Ids of the targets that are being sampled."""

    def attach(self, asked: AttachRequest) -> Target:
        """Attach to a process or a group; if that is attached already, its rate stays.

        Args:
            asked: with start ticks it means a process of this machine: another one with its id, as
                in another pid namespace, is refused, and so is one of another machine.
        """

    def detach(self, target: Target) -> None:
        """Stop sampling it."""

    def start(self, target: Target) -> RunManifest:
        """Start recording and wait for the first frame, so that even a short run has one."""

    def manifest(self, manifest: RunManifest) -> RunManifest:
        """The manifest as it is now."""

    def stop(self, manifest: RunManifest) -> RunManifest:
        """Stop recording."""

    def wait_for_end(self, manifest: RunManifest) -> RunManifest:
        """Wait until the last frame of a process that has exited ends the run.

        If processes of a group outlive the command, the run is stopped soon after it. If no frame
        comes for some time, the run is stopped, and is incomplete.
        """

    def set_outcome(self, manifest: RunManifest, outcome: RunOutcome) -> RunManifest:
        """Record how the command exited."""

    def seal(self) -> None:
        """Wait until the run is sealed, if nobody else sees to that."""


class RecordingClient:
    """A RunRecorder: a running backend.

    Args:
        backend: where it is.
        options: what to record.
    """

    def __init__(self, backend: BackendClient, options: RecordingOptions) -> None:
        self._backend = backend
        self._request = backend.request_model
        self._options = options

    def attached(self) -> set[str]:
        """Ids of the targets that are being sampled."""
        targets = self._request("/targets", TargetsResponse).targets
        return {target.id for target in targets if target.state == "attached"}

    def attach(self, asked: AttachRequest) -> Target:
        """Attach to a process or a group; if that is attached already, its rate stays."""
        request = asked.model_dump(exclude_none=True, exclude={"rate_hz"})
        if (asked.group or asked).start_ticks is not None:
            request["host"] = local_host_id()
        if self._options.rate_hz is not None:
            request["rate_hz"] = self._options.rate_hz
        return self._request("/targets", Target, "POST", request)

    def detach(self, target: Target) -> None:
        """Stop sampling it."""
        self._backend.request(f"/targets/{target.id}", "DELETE")

    def start(self, target: Target) -> RunManifest:
        """Start recording and wait for the first frame, so that even a short run has one."""
        manifest = self._request("/runs", RunManifest, "POST", self._options.request(target))
        return self._until(manifest, FIRST_SECONDS, lambda run: run.counts.frames > 0)

    def manifest(self, manifest: RunManifest) -> RunManifest:
        """The manifest as it is now."""
        return self._request(f"/runs/{manifest.id}", RunManifest)

    def stop(self, manifest: RunManifest) -> RunManifest:
        """Stop recording."""
        return self._request(f"/runs/{manifest.id}/stop", RunManifest, "POST")

    def wait_for_end(self, manifest: RunManifest) -> RunManifest:
        """Wait until the exit of the process ends the run; stop it if no frames come any more."""
        frames, outlived = -1, Outlived(manifest)
        while manifest.state == "recording" and manifest.counts.frames > frames:
            frames = manifest.counts.frames
            if outlived.is_seen(frames):
                return self.stop(manifest)
            manifest = self._until(manifest, LAST_SECONDS, partial(_has_more, frames))
        if manifest.state != "recording":
            return manifest
        return self._request(f"/runs/{manifest.id}/stop?target_ended=true", RunManifest, "POST")

    def set_outcome(self, manifest: RunManifest, outcome: RunOutcome) -> RunManifest:
        """Record how the command exited."""
        body = {"outcome": outcome.model_dump()}
        return self._request(f"/runs/{manifest.id}", RunManifest, "PATCH", body)

    def seal(self) -> None:
        """A running tidscope seals runs in its own time."""

    def _until(
        self, manifest: RunManifest, seconds: float, enough: Callable[[RunManifest], bool]
    ) -> RunManifest:
        """Poll until the run has ended or there is enough of it, for a limited time."""
        end = time.monotonic() + seconds
        while manifest.state == "recording" and not enough(manifest) and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
            manifest = self.manifest(manifest)
        return manifest


def _has_more(frames: int, manifest: RunManifest) -> bool:
    return manifest.counts.frames > frames
