"""Steering commands: by target id, with refusals that say what to do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tidscope_wire.generated.models import Steering, SteeringOptions, SteerRequest, Target
from tidscope_wire.problems import refusal

from tidscope_collector.foreign.owned_port import OwnedPort
from tidscope_collector.foreign.reader import ask_ports
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.steering.loop.control_loop import Event, EventSink
from tidscope_collector.steering.loop.setup import SteeredProcess
from tidscope_collector.steering.service import (
    BadParameterError,
    NotSteerableError,
    NotSteeredError,
    SteeringService,
    SteeringTarget,
    TooManyActionsError,
)
from tidscope_collector.targets.targets import TargetRegistry

Answer = TypeVar("Answer")

READ_S = 5.0
"""A sample may take so long; what waits for it is not on the way of any other."""


class SteeringCommands:
    """Serves steering commands. Its methods block and are called from worker threads.

    Args:
        targets: the attached targets.
        engine: publishes events and sums counters.
        steering: runs the control loops.
        procfs: root of /proc.
    """

    def __init__(
        self, targets: TargetRegistry, engine: Engine, steering: SteeringService, procfs: ProcFs
    ) -> None:
        self._targets, self._engine = targets, engine
        self._steering, self._procfs = steering, procfs

    def options(self, target: str) -> SteeringOptions:
        """How a target could be steered.

        Raises:
            ProblemError: there is no such target.
        """
        return self._steering.options(self._steering_target(target))

    def steer(self, target: str, request: SteerRequest, actor: str) -> Target:
        """Let a policy steer it.

        Raises:
            ProblemError: it cannot be.
        """
        steered = self._steering_target(target)
        with _refusals():
            self._steering.steer(steered, request, actor)
        return self._now(target)

    def restart(self, target: str, actor: str) -> Target:
        """Restart its policy's search.

        Raises:
            ProblemError: it has none.
        """
        steered = self._steering_target(target)
        with _refusals():
            self._steering.restart(steered, actor)
        return self._now(target)

    def release(self, target: str, actor: str) -> Target:
        """Steer it no more; it has its original size back.

        Raises:
            ProblemError: it is not steered.
        """
        self._targets.attached(target)
        with _refusals():
            self._steering.release(target, actor)
        return self._now(target)

    def leave(self, target: str) -> None:
        """It is going to be detached: let go of it first."""
        self._steering.ended(target)

    def close(self) -> None:
        """Release all."""
        self._steering.close()

    def _steering_target(self, target: str) -> SteeringTarget:
        known = self._targets.attached(target)
        if known.group is not None:
            raise refusal(
                "not-steerable",
                f"{known.group.name} is a group of processes",
                "Attach to one of its processes, and steer that.",
            )
        sampler = self._sampler(target)
        pid = known.process.pid
        process = SteeredProcess(
            pid=pid,
            start_ticks=known.process.start_ticks,
            fields=frozenset(known.fields),
            ports=lambda: frozenset(ask_ports(self._procfs, [pid]).get(pid, ())),
            owned_port=lambda port: OwnedPort(self._procfs, pid, known.process.start_ticks, port),
            totals=lambda fields: self._total(target, fields),
        )
        return SteeringTarget(
            id=target,
            attach_ns=sampler.attach_ns,
            process=process,
            publish=self._publisher(target),
        )

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

    def _publisher(self, target: str) -> EventSink:
        def publish(steering: Steering | None, event: Event) -> None:
            def update() -> None:
                sampler = self._engine.find(target)
                if sampler is not None:
                    sampler.steered(steering, event)

            self._engine.submit(update)

        return publish

    def _now(self, target: str) -> Target:
        """The target after all events published so far."""
        sampler = self._sampler(target)
        self._targets.update(sampler.target)
        return sampler.target

    def _ask(self, action: Callable[[], Answer]) -> Answer:
        answer: Answer = self._engine.submit(action).result(READ_S)
        return answer


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn troubles of steering into refusals."""
    try:
        yield
    except NotSteerableError as error:
        raise refusal(
            "not-steerable",
            str(error),
            "The Steer drawer and `tidscope steer --options` show what each knob and signal needs.",
        ) from error
    except BadParameterError as error:
        raise refusal(
            "bad-parameter",
            str(error),
            "The Steer drawer and `tidscope policies list` show the parameters and their bounds.",
        ) from error
    except NotSteeredError as error:
        raise refusal(
            "not-steered", "no policy steers this target", "Choose a policy first."
        ) from error
    except TooManyActionsError as error:
        raise refusal(
            "too-many-actions",
            "more actions on this target within 10 s than programs can follow",
            "Wait some seconds. A release always works.",
        ) from error
