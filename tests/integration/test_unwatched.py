"""Targets of a real collector that no page reads any more."""

import os
from collections.abc import Callable
from pathlib import Path

from installation import Installation, running_installation
from receiver import Follower
from tidscope_wire.generated.models import LiveState, Target


async def attached(found: Installation) -> Target:
    answer = await found.ask(os.getpid(), rate_hz=20)
    return Target.model_validate_json(answer.content)


async def until(found: Installation, target: str, wanted: Callable[[Target], bool]) -> None:
    """Read states of the target on the page until it is as wanted."""
    while True:
        state = await found.page.text(LiveState)
        if any(one.id == target and wanted(one) for one in state.targets):
            return


async def test_it_is_slowed_and_sampled_as_before_once_a_page_reads_it(tmp_path: Path) -> None:
    async with running_installation(
        tmp_path, (), ("--no-steering",), slow_unwatched_seconds=0.5
    ) as found:
        target = await attached(found)
        await until(found, target.id, lambda one: one.rate_hz == 1)
        await found.page.subscribe(target.id)
        await Follower(found.page).until(lambda header: header.health.requested_hz == 20)


async def test_it_is_detached_at_last(tmp_path: Path) -> None:
    async with running_installation(
        tmp_path, (), ("--no-steering",), detach_unwatched_seconds=0.5
    ) as found:
        target = await attached(found)
        await until(found, target.id, lambda one: one.state == "detached")
