"""All steered targets: begin, change, restart the search, release."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from tidscope_policies.contract import Bounds
from tidscope_policies.parameters import ParameterError, make_parameters
from tidscope_policies.registry import POLICIES
from tidscope_predictd.model.perceptron import Rule
from tidscope_wire.generated.models import (
    KnobOption,
    PolicyInfo,
    PolicyParameter,
    PrometheusCounter,
    SignalOption,
    Steering,
    SteeringOptions,
    SteerRequest,
)

from tidscope_collector.foreign.agent_sockets import SocketId
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.stat import parse_stat
from tidscope_collector.steering.loop.control_loop import (
    STEERING_ERRORS,
    ControlLoop,
    Event,
    EventSink,
)
from tidscope_collector.steering.loop.learners import Learners
from tidscope_collector.steering.loop.loop_inputs import ControlSetup, LoopSettings
from tidscope_collector.steering.loop.peers import PeerRegistry
from tidscope_collector.steering.loop.proof_reports import proof_settings
from tidscope_collector.steering.loop.setup import SetupOpener, SteeredProcess

log = logging.getLogger("tidscope.steering")

OPTIONS_S = 60.0
"""Knobs and signals are opened again after so long, even if nothing is seen to have changed."""
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
class SteeringTarget:
    """A target that is, or is to be, steered.

    Attributes:
        id: of the target.
        attach_ns: CLOCK_MONOTONIC of its attachment.
        process: what knobs and signals are opened for.
        publish: receives the loop's state and events.
    """

    id: str
    attach_ns: int
    process: SteeredProcess
    publish: EventSink


@dataclass
class _Options:
    """Knobs and signals of a target, as they were when they were last opened.

    Attributes:
        seen: socket of its agent and its ports then; others mean that the options may differ now.
        at_s: when.
        knobs: empty before they are opened for the first time.
        signals: the same.
    """

    seen: tuple[SocketId | None, frozenset[int]]
    at_s: float
    knobs: list[KnobOption] = field(default_factory=list)
    signals: list[SignalOption] = field(default_factory=list)


class SteeringService:
    """Its methods may be called from several threads.

    Args:
        procfs: where processes are looked at.
        opener: opens knobs and signals.
        clock: in seconds, never steps.
        learners: what policies that learn learn with; None: each alone.
    """

    def __init__(
        self,
        procfs: ProcFs,
        opener: SetupOpener,
        clock: Callable[[], float] = time.monotonic,
        learners: Learners | None = None,
    ) -> None:
        self._procfs = procfs
        self._opener = opener
        self._learners = learners or Learners(None)
        self._clock = clock
        self._peers = PeerRegistry()
        self._lock = threading.Lock()
        self._busy: dict[str, threading.Lock] = {}
        self._opening: dict[str, object] = {}
        self._loops: dict[str, ControlLoop] = {}
        self._actions: dict[str, deque[float]] = {}
        self._counters: dict[str, PrometheusCounter] = {}
        self._options: dict[str, _Options] = {}

    def options(self, target: SteeringTarget) -> SteeringOptions:
        """How a target could be steered, and how it is."""
        with self._for(target.id):
            loop = self._loops.get(target.id)
            found = self._described(target)
            # While it is steered the knob in use is not opened a second time.
            if loop is not None:
                knobs = [loop.knob]
            else:
                knobs = found.knobs = found.knobs or self._opener.knobs(target.process)
            signals = found.signals = found.signals or self._opener.signals(target.process)
        steering = None if loop is None else loop.steering
        return SteeringOptions(knobs=knobs, signals=signals, steering=steering)

    def steer(self, target: SteeringTarget, request: SteerRequest, actor: str) -> Steering:
        """Let a policy steer a target, instead of what steered it before.

        Raises:
            BadParameterError: policy, parameter or bounds.
            NotSteerableError: no knob or no signal.
            TooManyActionsError: too fast.
        """
        entry = POLICIES.get(request.policy)
        if entry is None:
            names = ", ".join(POLICIES)
            raise BadParameterError(f"there is no policy {request.policy!r}; there are: {names}")
        try:
            ready = entry.make(
                request.parameters or {},
                shadow=bool(request.shadow),
                proof=None if request.proof is None else proof_settings(request.proof),
                learner=lambda values: self._learners.of(
                    self._program(target.process), Rule(int(values.threshold), int(values.limit))
                ),
            )
            values = make_parameters(entry.kind, request.parameters or {})
        except ParameterError as error:
            raise BadParameterError(str(error)) from error
        self._limit_actions(target.id)

        # A page that did not set the counter itself does not know it.
        counter = request.prometheus or self._counters.get(target.id)

        def open_setup() -> ControlSetup:
            return self._opener.open(
                target.process,
                request.knob,
                request.signal,
                counter,
                waits=entry.signal == "wait",
            )

        def open_loop() -> ControlLoop:
            setup = open_setup()
            try:
                settings = LoopSettings(
                    target=target.id,
                    attach_ns=target.attach_ns,
                    policy=request.policy,
                    parameters={name: float(value) for name, value in vars(values).items()},
                    shadow=bool(request.shadow),
                    bounds=_bounds(setup, request),
                    actor=actor,
                )
                return ControlLoop(
                    settings,
                    ready,
                    open_setup,
                    setup,
                    self._peers,
                    self._publisher(target),
                    is_paused=lambda: self._state(target.process) in ("T", "t"),
                    is_gone=lambda: self._state(target.process) in ("", "Z", "X"),
                )
            except (*STEERING_ERRORS, BadParameterError):
                setup.close()
                raise

        with self._for(target.id):
            self._options.pop(target.id, None)
            self._end(target.id, actor)
            loop = self._adopt(target.id, open_loop)
            if counter is not None:
                self._counters[target.id] = counter
            loop.start()
        return loop.steering

    def _program(self, process: SteeredProcess) -> str:
        """The name of a process, as its threads bear it; processes of one name learn together."""
        try:
            return parse_stat(self._procfs.read(f"{process.pid}/stat")).name.decode(
                errors="replace"
            )
        except (OSError, ValueError):
            return ""

    def _adopt(self, target: str, open_loop: Callable[[], ControlLoop]) -> ControlLoop:
        """Open a loop, which may take its time, and let it steer unless it is released meanwhile.

        Raises:
            NotSteerableError: it cannot be opened, or was released.
        """
        opening = self._opening[target] = object()
        try:
            loop = open_loop()
        except BaseException as error:
            with self._lock:
                self._opening.pop(target, None)
            if isinstance(error, STEERING_ERRORS):
                raise NotSteerableError(str(error)) from error
            raise
        with self._lock:
            wanted = self._opening.pop(target, None) is opening
            if wanted:
                self._loops[target] = loop
        if not wanted:
            loop.discard()
            raise NotSteerableError("It was released while knob and signal were opened.")
        return loop

    def _described(self, target: SteeringTarget) -> _Options:
        """What is known of a target's knobs and signals: opening them disturbs the program."""
        seen = self._opener.agent_socket(target.process), target.process.ports()
        now, known = self._clock(), self._options.get(target.id)
        if known is None or known.seen != seen or now - known.at_s > OPTIONS_S:
            known = self._options[target.id] = _Options(seen, now)
        return known

    def restart(self, target: SteeringTarget, actor: str) -> Steering:
        """Let the policy search again.

        Raises:
            NotSteeredError: there is none.
            TooManyActionsError: too fast.
        """
        loop = self._loops.get(target.id)
        if loop is None:
            raise NotSteeredError
        self._limit_actions(target.id)
        loop.restart("requested", actor)
        return loop.steering

    def release(self, target: str, actor: str) -> None:
        """Steer no more and give the original size back.

        Within 5 s: it waits for nothing else that is done with the target.

        Raises:
            NotSteeredError: it is not steered.
            TimeoutError: it is not done yet; it will be.
        """
        self._options.pop(target, None)
        if not self._end(target, actor):
            raise NotSteeredError

    def ended(self, target: str) -> None:
        """A target is not sampled any more: it is not steered either."""
        self._end(target, "detach")
        with self._lock:
            self._actions.pop(target, None)
            self._counters.pop(target, None)
            self._options.pop(target, None)
            self._busy.pop(target, None)

    def close(self) -> None:
        """Release all, at the same time."""
        actor = "collector shutdown"
        for loop in list(self._loops.values()):
            loop.stop(actor)
        for target in list(self._loops):
            try:
                self._end(target, actor)
            except TimeoutError as error:
                log.error("%s", error)

    def _end(self, target: str, actor: str) -> bool:
        with self._lock:
            # What is just being opened for it is not going to be used.
            opening = self._opening.pop(target, None)
            loop = self._loops.pop(target, None)
        if loop is not None:
            loop.release(actor)
        return loop is not None or opening is not None

    def _publisher(self, target: SteeringTarget) -> EventSink:
        def publish(steering: Steering | None, event: Event) -> None:
            loop = self._loops.get(target.id)
            if steering is None and loop is not None and loop.is_this_thread:
                # It ended by itself, with its program.
                self._loops.pop(target.id, None)
            target.publish(steering, event)

        return publish

    def _for(self, target: str) -> threading.Lock:
        """One action on a target at a time."""
        with self._lock:
            return self._busy.setdefault(target, threading.Lock())

    def _limit_actions(self, target: str) -> None:
        now = self._clock()
        with self._lock:
            lately = self._actions.setdefault(target, deque())
            while lately and now - lately[0] > ACTIONS_S:
                lately.popleft()
            if len(lately) >= ACTIONS:
                raise TooManyActionsError
            lately.append(now)

    def _state(self, process: SteeredProcess) -> str:
        """State of a process as /proc tells it; empty: it has ended."""
        try:
            found = parse_stat(self._procfs.read(f"{process.pid}/stat"))
        except OSError:
            return ""
        return found.state if found.start_ticks == process.start_ticks else ""


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


def _bounds(setup: ControlSetup, request: SteerRequest) -> Bounds:
    knob = setup.knob.describe()
    low = knob.lower if request.lower is None else request.lower
    high = knob.upper if request.upper is None else request.upper
    if low < knob.lower or high > knob.upper or low > high:
        raise BadParameterError(
            f"the bounds {low} to {high} are not within those of the knob, "
            f"{knob.lower} to {knob.upper}"
        )
    return Bounds(low, high)
