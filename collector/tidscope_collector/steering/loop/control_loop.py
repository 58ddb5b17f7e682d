"""Steers one target: measures an interval, lets the policy decide, turns the knob, and again."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from tidscope_policies.contract import (
    PART_S,
    Decision,
    Observation,
)
from tidscope_policies.dip_gate import usual_progress
from tidscope_policies.registry import ReadyPolicy
from tidscope_wire.generated.models import (
    KnobOption,
    Steering,
)

from tidscope_collector.agent.client import AgentClientError
from tidscope_collector.steering.loop.events import (
    LOOP_FAILURE,
    PROGRAM_EXIT,
    EventSink,
    SteeringReporter,
)
from tidscope_collector.steering.loop.knob import KnobError
from tidscope_collector.steering.loop.loop_inputs import ControlSetup, LoopSettings
from tidscope_collector.steering.loop.peers import NO_LIMITS, Contention, CoreLimits, PeerRegistry
from tidscope_collector.steering.loop.signals import (
    IntervalMeter,
    SignalLostError,
    SignalRefusedError,
)
from tidscope_collector.steering.loop.trial import Trial

log = logging.getLogger("tidscope.steering")

SETTLE_S = 3.0
"""A change of size may take so long to act; Go 1.25 looks at its CPUs about once a second."""
SETTLE_STEP_S = 0.02
RENEW_S = 1.0
RELEASE_S = 5.0
"""A release is done after so long at the latest: no call of a knob or a signal takes longer."""
RETRY_S = 2.0
STEERING_ERRORS = (KnobError, SignalLostError, SignalRefusedError, AgentClientError)


@dataclass(frozen=True)
class _RestartRequest:
    """Somebody asks for a new search."""

    reason: str
    actor: str


@dataclass(frozen=True)
class _GrantChange:
    """The arbiter gives the target something else."""


class ControlLoop:
    """A thread of its own, so that a program that answers slowly holds up no other one.

    Args:
        settings: what to do.
        ready: the policy.
        open_setup: makes knob and signal; again after they were lost.
        setup: the first one, open already.
        peers: the other targets that are steered.
        publish: takes what happens.
        is_paused: whether the target stands still (stopped).
        is_gone: whether it has ended.
        cores: limits of the CPU time that the target may have.
    """

    def __init__(
        self,
        settings: LoopSettings,
        ready: ReadyPolicy,
        open_setup: Callable[[], ControlSetup],
        setup: ControlSetup,
        peers: PeerRegistry,
        publish: EventSink,
        *,
        is_paused: Callable[[], bool] = lambda: False,
        is_gone: Callable[[], bool] = lambda: False,
        cores: CoreLimits = NO_LIMITS,
    ) -> None:
        self.settings = settings
        self._cores = cores
        self._policy, self._interval_s = ready.policy, ready.interval_s
        self._open_setup, self._setup = open_setup, setup
        self._peers = peers
        self._is_paused, self._is_gone = is_paused, is_gone
        self._requests: queue.SimpleQueue[_RestartRequest | _GrantChange | None] = (
            queue.SimpleQueue()
        )
        self._lock = threading.Lock()
        self._stopping = False
        self._grant_changed = False
        self._holds = True
        self._trouble = ""
        self._suspended = False
        self._left = False
        self._finished = False
        self._restored = threading.Event()
        self._renewed_s = time.monotonic()
        self._releaser = ""
        self._described = setup.knob.describe()
        size = setup.knob.read()
        self._trial = Trial(ready, size, setup.pool, setup.times)
        self._report = SteeringReporter(settings, setup, self._trial, peers, publish)
        self._thread = self._new_thread()

    def _new_thread(self) -> threading.Thread:
        return threading.Thread(target=self._run, name="control loop", daemon=True)

    @property
    def steering(self) -> Steering:
        """The current state of steering."""
        return self._report.steering

    @property
    def setup(self) -> ControlSetup:
        """Knob and signal in use."""
        return self._setup

    @property
    def cores(self) -> CoreLimits:
        """Limits of the CPU time that the target may have."""
        return self._cores

    @property
    def knob(self) -> KnobOption:
        """The knob in use, as an option of a later request."""
        return KnobOption(
            kind=self._described.kind,
            refusal="",
            lower=self._described.lower,
            upper=self._described.upper,
            size=self._report.steering.size,
        )

    @property
    def is_this_thread(self) -> bool:
        """Whether it is the loop itself that asks."""
        return threading.current_thread() is self._thread

    def start(self) -> None:
        """Begin."""
        self._report.report_start()
        restart = partial(self.restart, actor="the collector")
        contender, contention = self.settings.contender, None
        if contender is not None:
            contention = Contention(contender, lambda: self._requests.put(_GrantChange()))
        self._peers.join(self.settings.target, restart, self._cores, contention)
        self._thread.start()

    def suspend(self) -> ControlSetup | None:
        """Decide no more, and leave the size as it is, so that another loop can take over.

        Until `resume` or `retire` nobody renews what has a lease: call one of them soon.

        Returns:
            Knob and signal, which nobody uses now; None: they are lost at present.

        Raises:
            TimeoutError: the loop waits for the program.
        """
        with self._lock:
            self._suspended = True
        self._requests.put(None)
        self._thread.join(RELEASE_S)
        if self._thread.is_alive():
            self.resume()
            raise TimeoutError(f"The program does not answer within {RELEASE_S:g} s.")
        return self._setup if self._holds else None

    def resume(self) -> None:
        """Go on after `suspend`, as if nothing had happened."""
        with self._lock:
            left, self._suspended, self._left = self._left, False, False
            if self._stopping or not left:
                return
            self._thread = self._new_thread()
            self._thread.start()

    def retire(self, successor: ControlSetup) -> None:
        """End after `suspend`: another loop steers the target from now on.

        Args:
            successor: its knob and signal; what it does not use is closed, and restored before.
        """
        with self._lock:
            holds, self._holds = self._holds, False
            self._finished = True
        if holds and self._setup.knob is not successor.knob:
            self._setup.close()
        elif holds and self._setup.signal is not successor.signal:
            self._setup.signal.close()

    def restart(self, reason: str, actor: str) -> None:
        """Let the policy search again, soon."""
        self._requests.put(_RestartRequest(reason, actor))

    def release(self, actor: str) -> None:
        """Steer no more, give the original size back, and wait until that is done.

        Whatever the loop waits for at the moment has a deadline, and while it opens a lost knob or
        signal again, which may take longer, the size is the original one.

        Raises:
            TimeoutError: it is not done yet.
        """
        self.stop(actor)
        if not self._restored.wait(RELEASE_S):
            raise TimeoutError(f"the size is not restored after {RELEASE_S:g} s; it will be")

    def join(self, timeout_s: float) -> None:
        """Wait for the end of the thread."""
        self._thread.join(timeout_s)

    def stop(self, actor: str) -> None:
        """Begin to release; does not wait."""
        with self._lock:
            self._releaser = actor
            self._stopping = True
            abandoned, self._left = self._left, False
            holds = self._holds
        self._requests.put(None)
        if abandoned:
            self._close()
        if abandoned or not holds:
            self._finish()

    def _ends(self) -> bool:
        return self._stopping or self._suspended

    def _run(self) -> None:
        try:
            problem = "" if self._holds else self._report.steering.problem or "It is lost."
            while not self._ends():
                try:
                    if problem and not self._recover(problem):
                        break
                    self._run_intervals(self._setup)
                except STEERING_ERRORS as error:
                    problem = str(error)
                else:
                    problem = ""
        except Exception:
            log.exception("steering of %s failed", self.settings.target)
            self._report.report_problem("The control loop failed; see the collector's log.")
            with self._lock:
                self._suspended = False
        finally:
            with self._lock:
                # One that is gone is not handed over.
                self._left = self._suspended and not self._stopping and not self._is_gone()
                left = self._left
            if not left:
                self._close()
                self._finish()

    def _finish(self) -> None:
        """Report the end, once."""
        with self._lock:
            finished, self._finished = self._finished, True
        if finished:
            return
        self._peers.leave(self.settings.target, "has ended" if self._is_gone() else "is released")
        if self._trouble and not self._is_gone():
            self._report.report_problem(self._trouble)
        self._report.report_release(
            self._releaser or (PROGRAM_EXIT if self._is_gone() else LOOP_FAILURE)
        )
        self._restored.set()

    def _close(self) -> None:
        """Give the original size back; does nothing the second time."""
        if not self._holds:
            return
        self._trouble = self._setup.close()
        with self._lock:
            self._holds = False

    def _adopt(self, setup: ControlSetup) -> bool:
        """Steer with a new knob and signal; whether somebody stopped meanwhile."""
        with self._lock:
            if not self._ends():
                self._setup, self._holds, self._trouble = setup, True, ""
                return False
        setup.close()
        return True

    def _recover(self, problem: str) -> bool:
        """Something was lost: try to get it back, until the target ends or somebody stops."""
        self._close()
        while not self._is_gone():
            self._report.report_problem(problem)
            if self._wait(RETRY_S):
                return False
            try:
                setup = self._open_setup()
            except STEERING_ERRORS as error:
                problem = str(error)
                continue
            if self._adopt(setup):
                return False
            self._report.report_problem(None)
            return True
        return False

    def _wait(self, seconds: float) -> bool:
        """Wait for some time, taking in what is said meanwhile; whether to stop."""
        deadline = time.monotonic() + seconds
        while not self._ends():
            try:
                request = self._requests.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return False
            if isinstance(request, _GrantChange):
                self._grant_changed = True
                return False
            if request is not None:
                self._restart_search(request)
        return True

    def _restart_search(self, request: _RestartRequest) -> None:
        self._policy.restart(request.reason)
        self._report.report_restart(request.reason, request.actor)

    def _run_intervals(self, setup: ControlSetup) -> None:
        """Steer until somebody stops.

        Raises:
            STEERING_ERRORS: something was lost.
        """
        while True:
            times = setup.times if self._trial.wants_response_times else None
            # The size that was set: after a loss the program may have its own again.
            meter = IntervalMeter(
                setup.signal.read(),
                self._report.steering.size,
                () if times is None else times.read(),
            )
            if self._measure(setup, meter):
                return
            now = time.monotonic()
            name = self.settings.target
            seen = meter.end(
                setup.knob.read(),
                self.settings.bounds,
                paused=self._is_paused(),
                probing_elsewhere=self._peers.is_probing_elsewhere(name, now),
                peers=self._peers.peers(name, now),
                cores=self._peers.share(name),
            )
            seen = self._peers.divide_by(name, seen)
            if times is not None:
                seen = replace(seen, responses=meter.responses(times.read()))
            steered = self._trial.with_policy
            decision = self._policy.observe(seen)
            wanted = self._allowed_size(decision, seen, now)
            progress = usual_progress(seen.parts) if seen.parts else seen.progress
            self._peers.record_interval(name, now, progress, moved=wanted != seen.size)
            in_force = self._set_size(setup, seen.size, wanted)
            if in_force is None:
                return
            self._report.report_decision(seen, decision, in_force, with_policy=steered)
            if decision.release:
                self.stop(self._trial.releaser)
                return

    def _measure(self, setup: ControlSetup, meter: IntervalMeter) -> bool:
        """Let an interval pass; whether to stop."""
        end = time.monotonic() + self._interval_s
        while (left := end - time.monotonic()) > 0:
            # What is left may be less than half a part: it goes with the one before.
            if self._wait(left if left < 1.5 * PART_S else PART_S):
                return True
            count = setup.signal.read()
            meter.add_part(count)
            self._peers.hear(self.settings.target, count.ops)
            if self._is_due_now(setup):
                return False
            if setup.restart_requested():
                request = _RestartRequest("the program entered a new phase", "the program")
                self._restart_search(request)
            if time.monotonic() - self._renewed_s >= RENEW_S:
                setup.knob.renew()
                self._renewed_s = time.monotonic()
        return False

    def _is_due_now(self, setup: ControlSetup) -> bool:
        """Whether the arbiter gave the target another size meanwhile."""
        if not self._grant_changed:
            return False
        self._grant_changed = False
        grant = self._peers.grant(self.settings.target)
        return grant is not None and grant.cores not in (0, setup.knob.read())

    def _allowed_size(self, decision: Decision, seen: Observation, now_s: float) -> int:
        """The size to set: within bounds, and only where it is this one's turn to try."""
        may = self._peers.request_turn(self.settings.target, now_s, probing=decision.probing)
        if self.settings.shadow or (decision.probing and not may):
            return seen.size
        return self.settings.bounds.clamp(decision.size)

    def _set_size(self, setup: ControlSetup, size: int, wanted: int) -> int | None:
        """Set a size and wait until it is in effect; None: stop."""
        if wanted == size:
            return size
        in_force = setup.knob.apply(wanted)
        began_s = counted_s = time.monotonic()
        while in_force != wanted and time.monotonic() < began_s + SETTLE_S:
            if self._wait(SETTLE_STEP_S):
                return None
            in_force = setup.knob.read()
            count = None
            if time.monotonic() - counted_s >= PART_S:
                # What takes long to settle works meanwhile.
                count, counted_s = setup.signal.read().ops, time.monotonic()
            self._peers.hear(self.settings.target, count)
            if self._grant_changed:
                break
        return in_force
