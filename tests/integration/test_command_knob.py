"""A pool of PgBouncer is steered by the commands of its administrator."""

import asyncio
import os
import pwd
import re
import signal
from pathlib import Path

import pytest
from capabilities import needs
from installation import Installation
from processes import wait_until
from programs.pgbouncer import pgbouncer
from programs.steered import Steered
from receiver import Follower
from tidscope_wire.generated.models import SteeringDecided, SteeringProblem

pytestmark = [needs("root"), pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

OWN = 2


def users_of(pid: int) -> set[int]:
    """Real, effective, saved and file system user of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^Uid:\s(.*)$", status, re.MULTILINE)
    assert found is not None
    return {int(uid) for uid in found[1].split()}


def rates_at(size: int, follower: Follower) -> list[float]:
    """Operations per second of the decisions so far at a size, without intervals that had none."""
    decided = (one for one in follower.events(SteeringDecided) if one.size == size)
    return [one.ops / one.elapsed_s for one in decided if one.ops > 0]


async def test_a_pool_of_connections_is_set_restored_and_left_alone_after_a_failure(
    root: Installation,
) -> None:
    with pgbouncer(OWN) as bouncer, Steered(bouncer.adapter(), bouncer.sockets) as adapter:
        # It gave up root for the user in the file.
        assert users_of(adapter.pid) == {pwd.getpwnam("postgres").pw_uid}
        target, follower = await root.attach(adapter.pid)
        options = await root.steering_options(target.id)
        usable = [(one.kind, one.lower, one.upper) for one in options.knobs if not one.refusal]
        assert usable == [("pool-agent", 1, 10)]

        await root.steer(target.id, policy="fixed", parameters={"size": 6, "interval_s": 0.5})
        await follower.until(lambda _: bool(rates_at(6, follower)))
        now = await root.target(target.id)
        assert now.steering is not None
        assert now.steering.original == OWN
        await asyncio.to_thread(wait_until, lambda: bouncer.size == 6)
        # A query waits for 20 ms, so each connection does less than 50 a second. A busy machine
        # counts some of them late, in the next interval.
        assert rates_at(6, follower)[0] <= 6 * 50 * 3
        await root.release(target.id)
        await asyncio.to_thread(wait_until, lambda: bouncer.size == OWN)

        # Whatever fails is an event, and the size is left alone.
        await root.steer(target.id, policy="fixed", parameters={"size": 4, "interval_s": 0.5})
        await asyncio.to_thread(wait_until, lambda: bouncer.size == 4)
        os.kill(bouncer.pid, signal.SIGKILL)
        await follower.until(
            lambda _: any(
                "psql ended with 2" in (one.problem or "")
                for one in follower.events(SteeringProblem)
            )
        )
