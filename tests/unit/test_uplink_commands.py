"""Commands that give a size back have threads of their own."""

import asyncio
import threading
from unittest.mock import Mock

from backend_builders import ACTOR
from tidscope_collector.steering.commands import SteeringCommands
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink.commands import CommandHandler
from tidscope_wire.generated.models import (
    ListProcessesCommand,
    Process,
    ProcessesReply,
    RefusedReply,
    ReleaseCommand,
)
from tidscope_wire.problems import refusal

MANY = 64


async def test_slow_listings_do_not_keep_a_release() -> None:
    go_on = threading.Event()

    def list_processes() -> list[Process]:
        go_on.wait()
        return []

    targets = Mock(spec=TargetRegistry)
    targets.processes.side_effect = list_processes
    steering = Mock(spec=SteeringCommands)
    steering.release.side_effect = refusal("not-steered", "no policy", "Choose one.")
    handler = CommandHandler(targets, Mock(), steering=steering)
    try:
        listings = [
            asyncio.create_task(handler.answer(ListProcessesCommand(request_id=number)))
            for number in range(MANY)
        ]
        await asyncio.sleep(0)
        released = await handler.answer(
            ReleaseCommand(request_id=MANY, target="t-1-00000000", actor=ACTOR)
        )
        assert isinstance(released, RefusedReply)
        assert not any(listing.done() for listing in listings)
    finally:
        go_on.set()
    assert all(isinstance(reply, ProcessesReply) for reply in await asyncio.gather(*listings))
