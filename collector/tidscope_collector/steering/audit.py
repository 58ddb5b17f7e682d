"""Audit log of unrequested steering actions: joining programs, releases, divisions of cores.

Commands themselves are logged before they get here (uplink/audited_commands.py).
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager

from tidscope_wire.audit import TIDSCOPE, WRITE_SECONDS, AuditError
from tidscope_wire.generated.models import (
    Actor,
    AuditAction,
    AuditOutcome,
    SteeringDecided,
    SteeringReleased,
)

from tidscope_collector.steering.groups import Program
from tidscope_collector.steering.loop.events import UNASKED, Event
from tidscope_collector.steering.plan import NotSteerableError

AuditSink = Callable[
    [AuditAction, AuditOutcome, Actor, str, Mapping[str, str]], "Future[AuditError | None]"
]
"""Writes a line of the audit log. The future tells why the line may not be on disk, or None."""


class SteeringAudit:
    """Logs actions on steered targets.

    Args:
        write: writes a line; None without a log.
    """

    def __init__(self, write: AuditSink | None) -> None:
        self._write = write

    @contextmanager
    def joining(self, target: str, program: Program, policy: str, actor: Actor) -> Iterator[None]:
        """Log that a program joins a steered group, and the outcome of the body.

        Raises:
            NotSteerableError: the first line cannot be written, so the action must not be done.
        """
        if self._write is None:
            yield
            return
        details = {"pid": str(program.pid), "process": program.name, "joins": "true"}
        details["policy"] = policy
        written = self._write("steer", "started", actor, target, details)
        if (failure := written.result(WRITE_SECONDS)) is not None:
            raise NotSteerableError(str(failure))
        outcome: AuditOutcome = "refused"
        try:
            yield
            outcome = "done"
        finally:
            self._write("steer", outcome, actor, target, details)

    def note(self, target: str, program: Program | None, event: Event) -> None:
        """Log an event that changes a program without a request.

        Args:
            target: target ID.
            program: program of a group, or None for a single-process target.
            event: event of its control loop.
        """
        if isinstance(event, SteeringReleased) and event.actor in UNASKED:
            details = {"reason": event.actor, "policy": event.policy, "size": str(event.size)}
            self._note("release", target, program, details)
        if isinstance(event, SteeringDecided):
            self._note_division(target, program, event)

    def _note_division(self, target: str, program: Program | None, event: SteeringDecided) -> None:
        """Log cores gained or lost because of another program; estimates are in frames."""
        division = event.division
        if division is None or division.cause != "members" or event.size == event.next_size:
            return
        details = {"size": str(event.next_size), "before": str(event.size)}
        details["reason"] = division.reason[:256]
        self._note("divide", target, program, details)

    def _note(
        self, action: AuditAction, target: str, program: Program | None, details: dict[str, str]
    ) -> None:
        if self._write is None:
            return
        if program is not None:
            details |= {"pid": str(program.pid), "process": program.name}
        self._write(action, "done", TIDSCOPE, target, details)
