"""All steered targets: begin, change, restart the search, release."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from tidscope_wire.generated.models import (
    PolicyInfo,
    PolicyParameter,
    PrometheusCounter,
    Steering,
    SteeringOptions,
    SteerRequest,
)

from tidscope_collector.control.audit import Audit, AuditError
from tidscope_collector.control.loop.fleet import Fleet
from tidscope_collector.control.loop.pilot import TROUBLES, Event, Order, Pilot, Rig, Tell
from tidscope_collector.control.loop.rigs import Rigs, Subject
from tidscope_collector.control.policies.contract import Bounds
from tidscope_collector.control.policies.parameters import ParameterError, make_parameters
from tidscope_collector.control.policies.registry import POLICIES
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.stat import parse_stat

log = logging.getLogger("tidscope.control")

ACTIONS = 20
ACTIONS_S = 10.0
"""So many actions within so many seconds, for each target; a release always goes."""


class NotSteerableError(Exception):
    """It cannot be done; the text is a sentence for people."""


class NotSteeredError(Exception):
    """No policy steers the target."""


class BadParameterError(Exception):
    """What was asked for does not exist or is out of bounds; the text names it."""


class TooManyActionsError(Exception):
    """Somebody presses buttons faster than programs can follow."""


@dataclass(frozen=True)
class Aim:
    """A target that is, or is to be, steered.

    Attributes:
        target: its identity.
        zero_ns: CLOCK_MONOTONIC of its attachment.
        command: of the process, for the log.
        subject: the same for the makers of rigs.
        tell: takes what happens.
    """

    target: str
    zero_ns: int
    command: str
    subject: Subject
    tell: Tell


class Pilots:
    """Its methods may be called from several threads.

    Args:
        procfs: where processes are looked at.
        rigs: opens knobs and signals.
        audit: every action is written there before it is done.
        clock: in seconds, never steps.
    """

    def __init__(
        self,
        procfs: ProcFs,
        rigs: Rigs,
        audit: Audit,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._procfs = procfs
        self._rigs = rigs
        self._audit = audit
        self._clock = clock
        self._fleet = Fleet()
        self._lock = threading.Lock()
        self._busy: dict[str, threading.Lock] = {}
        self._pilots: dict[str, Pilot] = {}
        self._actions: dict[str, deque[float]] = {}
        self._counters: dict[str, PrometheusCounter] = {}

    def options(self, aim: Aim) -> SteeringOptions:
        """How a target could be steered, and how it is."""
        with self._for(aim.target):
            pilot = self._pilots.get(aim.target)
            # While it is steered the knob in use is not opened a second time.
            knobs = self._rigs.knobs(aim.subject.pid) if pilot is None else [pilot.knob]
            signals = self._rigs.signals(aim.subject)
        steering = None if pilot is None else pilot.steering
        return SteeringOptions(knobs=knobs, signals=signals, steering=steering)

    def steer(self, aim: Aim, request: SteerRequest, actor: str) -> Steering:
        """Let a policy steer a target, instead of what steered it before.

        Raises:
            BadParameterError: policy, parameter or bounds.
            NotSteerableError: no knob or no signal.
            TooManyActionsError: too fast.
            AuditError: it cannot be logged, so it is not done.
        """
        entry = POLICIES.get(request.policy)
        if entry is None:
            names = ", ".join(POLICIES)
            raise BadParameterError(f"there is no policy {request.policy!r}; there are: {names}")
        try:
            ready = entry.make(request.parameters or {}, shadow=bool(request.shadow))
            values = make_parameters(entry.kind, request.parameters or {})
        except ParameterError as error:
            raise BadParameterError(str(error)) from error
        self._count(aim.target)
        asked = request.model_dump(mode="json", exclude_none=True)
        self._note("steer", aim, actor, request=asked)

        # A page that did not set the counter itself does not know it.
        counter = request.prometheus or self._counters.get(aim.target)

        def open_rig() -> Rig:
            return self._rigs.open(
                aim.subject,
                request.knob,
                request.signal,
                counter,
                waits=entry.signal == "wait",
            )

        with self._for(aim.target):
            self._end(aim.target, actor)
            try:
                rig = open_rig()
            except TROUBLES as error:
                self._note_outcome("steer", aim, actor, refused=str(error))
                raise NotSteerableError(str(error)) from error
            try:
                order = Order(
                    target=aim.target,
                    zero_ns=aim.zero_ns,
                    policy=request.policy,
                    parameters={name: float(value) for name, value in vars(values).items()},
                    shadow=bool(request.shadow),
                    bounds=_bounds(rig, request),
                    actor=actor,
                )
                pilot = Pilot(
                    order,
                    ready,
                    open_rig,
                    rig,
                    self._fleet,
                    self._telling(aim),
                    is_paused=lambda: self._state(aim.subject) in ("T", "t"),
                    is_gone=lambda: self._state(aim.subject) in ("", "Z", "X"),
                )
            except (*TROUBLES, BadParameterError) as error:
                rig.signal.close()
                rig.knob.close()
                self._note_outcome("steer", aim, actor, refused=str(error))
                if isinstance(error, BadParameterError):
                    raise
                raise NotSteerableError(str(error)) from error
            self._pilots[aim.target] = pilot
            if counter is not None:
                self._counters[aim.target] = counter
            pilot.start()
        self._note_outcome("steer", aim, actor)
        return pilot.steering

    def restart(self, aim: Aim, actor: str) -> Steering:
        """Let the policy search anew.

        Raises:
            NotSteeredError: there is none.
            TooManyActionsError: too fast.
            AuditError: it cannot be logged, so it is not done.
        """
        pilot = self._pilots.get(aim.target)
        if pilot is None:
            raise NotSteeredError
        self._count(aim.target)
        self._note("restart_search", aim, actor)
        pilot.restart("somebody asked for it", actor)
        return pilot.steering

    def release(self, aim: Aim, actor: str) -> None:
        """Steer no more and give the original size back. Always works, logged or not.

        Raises:
            NotSteeredError: it is not steered.
        """
        try:
            self._note("release", aim, actor)
        except AuditError as error:
            log.error("released all the same: %s", error)
        with self._for(aim.target):
            if not self._end(aim.target, actor):
                raise NotSteeredError

    def ended(self, target: str) -> None:
        """A target is not sampled any more: it is not steered either."""
        with self._for(target):
            self._end(target, "the end of the target")
        with self._lock:
            self._actions.pop(target, None)
            self._counters.pop(target, None)
            self._busy.pop(target, None)

    def close(self) -> None:
        """Release all."""
        for target in list(self._pilots):
            with self._for(target):
                self._end(target, "the end of the collector")

    def _end(self, target: str, actor: str) -> bool:
        pilot = self._pilots.pop(target, None)
        if pilot is not None:
            pilot.release(actor)
        return pilot is not None

    def _telling(self, aim: Aim) -> Tell:
        def tell(steering: Steering | None, event: Event) -> None:
            pilot = self._pilots.get(aim.target)
            if steering is None and pilot is not None and pilot.is_this_thread:
                # It ended by itself, with its program.
                self._pilots.pop(aim.target, None)
            aim.tell(steering, event)

        return tell

    def _for(self, target: str) -> threading.Lock:
        """One action on a target at a time."""
        with self._lock:
            return self._busy.setdefault(target, threading.Lock())

    def _count(self, target: str) -> None:
        now = self._clock()
        with self._lock:
            lately = self._actions.setdefault(target, deque())
            while lately and now - lately[0] > ACTIONS_S:
                lately.popleft()
            if len(lately) >= ACTIONS:
                raise TooManyActionsError
            lately.append(now)

    def _note(self, action: str, aim: Aim, actor: str, **details: object) -> None:
        self._audit.note(
            action,
            actor=actor,
            target=aim.target,
            pid=aim.subject.pid,
            command=aim.command,
            **details,
        )

    def _note_outcome(self, action: str, aim: Aim, actor: str, refused: str = "") -> None:
        try:
            self._note(f"{action}_{'refused' if refused else 'done'}", aim, actor, why=refused)
        except AuditError as error:
            log.error("%s", error)

    def _state(self, subject: Subject) -> str:
        """State of a process as /proc tells it; empty: it has ended."""
        try:
            found = parse_stat(self._procfs.read(f"{subject.pid}/stat"))
        except OSError:
            return ""
        return found.state if found.start_ticks == subject.start_ticks else ""


def policies() -> list[PolicyInfo]:
    """All policies, as the wire tells of them."""
    return [
        PolicyInfo(
            name=entry.name,
            meaning=entry.meaning,
            source=entry.source,
            wait=entry.signal == "wait",
            parameters=[
                PolicyParameter(
                    name=one.name,
                    unit=one.unit,
                    integer=one.integer,
                    default=one.default,
                    low=one.low,
                    high=one.high,
                    meaning=one.meaning,
                )
                for one in entry.parameters
            ],
        )
        for entry in POLICIES.values()
    ]


def _bounds(rig: Rig, request: SteerRequest) -> Bounds:
    knob = rig.knob.describe()
    low = knob.lower if request.lower is None else request.lower
    high = knob.upper if request.upper is None else request.upper
    if low < knob.lower or high > knob.upper or low > high:
        raise BadParameterError(
            f"the bounds {low} to {high} are not within those of the knob, "
            f"{knob.lower} to {knob.upper}"
        )
    return Bounds(low, high)
