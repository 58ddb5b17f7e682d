"""Steering, as people ask for it: by target and in refusals that say what to do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tidscope_wire.generated.models import Steering, SteeringOptions, SteerRequest, Target

from tidscope_collector.attaching import Targets, refuse
from tidscope_collector.control.audit import AuditError
from tidscope_collector.control.loop.pilot import Event, Tell
from tidscope_collector.control.loop.pilots import (
    Aim,
    BadParameterError,
    NotSteerableError,
    NotSteeredError,
    Pilots,
    TooManyActionsError,
)
from tidscope_collector.control.loop.rigs import Subject
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.target import TargetSampler

Answer = TypeVar("Answer")

READ_S = 5.0
"""A sample may take so long; what waits for it is not on the way of any other."""


class Helm:
    """Its methods take their time and are called from worker threads.

    Args:
        targets: what is attached to.
        engine: takes events and knows the sums.
        pilots: do the work.
    """

    def __init__(self, targets: Targets, engine: Engine, pilots: Pilots) -> None:
        self._targets, self._engine, self._pilots = targets, engine, pilots

    def options(self, target: str) -> SteeringOptions:
        """How a target could be steered.

        Raises:
            RefusedError: there is no such target.
        """
        return self._pilots.options(self._aim(target))

    def steer(self, target: str, request: SteerRequest, actor: str) -> Target:
        """Let a policy steer it.

        Raises:
            RefusedError: it cannot be.
        """
        aim = self._aim(target)
        with _refusals():
            self._pilots.steer(aim, request, actor)
        return self._now(target)

    def restart(self, target: str, actor: str) -> Target:
        """Let its policy search anew.

        Raises:
            RefusedError: it has none.
        """
        aim = self._aim(target)
        with _refusals():
            self._pilots.restart(aim, actor)
        return self._now(target)

    def release(self, target: str, actor: str) -> Target:
        """Steer it no more; it has its original size back.

        Raises:
            RefusedError: it is not steered.
        """
        aim = self._aim(target)
        with _refusals():
            self._pilots.release(aim, actor)
        return self._now(target)

    def leave(self, target: str) -> None:
        """It is going to be detached: let go of it first."""
        self._pilots.ended(target)

    def _aim(self, target: str) -> Aim:
        known = self._targets.attached(target)
        process = known.process
        sampler = self._sampler(target)
        subject = Subject(
            pid=process.pid,
            start_ticks=process.start_ticks,
            fields=frozenset(known.fields),
            ports=frozenset(self._ports(process.pid)),
            totals=lambda fields: self._total(target, fields),
        )
        return Aim(
            target=target,
            zero_ns=sampler.attach_ns,
            command=process.command,
            subject=subject,
            tell=self._teller(target),
        )

    def _sampler(self, target: str) -> TargetSampler:
        found = self._ask(lambda: self._engine.find(target))
        if found is None:
            self._targets.attached(target)
            raise refuse("target-exited", 410, "It has ended", "it has just ended", "Attach anew.")
        return found

    def _ports(self, pid: int) -> list[int]:
        """TCP ports on which it listens now."""
        found = next((one for one in self._targets.processes() if one.pid == pid), None)
        return [] if found is None else list(found.ports)

    def _total(self, target: str, fields: tuple[str, ...]) -> int | None:
        def add() -> int | None:
            sampler = self._engine.find(target)
            return None if sampler is None else sampler.total(fields)

        return self._ask(add)

    def _teller(self, target: str) -> Tell:
        def tell(steering: Steering | None, event: Event) -> None:
            def note() -> None:
                sampler = self._engine.find(target)
                if sampler is not None:
                    sampler.steered(steering, event)

            self._engine.submit(note)

        return tell

    def _now(self, target: str) -> Target:
        """As it is after what has been told of it so far."""
        sampler = self._sampler(target)
        self._targets.note(sampler.target)
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
        raise refuse(
            "not-steerable",
            409,
            "It cannot be steered so",
            str(error),
            "GET /api/v1/targets/{target_id}/steering lists what each knob and signal needs.",
        ) from error
    except BadParameterError as error:
        raise refuse(
            "bad-parameter",
            422,
            "There is no such policy, parameter or size",
            str(error),
            "GET /api/v1/policies lists policies, parameters and their bounds.",
        ) from error
    except NotSteeredError as error:
        raise refuse(
            "not-steered", 409, "It is not steered", "no policy steers it", "Choose a policy first."
        ) from error
    except TooManyActionsError as error:
        raise refuse(
            "too-many-actions",
            429,
            "Too many actions",
            "more actions on this target within 10 s than programs can follow",
            "Wait some seconds. A release always works.",
        ) from error
    except AuditError as error:
        raise refuse(
            "audit-failed",
            503,
            "It cannot be logged, so it was not done",
            str(error),
            "Make room, or let the collector write there; a release always works.",
        ) from error
