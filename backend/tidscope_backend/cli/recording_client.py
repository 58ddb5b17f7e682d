"""Records through a backend's REST API."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from tidscope_wire.generated.models import (
    AttachRequest,
    GroupSelector,
    RunManifest,
    RunPatch,
    Target,
    TargetsResponse,
)

from tidscope_backend.cli.backend_client import BackendClient
from tidscope_backend.cli.output_relay import Keeping
from tidscope_backend.processes import local_host_id, start_ticks

FIRST_SECONDS = 20.0
LAST_SECONDS = 10.0
OUTLIVED_SECONDS, OUTLIVED_FRAMES = 2.0, 3
"""Grace time in seconds and frames for a command's remaining processes; both must pass."""
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class RecordingOptions:
    """Target and description of a recording; None for unset values.

    `source` and `ledger` apply only to a collector started by this command: how counters are read,
    and the arguments that select ledgers of states. A running tidscope's settings are unchanged.
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
    stacks: bool = False

    def request(self, target: Target) -> dict[str, object]:
        """Return the body of the request."""
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
        stacks = {"stacks": True} if self.stacks else {}
        return {"target": target.id, "tags": self.tags, **stacks, **present}


def tree_request(pid: int) -> AttachRequest:
    """Return the request for a process and its descendants. Raises OSError if it has ended."""
    group = GroupSelector(kind="tree", pid=pid, start_ticks=start_ticks(pid))
    return AttachRequest(group=group)


class Outlived:
    """Detects that processes of a group outlive the command that started them.

    Args:
        manifest: manifest of the run at the exit of the command.
    """

    def __init__(self, manifest: RunManifest) -> None:
        self._is_group = manifest.target.group is not None
        self._enough_s = time.monotonic() + OUTLIVED_SECONDS
        self._first: int | None = None

    def is_seen(self, frames: int) -> bool:
        """Return True if processes outlive the command; `frames` is the run's current count."""
        if self._first is None:
            self._first = frames
        more = frames - self._first
        return self._is_group and more >= OUTLIVED_FRAMES and time.monotonic() > self._enough_s


class RunRecorder(Protocol):
    """Interface for recording one run. Methods raise the errors of a BackendClient."""

    def attached(self) -> set[str]:
        """Return IDs of the sampled targets."""

    def attach(self, asked: AttachRequest) -> Target:
        """Attach to a process or a group; the rate of an attached target is unchanged.

        Args:
            asked: target. With start ticks, the backend refuses another process with the same ID,
                for example in another PID namespace or on another machine.
        """

    def detach(self, target: Target) -> None:
        """Stop sampling the target."""

    def start(self, target: Target) -> RunManifest:
        """Start recording and wait for the first frame, so that even a short run has one."""

    def manifest(self, manifest: RunManifest) -> RunManifest:
        """Return the current manifest."""

    def stop(self, manifest: RunManifest) -> RunManifest:
        """Stop recording."""

    def wait_for_end(self, manifest: RunManifest) -> RunManifest:
        """Wait until the last frame of an exited process ends the run.

        The run is stopped shortly after the command if processes of a group outlive it. The run is
        stopped as incomplete if frames stop arriving.
        """

    def patch(self, manifest: RunManifest, patch: RunPatch) -> RunManifest:
        """Record how the command exited, and results."""

    def seal(self) -> None:
        """Wait until the run is sealed, unless another program seals it."""


class RecordingClient:
    """RunRecorder that uses a running backend.

    Args:
        backend: client of the backend.
        options: recording options.
    """

    def __init__(self, backend: BackendClient, options: RecordingOptions) -> None:
        self._backend = backend
        self._request = backend.request_model
        self._options = options

    def attached(self) -> set[str]:
        """Return IDs of the sampled targets."""
        targets = self._request("/targets", TargetsResponse).targets
        return {target.id for target in targets if target.state == "attached"}

    def attach(self, asked: AttachRequest) -> Target:
        """Attach to a process or a group; the rate of an attached target is unchanged."""
        request = asked.model_dump(exclude_none=True, exclude={"rate_hz"})
        if (asked.group or asked).start_ticks is not None:
            request["host"] = local_host_id()
        if self._options.rate_hz is not None:
            request["rate_hz"] = self._options.rate_hz
        return self._request("/targets", Target, "POST", request)

    def detach(self, target: Target) -> None:
        """Stop sampling the target."""
        self._backend.request(f"/targets/{target.id}", "DELETE")

    def start(self, target: Target) -> RunManifest:
        """Start recording and wait for the first frame, so that even a short run has one."""
        manifest = self._request("/runs", RunManifest, "POST", self._options.request(target))
        return self._until(manifest, FIRST_SECONDS, lambda run: run.counts.frames > 0)

    def manifest(self, manifest: RunManifest) -> RunManifest:
        """Return the current manifest."""
        return self._request(f"/runs/{manifest.id}", RunManifest)

    def stop(self, manifest: RunManifest) -> RunManifest:
        """Stop recording."""
        return self._request(f"/runs/{manifest.id}/stop", RunManifest, "POST")

    def wait_for_end(self, manifest: RunManifest) -> RunManifest:
        """Wait until the process's exit ends the run; stop the run if frames stop arriving."""
        frames, outlived = -1, Outlived(manifest)
        while manifest.state == "recording" and manifest.counts.frames > frames:
            frames = manifest.counts.frames
            if outlived.is_seen(frames):
                return self.stop(manifest)
            manifest = self._until(manifest, LAST_SECONDS, partial(_has_more, frames))
        if manifest.state != "recording":
            return manifest
        return self._request(f"/runs/{manifest.id}/stop?target_ended=true", RunManifest, "POST")

    def patch(self, manifest: RunManifest, patch: RunPatch) -> RunManifest:
        """Record how the command exited, and results."""
        body = patch.model_dump(exclude_unset=True)
        return self._request(f"/runs/{manifest.id}", RunManifest, "PATCH", body)

    def seal(self) -> None:
        """Do nothing: a running tidscope seals runs itself."""

    def _until(
        self, manifest: RunManifest, seconds: float, enough: Callable[[RunManifest], bool]
    ) -> RunManifest:
        """Poll, with a timeout, until the run has ended or meets a condition."""
        end = time.monotonic() + seconds
        while manifest.state == "recording" and not enough(manifest) and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
            manifest = self.manifest(manifest)
        return manifest


def _has_more(frames: int, manifest: RunManifest) -> bool:
    return manifest.counts.frames > frames
