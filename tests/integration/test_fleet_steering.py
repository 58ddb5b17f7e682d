"""Steering over real NATS servers: switched by another backend, and released by its lease."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from asked_children import wait_for_children
from backend_server import Backend, running_backend
from capabilities import needs
from nats_servers import Servers, collecting
from processes import start_ticks, wait_until
from programs.agent_program import AgentFolder
from programs.steered import Steered, paced_go
from receiver import Follower, connected
from tidscope_collector.agent.client import open_agent
from tidscope_collector.inspection.answering import LONGEST_TIMEOUT_S
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.loop.events import COMMAND_GONE
from tidscope_wire.generated.models import (
    SteeringDecided,
    SteeringReleased,
    SteeringStarted,
    Target,
)

pytestmark = needs("root")
LONGEST_S = 60.0
LEASE_S = 8.0
BEYOND_S = LEASE_S + 2.0
"""Longer than a lease without renewals."""
TWO = {"policy": "fixed", "parameters": {"size": 2, "interval_s": 0.5}}
THREE = {"policy": "fixed", "parameters": {"size": 3, "interval_s": 0.5}}


def size_of(program: Steered) -> int:
    """The size that the program's agent has."""
    ticks = start_ticks(program.pid)
    client = open_agent(ProcFs(), program.pid, ticks, LONGEST_S, LONGEST_TIMEOUT_S)
    try:
        return client.read().size
    finally:
        client.close()


async def has_size(program: Steered, size: int) -> None:
    """Wait until the program has a size."""
    await asyncio.to_thread(wait_until, lambda: size_of(program) == size, LONGEST_S)


def read(answer: httpx.Response) -> Target:
    """The target of an answer."""
    assert answer.is_success, answer.text
    return Target.model_validate_json(answer.content)


class Seat:
    """A backend of the fleet, and a page that reads the target there."""

    def __init__(self, backend: Backend, client: httpx.AsyncClient, follower: Follower) -> None:
        self.backend, self.client, self.follower = backend, client, follower

    async def steer(self, target: str, **request: Any) -> Target:
        """Have a policy steer the target."""
        return read(await self.client.put(f"/api/v1/targets/{target}/steering", json=request))

    async def decided(self, wanted: Callable[[SteeringDecided], bool]) -> SteeringDecided:
        """Wait until a decision of a kind has arrived, which may have come already."""
        while not (found := [one for one in self.follower.events(SteeringDecided) if wanted(one)]):
            await self.follower.next()
        return found[-1]

    async def decided_for(self, seconds: float, renewed: Callable[[], Any] | None = None) -> None:
        """Follow decisions for a time of the host's clock."""
        first = await self.follower.until_event(SteeringDecided)
        last = first
        while last.at_ns - first.at_ns < seconds * 1e9:
            if renewed is not None:
                await renewed()
            last = await self.follower.until_event(SteeringDecided)
            assert not self.follower.events(SteeringReleased)


class Fleet:
    """A steered program on a host, and two backends that see it over NATS.

    Attributes:
        program: program on the host.
        original: its size.
        target: target ID.
        first: backend that attached to it.
        other: another backend.
        leaves: leaves the first backend.
    """

    def __init__(
        self, program: Steered, target: str, seats: tuple[Seat, Seat], leaves: AsyncExitStack
    ) -> None:
        self.program, self.target = program, target
        self.original = size_of(program)
        self.first, self.other = seats
        self.leaves = leaves


@asynccontextmanager
async def steered_fleet(folder: Path) -> AsyncIterator[Fleet]:
    """Attach to a program through one of two backends."""
    await asyncio.to_thread(wait_for_children)
    async with AsyncExitStack() as held, AsyncExitStack() as leaves, asyncio.timeout(240):
        servers = await held.enter_async_context(Servers(folder))
        await held.enter_async_context(collecting(servers, folder))
        agents = held.enter_context(AgentFolder())
        program = held.enter_context(Steered(paced_go(8, 4), agents))
        seats: list[Seat] = []
        target = ""
        for stack in (leaves, held):
            backend = await stack.enter_async_context(
                running_backend(
                    fleet=servers.settings("backend"),
                    queue_frames=10_000,
                    command_seconds=LONGEST_S,
                )
            )
            client = await stack.enter_async_context(backend.program())
            page = await stack.enter_async_context(backend.page())
            await connected(page)
            if not seats:
                asked = {"pid": program.pid, "rate_hz": 10}
                target = read(await client.post("/api/v1/targets", json=asked)).id
            await page.subscribe(target)
            seats.append(Seat(backend, client, Follower(page)))
        first, other = seats
        yield Fleet(program, target, (first, other), leaves)


async def test_another_backend_sees_a_policy_switches_it_and_releases_it(tmp_path: Path) -> None:
    async with steered_fleet(tmp_path) as fleet:
        first, other = fleet.first, fleet.other
        steering = (await first.steer(fleet.target, **TWO)).steering
        assert steering is not None
        assert (steering.policy, steering.knob) == ("fixed", "go-agent")
        for seat in (first, other):
            decision = await seat.decided(lambda one: one.next_size == 2)
            assert decision.reason
        await has_size(fleet.program, 2)

        await other.steer(fleet.target, **THREE)
        for seat in (first, other):
            await seat.decided(lambda one: one.next_size == 3)
            assert len(seat.follower.events(SteeringStarted)) == 2
        await has_size(fleet.program, 3)

        answer = await other.client.delete(f"/api/v1/targets/{fleet.target}/steering")
        assert read(answer).steering is None
        for seat in (first, other):
            await seat.follower.until_event(SteeringReleased)
        await has_size(fleet.program, fleet.original)
        again = await first.client.delete(f"/api/v1/targets/{fleet.target}/steering")
        assert (again.status_code, again.json()["title"]) == (409, "Not steered")


async def test_a_lease_is_renewed_by_any_backend_and_ends_without_renewals(tmp_path: Path) -> None:
    async with steered_fleet(tmp_path) as fleet:
        first, other = fleet.first, fleet.other
        await first.steer(fleet.target, **TWO, lease_s=LEASE_S)

        async def renew() -> None:
            read(await other.client.post(f"/api/v1/targets/{fleet.target}/steering/renew"))

        await other.decided_for(BEYOND_S, renew)
        await has_size(fleet.program, 2)
        # The backend that steers goes; the host keeps the lease.
        await fleet.leaves.aclose()
        released = await other.follower.until_event(SteeringReleased)
        assert released.actor == COMMAND_GONE
        await has_size(fleet.program, fleet.original)


async def test_a_policy_of_another_backend_ends_the_lease_of_the_first(tmp_path: Path) -> None:
    async with steered_fleet(tmp_path) as fleet:
        first, other = fleet.first, fleet.other
        await first.steer(fleet.target, **TWO, lease_s=LEASE_S)
        await first.decided(lambda one: one.next_size == 2)
        await other.steer(fleet.target, **THREE)
        await other.decided(lambda one: one.next_size == 3)
        await other.decided_for(BEYOND_S)
        await has_size(fleet.program, 3)
