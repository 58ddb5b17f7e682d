"""Steering commands on groups and processes: who is let go of, what is published and logged."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest.mock import Mock

import pytest
from backend_builders import ACTOR, process, steering, target
from fake_steering import FakeSteering
from tidscope_collector.groups.members import Member
from tidscope_collector.groups.sampler import GroupSampler
from tidscope_collector.groups.selector import Selection
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.steering import commands as steering_commands
from tidscope_collector.steering.audit import AuditSink
from tidscope_collector.steering.commands import SteeringCommands
from tidscope_collector.steering.groups import Program
from tidscope_collector.steering.loop.events import DETACH, PROGRAM_EXIT
from tidscope_collector.steering.plan import (
    BadParameterError,
    NotSteerableError,
    NotSteeredError,
    TooManyActionsError,
)
from tidscope_collector.steering.service import SteeringService
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_wire.audit import TIDSCOPE, AuditError
from tidscope_wire.generated.models import (
    Actor,
    AuditAction,
    AuditOutcome,
    Group,
    GroupSelector,
    Process,
    ProgramChoice,
    SteeringReleased,
    SteerRequest,
    Target,
)
from tidscope_wire.problems import ProblemError, refusal

ONE, GROUP = "t-100-0000000a", "t-11-0000000b"
FIXED = SteerRequest(policy="fixed")
JOINS = SteerRequest(policy="fixed", join=True)
TREE = Group(
    kind="tree", value=None, name="make", cgroup=None, discovery="ebpf", discovery_reason="test"
)
NAMED = GroupSelector(kind="tree", pid=11)


class Joining:
    """Looks for new programs when the test says so."""

    made: list["Joining"]

    def __init__(
        self, members: Callable[[], list[Program]], join: Callable[[Program], None]
    ) -> None:
        self.members, self.join = members, join
        self.state = "made"
        self.made.append(self)

    def start(self) -> None:
        self.state = "started"

    def stop(self) -> None:
        self.state = "stopped"


class Sampler:
    """Target as its sampler shows it, and changes by commands."""

    def __init__(self, shown: Target, kind: type[TargetSampler], pids: tuple[int, ...]) -> None:
        self.attach_ns = 7
        self.target = shown
        self.pids = pids
        self.mock = Mock(spec=kind, attach_ns=7, target=shown)
        self.mock.living = self.living
        self.mock.total.side_effect = len
        self.mock.programs_join.side_effect = self._joins
        self.mock.programs_steered.side_effect = self._programs

    def living(self) -> list[Member]:
        return [
            Member(number, 0, pid, pid, pid * 10, f"work-{pid}", 0, before=False)
            for number, pid in enumerate(self.pids, 1)
        ]

    def _joins(self, joins: bool) -> None:
        self._show(programs_join=joins)

    def _programs(self, programs: object, _: object) -> None:
        self._show(programs=programs or None)

    def _show(self, **changes: object) -> None:
        self.target = self.mock.target = self.target.model_copy(update=changes)


class Host:
    """Two attached targets: a process, and a group of three.

    Attributes:
        logged: lines of the audit log.
        failure: why a line is not on the disk.
        updated: targets as the registry knows them.
    """

    def __init__(self, procfs: ProcFs) -> None:
        self.service = FakeSteering()
        self.logged: list[tuple[str, str, str, dict[str, str]]] = []
        self.failure: AuditError | None = None
        self.updated: list[Target] = []
        group = target(GROUP).model_copy(update={"group": TREE})
        self.known = {ONE: target(ONE), GROUP: group}
        self.group = Sampler(group, GroupSampler, (13, 11, 12))
        self.one = Sampler(self.known[ONE], TargetSampler, ())
        self.samplers = {ONE: self.one, GROUP: self.group}
        self.targets = SimpleNamespace(
            attached=self.attached,
            update=self.updated.append,
            describe=process,
            find=lambda pid, start_ticks: None,
            select=self.select,
            find_group=lambda selection: None,
            counts_network=True,
        )
        self.engine = SimpleNamespace(submit=self.submit, find=self.find)
        self.procfs = procfs
        self.commands = self.serve(self.log)

    def serve(self, audit: AuditSink | None) -> SteeringCommands:
        return SteeringCommands(
            cast(TargetRegistry, self.targets),
            cast(Engine, self.engine),
            cast(SteeringService, self.service),
            self.procfs,
            audit,
        )

    def attached(self, of: str) -> Target:
        if of not in self.known:
            raise refusal("unknown-target", "no such target", "Look.")
        return self.known[of]

    def select(self, _: GroupSelector) -> tuple[Selection, list[Process]]:
        older = process(11).model_copy(update={"start_ticks": 500})
        return Selection("tree", None, "make", older, frozenset({11, 12})), [
            process(12),
            older,
            process(99),
        ]

    def find(self, of: str) -> object:
        found = self.samplers.get(of)
        return None if found is None else found.mock

    def submit(self, action: Callable[[], object]) -> Future[object]:
        done: Future[object] = Future()
        done.set_result(action())
        return done

    def log(
        self,
        action: AuditAction,
        outcome: AuditOutcome,
        actor: Actor,
        of: str,
        details: Mapping[str, str],
    ) -> Future[AuditError | None]:
        self.logged.append((action, outcome, actor.label, dict(details)))
        assert of in self.known
        written: Future[AuditError | None] = Future()
        written.set_result(self.failure)
        return written

    def steer(self, *pids: int) -> Target:
        choices = [ProgramChoice(pid=pid) for pid in pids]
        request = FIXED.model_copy(update={"programs": choices})
        return self.commands.steer(GROUP, request, ACTOR)

    def publish(self, of: str, event: SteeringReleased, *, still: bool = False) -> None:
        """A loop tells of what happened to one that is steered."""
        (steered,) = [one for one in self.service.steered_targets if one.id == of]
        steered.publish(steering() if still else None, event)


def kind(raised: pytest.ExceptionInfo[ProblemError]) -> str:
    return raised.value.problem.type.rpartition(":")[2]


def released(actor: str) -> SteeringReleased:
    return SteeringReleased(policy="fixed", size=2, actor=actor)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setattr(steering_commands, "Joining", Joining)
    Joining.made = []
    return Host(ProcFs(tmp_path))


def test_the_programs_of_a_group_are_steered_and_shown(host: Host) -> None:
    shown = host.steer(12, 11)
    assert host.service.steered(GROUP) == [f"{GROUP}/11", f"{GROUP}/12"]
    assert host.updated == [shown]
    assert (shown.id, shown.programs_join) == (GROUP, False)
    assert Joining.made == []


def test_options_are_of_the_target_or_of_each_program(host: Host) -> None:
    options = host.commands.options(GROUP)
    # The oldest first, though no sample was taken yet.
    assert [one.pid for one in options.programs or []] == [13, 11, 12]
    assert host.commands.options(ONE).programs is None
    of_one = host.service.examined[-1]
    assert (of_one.id, of_one.attach_ns, of_one.process.pid) == (ONE, 7, 100)
    assert of_one.process.fields == frozenset(host.known[ONE].fields)


def test_a_group_whose_sampler_has_gone_has_no_programs(host: Host) -> None:
    del host.samplers[GROUP]
    assert host.commands.options(GROUP).programs == []


def test_one_process_is_steered_and_has_no_programs_to_choose_from(host: Host) -> None:
    for name, value in (("join", True), ("programs", [])):
        with pytest.raises(ProblemError, match="one process") as raised:
            host.commands.steer(ONE, FIXED.model_copy(update={name: value}), ACTOR)
        assert kind(raised) == "bad-parameter"
    assert host.service.running == {}
    assert host.commands.steer(ONE, FIXED, ACTOR).id == ONE
    assert host.service.running == {ONE: FIXED}


@pytest.mark.parametrize(
    ("failure", "problem", "text"),
    [
        (NotSteerableError("No agent."), "not-steerable", "No agent"),
        (BadParameterError("lower is 0"), "bad-parameter", "lower is 0"),
        (NotSteeredError(), "not-steered", "no policy"),
        (TooManyActionsError(), "too-many-actions", "10 s"),
    ],
)
def test_troubles_are_refusals_that_say_why(
    host: Host, failure: Exception, problem: str, text: str
) -> None:
    host.service.failures = {100: failure, 11: failure}
    chosen = FIXED.model_copy(update={"programs": [ProgramChoice(pid=11)]})
    for of, request in ((ONE, FIXED), (GROUP, chosen)):
        with pytest.raises(ProblemError, match=text) as raised:
            host.commands.steer(of, request, ACTOR)
        assert kind(raised) == problem
    assert host.service.running == {}


def test_a_process_that_just_exited_is_not_steered(host: Host) -> None:
    del host.samplers[ONE]
    with pytest.raises(ProblemError) as raised:
        host.commands.steer(ONE, FIXED, ACTOR)
    assert kind(raised) == "target-exited"
    assert host.service.running == {}


def test_the_search_of_one_program_or_of_all_is_restarted(host: Host) -> None:
    host.steer(11, 12)
    host.commands.restart(GROUP, 12, "somebody")
    assert host.service.restarted == [(f"{GROUP}/12", "somebody")]
    host.commands.restart(GROUP, None, "somebody")
    assert [key for key, _ in host.service.restarted[1:]] == [f"{GROUP}/11", f"{GROUP}/12"]
    with pytest.raises(ProblemError) as raised:
        host.commands.restart(ONE, None, "somebody")
    assert kind(raised) == "not-steered"


def test_a_release_is_of_one_program_or_of_all_and_only_then_none_joins(host: Host) -> None:
    host.commands.steer(GROUP, JOINS, ACTOR)
    (joining,) = Joining.made
    shown = host.commands.release(GROUP, 12, "somebody")
    assert host.service.released == [(f"{GROUP}/12", "somebody")]
    assert (joining.state, shown.programs_join) == ("started", True)
    shown = host.commands.release(GROUP, None, "somebody")
    assert host.service.running == {}
    assert (joining.state, shown.programs_join) == ("stopped", False)
    with pytest.raises(ProblemError) as raised:
        host.commands.release(GROUP, None, "somebody")
    assert kind(raised) == "not-steered"


def test_a_release_when_all_have_ended_says_that_none_joins_any_more(host: Host) -> None:
    host.commands.steer(GROUP, JOINS, ACTOR)
    host.service.running.clear()
    with pytest.raises(ProblemError) as raised:
        host.commands.release(GROUP, None, "somebody")
    assert kind(raised) == "not-steered"
    assert Joining.made[0].state == "stopped"
    assert not host.group.target.programs_join


def test_a_group_that_just_ended_is_let_go_of_all_the_same(host: Host) -> None:
    host.commands.steer(GROUP, JOINS, ACTOR)
    del host.samplers[GROUP]
    with pytest.raises(ProblemError) as raised:
        host.commands.release(GROUP, None, "somebody")
    assert kind(raised) == "target-exited"
    assert host.service.running == {}
    assert Joining.made[0].state == "stopped"


def test_a_release_of_a_process_is_its_own(host: Host) -> None:
    host.steer(11)
    host.commands.steer(ONE, FIXED, ACTOR)
    host.commands.release(ONE, None, "somebody")
    assert host.service.released == [(ONE, "somebody")]
    assert host.service.steered(GROUP) == [f"{GROUP}/11"]


def test_who_steers_again_decides_whether_programs_join(host: Host) -> None:
    assert host.commands.steer(GROUP, JOINS, ACTOR).programs_join
    first = Joining.made[0]
    assert [one.pid for one in first.members()] == [13, 11, 12]
    assert host.commands.steer(GROUP, JOINS, ACTOR).programs_join
    assert [one.state for one in Joining.made] == ["stopped", "started"]
    assert not host.commands.steer(GROUP, FIXED, ACTOR).programs_join
    assert [one.state for one in Joining.made] == ["stopped", "stopped"]


@pytest.mark.parametrize("end", ["leave", "close"])
def test_who_leaves_is_let_go_of_and_none_joins(host: Host, end: str) -> None:
    host.commands.steer(GROUP, JOINS, ACTOR)
    if end == "leave":
        host.commands.leave(GROUP)
        assert host.service.forgotten == [GROUP]
    else:
        host.commands.close()
    assert Joining.made[0].state == "stopped"
    assert host.service.running == {}


def joining_one(host: Host, commands: SteeringCommands) -> Callable[[], None]:
    """A group of which program 11 is steered; what lets program 14 join it."""
    host.service.unable = {12: "No agent.", 13: "No agent."}
    commands.steer(GROUP, JOINS, ACTOR)
    return lambda: Joining.made[-1].join(Program(14, 140, "late"))


def test_a_program_that_joins_is_logged_before_and_after(host: Host) -> None:
    joining_one(host, host.commands)()
    assert host.service.running[f"{GROUP}/14"] == FIXED
    details = {"pid": "14", "process": "late", "joins": "true", "policy": "fixed"}
    assert host.logged == [
        ("steer", "started", ACTOR.label, details),
        ("steer", "done", ACTOR.label, details),
    ]


def test_a_program_that_cannot_join_is_logged_as_refused(host: Host) -> None:
    join = joining_one(host, host.commands)
    host.service.failures = {14: NotSteerableError("No agent.")}
    with pytest.raises(NotSteerableError, match="No agent"):
        join()
    assert [outcome for _, outcome, _, _ in host.logged] == ["started", "refused"]


def test_what_cannot_be_logged_does_not_join(host: Host) -> None:
    join = joining_one(host, host.commands)
    host.failure = AuditError("The disk is full.")
    with pytest.raises(NotSteerableError, match="The disk is full"):
        join()
    assert host.service.steered(GROUP) == [f"{GROUP}/11"]
    assert [outcome for _, outcome, _, _ in host.logged] == ["started"]


def test_programs_join_where_there_is_no_log(host: Host) -> None:
    joining_one(host, host.serve(None))()
    assert host.service.steered(GROUP) == [f"{GROUP}/11", f"{GROUP}/14"]
    host.publish(f"{GROUP}/14", released(PROGRAM_EXIT))
    assert host.logged == []


def test_a_release_that_nobody_asked_for_is_logged(host: Host) -> None:
    host.steer(11)
    host.commands.steer(ONE, FIXED, ACTOR)
    host.publish(f"{GROUP}/11", released(PROGRAM_EXIT))
    host.publish(ONE, released(DETACH))
    defaults = {"policy": "fixed", "size": "2"}
    assert host.logged == [
        (
            "release",
            "done",
            TIDSCOPE.label,
            {"reason": PROGRAM_EXIT, "pid": "11", "process": "work-11", **defaults},
        ),
        ("release", "done", TIDSCOPE.label, {"reason": DETACH, **defaults}),
    ]
    host.publish(ONE, released("somebody"))
    assert len(host.logged) == 2


def test_events_of_programs_name_them_and_those_steered_are_shown_in_order(host: Host) -> None:
    host.steer(12, 11)
    for pid in (12, 11):
        host.publish(f"{GROUP}/{pid}", released("somebody"), still=True)
    shown = host.group.target.programs or []
    assert [(one.pid, one.start_ticks, one.name) for one in shown] == [
        (11, 110, "work-11"),
        (12, 120, "work-12"),
    ]
    host.publish(f"{GROUP}/11", released("somebody"))
    assert [one.pid for one in host.group.target.programs or []] == [12]
    _, event = host.group.mock.programs_steered.call_args.args
    assert (event.pid, event.program) == (11, "work-11")


def test_events_of_a_process_are_its_own(host: Host) -> None:
    host.commands.steer(ONE, FIXED, ACTOR)
    host.publish(ONE, released("somebody"), still=True)
    host.one.mock.steered.assert_called_once_with(steering(), released("somebody"))


def test_events_of_a_target_that_is_not_sampled_any_more_are_dropped(host: Host) -> None:
    host.steer(11)
    host.commands.steer(ONE, FIXED, ACTOR)
    host.samplers.clear()
    host.publish(f"{GROUP}/11", released("somebody"))
    host.publish(ONE, released("somebody"))
    assert host.group.mock.programs_steered.call_args is None
    assert host.one.mock.steered.call_args is None


def test_totals_are_of_the_sampled_process_and_of_no_other(host: Host) -> None:
    host.commands.steer(ONE, FIXED, ACTOR)
    (steered,) = host.service.steered_targets
    assert steered.process.totals(("a", "b")) == 2
    assert steered.process.owned_port(80).refusal()
    del host.samplers[ONE]
    assert steered.process.totals(("a", "b")) is None
    host.commands.ask(100, None)
    assert host.service.examined[-1].process.totals(("a", "b")) is None


def test_a_process_is_asked_about_without_a_trace(host: Host) -> None:
    options = host.commands.ask(100, None)
    assert (len(options.knobs), options.programs) == (1, None)
    (asked,) = host.service.examined
    assert "net_read_calls" in asked.process.fields
    assert host.service.forgotten == [asked.id]
    assert asked.id not in host.known
    host.targets.counts_network = False
    host.commands.ask(100, None)
    assert host.service.examined[-1].process.fields == frozenset()


def test_a_group_is_asked_about_without_a_trace(host: Host) -> None:
    options = host.commands.ask(None, NAMED)
    assert [one.pid for one in options.programs or []] == [11, 12]
    assert sorted(host.service.forgotten) == sorted(one.id for one in host.service.examined)
    assert len(host.service.forgotten) == 2


def test_what_is_attached_is_asked_about_as_the_target_that_it_is(host: Host) -> None:
    host.steer(12)
    host.targets.find = lambda pid, start_ticks: host.known[ONE]
    host.targets.find_group = lambda selection: host.known[GROUP]
    host.commands.ask(100, None)
    assert host.service.examined[-1].id == ONE
    options = host.commands.ask(None, NAMED)
    first = (options.programs or [])[0]
    assert (first.pid, first.steering is not None) == (12, True)
    assert host.service.forgotten == []


def test_a_question_names_a_process_or_a_group(host: Host) -> None:
    with pytest.raises(ProblemError) as raised:
        host.commands.ask(None, None)
    assert kind(raised) == "bad-group"
