"""Steering real programs: a policy finds a good size, people see why, and can take it back."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from backend_server import running_backend
from capabilities import needs
from installation import Installation, installation
from processes import start_ticks, stop
from programs.agent_program import AgentFolder
from programs.steered import (
    Steered,
    contended_go,
    known_throughput,
    paced_go,
    paced_python,
    waiting_python,
)
from receiver import Follower, connected
from tidscope_collector.agent.client import AgentClient, open_agent
from tidscope_collector.inspection.answering import LONGEST_TIMEOUT_S
from tidscope_collector.procfs.files import ProcFs
from tidscope_processes import CollectorProcess, free_port
from tidscope_wire.audit import read_records
from tidscope_wire.generated.models import (
    AuditRecord,
    SearchRestarted,
    Steering,
    SteeringDecided,
    SteeringProblem,
    SteeringReleased,
    SteeringStarted,
    Target,
)

pytestmark = [
    needs("root"),
    pytest.mark.asyncio(loop_scope="module"),
]


def sleeping_go() -> list[str]:
    """A Go program that sleeps and counts, which leaves the CPUs to the collector."""
    return paced_go(8, 4)


@contextmanager
def steered(command: list[str]) -> Iterator[Steered]:
    with AgentFolder() as folder, Steered(command, folder) as program:
        yield program


def agent_of(program: Steered) -> AgentClient:
    """Connect to a program's agent, which may wait long for a CPU on a busy machine."""
    pid = program.pid
    return open_agent(ProcFs(), pid, start_ticks(pid), timeout_s=60, opening_s=LONGEST_TIMEOUT_S)


async def size_of(program: Steered) -> int:
    def ask() -> int:
        client = agent_of(program)
        try:
            return client.read().size
        finally:
            client.close()

    return await asyncio.to_thread(ask)


async def eventually(ask: Callable[[], Any], wanted: Callable[[Any], bool], what: str) -> Any:
    """Ask until the answer is the wanted one."""
    deadline = time.monotonic() + 120
    while not wanted(found := await ask()):
        assert time.monotonic() < deadline, f"{what}; it is {found!r}"
        await asyncio.sleep(0.05)
    return found


def audit_of(root: Installation) -> list[AuditRecord]:
    """All that the collector logged."""
    return list(read_records(root.collector.audit))


def put_folder_in_place_of(file: Path) -> None:
    file.unlink()
    file.mkdir()


async def test_a_policy_finds_a_size_as_good_as_the_best(root: Installation) -> None:
    """Two programs at once, with known throughput at each size."""
    programs = [(paced_go(4, 2), "go-agent", 2), (paced_python(8, 3), "pool-agent", 3)]
    both = asyncio.Barrier(len(programs))
    found = await asyncio.gather(*(searched(root, both, *program) for program in programs))
    for (_, knob, best), size in zip(programs, found, strict=True):
        assert known_throughput(size, best) >= 0.95, (knob, best, size)


async def searched(
    root: Installation, both: asyncio.Barrier, command: list[str], knob: str, best: int
) -> int:
    """The size that a policy keeps a program at. A release restarts others, so all settle first."""
    with steered(command) as program:
        async with root.backend.page() as page:
            asked = await root.ask(program.pid, rate_hz=5)
            assert asked.status_code == 201, asked.text
            target = Target.model_validate_json(asked.content).id
            await page.subscribe(target)
            follower = Follower(page)
            answer = await root.steer(target, policy="kalman-kg", parameters={"interval_s": 0.5})
            assert answer.steering is not None
            steering = answer.steering
            assert (steering.knob, steering.signal, steering.proxy) == (knob, "agent-ops", False)

            def has_settled(_: object) -> bool:
                decisions = follower.events(SteeringDecided)
                kept = [one.next_size for one in decisions if one.state == "settled"]
                # Beside other tests it may settle at another size first, and search again.
                return len(decisions) >= 24 and known_throughput([0, *kept][-1], best) >= 0.95

            await follower.until(has_settled)
            await both.wait()
            await root.release(target)
    decided = follower.events(SteeringDecided)
    for one in decided:
        print(knob, one.size, round(one.ops / one.elapsed_s), one.next_size, one.state, one.reason)
    # Events from which the page draws its timeline.
    assert len({one.size for one in decided}) > 1
    assert all(one.reason and one.state and one.elapsed_s > 0 for one in decided)
    for earlier, later in pairwise(decided):
        assert later.at_ns > earlier.at_ns
        assert later.size == earlier.next_size or not later.counted
    # The search goes on for good, and looks at other sizes: the last one that it kept counts.
    return [one.next_size for one in decided if one.state == "settled"][-1]


async def test_from_the_first_press_to_the_release(root: Installation) -> None:
    logged = len(audit_of(root))
    with steered(sleeping_go()) as program:
        original = await size_of(program)
        target, follower = await root.attach(program.pid)
        assert target.steering is None
        found = await root.steering_options(target.id)
        usable = {one.kind: one for one in found.knobs if not one.refusal}
        assert usable["go-agent"].model_dump(include={"lower", "upper", "size"}) == {
            "lower": 1,
            "upper": 8,
            "size": original,
        }
        assert next(one.kind for one in found.signals if not one.refusal) == "agent-ops"

        now = await root.steer(target.id, policy="bidirectional", parameters={"interval_s": 0.5})
        assert now.steering is not None
        assert now.steering.policy == "bidirectional"
        began = await follower.until_event(SteeringStarted)
        assert (began.policy, began.knob, began.size) == ("bidirectional", "go-agent", original)
        assert began.actor == "a program at 127.0.0.1"
        await eventually(lambda: size_of(program), lambda size: size != original, "it moves")

        answer = await root.client.post(f"/api/v1/targets/{target.id}/steering/restart")
        assert answer.status_code == 200
        restarted = await follower.until_event(SearchRestarted)
        assert restarted.reason == "requested"

        # Another policy takes over: the first one gives the original size back before.
        await root.steer(target.id, policy="fixed", lower=2, upper=3)
        fixed = await follower.until_event(SteeringStarted)
        assert (fixed.policy, fixed.lower, fixed.upper) == ("fixed", 2, 3)
        await eventually(lambda: size_of(program), lambda size: size in (2, 3), "bounds hold")

        gone = await root.release(target.id)
        assert gone.steering is None
        await follower.until_event(SteeringReleased)
        assert await size_of(program) == original
        # Now and then the target itself tells of it, too.
        assert (await root.target(target.id)).steering is None
    lines = audit_of(root)[logged:]
    assert [(line.action, line.outcome) for line in lines] == [
        ("attach", "done"),
        ("steer", "started"),
        ("steer", "done"),
        ("restart-search", "started"),
        ("restart-search", "done"),
        ("steer", "started"),
        ("steer", "done"),
        ("release", "done"),
    ]
    assert {line.details["pid"] for line in lines} == {str(program.pid)}
    assert {line.object for line in lines} == {target.id}
    assert {line.actor.label for line in lines} == {"a program at 127.0.0.1"}
    assert lines[1].details["policy"] == "bidirectional"
    assert root.collector.audit.stat().st_mode & 0o777 == 0o600


async def test_a_pool_is_steered_on_the_time_that_its_jobs_wait(root: Installation) -> None:
    with steered(waiting_python()) as program:
        target, follower = await root.attach(program.pid)
        now = await root.steer(target.id, policy="ait", parameters={"interval_s": 0.5})
        assert now.steering is not None
        assert (now.steering.knob, now.steering.signal) == ("pool-agent", "queue-wait")
        # Jobs queue up before one worker: the pool grows.
        await follower.until(
            lambda _: any(one.next_size >= 5 for one in follower.events(SteeringDecided))
        )
        assert all(one.mean_wait_s is not None for one in follower.events(SteeringDecided))
        await root.release(target.id)
        # A worker that is too many ends as soon as its job is done.
        await eventually(lambda: size_of(program), lambda size: size == 1, "the original size")


async def test_shadow_mode_decides_and_does_not_act(root: Installation) -> None:
    with steered(sleeping_go()) as program:
        original = await size_of(program)
        target, follower = await root.attach(program.pid)
        await root.steer(
            target.id,
            policy="linear",
            shadow=True,
            parameters={"interval_s": 0.5, "warm_up_s": 0},
        )
        await follower.until(
            lambda _: any(
                one.proposed not in (None, original) for one in follower.events(SteeringDecided)
            )
        )
        assert {one.next_size for one in follower.events(SteeringDecided)} == {original}
        assert await size_of(program) == original


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"policy": "nonsense"}, 422, "there is no policy 'nonsense'"),
    ({"policy": "fixed", "parameters": {"interval_s": 0.01}}, 422, "interval_s"),
    ({"policy": "fixed", "parameters": {"speed": 1}}, 422, "speed"),
    ({"policy": "fixed", "lower": 0}, 422, "lower"),
    ({"policy": "fixed", "upper": 9}, 422, "1 to 8"),
    ({"policy": "fixed", "lower": 5, "upper": 4}, 422, "5 to 4"),
    ({"policy": "fixed", "knob": "pool-agent"}, 409, "go-agent"),
    ({"policy": "fixed", "signal": "queue-wait"}, 409, "wait"),
    ({"policy": "fixed", "signal": "prometheus"}, 409, "port and path"),
    (
        {
            "policy": "fixed",
            "signal": "prometheus",
            "prometheus": {"port": 22, "path": "/metrics", "metric": "ops_total"},
        },
        409,
        "does not listen on port 22",
    ),
]


async def test_what_cannot_be_done_is_refused_by_name(root: Installation) -> None:
    with steered(sleeping_go()) as program:
        target, _ = await root.attach(program.pid)
        for request, status, words in REFUSED:
            answer = await root.client.put(f"/api/v1/targets/{target.id}/steering", json=request)
            assert answer.status_code == status, (request, answer.text)
            problem = answer.json()
            assert words in problem["detail"], request
            assert problem["hint"], request
            assert (await root.target(target.id)).steering is None, request


async def test_a_program_without_an_agent_says_what_it_lacks(root: Installation) -> None:
    with (
        AgentFolder() as _,
        Steered([*waiting_python()[:1], "-c", "print('ready', flush=True); input()"]) as program,
    ):
        target, _ = await root.attach(program.pid)
        found = await root.steering_options(target.id)
        assert all(one.refusal for one in found.knobs)
        answer = await root.client.put(
            f"/api/v1/targets/{target.id}/steering", json={"policy": "fixed"}
        )
        assert answer.status_code == 409
        assert "agent" in answer.json()["detail"].lower()
        for path in ("", "/restart"):
            method = root.client.delete if not path else root.client.post
            answer = await method(f"/api/v1/targets/{target.id}/steering{path}")
            assert (answer.status_code, answer.json()["title"]) == (409, "Not steered")


async def test_it_goes_on_while_the_backend_is_away() -> None:
    async with AsyncExitStack() as kept:
        first = AsyncExitStack()
        backend = await first.enter_async_context(running_backend(free_port()))
        collector = await kept.enter_async_context(CollectorProcess(backend.port))
        page = await first.enter_async_context(backend.page())
        client = await first.enter_async_context(backend.program())
        state = await connected(page)
        program = kept.enter_context(steered(sleeping_go()))
        root = Installation(backend, collector, client, page, state.hosts[0])
        target, follower = await root.attach(program.pid)
        await root.steer(target.id, policy="bidirectional", parameters={"interval_s": 0.5})
        reported = (await follower.until_event(SteeringDecided)).at_ns
        await first.aclose()
        # Nobody listens, and the size goes on changing.
        sizes: set[int] = set()
        deadline = time.monotonic() + 120
        while len(sizes) < 3:
            sizes.add(await size_of(program))
            assert time.monotonic() < deadline, sizes
            await asyncio.sleep(0.05)
        again = await kept.enter_async_context(running_backend(backend.port))
        page = await kept.enter_async_context(again.page())
        await connected(page)
        await page.subscribe(target.id)
        follower = Follower(page)
        await follower.until(lambda _: len(follower.events(SteeringDecided)) >= 4)
        # Decisions made meanwhile are reported now.
        between = [one.at_ns for one in follower.events(SteeringDecided) if one.at_ns > reported]
        assert len(between) >= 3


async def test_the_end_of_the_program_ends_it(root: Installation) -> None:
    with steered(sleeping_go()) as program:
        target, follower = await root.attach(program.pid)
        await root.steer(target.id, policy="bidirectional", parameters={"interval_s": 0.5})
        await follower.until_event(SteeringDecided)
        await asyncio.to_thread(program.end)
        assert (await root.ended(target.id)).steering is None


async def test_the_end_of_the_collector_gives_the_size_back() -> None:
    with steered(sleeping_go()) as program:
        original = await size_of(program)
        async with installation() as root:
            target, _ = await root.attach(program.pid)
            await root.steer(target.id, policy="fixed", upper=2)
            await eventually(lambda: size_of(program), lambda size: size == 2, "it is set")
        assert await size_of(program) == original


async def test_two_programs_share_the_machine(root: Installation) -> None:
    with steered(contended_go(4)) as one, steered(contended_go(4)) as two:
        targets = []
        for program in (one, two):
            target, _ = await root.attach(program.pid)
            targets.append(target.id)
            await root.steer(target.id, policy="cooperative", parameters={"interval_s": 0.5})
        # The second one makes the first one start again, at its share of the cores: half of 4.
        for program in (one, two):
            await eventually(partial(size_of, program), lambda size: size <= 2, "a share")
        for name in targets:
            assert isinstance((await root.target(name)).steering, Steering)


async def test_who_has_the_view_token_only_watches(root: Installation) -> None:
    with steered(sleeping_go()) as program:
        target, _ = await root.attach(program.pid)
        async with root.backend.viewer() as viewer:
            assert (await viewer.get("/api/v1/session")).json()["role"] == "viewer"
            assert (await viewer.get(f"/api/v1/targets/{target.id}")).status_code == 200
            for method, path in (
                ("PUT", f"/targets/{target.id}/steering"),
                ("DELETE", f"/targets/{target.id}/steering"),
                ("POST", f"/targets/{target.id}/steering/restart"),
                ("POST", "/targets"),
                ("DELETE", f"/targets/{target.id}"),
            ):
                answer = await viewer.request(method, f"/api/v1{path}", json={"policy": "fixed"})
                assert answer.status_code == 403
                assert answer.json()["type"] == "urn:tidscope:problem:view-only"
        assert (await root.client.get("/api/v1/session")).json()["role"] == "operator"


async def test_without_a_log_nothing_is_steered_and_a_release_is_done() -> None:
    async with installation() as root:
        with steered(sleeping_go()) as program:
            original = await size_of(program)
            target, _ = await root.attach(program.pid)
            await root.steer(target.id, policy="fixed", upper=2)
            await eventually(lambda: size_of(program), lambda size: size == 2, "it is set")
            audit: Path = root.collector.audit
            await asyncio.to_thread(put_folder_in_place_of, audit)
            answer = await root.client.put(
                f"/api/v1/targets/{target.id}/steering", json={"policy": "linear"}
            )
            assert (answer.status_code, str(audit) in answer.json()["detail"]) == (503, True)
            # Read-only requests proceed without a log.
            answer = await root.client.patch(f"/api/v1/targets/{target.id}", json={"rate_hz": 5})
            assert answer.status_code == 200
            # The effective size stays.
            assert (await root.target(target.id)).steering is not None
            await root.release(target.id)
            assert await size_of(program) == original


async def test_buttons_that_are_pressed_too_fast_are_refused_and_a_release_never_is(
    root: Installation,
) -> None:
    with steered(sleeping_go()) as program:
        target, _ = await root.attach(program.pid)
        await root.steer(target.id, policy="fixed")
        path = f"/api/v1/targets/{target.id}/steering/restart"
        statuses: set[int] = set()
        # A machine that stalls may need so long for some that they are not too fast.
        while statuses <= {200}:
            answers = await asyncio.gather(*(root.client.post(path) for _ in range(30)))
            statuses |= {one.status_code for one in answers}
        assert statuses == {200, 429}
        await root.release(target.id)


async def test_a_lost_agent_is_reported_and_found_again(root: Installation) -> None:
    with steered(sleeping_go()) as program:
        target, follower = await root.attach(program.pid)
        await root.steer(target.id, policy="bidirectional", parameters={"interval_s": 0.5})
        await follower.until_event(SteeringDecided)

        def problems() -> list[str]:
            return [one.problem or "" for one in follower.events(SteeringProblem)]

        # A busy machine may have made the agent late before.
        earlier = len(problems())
        stop(program.pid)  # The agent does not answer.
        await follower.until(lambda _: any("answer" in one for one in problems()[earlier:]))
        os.kill(program.pid, 18)
        await follower.until(lambda _: not problems()[-1])
        count = len(follower.events(SteeringDecided))
        await follower.until(lambda _: len(follower.events(SteeringDecided)) > count)
