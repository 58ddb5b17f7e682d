"""Programs of a group under one policy: all that are chosen, or none."""

import threading
from contextlib import suppress
from types import SimpleNamespace
from typing import cast

import pytest
from fake_steering import KNOB, SIGNAL, FakeSteering
from tidscope_collector.steering import groups
from tidscope_collector.steering.groups import (
    TRIES,
    Joining,
    Program,
    SteeringGroups,
    refusal_of,
    request_for,
)
from tidscope_collector.steering.loop.knob import KnobDescription
from tidscope_collector.steering.loop.setup import SteeredProcess
from tidscope_collector.steering.plan import (
    BadParameterError,
    NotSteerableError,
    NotSteeredError,
    SteeringPlan,
    TooManyActionsError,
)
from tidscope_collector.steering.service import SteeringService, SteeringTarget
from tidscope_policies.arbitration.division import Claim
from tidscope_policies.contract import Bounds, CoreShare, Grant, Observation, Peers
from tidscope_policies.registry import POLICIES
from tidscope_wire.generated.models import (
    KnobOption,
    ProgramChoice,
    ProofPlan,
    SignalOption,
    SteeringOptions,
    SteerRequest,
)

GROUP = "t-1"
FIXED = SteerRequest(policy="fixed")


def steered(target: str, program: Program) -> SteeringTarget:
    process = cast(SteeredProcess, SimpleNamespace(pid=program.pid))
    return SteeringTarget(f"{target}/{program.pid}", 0, process, lambda *_: None)


class Group:
    """Three programs, none of which is steered."""

    def __init__(self) -> None:
        self.service = FakeSteering()
        self.members = [Program(pid, pid * 10, f"work-{pid}") for pid in (11, 12, 13)]
        service = cast(SteeringService, self.service)
        self.groups = SteeringGroups(service, lambda _: self.members, steered)

    def steer(self, *pids: int) -> list[int]:
        """Steer the programs of these ids, or all; the ids of those that are."""
        choices = [ProgramChoice(pid=pid) for pid in pids] or None
        request = FIXED.model_copy(update={"programs": choices})
        return [one.pid for one in self.groups.steer(GROUP, request, "somebody")]

    @property
    def running(self) -> list[str]:
        return sorted(self.service.running)


@pytest.fixture
def group() -> Group:
    return Group()


def examined(options: SteeringOptions) -> list[tuple[int, str]]:
    return [(one.pid, one.refusal) for one in options.programs or []]


def test_options_of_a_group_have_those_first_that_can_be_steered(group: Group) -> None:
    group.service.unable = {11: "No agent."}
    group.steer(13)
    options = group.groups.options(GROUP)
    assert examined(options) == [(13, ""), (12, ""), (11, "No agent.")]
    able, _, unable = options.programs or []
    assert (able.start_ticks, able.name, able.knobs, able.signals) == (
        130,
        "work-13",
        [KNOB],
        [SIGNAL],
    )
    assert able.steering is not None
    assert (unable.knobs, unable.signals, unable.steering) == ([], [], None)
    assert (options.knobs, options.steering, options.unexamined) == ([], None, 0)


def test_of_too_many_the_steered_ones_are_examined(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "MAX_EXAMINED", 2)
    group.service.running[f"{GROUP}/13"] = FIXED
    options = group.groups.options(GROUP)
    assert [pid for pid, _ in examined(options)] == [13, 11]
    assert options.unexamined == 1


def test_a_long_refusal_is_cut_to_what_a_message_may_hold(group: Group) -> None:
    group.members = group.members[:1]
    group.service.unable = {11: "x" * 1025}
    assert examined(group.groups.options(GROUP)) == [(11, "x" * 1024)]


@pytest.mark.parametrize(
    ("knobs", "signals", "refusal"),
    [
        ([], [], ""),
        (["", "No agent."], ["", "No queue."], ""),
        (["No agent.", "No agent."], [""], "No agent."),
        (["No agent.", "One CPU."], [""], "No agent. One CPU."),
        ([""], ["No agent.", "No network.", "No agent."], "No agent. No network."),
        (["One CPU."], ["No agent."], "One CPU."),
        ([], ["No agent."], "No agent."),
    ],
)
def test_a_program_is_refused_if_all_knobs_or_all_signals_are(
    knobs: list[str], signals: list[str], refusal: str
) -> None:
    options = SteeringOptions(
        knobs=[
            KnobOption(kind="go-agent", refusal=one, lower=None, upper=None, size=None)
            for one in knobs
        ],
        signals=[
            SignalOption(kind="agent-ops", proxy=False, refusal=one, note="") for one in signals
        ],
        steering=None,
    )
    assert refusal_of(options) == refusal


def test_all_that_can_be_steered_are_if_none_is_named(group: Group) -> None:
    group.service.unable = {12: "No agent."}
    assert sorted(group.steer()) == [11, 13]
    assert group.running == [f"{GROUP}/11", f"{GROUP}/13"]


def test_only_so_many_are_steered_if_none_is_named(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "MAX_STEERED", 2)
    assert group.steer() == [11, 12]


def test_one_that_is_not_chosen_any_more_is_released(group: Group) -> None:
    group.steer(11, 12)
    group.service.running["t-2/12"] = FIXED
    assert group.steer(12, 13) == [12, 13]
    assert group.running == [f"{GROUP}/12", f"{GROUP}/13", "t-2/12"]
    assert group.service.released == [(f"{GROUP}/11", "somebody")]


@pytest.mark.parametrize(
    ("failure", "raised", "text"),
    [
        (NotSteerableError("No agent."), NotSteerableError, r"work-12 \(12\): No agent\."),
        (BadParameterError("lower"), BadParameterError, r"work-12 \(12\): lower"),
        (TooManyActionsError(), TooManyActionsError, "^$"),
        (OSError("no file"), OSError, "^no file$"),
    ],
)
def test_nothing_changes_if_one_of_the_chosen_cannot_be_steered(
    group: Group, failure: Exception, raised: type[Exception], text: str
) -> None:
    group.steer(11)
    group.service.failures = {12: failure}
    with pytest.raises(raised, match=text):
        group.steer(12, 13)
    assert group.running == [f"{GROUP}/11"]
    assert group.service.aborted == [f"{GROUP}/13"]
    assert group.service.released == []
    # The group is free for the next action.
    assert group.steer(13) == [13]


@pytest.mark.parametrize(
    ("request_", "raised", "text"),
    [
        (SteerRequest(policy="fixed", proof=ProofPlan()), BadParameterError, "of one program"),
        (SteerRequest(policy="fixed", programs=[]), BadParameterError, "no program is chosen"),
        (
            SteerRequest(policy="fixed", programs=[ProgramChoice(pid=11), ProgramChoice(pid=11)]),
            BadParameterError,
            "named twice",
        ),
        (
            SteerRequest(policy="fixed", programs=[ProgramChoice(pid=pid) for pid in (11, 12, 13)]),
            BadParameterError,
            "3 programs are more than the 2",
        ),
        (
            SteerRequest(policy="fixed", programs=[ProgramChoice(pid=11), ProgramChoice(pid=99)]),
            NotSteerableError,
            "Process 99 is not in the group",
        ),
    ],
    ids=["proof", "none", "twice", "too many", "another's"],
)
def test_a_choice_that_cannot_be_changes_nothing(
    group: Group,
    monkeypatch: pytest.MonkeyPatch,
    request_: SteerRequest,
    raised: type[Exception],
    text: str,
) -> None:
    monkeypatch.setattr(groups, "MAX_STEERED", 2)
    with pytest.raises(raised, match=text):
        group.groups.steer(GROUP, request_, "somebody")
    assert (group.running, group.service.steered_targets) == ([], [])


def test_a_group_of_which_none_can_be_steered_is_refused_with_the_reason_of_one(
    group: Group,
) -> None:
    group.service.unable = dict.fromkeys((11, 12, 13), "No agent.")
    with pytest.raises(NotSteerableError, match=r"None .* work-11 \(11\): No agent\.$"):
        group.steer()
    group.members = []
    with pytest.raises(NotSteerableError, match=r"can be steered\.$"):
        group.steer()


def test_what_a_program_names_itself_is_its_own() -> None:
    of_all = SteerRequest(
        policy="fixed", knob="go-agent", lower=2, upper=6, programs=[], join=True, shadow=True
    )
    own = request_for(of_all, ProgramChoice(pid=11, upper=3, signal="network-calls"))
    assert own == SteerRequest(
        policy="fixed", knob="go-agent", signal="network-calls", lower=2, upper=3, shadow=True
    )


def test_one_more_program_joins_up_to_a_number(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "MAX_STEERED", 2)
    group.steer(11)
    request = SteerRequest(policy="linear", join=True)
    group.groups.join(GROUP, group.members[1], request, "somebody", wanted=lambda: True)
    assert group.running == [f"{GROUP}/11", f"{GROUP}/12"]
    assert group.service.running[f"{GROUP}/12"] == SteerRequest(policy="linear")
    with pytest.raises(NotSteerableError, match="2 programs are steered"):
        group.groups.join(GROUP, group.members[2], request, "somebody", wanted=lambda: True)
    assert len(group.running) == 2


@pytest.mark.parametrize("answers", [[False], [True, False]])
def test_who_joins_while_all_are_released_is_released_too(
    group: Group, answers: list[bool]
) -> None:
    wanted = iter(answers)
    request = SteerRequest(policy="linear", join=True)
    with suppress(NotSteerableError):
        group.groups.join(GROUP, group.members[1], request, "somebody", wanted=lambda: next(wanted))
    assert next(wanted, None) is None
    assert group.running == []


def test_what_is_steered_is_one_program_or_all(group: Group) -> None:
    group.steer(11, 13)
    assert group.groups.keys(GROUP, None) == [f"{GROUP}/11", f"{GROUP}/13"]
    assert group.groups.keys(GROUP, 13) == [f"{GROUP}/13"]
    with pytest.raises(NotSteeredError):
        group.groups.keys(GROUP, 12)
    with pytest.raises(NotSteeredError):
        group.groups.keys("t-2", None)


def program(pid: int) -> Program:
    return Program(pid, 100, f"p{pid}")


def test_nobody_looks_for_programs_of_a_group_that_has_ended() -> None:
    lists: list[list[Program] | None] = [[], [], [program(1)], [program(1)], None]
    lookers: list[threading.Thread] = []
    joined: list[Program] = []

    def members() -> list[Program] | None:
        lookers.append(threading.current_thread())
        return lists.pop(0)

    Joining(members, joined.append, round_s=0.001).start()
    while len(lookers) < 2:  # The first one is this thread, before the start.
        threading.Event().wait(0.001)
    lookers[1].join(60)
    assert not lookers[1].is_alive()
    assert lists == []
    assert joined == [program(1)]


def test_those_that_were_there_do_not_join_and_new_ones_wait_for_a_poll() -> None:
    living = [program(1)]
    joined: list[Program] = []
    joining = Joining(lambda: living, joined.append)
    living.append(program(2))
    assert joining.try_round()
    assert joined == []
    assert joining.try_round()
    assert joining.try_round()
    assert joined == [program(2)]


def test_one_that_cannot_be_steered_is_tried_now_and_then_and_left_alone_at_last() -> None:
    living: list[Program] = []
    tries: list[Program] = []

    def join(one: Program) -> None:
        tries.append(one)
        raise NotSteerableError("it has no agent")

    joining = Joining(lambda: living, join)
    living.append(program(2))
    after: list[int] = []
    for _ in range(40):
        assert joining.try_round()
        after.append(len(tries))
    assert after[:10] == [0, 1, 1, 2, 2, 2, 2, 3, 3, 3]
    assert after[-1] == TRIES


PLANNED_KNOB = KnobDescription("go-agent", 1, 8, 8)


def test_claims() -> None:
    asked = SteerRequest(policy="arbiter", share=2.5, floor=3)
    plan = SteeringPlan.of(asked)
    assert plan.claim == Claim(2.5, 3, 0)
    assert plan.bounds(PLANNED_KNOB, asked) == Bounds(1, 8)
    assert SteeringPlan.of(SteerRequest(policy="arbiter")).claim == Claim()
    assert SteeringPlan.of(SteerRequest(policy="linear")).claim is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (SteerRequest(policy="linear", floor=0), "for the policy arbiter, not linear"),
        (SteerRequest(policy="arbiter", shadow=True), "shadow mode"),
        (SteerRequest(policy="arbiter", proof=ProofPlan()), "a proof is of one program"),
    ],
    ids=["another-policy", "shadow", "proof"],
)
def test_what_cannot_be_claimed(asked: SteerRequest, words: str) -> None:
    with pytest.raises(BadParameterError, match=words):
        SteeringPlan.of(asked)


def test_a_floor_above_the_largest_size_is_refused() -> None:
    asked = SteerRequest(policy="arbiter", floor=5, upper=4)
    with pytest.raises(BadParameterError, match="the floor 5 is above the largest size 4"):
        SteeringPlan.of(asked).bounds(PLANNED_KNOB, asked)


@pytest.mark.parametrize(
    ("cores", "peers", "given", "size"),
    [
        (CoreShare(8, 4), Peers(2), {}, 4),
        (None, Peers(2), {}, 4),
        (CoreShare(8, 4), Peers(2), {"cores": 4}, 2),
        (None, None, {}, 8),
    ],
    ids=["share", "unknown", "named", "alone"],
)
def test_without_a_division_it_is_the_equal_share(
    cores: CoreShare | None, peers: Peers | None, given: dict[str, float], size: int
) -> None:
    policy = POLICIES["arbiter"].make(given).policy
    seen = Observation(2.0, 2.0, 100.0, 8, Bounds(1, 8), peers=peers, cores=cores)
    assert policy.observe(seen).size == size


def test_it_follows_the_arbiter() -> None:
    policy = POLICIES["arbiter"].make().policy
    grant = Grant(3, 8, 2, "trying", "It may do more.", "try", 1.0, 0.1, 0.2)
    decided = policy.observe(Observation(2.0, 2.0, 1.0, 8, Bounds(1, 8), grant=grant))
    assert (decided.size, decided.state) == (3, "trying")
    assert decided.reason == "3 of 8 cores. It may do more."
    policy.restart("asked for")
    assert policy.observe(Observation(3.0, 1.0, 1.0, 3, Bounds(1, 8), grant=grant)) == decided
