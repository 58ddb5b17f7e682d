"""Steers one target: measures an interval, lets the policy decide, turns the knob, and again."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidscope_wire.generated.models import (
    KnobOption,
    SearchRestarted,
    Steering,
    SteeringDecided,
    SteeringProblem,
    SteeringReleased,
    SteeringStarted,
)

from tidscope_collector.control.agent.errors import AgentTroubleError
from tidscope_collector.control.knobs.knob import Knob, KnobTroubleError
from tidscope_collector.control.loop.fleet import Fleet
from tidscope_collector.control.loop.meter import Meter
from tidscope_collector.control.policies.contract import (
    PART_S,
    Bounds,
    Decision,
    Observation,
    is_usable,
)
from tidscope_collector.control.policies.registry import Ready
from tidscope_collector.control.signals.signal import (
    PROXIES,
    Signal,
    SignalLostError,
    SignalRefusedError,
)

log = logging.getLogger("tidscope.control")

SETTLE_S = 3.0
"""A change of size may take so long to act; Go 1.25 looks at its CPUs about once a second."""
SETTLE_STEP_S = 0.02
KEEP_S = 1.0
RETRY_S = 2.0
TROUBLES = (KnobTroubleError, SignalLostError, SignalRefusedError, AgentTroubleError)
WAITS = "Another program on this host is trying sizes out, and goes first."

Event = SteeringStarted | SteeringDecided | SearchRestarted | SteeringReleased | SteeringProblem
Tell = Callable[[Steering | None, Event], None]
"""Takes what is in force now (None: nothing any more), and what happened. Called by any thread."""


@dataclass(frozen=True)
class Rig:
    """What a pilot has in its hands.

    Attributes:
        knob: closed by the pilot, after the signal.
        signal: what is steered on.
        restart_requested: whether the program asked for a new search since the last call.
    """

    knob: Knob
    signal: Signal
    restart_requested: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class Order:
    """What was asked for, complete.

    Attributes:
        target: identity of the target.
        zero_ns: CLOCK_MONOTONIC of its attachment.
        policy: name.
        parameters: all of them.
        shadow: decide, but do not act.
        bounds: within those of the knob.
        actor: who asked.
    """

    target: str
    zero_ns: int
    policy: str
    parameters: Mapping[str, float]
    shadow: bool
    bounds: Bounds
    actor: str


@dataclass(frozen=True)
class _Word:
    """Somebody asks for a new search."""

    reason: str
    actor: str


class Pilot:
    """A thread of its own, so that a program that answers slowly holds up no other one.

    Args:
        order: what to do.
        ready: the policy.
        open_rig: makes knob and signal; again after they were lost.
        rig: the first one, open already.
        fleet: the other targets that are steered.
        tell: takes what happens.
        is_paused: whether the target stands still (stopped).
        is_gone: whether it has ended.
    """

    def __init__(
        self,
        order: Order,
        ready: Ready,
        open_rig: Callable[[], Rig],
        rig: Rig,
        fleet: Fleet,
        tell: Tell,
        *,
        is_paused: Callable[[], bool] = lambda: False,
        is_gone: Callable[[], bool] = lambda: False,
    ) -> None:
        self.order = order
        self._policy, self._interval_s = ready.policy, ready.interval_s
        self._open_rig, self._rig = open_rig, rig
        self._fleet, self._tell = fleet, tell
        self._is_paused, self._is_gone = is_paused, is_gone
        self._words: queue.SimpleQueue[_Word | None] = queue.SimpleQueue()
        self._stopping = False
        self._kept_s = time.monotonic()
        self._releaser = ""
        self._described = described = rig.knob.describe()
        self._steering = Steering(
            policy=order.policy,
            parameters=dict(order.parameters),
            shadow=order.shadow,
            knob=described.kind,
            signal=rig.signal.kind,
            proxy=rig.signal.kind in PROXIES,
            lower=order.bounds.low,
            upper=order.bounds.high,
            original=described.original,
            size=rig.knob.read(),
            state="starting",
            reason="It has just begun.",
            decisions=0,
            since_unix_us=time.time_ns() // 1000,
            problem="",
        )
        self._thread = threading.Thread(target=self._run, name="pilot", daemon=True)

    @property
    def steering(self) -> Steering:
        """What is in force now."""
        return self._steering

    @property
    def knob(self) -> KnobOption:
        """What is turned, as it may be turned again."""
        return KnobOption(
            kind=self._described.kind,
            refusal="",
            lower=self._described.lower,
            upper=self._described.upper,
            size=self._steering.size,
        )

    @property
    def is_this_thread(self) -> bool:
        """Whether it is the pilot itself that asks."""
        return threading.current_thread() is self._thread

    def start(self) -> None:
        """Begin."""
        now = self._steering
        self._tell(
            now,
            SteeringStarted(
                policy=now.policy,
                shadow=now.shadow,
                knob=now.knob,
                signal=now.signal,
                proxy=now.proxy,
                lower=now.lower,
                upper=now.upper,
                size=now.size,
                actor=self.order.actor,
            ),
        )
        self._fleet.join(self.order.target, lambda why: self.restart(why, "the collector"))
        self._thread.start()

    def restart(self, reason: str, actor: str) -> None:
        """Let the policy search anew, soon."""
        self._words.put(_Word(reason, actor))

    def release(self, actor: str) -> None:
        """Steer no more, give the original size back, and wait until that is done."""
        self._releaser = actor
        self._stopping = True
        self._words.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopping:
                try:
                    self._fly(self._rig)
                except TROUBLES as error:
                    if not self._recover(str(error)):
                        break
        except Exception:
            log.exception("steering of %s failed", self.order.target)
            self._trouble("The control loop failed; see the collector's log.")
        finally:
            self._fleet.leave(self.order.target)
            self._close()
            size = self._steering.original
            self._tell(
                None,
                SteeringReleased(
                    policy=self.order.policy,
                    size=size,
                    actor=self._releaser or "the end of the program",
                ),
            )

    def _close(self) -> None:
        self._rig.signal.close()
        self._rig.knob.close()

    def _recover(self, problem: str) -> bool:
        """Something was lost: try to get it back, until the target ends or somebody stops."""
        self._close()
        while not self._is_gone():
            self._trouble(problem)
            if self._wait(RETRY_S):
                return False
            try:
                self._rig = self._open_rig()
            except TROUBLES as error:
                problem = str(error)
                continue
            self._trouble(None)
            return True
        return False

    def _trouble(self, problem: str | None) -> None:
        if problem == self._steering.problem:
            return
        problem = problem and problem[:1024]
        self._steering = self._steering.model_copy(update={"problem": problem})
        self._tell(self._steering, SteeringProblem(policy=self.order.policy, problem=problem))

    def _wait(self, seconds: float) -> bool:
        """Wait for some time, taking in what is said meanwhile; whether to stop."""
        deadline = time.monotonic() + seconds
        while not self._stopping:
            try:
                word = self._words.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return False
            if word is not None:
                self._search_anew(word)
        return True

    def _search_anew(self, word: _Word) -> None:
        self._policy.restart(word.reason)
        self._steering = self._steering.model_copy(
            update={"state": "searching anew", "reason": f"{word.reason[:1000].capitalize()}."}
        )
        self._tell(
            self._steering,
            SearchRestarted(policy=self.order.policy, reason=word.reason[:256], actor=word.actor),
        )

    def _fly(self, rig: Rig) -> None:
        """Steer until somebody stops.

        Raises:
            TROUBLES: something was lost.
        """
        while True:
            meter = Meter(rig.signal.read(), rig.knob.read())
            if self._measure(rig, meter):
                return
            now = time.monotonic()
            name = self.order.target
            seen = meter.end(
                rig.knob.read(),
                self.order.bounds,
                paused=self._is_paused(),
                probing_elsewhere=self._fleet.is_elsewhere(name, now),
                peers=self._fleet.peers(name, now),
            )
            decision = self._policy.observe(seen)
            wanted = self._granted(decision, seen, now)
            self._fleet.say(name, now, seen.progress, moved=wanted != seen.size)
            in_force = self._turn(rig, seen.size, wanted)
            if in_force is None:
                return
            self._note(seen, decision, in_force)

    def _measure(self, rig: Rig, meter: Meter) -> bool:
        """Let an interval pass; whether to stop."""
        end = time.monotonic() + self._interval_s
        while (left := end - time.monotonic()) > 0:
            # What is left may be less than half a part: it goes with the one before.
            if self._wait(left if left < 1.5 * PART_S else PART_S):
                return True
            meter.add(rig.signal.read())
            if rig.restart_requested():
                self._search_anew(_Word("the program entered another phase", "the program"))
            if time.monotonic() - self._kept_s >= KEEP_S:
                rig.knob.keep()
                self._kept_s = time.monotonic()
        return False

    def _granted(self, decision: Decision, seen: Observation, now_s: float) -> int:
        """The size to set: within bounds, and only where it is this one's turn to try."""
        may = self._fleet.report(self.order.target, now_s, probing=decision.probing)
        if self.order.shadow or (decision.probing and not may):
            return seen.size
        return self.order.bounds.clamp(decision.size)

    def _turn(self, rig: Rig, size: int, wanted: int) -> int | None:
        """Set a size and wait until it is in force; None: stop."""
        if wanted == size:
            return size
        in_force = rig.knob.apply(wanted)
        deadline = time.monotonic() + SETTLE_S
        while in_force != wanted and time.monotonic() < deadline:
            if self._wait(SETTLE_STEP_S):
                return None
            in_force = rig.knob.read()
        return in_force

    def _note(self, seen: Observation, decision: Decision, in_force: int) -> None:
        waiting = decision.probing and in_force != decision.size and not self.order.shadow
        self._steering = self._steering.model_copy(
            update={
                "size": in_force,
                "state": decision.state[:256],
                "reason": (WAITS if waiting else decision.reason)[:1024],
                "decisions": self._steering.decisions + 1,
            }
        )
        self._tell(
            self._steering,
            SteeringDecided(
                policy=self.order.policy,
                at_ns=max(0, time.monotonic_ns() - self.order.zero_ns),
                elapsed_s=seen.elapsed_s,
                ops=seen.ops,
                mean_wait_s=seen.mean_wait_s,
                size=seen.size,
                next_size=in_force,
                proposed=decision.proposed,
                state=self._steering.state,
                reason=self._steering.reason,
                counted=is_usable(seen),
                probing=decision.probing,
            ),
        )
