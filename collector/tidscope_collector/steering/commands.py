"""Steering commands by target ID; refusals suggest a remedy."""

import logging
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from tidscope_wire.generated.models import (
    Actor,
    GroupSelector,
    RestoredProgram,
    SteeredProgram,
    Steering,
    SteeringOptions,
    SteerRequest,
    Target,
)
from tidscope_wire.problems import ProblemError, refusal

from tidscope_collector.groups.sampler import GroupSampler
from tidscope_collector.inspection.own_server import OwnedPort
from tidscope_collector.inspection.reader import ask_ports
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.steering.audit import AuditSink, SteeringAudit
from tidscope_collector.steering.command_leases import SteeringLeases
from tidscope_collector.steering.groups import Joining, Program, SteeringGroups, program_key
from tidscope_collector.steering.loop.events import COMMAND_GONE, Event, EventSink
from tidscope_collector.steering.loop.setup import SteeredProcess
from tidscope_collector.steering.loop.signals import FIELDS
from tidscope_collector.steering.plan import refused_as_problems
from tidscope_collector.steering.service import SteeringService, SteeringTarget
from tidscope_collector.targets.targets import TargetRegistry

Answer = TypeVar("Answer")
log = logging.getLogger("tidscope.steering")

READ_S = 5.0
"""Timeout for a sample, in seconds. Only the waiting command is delayed."""


class SteeringCommands:
    """Serves steering commands. Its methods block and are called from worker threads.

    Args:
        targets: the attached targets.
        engine: publishes events and sums counters.
        steering: runs the control loops.
        procfs: root of /proc.
        audit: logs unrequested releases and joining programs; None without a log.
        restored: programs that an earlier collector left changed.
    """

    def __init__(
        self,
        targets: TargetRegistry,
        engine: Engine,
        steering: SteeringService,
        procfs: ProcFs,
        audit: AuditSink | None = None,
        restored: tuple[RestoredProgram, ...] = (),
    ) -> None:
        self._targets, self._engine = targets, engine
        self._steering, self._procfs = steering, procfs
        self._audit = SteeringAudit(audit)
        self.restored = restored
        self._groups = SteeringGroups(steering, self._members, self._program_target)
        self._joining: dict[str, Joining] = {}
        self._leases = SteeringLeases(self._lapse)

    def options(self, target: str) -> SteeringOptions:
        """Return the ways in which a target can be steered.

        Raises:
            ProblemError: the target does not exist.
        """
        if self._targets.attached(target).group is not None:
            return self._groups.options(target)
        return self._steering.options(self._steering_target(target))

    def ask(self, pid: int | None, group: GroupSelector | None) -> SteeringOptions:
        """Return the ways in which a process or group can be steered, without attaching to it.

        Raises:
            ProblemError: the process or group does not exist, or may not be attached to.
        """
        if pid is not None:
            process = self._targets.describe(pid)
            attached = self._targets.find(pid, process.start_ticks)
            if attached is not None:
                return self.options(attached.id)
            found = self._passing(Program(pid, process.start_ticks, process.name))
            try:
                return self._steering.options(found)
            finally:
                self._steering.ended(found.id)
        if group is None:
            raise refusal("bad-group", "neither a process nor a group is named", "Name one.")
        selection, processes = self._targets.select(group)
        known = self._targets.find_group(selection)
        if known is not None:
            return self.options(known.id)
        programs = [
            Program(one.pid, one.start_ticks, one.name)
            for one in sorted(processes, key=lambda one: one.start_ticks)
            if one.pid in selection.pids
        ]
        try:
            return self._groups.examine(programs, self._passing)
        finally:
            for program in programs:
                self._steering.ended(self._passing(program).id)

    def steer(self, target: str, request: SteerRequest, actor: Actor) -> Target:
        """Steer a target, or the chosen programs of a group, by a policy until the lease expires.

        Raises:
            ProblemError: the target cannot be steered.
        """
        now = self._steer(target, request, actor)
        self._leases.hold(target, request.lease_s)
        return now

    def renew(self, target: str) -> Target:
        """Renew the lease on a target, if there is one.

        Raises:
            ProblemError: the target does not exist.
        """
        self._targets.attached(target)
        self._leases.renew(target)
        return self._now(target)

    def _steer(self, target: str, request: SteerRequest, actor: Actor) -> Target:
        if self._targets.attached(target).group is not None:
            with refused_as_problems():
                self._groups.steer(target, request, actor.label)
            self._stop_joining(target)
            if request.join:
                self._start_joining(target, request, actor)
            self._update(target, joins=bool(request.join))
            return self._now(target)
        if request.programs is not None or request.join:
            raise refusal(
                "bad-parameter",
                "the target is one process, and has no programs to choose from",
                "Leave programs and join out.",
            )
        steered = self._steering_target(target)
        with refused_as_problems():
            self._steering.steer(steered, request, actor.label)
        return self._now(target)

    def restart(self, target: str, pid: int | None, actor: str) -> Target:
        """Restart the policy's search, for a target, or one or all programs of a group.

        Raises:
            ProblemError: no policy steers it.
        """
        self._targets.attached(target)
        with refused_as_problems():
            for key in self._keys(target, pid):
                self._steering.restart(key, actor)
        return self._now(target)

    def release(self, target: str, pid: int | None, actor: str) -> Target:
        """Release a target, or one or all programs of a group, and restore the original size.

        Raises:
            ProblemError: it is not steered.
        """
        whole_group = self._targets.attached(target).group is not None and pid is None
        if pid is None:
            self._leases.drop(target)
        if whole_group:
            self._stop_joining(target)
        try:
            with refused_as_problems():
                keys = self._keys(target, pid)
                if keys == [target]:
                    self._steering.release(target, actor)
                else:
                    self._steering.release_all(keys, actor)
        finally:
            if whole_group:
                self._update(target, joins=False)
        return self._now(target)

    def leave(self, target: str) -> None:
        """Release a target that is about to be detached."""
        self._leases.drop(target)
        self._stop_joining(target)
        self._steering.ended(target)

    def close(self) -> None:
        """Release all targets."""
        self._leases.close()
        for target in list(self._joining):
            self._stop_joining(target)
        self._steering.close()

    def _lapse(self, target: str) -> None:
        """Release a target whose command did not renew its lease."""
        log.warning("steering of %s is released: its lease was not renewed", target)
        try:
            self.release(target, None, COMMAND_GONE)
        except (ProblemError, TimeoutError) as error:
            log.info("steering of %s is not released: %s", target, error)

    def _keys(self, target: str, pid: int | None) -> list[str]:
        if self._targets.attached(target).group is None:
            return [target]
        return self._groups.keys(target, pid)

    def _start_joining(self, target: str, request: SteerRequest, actor: Actor) -> None:
        def join(program: Program) -> None:
            with self._audit.joining(target, program, request.policy, actor):
                self._groups.join(
                    target,
                    program,
                    request,
                    actor.label,
                    wanted=lambda: self._joining.get(target) is joining,
                )

        joining = Joining(lambda: self._living(target), join)
        self._joining[target] = joining
        joining.start()

    def _stop_joining(self, target: str) -> None:
        joining = self._joining.pop(target, None)
        if joining is not None:
            joining.stop()

    def _steering_target(self, target: str) -> SteeringTarget:
        known = self._targets.attached(target)
        process = known.process
        found = self._process(
            Program(process.pid, process.start_ticks, process.name), frozenset(known.fields), target
        )
        publish = self._publisher(target, None)
        return SteeringTarget(target, self._sampler(target).attach_ns, found, publish)

    def _program_target(self, target: str, program: Program) -> SteeringTarget:
        # Thread counters of a group are not summed by process, so no signal uses them.
        found = self._process(program, frozenset(), target)
        publish = self._publisher(target, program)
        key = program_key(target, program.pid)
        return SteeringTarget(key, self._sampler(target).attach_ns, found, publish)

    def _passing(self, program: Program) -> SteeringTarget:
        """Return a target for a process that is only asked about."""
        key = f"p-{program.pid}-{program.start_ticks}"
        counted = (name for names in FIELDS.values() for name in names)
        fields = frozenset(counted if self._targets.counts_network else ())
        return SteeringTarget(key, 0, self._process(program, fields, None), lambda *_: None)

    def _process(
        self, program: Program, fields: frozenset[str], target: str | None
    ) -> SteeredProcess:
        pid = program.pid
        return SteeredProcess(
            pid=pid,
            start_ticks=program.start_ticks,
            fields=fields,
            ports=lambda: frozenset(ask_ports([(pid, program.start_ticks)]).get(pid, ())),
            owned_port=lambda port: OwnedPort(pid, program.start_ticks, port),
            totals=lambda names: None if target is None else self._total(target, names),
        )

    def _members(self, target: str) -> list[Program]:
        return self._living(target) or []

    def _living(self, target: str) -> list[Program] | None:
        """Return living processes of a group, oldest first; None if the group has ended."""

        def living() -> list[Program] | None:
            sampler = self._engine.find(target)
            if not isinstance(sampler, GroupSampler):
                return None
            return [Program(one.pid, one.start_ticks, one.name) for one in sampler.living()]

        return self._ask(living)

    def _sampler(self, target: str) -> TargetSampler:
        found = self._ask(lambda: self._engine.find(target))
        if found is None:
            self._targets.attached(target)
            raise refusal(
                "target-exited", "the process has just exited", "Attach to a running process."
            )
        return found

    def _total(self, target: str, fields: tuple[str, ...]) -> int | None:
        def add() -> int | None:
            sampler = self._engine.find(target)
            return None if sampler is None else sampler.total(fields)

        return self._ask(add)

    def _publisher(self, target: str, program: Program | None) -> EventSink:
        """Return the receiver of events of a target, or of a program of a group."""

        def publish(steering: Steering | None, event: Event) -> None:
            self._audit.note(target, program, event)
            if program is not None:
                event = event.model_copy(update={"pid": program.pid, "program": program.name})
            self._engine.submit(partial(self._give, target, program, steering, event))

        return publish

    def _give(
        self, target: str, program: Program | None, steering: Steering | None, event: Event
    ) -> None:
        """Publish an event; runs in the thread of targets."""
        sampler = self._engine.find(target)
        if sampler is None:
            return
        if program is None:
            sampler.steered(steering, event)
            return
        others = [one for one in sampler.target.programs or [] if one.pid != program.pid]
        if steering is not None:
            now = SteeredProgram(
                pid=program.pid,
                start_ticks=program.start_ticks,
                name=program.name,
                steering=steering,
            )
            others = sorted([*others, now], key=lambda one: one.pid)
        sampler.programs_steered(others, event)

    def _update(self, target: str, *, joins: bool) -> None:
        def update() -> None:
            sampler = self._engine.find(target)
            if sampler is not None:
                sampler.programs_join(joins)

        self._ask(update)

    def _now(self, target: str) -> Target:
        """Return the target after all events published so far."""
        sampler = self._sampler(target)

        def update() -> Target:
            self._targets.update(sampler.target)
            return sampler.target

        return self._ask(update)

    def _ask(self, action: Callable[[], Answer]) -> Answer:
        answer: Answer = self._engine.submit(action).result(READ_S)
        return answer
