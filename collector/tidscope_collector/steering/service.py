"""All steered targets: start, change, restart the search, release."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tidscope_wire.generated.models import (
    KnobOption,
    PrometheusCounter,
    SignalOption,
    Steering,
    SteeringOptions,
    SteerRequest,
)

from tidscope_collector.inspection.agent_sockets import SocketId
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.loop.control_loop import ControlLoop
from tidscope_collector.steering.loop.events import DETACH, SHUTDOWN, Event, EventSink
from tidscope_collector.steering.loop.loop_inputs import (
    STEERING_ERRORS,
    Contender,
    ControlSetup,
    LoopSettings,
)
from tidscope_collector.steering.loop.peers import PeerRegistry, read_core_limits
from tidscope_collector.steering.loop.process_state import ProcessState
from tidscope_collector.steering.loop.setup import SetupOpener, SteeredProcess
from tidscope_collector.steering.plan import (
    CORES,
    Learners,
    NotSteerableError,
    NotSteeredError,
    PreparedSteering,
    SteeringPlan,
    TooManyActionsError,
    close_new,
)

log = logging.getLogger("tidscope.steering")

OPTIONS_S = 60.0
"""Maximum age of cached knobs and signals, in seconds; older ones are opened again."""
ACTIONS = 20
ACTIONS_S = 10.0
"""Maximum actions per target in `ACTIONS_S` seconds. Further ones but releases are refused."""


@dataclass(frozen=True)
class SteeringTarget:
    """A target to steer.

    Attributes:
        id: target ID.
        attach_ns: CLOCK_MONOTONIC at attach, in nanoseconds.
        process: process for which knobs and signals are opened.
        publish: receives the loop's state and events.
    """

    id: str
    attach_ns: int
    process: SteeredProcess
    publish: EventSink


@dataclass
class _Options:
    """Cached knobs and signals of a target.

    Attributes:
        seen: agent socket and ports at that time; a difference invalidates the cache.
        at_s: time of opening, in seconds.
        knobs: knobs; empty before the first opening.
        signals: signals; empty before the first opening.
    """

    seen: tuple[SocketId | None, frozenset[int]]
    at_s: float
    knobs: list[KnobOption] = field(default_factory=list)
    signals: list[SignalOption] = field(default_factory=list)


class SteeringService:
    """Steers targets. Thread-safe.

    Args:
        procfs: root of /proc.
        opener: opens knobs and signals.
        clock: monotonic clock, in seconds.
        learners: returns learners for learning policies; None to learn alone.
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
        """Return the ways in which a target can be, and is, steered."""
        with self.exclusive(target.id):
            loop = self._loops.get(target.id)
            found = self._described(target)
            # The knob in use must not be opened a second time.
            if loop is not None:
                knobs = [loop.knob]
            else:
                knobs = found.knobs = found.knobs or self._opener.knobs(target.process)
            signals = found.signals = found.signals or self._opener.signals(target.process)
        steering = None if loop is None else loop.steering
        return SteeringOptions(knobs=knobs, signals=signals, steering=steering)

    def steer(self, target: SteeringTarget, request: SteerRequest, actor: str) -> Steering:
        """Steer a target by a policy, replacing the current one.

        On failure the current policy continues.

        Raises:
            BadParameterError: a policy, parameter or bound is invalid.
            NotSteerableError: no knob or no signal is available.
            TooManyActionsError: actions follow each other too fast.
        """
        return self.prepare(target, request, actor).commit()

    def prepare(
        self, target: SteeringTarget, request: SteerRequest, actor: str
    ) -> PreparedSteering:
        """Open everything needed to steer a target, so that only a release can prevent it.

        The current loop pauses, and the target accepts no other action until commit or abort.

        Raises:
            BadParameterError, NotSteerableError, TooManyActionsError: as for `steer`.
        """
        plan = SteeringPlan.of(
            request, lambda rule: self._learners.of(self._state(target.process).name(), rule)
        )
        self._limit_actions(target.id)
        busy = self.exclusive(target.id)
        busy.acquire()
        try:
            return self._prepare(target, request, plan, actor, busy)
        except BaseException:
            busy.release()
            raise

    def _prepare(
        self,
        target: SteeringTarget,
        request: SteerRequest,
        plan: SteeringPlan,
        actor: str,
        busy: threading.Lock,
    ) -> PreparedSteering:
        self._options.pop(target.id, None)
        with self._lock:
            opening = self._opening[target.id] = object()
            before = self._loops.get(target.id)
        # A client that did not set the counter itself does not know it.
        counter = request.prometheus or self._counters.get(target.id)
        try:
            held = None if before is None else before.suspend()
            try:
                setup = self._setup(target.process, request, held, counter, waits=plan.waits)
                try:
                    loop = self._loop(target, request, plan, setup, counter, before, actor)
                except BaseException:
                    close_new(setup, held)
                    raise
            except BaseException:
                if before is not None:
                    before.resume()
                raise
        except (*STEERING_ERRORS, TimeoutError) as error:
            self._forget_opening(target.id, opening)
            raise NotSteerableError(str(error)) from error
        except BaseException:
            self._forget_opening(target.id, opening)
            raise
        return PreparedSteering(
            self.adopt, self.abandon, target.id, loop, before, held, counter, opening, busy
        )

    def _setup(
        self,
        process: SteeredProcess,
        request: SteerRequest,
        held: ControlSetup | None,
        counter: PrometheusCounter | None,
        *,
        waits: bool,
    ) -> ControlSetup:
        knob, signal = request.knob, request.signal
        if held is None:
            return self._opener.open(process, knob, signal, counter, waits=waits)
        return self._opener.exchange(process, held, knob, signal, counter, waits=waits)

    def _loop(
        self,
        target: SteeringTarget,
        request: SteerRequest,
        plan: SteeringPlan,
        setup: ControlSetup,
        counter: PrometheusCounter | None,
        before: ControlLoop | None,
        actor: str,
    ) -> ControlLoop:
        knob, signal = setup.knob.describe().kind, setup.signal.kind

        def open_again() -> ControlSetup:
            return self._opener.open(target.process, knob, signal, counter, waits=plan.waits)

        bounds = plan.bounds(setup.knob.describe(), request)
        state, contender = self._state(target.process), None
        if plan.claim is not None:
            process = target.process
            label = f"{state.name()} ({process.pid})"
            described, named = setup.knob.describe(), int(plan.parameters.get(CORES, 0))
            # Whoever names a number of cores counts a worker as a core.
            own = described.original if described.kind == "pool-agent" and not named else 0
            contender = Contender(label, plan.claim, bounds, named, own)
        settings = LoopSettings(
            target=target.id,
            attach_ns=target.attach_ns,
            policy=request.policy,
            parameters=plan.parameters,
            shadow=plan.shadow,
            bounds=bounds,
            actor=actor,
            contender=contender,
        )
        # A program steered by affinity may use more CPUs than it currently has.
        cores = before.cores if before else read_core_limits(self._procfs, target.process.pid)
        return ControlLoop(
            settings,
            plan.ready,
            open_again,
            setup,
            self._peers,
            self._publisher(target),
            is_paused=state.is_paused,
            is_gone=state.is_gone,
            cpu_s=state.cpu_s,
            delays=state.run_queue_delays,
            cores=cores,
        )

    def _state(self, process: SteeredProcess) -> ProcessState:
        return ProcessState(self._procfs, process.pid, process.start_ticks)

    def adopt(self, prepared: PreparedSteering) -> bool:
        """Let a loop steer. Return False if the target was released since it was prepared."""
        with self._lock:
            wanted = self._opening.pop(prepared.target, None) is prepared.opening
            if wanted:
                self._loops[prepared.target] = prepared.loop
                if prepared.counter is not None:
                    self._counters[prepared.target] = prepared.counter
        return wanted

    def _forget_opening(self, target: str, opening: object) -> None:
        with self._lock:
            if self._opening.get(target) is opening:
                del self._opening[target]

    def abandon(self, prepared: PreparedSteering) -> None:
        """Discard a prepared loop."""
        self._forget_opening(prepared.target, prepared.opening)

    def _described(self, target: SteeringTarget) -> _Options:
        """Return the cached knobs and signals of a target: opening them disturbs the program."""
        seen = self._opener.agent_socket(target.process), target.process.ports()
        now, known = self._clock(), self._options.get(target.id)
        if known is None or known.seen != seen or now - known.at_s > OPTIONS_S:
            known = self._options[target.id] = _Options(seen, now)
        return known

    def restart(self, target: str, actor: str) -> Steering:
        """Restart the policy's search.

        Raises:
            NotSteeredError: no policy steers the target.
            TooManyActionsError: actions follow each other too fast.
        """
        loop = self._loops.get(target)
        if loop is None:
            raise NotSteeredError
        self._limit_actions(target)
        loop.restart("requested", actor)
        return loop.steering

    def steered(self, target: str) -> list[str]:
        """Return keys of everything steered under a target: itself, or programs of a group."""
        with self._lock:
            keys = {*self._loops, *self._opening}
        return sorted(key for key in keys if key.partition("/")[0] == target)

    def current(self, target: str) -> Steering | None:
        """Return the steering of a target or of a group's program, or None."""
        loop = self._loops.get(target)
        return None if loop is None else loop.steering

    def release(self, target: str, actor: str) -> None:
        """Release a target and restore the original size.

        Takes at most 5 s, and waits for no other action on the target.

        Raises:
            NotSteeredError: the target is not steered.
            TimeoutError: the release continues in the background.
        """
        self._options.pop(target, None)
        if not self._end(target, actor):
            raise NotSteeredError

    def ended(self, target: str) -> None:
        """End steering of a target that is no longer sampled, and of its programs."""
        self.release_all(self.steered(target), DETACH)
        with self._lock:
            for known in (self._actions, self._counters, self._options, self._busy):
                for key in [key for key in known if key.partition("/")[0] == target]:
                    known.pop(key)

    def close(self) -> None:
        """Release all targets in parallel."""
        self.release_all(list(self._loops), SHUTDOWN)

    def release_all(self, targets: Sequence[str], actor: str) -> None:
        """Release several targets in parallel, within 5 s; slower ones are logged."""
        for target in targets:
            loop = self._loops.get(target)
            if loop is not None:
                loop.stop(actor)
        for target in targets:
            self._options.pop(target, None)
            try:
                self._end(target, actor)
            except TimeoutError as error:
                log.error("%s", error)

    def _end(self, target: str, actor: str) -> bool:
        with self._lock:
            # Invalidate a setup that is currently being opened.
            opening = self._opening.pop(target, None)
            loop = self._loops.pop(target, None)
        if loop is not None:
            loop.release(actor)
        return loop is not None or opening is not None

    def _publisher(self, target: SteeringTarget) -> EventSink:
        def publish(steering: Steering | None, event: Event) -> None:
            loop = self._loops.get(target.id)
            if steering is None and loop is not None and loop.is_this_thread:
                # The loop ended by itself with its program.
                self._loops.pop(target.id, None)
            target.publish(steering, event)

        return publish

    def exclusive(self, target: str) -> threading.Lock:
        """Return the lock that serializes actions on a target or group, except releases."""
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
