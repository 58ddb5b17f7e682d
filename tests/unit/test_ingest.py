"""Frames and commands of collectors: receipts, and memory of steering."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from backend_builders import ACTOR, TARGET_ID, host, steering, target
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest import frames as module
from tidscope_backend.ingest.frame_ingest import AnnouncedTargets
from tidscope_backend.ingest.frames import MANY_FRAMES, MUCH_BYTES, Receipts
from tidscope_backend.ingest.link import CollectorLink
from tidscope_backend.ingest.links import (
    MAX_KNOWN,
    NotResumedError,
    SteeringMemory,
    request_again,
)
from tidscope_backend.ingest.messages import DisconnectedError
from tidscope_wire.generated.models import (
    FramesReceived,
    Group,
    ProgramChoice,
    ProgramOptions,
    ProofPlan,
    ProofState,
    ProofVerdict,
    SteeredProgram,
    SteerRequest,
    SweepPlan,
    Target,
)
from tidscope_wire.problems import ProblemError

TARGET, OTHER = "t-1-0000000a", "t-2-0000000b"


class Sent(asyncio.Queue[dict[str, int]]):
    """Messages sent to the collector."""

    async def take(self, text: str) -> None:
        await self.put(FramesReceived.model_validate_json(text).targets)


@asynccontextmanager
async def running(sent: Sent) -> AsyncIterator[Receipts]:
    receipts = Receipts(sent.take)
    task = asyncio.create_task(receipts.run())
    try:
        yield receipts
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_many_frames_have_one_receipt() -> None:
    sent = Sent()
    async with running(sent) as receipts:
        for seq in range(1, MANY_FRAMES):
            receipts.note(TARGET, seq, 100)
            await asyncio.sleep(0)
        assert sent.empty()
        receipts.note(OTHER, 7, 100)
        assert await sent.get() == {TARGET: MANY_FRAMES - 1, OTHER: 7}


async def test_many_bytes_are_confirmed_at_once() -> None:
    sent = Sent()
    async with running(sent) as receipts:
        receipts.note(TARGET, 1, MUCH_BYTES)
        assert await sent.get() == {TARGET: 1}


async def test_few_frames_wait_for_a_limited_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_SECONDS", 0.05)
    sent = Sent()
    async with running(sent) as receipts:
        receipts.note(TARGET, 1, 100)
        assert await sent.get() == {TARGET: 1}


async def test_a_collector_that_ends_waits_for_no_receipt() -> None:
    sent = Sent()
    async with running(sent) as receipts:
        receipts.note(TARGET, 1, 100)
        receipts.hurry()
        assert await sent.get() == {TARGET: 1}
        receipts.note(TARGET, 2, 100)
        assert await sent.get() == {TARGET: 2}


GROUP = Group(
    kind="tree",
    value=None,
    name="api and its descendants",
    cgroup=None,
    discovery="polling",
    discovery_reason="test",
)
REQUEST = SteerRequest(policy="fixed", parameters={"size": 2})


def memory(request: SteerRequest = REQUEST) -> SteeringMemory:
    found = SteeringMemory()
    found.note(TARGET_ID, request)
    return found


def steered(**changes: object) -> Target:
    return target().model_copy(update={"steering": steering(), **changes})


def proof(verdict: ProofVerdict, pairs: int) -> ProofState:
    return ProofState(
        verdict=verdict,
        pairs=pairs,
        discarded=0,
        gain_percent=None,
        low_percent=None,
        high_percent=None,
        lost_s=0,
        elapsed_s=9,
        steers=True,
        text="",
    )


def again(old: Target, now: Target, known: SteeringMemory) -> SteerRequest | None:
    return request_again(old, now, known.recall(TARGET_ID))


def test_a_policy_is_started_as_it_was_asked_for() -> None:
    assert again(steered(), target(), memory()) == REQUEST
    proven = proof("better", pairs=4)
    asked = memory(REQUEST.model_copy(update={"proof": ProofPlan()}))
    old = steered(steering=steering(proof=proven))
    assert again(old, target(), asked) == REQUEST


def test_what_somebody_released_is_not() -> None:
    known = memory()
    known.forget(TARGET_ID)
    assert again(steered(), target(), known) is None
    # Nor what had ended before.
    assert again(target(), target(), memory()) is None


@pytest.mark.parametrize(
    "change", [{"name": "other"}, {"executable": "/bin/other"}, {"command": ["other"]}]
)
def test_another_program_in_the_process_is_not_steered(change: dict[str, object]) -> None:
    now = target()
    now = now.model_copy(update={"process": now.process.model_copy(update=change)})
    with pytest.raises(NotResumedError, match="another program"):
        again(steered(), now, memory())


def test_trials_are_not_begun_again() -> None:
    with pytest.raises(NotResumedError, match="sweep"):
        again(steered(), target(), memory(REQUEST.model_copy(update={"sweep": SweepPlan()})))
    open_proof = REQUEST.model_copy(update={"proof": ProofPlan()})
    under_way = steered(steering=steering(proof=proof("open", pairs=1)))
    with pytest.raises(NotResumedError, match="proof"):
        again(under_way, target(), memory(open_proof))


def program(pid: int, name: str = "api") -> SteeredProgram:
    return SteeredProgram(pid=pid, start_ticks=pid, name=name, steering=steering())


def options(pid: int, name: str = "api", start_ticks: int = 0) -> ProgramOptions:
    return ProgramOptions(
        pid=pid,
        start_ticks=start_ticks or pid,
        name=name,
        refusal="",
        knobs=[],
        signals=[],
        steering=None,
    )


def test_of_a_group_the_same_programs_are_steered() -> None:
    group = target().model_copy(update={"group": GROUP})
    old = group.model_copy(
        update={"programs": [program(at) for at in (1, 2, 3, 4)], "programs_join": True}
    )
    own = ProgramChoice(pid=1, upper=3)
    known = memory(REQUEST.model_copy(update={"programs": [own, ProgramChoice(pid=9)]}))
    known.forget(TARGET_ID, 2)
    now = [options(1), options(2), options(3, "other"), options(4, start_ticks=99)]
    found = request_again(old, group, known.recall(TARGET_ID), now)
    assert found is not None
    assert (found.programs, found.join) == ([own], True)
    with pytest.raises(NotResumedError, match="none of its programs"):
        request_again(old, group, known.recall(TARGET_ID), [options(2)])


def test_memory_is_bounded() -> None:
    known = memory()
    for at in range(MAX_KNOWN):
        known.note(f"t-{at}-00000000", REQUEST)
    assert known.recall(TARGET_ID) is None
    assert known.recall("t-0-00000000") is not None
    known.forget("t-none", 5)


async def test_a_command_to_a_collector_that_has_vanished_is_refused_with_what_to_do() -> None:
    async def send(_: str) -> None:
        raise DisconnectedError("the socket is closed")

    announced = AnnouncedTargets(host().id, HostRegistry(10), [])
    link = CollectorLink(host(), send, lambda: None, 1.0, 1.0, [], announced)
    with pytest.raises(ProblemError) as refused:
        await link.steer(TARGET_ID, SteerRequest(policy="fixed"), ACTOR)
    problem = refused.value.problem
    assert problem.status == 503
    assert problem.detail == "the connection to the collector of box was lost"
    assert problem.hint == "it reconnects by itself; try again in a moment"
