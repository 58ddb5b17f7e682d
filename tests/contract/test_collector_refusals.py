"""Every refusal that a collector gives is a problem of the shared table.

Each kind that `problems.json` says is raised by the collector is provoked here through the command
handler, or, where the machine would have to be prepared, through the unit that raises it.
"""

import errno
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from backend_builders import ACTOR, HOST_ID
from schema_check import check
from tidscope_collector.groups import selector as selector_module
from tidscope_collector.processes.identity import Absence, Identity, attach_refusal
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.steering.commands import SteeringCommands
from tidscope_collector.steering.plan import (
    BadParameterError,
    NotSteerableError,
    NotSteeredError,
    TooManyActionsError,
)
from tidscope_collector.steering.service import SteeringService
from tidscope_collector.targets import targets as targets_module
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink.audited_commands import AuditedCommands
from tidscope_collector.uplink.commands import Command, CommandHandler, Commands, parse
from tidscope_wire.audit import AuditLog, AuditTrail
from tidscope_wire.generated.models import (
    AttachCommand,
    DetachCommand,
    DoctorCommand,
    DoctorReport,
    GroupSelector,
    ListRingCommand,
    Problem,
    ProblemType,
    RefusedReply,
    RestartSearchCommand,
    SampleStacksCommand,
    SetDelayAccountingCommand,
    SetRateCommand,
    Steering,
    TargetReply,
)
from tidscope_wire.generated.problems import PROBLEMS
from tidscope_wire.problems import PREFIX

UNKNOWN = "t-1-00000000"
ALIVE = Identity(
    pid=50, group=50, start_ticks=700, name="web", uid=0, kernel_thread=False, ended=False
)


class Refusing(SteeringService):
    """A steering service that refuses every restart with one error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def restart(self, target: str, actor: str) -> Steering:
        raise self.error

    def ended(self, target: str) -> None:
        pass


def failing_examination() -> DoctorReport:
    raise RuntimeError("no report")


class Harness:
    """Commands of a collector that samples this very process."""

    def __init__(self, engine: Engine, targets: TargetRegistry) -> None:
        self._engine, self._targets = engine, targets

    async def refused(
        self, make: Callable[[str], Command], steering: SteeringService | None = None
    ) -> Problem:
        """Attach, give a command for the target, and return how it is refused."""
        return await self._refused(
            CommandHandler(
                self._targets,
                failing_examination,
                steering=None
                if steering is None
                else SteeringCommands(self._targets, self._engine, steering, ProcFs()),
            ),
            make,
        )

    async def refused_unlogged(self, make: Callable[[str], Command]) -> Problem:
        """Refusal of a command if the disk of the audit log is full."""
        commands = CommandHandler(self._targets, failing_examination)
        audit = AuditTrail(AuditLog(Path("/dev/full")))
        try:
            return await self._refused(AuditedCommands(commands, self._targets, audit), make)
        finally:
            audit.close()

    @staticmethod
    async def _refused(commands: Commands, make: Callable[[str], Command]) -> Problem:
        attached = await commands.answer(attach())
        assert isinstance(attached, TargetReply), attached
        reply = await commands.answer(make(attached.target.id))
        assert isinstance(reply, RefusedReply), reply
        assert reply.request_id == 2
        check("RefusedReply", reply.model_dump(mode="json"))
        return reply.problem

    async def refused_after_detach(self, make: Callable[[str], Command]) -> Problem:
        """Refusal of a command for a target that is no longer sampled."""
        commands = CommandHandler(self._targets, failing_examination)
        attached = await commands.answer(attach())
        assert isinstance(attached, TargetReply), attached
        await commands.answer(DetachCommand(request_id=1, target=attached.target.id, actor=ACTOR))
        return await self.refused(lambda _: make(attached.target.id))


def attach(pid: int | None = None, start_ticks: int | None = None, number: int = 1) -> Command:
    return AttachCommand(
        request_id=number,
        pid=pid or os.getpid(),
        start_ticks=start_ticks,
        rate_hz=1,
        actor=ACTOR,
    )


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    sources = Sources(ProcFs())
    engine = Engine(sources.native, lambda _: None)
    engine.start()
    try:
        yield Harness(engine, TargetRegistry(HOST_ID, ProcFs(), sources, engine))
    finally:
        engine.stop()
        sources.close()


def unused_pid() -> int:
    """The id of a process that has just exited; ids are not given away again so soon."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def restart(target: str) -> Command:
    return RestartSearchCommand(request_id=2, target=target, actor=ACTOR)


COMMANDS: dict[ProblemType, tuple[Callable[[str], Command], Exception | None]] = {
    "unknown-process": (lambda _: attach(unused_pid(), number=2), None),
    "process-id-reused": (lambda _: attach(start_ticks=1, number=2), None),
    "unknown-target": (lambda _: DetachCommand(request_id=2, target=UNKNOWN, actor=ACTOR), None),
    "not-permitted": (
        lambda _: SetDelayAccountingCommand(request_id=2, on=True, actor=ACTOR),
        None,
    ),
    "not-steerable": (restart, None),
    "not-steered": (restart, NotSteeredError()),
    "bad-parameter": (restart, BadParameterError("no policy is called x")),
    "too-many-actions": (restart, TooManyActionsError()),
    "no-stacks": (
        lambda target: SampleStacksCommand(request_id=2, target=target, seconds=1, actor=ACTOR),
        None,
    ),
    "no-ring": (lambda _: ListRingCommand(request_id=2), None),
    "internal": (lambda _: DoctorCommand(request_id=2), None),
}
"""Given over the command handler: the command, and what the steering service raises."""

IDENTITIES: dict[ProblemType, Identity | Absence] = {
    "kernel-thread": replace(ALIVE, kernel_thread=True),
    "not-permitted": Absence.HIDDEN,
    "unknown-process": Absence.MISSING,
    "target-exited": replace(ALIVE, ended=True),
}
"""Processes that are refused, without one of them on this machine."""


def is_of_the_table(problem: Problem, kind: ProblemType) -> None:
    check("Problem", problem.model_dump(mode="json"))
    row = PROBLEMS[kind]
    assert (problem.type, problem.status, problem.title) == (PREFIX + kind, row.status, row.title)
    assert problem.detail
    assert problem.hint
    assert "collector" in row.raised_by


@pytest.mark.parametrize("kind", COMMANDS)
async def test_refused_commands(harness: Harness, kind: ProblemType) -> None:
    make, error = COMMANDS[kind]
    problem = await harness.refused(make, None if error is None else Refusing(error))
    is_of_the_table(problem, kind)


async def test_steering_that_is_not_possible_is_refused_as_such(harness: Harness) -> None:
    problem = await harness.refused(restart, Refusing(NotSteerableError("no knob is there")))
    is_of_the_table(problem, "not-steerable")
    assert problem.detail == "no knob is there"


async def test_a_target_that_is_no_longer_sampled(harness: Harness) -> None:
    problem = await harness.refused_after_detach(
        lambda target: SetRateCommand(request_id=2, target=target, rate_hz=2, actor=ACTOR)
    )
    is_of_the_table(problem, "target-exited")


async def test_what_changes_a_program_is_refused_if_it_cannot_be_logged(harness: Harness) -> None:
    problem = await harness.refused_unlogged(restart)
    is_of_the_table(problem, "audit-failed")
    assert os.strerror(errno.ENOSPC) in problem.detail


async def test_more_targets_than_there_is_room_for(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets_module, "MAX_TARGETS", 1)
    problem = await harness.refused(lambda _: attach(os.getppid(), number=2))
    is_of_the_table(problem, "too-many-targets")


@pytest.mark.parametrize(
    ("kind", "expression", "most"),
    [
        ("bad-group", "port:http", 4096),
        ("empty-group", "name:there-is-no-such", 4096),
        ("group-too-large", "name:*", 0),
    ],
)
async def test_groups_that_cannot_be_attached_to(
    harness: Harness,
    monkeypatch: pytest.MonkeyPatch,
    kind: ProblemType,
    expression: str,
    most: int,
) -> None:
    monkeypatch.setattr(selector_module, "MAX_GROUP_PROCESSES", most)
    group = GroupSelector(kind="match", value=expression)
    problem = await harness.refused(
        lambda _: AttachCommand(
            request_id=2, pid=None, start_ticks=None, group=group, rate_hz=1, actor=ACTOR
        )
    )
    is_of_the_table(problem, kind)


def test_a_command_of_another_version() -> None:
    refused = parse('{"type":"dance_command","request_id":2}')
    assert isinstance(refused, RefusedReply)
    is_of_the_table(refused.problem, "bad-request")


@pytest.mark.parametrize("kind", IDENTITIES)
def test_refused_processes(kind: ProblemType) -> None:
    problem = attach_refusal(50, IDENTITIES[kind], None)
    assert problem is not None
    is_of_the_table(problem, kind)


def test_every_kind_that_a_collector_raises_has_a_case() -> None:
    raised = {kind for kind, row in PROBLEMS.items() if "collector" in row.raised_by}
    assert raised == {
        *COMMANDS,
        *IDENTITIES,
        *("target-exited", "too-many-targets", "audit-failed"),
        *("bad-group", "empty-group", "group-too-large", "bad-request"),
        "bad-run",  # test_fleet_ring.py
    }


@pytest.mark.parametrize("package", ["collector/tidscope_collector", "backend/tidscope_backend"])
def test_problems_are_made_from_the_table_alone(package: str) -> None:
    sources = sorted((Path(__file__).parents[2] / package).rglob("*.py"))
    assert sources
    by_hand = [
        path.name for path in sources if re.search(r"\bProblem\(|urn:tids", path.read_text())
    ]
    assert by_hand == []
