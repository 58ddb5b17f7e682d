"""Steering programs that link no agent: by their CPUs, on what can be seen from outside."""

import os

import pytest
from capabilities import needs
from programs.go_programs import ThreadsRun
from tidscope_wire.generated.models import GomaxprocsChanged, SteeringDecided
from whole_site import Site

CPUS = len(os.sched_getaffinity(0))
pytestmark = [
    needs("root"),
    needs("two-cpus"),
    pytest.mark.asyncio(loop_scope="module"),
]


async def test_gomaxprocs_of_an_unmodified_program_is_steered_and_comes_back(root: Site) -> None:
    with ThreadsRun() as program:
        assert program.size == CPUS
        target, follower = await root.attach(program.pid)
        found = await root.steering_options(target.id)
        usable = [one for one in found.knobs if not one.refusal]
        assert [(one.kind, one.lower, one.upper) for one in usable] == [("go-affinity", 1, CPUS)]
        proxies = {one.kind for one in found.signals if one.proxy}
        assert proxies == {"network-calls", "network-bytes"}

        steered = await root.steer(target.id, policy="fixed", upper=1)
        assert steered.steering is not None
        assert steered.steering.knob == "go-affinity"
        assert steered.steering.proxy
        # Read back from the program's own memory.
        changed = await follower.until_event(GomaxprocsChanged)
        assert (changed.previous, changed.size) == (CPUS, 1)
        assert all(len(mask) == 1 for mask in program.masks().values())
        await follower.until(
            lambda _: any(one.next_size == 1 for one in follower.events(SteeringDecided))
        )
        while_steered = await root.steering_options(target.id)
        assert [(one.kind, one.upper) for one in while_steered.knobs] == [("go-affinity", CPUS)]

        # What is beyond the knob's bounds is refused, and changes nothing.
        for beyond in ({"upper": CPUS + 1}, {"parameters": {"size": CPUS + 1}}):
            answer = await root.client.put(
                f"/api/v1/targets/{target.id}/steering", json={"policy": "fixed", **beyond}
            )
            assert (answer.status_code, str(CPUS + 1) in answer.json()["detail"]) == (422, True)
        now = (await root.target(target.id)).steering
        assert now is not None
        assert (now.policy, now.upper, now.original) == ("fixed", 1, CPUS)

        # At size 1 another policy takes over, with all CPUs to choose from.
        switched = await root.steer(target.id, policy="cooperative")
        assert switched.steering is not None
        assert (switched.steering.upper, switched.steering.original) == (CPUS, CPUS)
        await follower.until(
            lambda _: [one.size for one in follower.events(GomaxprocsChanged)][:2] == [1, CPUS]
        )
        await follower.until(
            lambda _: any(one.policy == "cooperative" for one in follower.events(SteeringDecided))
        )
        by = [one for one in follower.events(SteeringDecided) if one.policy == "cooperative"]
        assert by[0].size == 1

        await root.steer(target.id, policy="fixed", upper=1)
        await follower.until(lambda _: follower.events(GomaxprocsChanged)[-1].size == 1)
        await root.release(target.id)
        await follower.until(lambda _: follower.events(GomaxprocsChanged)[-1].size == CPUS)
        assert all(len(mask) == CPUS for mask in program.masks().values())
