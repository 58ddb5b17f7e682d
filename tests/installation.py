"""A backend, a collector and a page, as tests use them."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from backend_server import Backend, running_backend
from live_page import LivePage
from receiver import Follower, connected
from tidscope_processes import CollectorProcess
from tidscope_wire.generated.models import Host, Problem, SteeringOptions, Target, TargetsResponse


@dataclass
class Installation:
    """A backend, a collector that is connected to it, and a page.

    Attributes:
        host: host as announced by the collector.
    """

    backend: Backend
    collector: CollectorProcess
    client: httpx.AsyncClient
    page: LivePage
    host: Host

    async def ask(self, pid: int, **more: Any) -> httpx.Response:
        """Ask to attach to a process."""
        return await self.client.post("/api/v1/targets", json={"pid": pid, **more})

    async def attach(self, pid: int, rate_hz: float = 20) -> tuple[Target, Follower]:
        """Attach and follow."""
        answer = await self.ask(pid, rate_hz=rate_hz)
        assert answer.status_code == 201, answer.text
        target = Target.model_validate_json(answer.content)
        await self.page.subscribe(target.id)
        return target, Follower(self.page)

    async def refused(self, pid: int, **more: Any) -> Problem:
        """Ask to attach and return the problem of the refusal."""
        answer = await self.ask(pid, **more)
        assert answer.headers["content-type"] == "application/problem+json"
        problem = Problem.model_validate_json(answer.content)
        assert answer.status_code == problem.status >= 400
        assert problem.hint
        return problem

    async def targets(self) -> list[Target]:
        """All targets that the backend knows."""
        answer = await self.client.get("/api/v1/targets")
        return TargetsResponse.model_validate_json(answer.raise_for_status().content).targets

    async def detach_all(self) -> None:
        """Detach all targets, which also releases their steering."""
        for target in await self.targets():
            if target.state == "attached":
                answer = await self.client.delete(f"/api/v1/targets/{target.id}")
                # The target may have ended meanwhile.
                assert answer.status_code in (204, 409, 410), answer.text

    async def steer(self, target: str, **request: Any) -> Target:
        """Start steering a target by a policy."""
        answer = await self.client.put(f"/api/v1/targets/{target}/steering", json=request)
        assert answer.status_code == 200, answer.text
        return Target.model_validate_json(answer.content)

    async def steering_options(self, target: str) -> SteeringOptions:
        """Ask how a target could be steered."""
        answer = await self.client.get(f"/api/v1/targets/{target}/steering")
        return SteeringOptions.model_validate_json(answer.raise_for_status().content)

    async def release(self, target: str) -> Target:
        """Stop steering a target."""
        answer = await self.client.delete(f"/api/v1/targets/{target}/steering")
        assert answer.status_code == 200, answer.text
        return Target.model_validate_json(answer.content)

    async def target(self, name: str) -> Target:
        """Return a target as the backend reports it."""
        answer = await self.client.get(f"/api/v1/targets/{name}")
        return Target.model_validate_json(answer.raise_for_status().content)

    async def ended(self, name: str) -> Target:
        """Return a target once its process has ended for the backend, too.

        The message that changes its state is another one than the frame that tells of the end.
        """
        deadline = time.monotonic() + 120
        while (found := await self.target(name)).state != "exited":
            assert time.monotonic() < deadline, found
            await asyncio.sleep(0.05)
        return found


@asynccontextmanager
async def installation(
    within: Sequence[str] = (), options: Sequence[str] = ()
) -> AsyncIterator[Installation]:
    """Run backend and collector; no frame is coalesced, however slow the test is."""
    with tempfile.TemporaryDirectory(prefix="tidscope-test-") as runs:
        async with running_installation(Path(runs), within, options) as found:
            yield found


@asynccontextmanager
async def running_installation(
    runs: Path, within: Sequence[str], options: Sequence[str], **changes: Any
) -> AsyncIterator[Installation]:
    """Installation with a folder for runs and other settings of the backend."""
    async with (
        running_backend(
            queue_frames=10_000, command_seconds=60, runs_dir=runs, **changes
        ) as backend,
        backend.program() as client,
        backend.page() as page,
        CollectorProcess(backend.port, within, options=options) as collector,
    ):
        state = await connected(page)
        yield Installation(backend, collector, client, page, state.hosts[0])
