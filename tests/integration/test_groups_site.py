"""A group behind the real backend, read by a collector that has given up its rights."""

import asyncio

import pytest
from capabilities import needs
from group_targets import HeldCommand, used_ns
from receiver import Follower
from tidscope_wire.generated.models import Target, TargetExited
from whole_site import Site

pytestmark = [pytest.mark.asyncio(loop_scope="module"), needs("root"), needs("btf")]

COMMANDS = 100


async def test_a_tree_is_followed_by_a_confined_collector(root: Site) -> None:
    command = HeldCommand(["bash", "-c", f"for i in $(seq {COMMANDS}); do /bin/true; done"])
    answer = await root.client.post(
        "/api/v1/targets", json={"group": {"kind": "tree", "pid": command.pid}}
    )
    assert answer.status_code == 201, answer.text
    target = Target.model_validate_json(answer.content)
    assert target.group is not None
    assert target.group.discovery == "ebpf"
    async with root.backend.page() as page:
        await page.subscribe(target.id)
        follower = Follower(page)
        used = await asyncio.to_thread(command.run)
        await follower.until_event(TargetExited)
    totals = follower.receiver.exited
    assert totals.threads == COMMANDS + 2
    assert totals.totals["cpu_run_ns"] == pytest.approx(used_ns(used), rel=0.005)
