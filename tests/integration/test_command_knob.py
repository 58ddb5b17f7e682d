"""A pool of PgBouncer is steered by the commands of its administrator."""

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
from tidscope_wire.generated.models import SteeringDecided, SteeringProblem

pytestmark = [needs("root"), pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

OWN = 2


def users_of(pid: int) -> set[int]:
    """Real, effective, saved and file system user of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^Uid:\s(.*)$", status, re.MULTILINE)
    assert found is not None
    return {int(uid) for uid in found[1].split()}


async def test_a_pool_of_connections_is_found_restored_and_recommended(root: Installation) -> None:
    with pgbouncer(OWN) as bouncer, Steered(bouncer.adapter(), bouncer.sockets) as adapter:
        # It gave up root for the user in the file.
        assert users_of(adapter.pid) == {pwd.getpwnam("postgres").pw_uid}
        target, follower = await root.attach(adapter.pid)
        options = await root.steering_options(target.id)
        usable = [(one.kind, one.lower, one.upper) for one in options.knobs if not one.refusal]
        assert usable == [("pool-agent", 1, 10)]

        await root.steer(target.id, policy="cooperative", parameters={"interval_s": 0.5})
        kept = "to keep that without the policy: default_pool_size = "
        await follower.until(
            lambda _: any(kept in one.reason for one in follower.events(SteeringDecided))
        )
        print(f"decisions: {len(follower.events(SteeringDecided))}")
        print(follower.events(SteeringDecided)[-1].reason)
        now = await root.target(target.id)
        assert now.steering is not None
        assert now.steering.original == OWN
        await root.release(target.id)
        assert bouncer.size == OWN

        # Whatever fails is an event, and the size is left alone.
        await root.steer(target.id, policy="fixed", parameters={"size": 4, "interval_s": 0.5})
        wait_until(lambda: bouncer.size == 4)
        os.kill(bouncer.pid, signal.SIGKILL)
        await follower.until(lambda _: bool(follower.events(SteeringProblem)))
        assert "psql ended with 2" in str(follower.events(SteeringProblem)[-1].problem)
