"""Asks a backend to record, step by step."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel
from tidscope_wire.generated.models import RunManifest, RunOutcome, Target, TargetsResponse

from tidscope_backend.cli.backend_client import ask, tell
from tidscope_backend.cli.own_site import Reached

M = TypeVar("M", bound=BaseModel)
FIRST_SECONDS = 5.0
LAST_SECONDS = 10.0
LOOK_SECONDS = 0.02


@dataclass(frozen=True)
class Wish:
    """What is to be recorded, and what the run is called; None: not said."""

    name: str | None
    tags: list[str]
    group: str | None
    notes: str | None
    rate_hz: float | None
    past_s: float | None
    duration_s: float | None

    def request(self, target: Target) -> dict[str, object]:
        """The body of the request."""
        given = {
            "name": self.name,
            "group": self.group,
            "notes": self.notes,
            "past_s": self.past_s,
            "duration_s": self.duration_s,
        }
        said = {name: value for name, value in given.items() if value is not None}
        return {"target": target.id, "tags": self.tags, **said}


class RecordingDesk:
    """All of it raises RefusedError and UnavailableError.

    Args:
        site: the backend.
        wish: what is wanted.
    """

    def __init__(self, site: Reached, wish: Wish) -> None:
        self._site = site
        self._wish = wish

    def attached(self) -> set[str]:
        """Ids of the targets that are being sampled."""
        targets = self._ask("/targets", TargetsResponse).targets
        return {target.id for target in targets if target.state == "attached"}

    def attach(self, pid: int) -> Target:
        """Attach to a process; one that is attached to already keeps its rate."""
        request: dict[str, object] = {"pid": pid}
        if self._wish.rate_hz is not None:
            request["rate_hz"] = self._wish.rate_hz
        return self._ask("/targets", Target, "POST", request)

    def detach(self, target: Target) -> None:
        """Sample it no more."""
        tell(self._site.address, self._site.token, f"/targets/{target.id}", "DELETE")

    def begin(self, target: Target) -> RunManifest:
        """Begin to record, and wait for the first instant: what ends at once has one then."""
        manifest = self._ask("/runs", RunManifest, "POST", self._wish.request(target))
        return self._until(manifest, FIRST_SECONDS, lambda run: run.counts.frames > 0)

    def look(self, manifest: RunManifest) -> RunManifest:
        """How far it is."""
        return self._ask(f"/runs/{manifest.id}", RunManifest)

    def stop(self, manifest: RunManifest) -> RunManifest:
        """End it."""
        return self._ask(f"/runs/{manifest.id}/stop", RunManifest, "POST")

    def ended(self, manifest: RunManifest) -> RunManifest:
        """Wait until the end of the process has ended it; end it if that does not come."""
        manifest = self._until(manifest, LAST_SECONDS, lambda _: False)
        return self.stop(manifest) if manifest.state == "recording" else manifest

    def tell_outcome(self, manifest: RunManifest, outcome: RunOutcome) -> RunManifest:
        """Say how the command ended."""
        body = {"outcome": outcome.model_dump()}
        return self._ask(f"/runs/{manifest.id}", RunManifest, "PATCH", body)

    def _until(
        self, manifest: RunManifest, seconds: float, enough: Callable[[RunManifest], bool]
    ) -> RunManifest:
        """Look again and again until it has ended or there is enough, but not for too long."""
        end = time.monotonic() + seconds
        while manifest.state == "recording" and not enough(manifest) and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)
            manifest = self.look(manifest)
        return manifest

    def _ask(
        self, path: str, answer: type[M], method: str = "GET", body: object | None = None
    ) -> M:
        return ask(self._site.address, self._site.token, path, answer, method, body)
