"""Control loop of one target: measure an interval, let the policy decide, turn the knob, repeat."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from tidscope_policies.contract import PART_S, Decision, Observation
from tidscope_policies.dip_gate import typical_progress
from tidscope_policies.registry import ReadyPolicy
from tidscope_wire.generated.models import KnobOption, Steering

from tidscope_collector.steering.loop.events import (
    LOOP_FAILURE,
    PROGRAM_EXIT,
    EventSink,
    SteeringReporter,
)
from tidscope_collector.steering.loop.loop_inputs import (
    STEERING_ERRORS,
    ControlSetup,
    GrantChange,
    LoopSettings,
    RestartRequest,
)
from tidscope_collector.steering.loop.peers import NO_LIMITS, Contention, CoreLimits, PeerRegistry
from tidscope_collector.steering.loop.signals import (
    IntervalMeter,
)
from tidscope_collector.steering.loop.trial import Trial
from tidscope_collector.steering.loop.worker_times import WorkerTimes

log = logging.getLogger("tidscope.steering")

SETTLE_S = 3.0
"""Maximum time until a new size takes effect, in seconds; Go 1.25 checks its CPUs about once per
second."""
SETTLE_STEP_S = 0.02
RENEW_S = 1.0
RELEASE_S = 5.0
"""Maximum duration of a release, in seconds; no call of a knob or signal takes longer."""
RETRY_S = 2.0


class ControlLoop:
    """Steers in its own thread, so a slow program delays no other one.

    Args:
        settings: settings of the loop.
        ready: policy.
        open_setup: opens knob and signal again after a loss.
        setup: first setup, already open.
        peers: other steered targets.
        publish: receives events.
        is_paused: returns True while the target is stopped.
        is_gone: returns True once the target has ended.
        cpu_s: returns the target's CPU time, in seconds; None if unknown.
        delays: returns the run-queue delay of each of its threads, in nanoseconds.
        cores: limits of the target's CPU time.
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
        cpu_s: Callable[[], float | None] = lambda: None,
        delays: Callable[[], Mapping[int, int]] = dict,
        cores: CoreLimits = NO_LIMITS,
    ) -> None:
        self.settings = settings
        self.cores = cores
        self._policy, self._interval_s = ready.policy, ready.interval_s
        self._open_setup, self._setup = open_setup, setup
        self._peers = peers
        self._is_paused, self._is_gone = is_paused, is_gone
        self._cpu_s, self._delays = cpu_s, delays
        self._requests: queue.SimpleQueue[RestartRequest | GrantChange | None] = queue.SimpleQueue()
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
        self._trial = Trial(ready, size, setup.keeps, setup.times)
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
    def knob(self) -> KnobOption:
        """Knob in use, as an option for a later request."""
        return self._described.option(self._report.steering.size)

    @property
    def is_this_thread(self) -> bool:
        """True if the caller is the loop itself."""
        return threading.current_thread() is self._thread

    def start(self) -> None:
        """Start the loop."""
        self._report.report_start()
        restart = partial(self.restart, actor="the collector")
        contender, contention = self.settings.contender, None
        if contender is not None:
            contention = Contention(contender, lambda: self._requests.put(GrantChange()))
        self._peers.join(self.settings.target, restart, self.cores, contention)
        self._thread.start()

    def suspend(self) -> ControlSetup | None:
        """Pause decisions and keep the size, so that another loop can take over.

        Leases are not renewed until `resume` or `retire`: call one of them soon.

        Returns:
            Knob and signal, unused now; None if they are currently lost.

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
        """Continue after `suspend` as if it had not happened."""
        with self._lock:
            left, self._suspended, self._left = self._left, False, False
            if self._stopping or not left:
                return
            self._thread = self._new_thread()
            self._thread.start()

    def retire(self, successor: ControlSetup) -> None:
        """End after `suspend`, because another loop takes over the target.

        Args:
            successor: the other loop's setup; parts that it does not use are restored and closed.
        """
        with self._lock:
            holds, self._holds = self._holds, False
            self._finished = True
        if holds and self._setup.knob is not successor.knob:
            self._setup.close()
        elif holds and self._setup.signal is not successor.signal:
            self._setup.signal.close()

    def restart(self, reason: str, actor: str) -> None:
        """Restart the policy's search soon."""
        self._requests.put(RestartRequest(reason, actor))

    def release(self, actor: str) -> None:
        """Restore the original size, end the loop, and wait until it has ended.

        Every wait of the loop has a deadline. Reopening a lost knob or signal may take longer, but
        the size is already the original one then.

        Raises:
            TimeoutError: the release has not finished yet.
        """
        self.stop(actor)
        if not self._restored.wait(RELEASE_S):
            raise TimeoutError(f"the size is not restored after {RELEASE_S:g} s; it will be")

    def join(self, timeout_s: float) -> None:
        """Wait for the thread's end."""
        self._thread.join(timeout_s)

    def stop(self, actor: str) -> None:
        """Start a release, without waiting."""
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
                # A loop whose target has ended is not handed over.
                self._left = self._suspended and not self._stopping and not self._is_gone()
                left = self._left
            if not left:
                self._close()
                self._finish()

    def _finish(self) -> None:
        """Report the end once."""
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
        """Restore the original size. Idempotent."""
        if not self._holds:
            return
        self._trouble = self._setup.close()
        with self._lock:
            self._holds = False

    def _adopt(self, setup: ControlSetup) -> bool:
        """Use a new knob and signal. Return True if a stop was requested meanwhile."""
        with self._lock:
            if not self._ends():
                self._setup, self._holds, self._trouble = setup, True, ""
                return False
        setup.close()
        return True

    def _recover(self, problem: str) -> bool:
        """Reopen a lost knob or signal, until the target ends or a stop is requested."""
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
        """Wait while handling requests. Return True to stop."""
        deadline = time.monotonic() + seconds
        while not self._ends():
            try:
                request = self._requests.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return False
            if isinstance(request, GrantChange):
                self._grant_changed = True
                return False
            if request is not None:
                self._restart_search(request)
        return True

    def _restart_search(self, request: RestartRequest) -> None:
        self._policy.restart(request.reason)
        self._report.report_restart(request.reason, request.actor)

    def _run_intervals(self, setup: ControlSetup) -> None:
        """Steer until a stop is requested.

        Raises:
            STEERING_ERRORS: the knob or signal was lost.
        """
        while True:
            times = setup.times if self._trial.wants_response_times else None
            # Use the set size: after a loss the program may have its own again.
            meter = IntervalMeter(
                setup.signal.read(),
                self._report.steering.size,
                () if times is None else times.read(),
                self._cpu_s(),
            )
            began = self._worker_times(setup)
            if self._measure(setup, meter):
                return
            now = time.monotonic()
            name = self.settings.target
            seen = meter.end(
                setup.knob.read(),
                self.settings.bounds,
                original=self._described.original,
                paused=self._is_paused(),
                probing_elsewhere=self._peers.is_probing_elsewhere(name, now),
                peers=self._peers.peers(name, now),
                cores=self._peers.share(name),
                cpu_s=self._cpu_s(),
            )
            if began is not None and (ended := self._worker_times(setup)) is not None:
                seen = replace(seen, workers=ended.since(began, seen.elapsed_s))
            seen = self._peers.divide_by(name, seen)
            if times is not None:
                seen = replace(seen, responses=meter.responses(times.read()))
            steered = self._trial.with_policy
            decision = self._policy.observe(seen)
            wanted = self._allowed_size(decision, seen, now)
            progress = typical_progress(seen.parts) if seen.parts else seen.progress
            self._peers.record_interval(name, now, progress, moved=wanted != seen.size)
            in_force = self._set_size(setup, seen.size, wanted)
            if in_force is None:
                return
            self._report.report_decision(seen, decision, in_force, with_policy=steered)
            if decision.release:
                self.stop(self._trial.releaser)
                return

    def _worker_times(self, setup: ControlSetup) -> WorkerTimes | None:
        """Return the times of a pool whose workers may wait, or None for other targets."""
        contender = self.settings.contender
        if setup.times is None or contender is None or not contender.own:
            return None
        return WorkerTimes(setup.times.run_s(), self._cpu_s(), self._delays())

    def _measure(self, setup: ControlSetup, meter: IntervalMeter) -> bool:
        """Let an interval pass. Return True to stop."""
        end = time.monotonic() + self._interval_s
        while (left := end - time.monotonic()) > 0:
            # A remainder below half a part is merged with the previous part.
            if self._wait(left if left < 1.5 * PART_S else PART_S):
                return True
            count = setup.signal.read()
            meter.add_part(count)
            self._peers.hear(self.settings.target, count.ops)
            if self._is_due_now(setup):
                return False
            if setup.restart_requested():
                request = RestartRequest("the program entered a new phase", "the program")
                self._restart_search(request)
            if time.monotonic() - self._renewed_s >= RENEW_S:
                setup.knob.renew()
                self._renewed_s = time.monotonic()
        return False

    def _is_due_now(self, setup: ControlSetup) -> bool:
        """Return True if the arbiter granted another size meanwhile."""
        if not self._grant_changed:
            return False
        self._grant_changed = False
        grant = self._peers.grant(self.settings.target)
        return grant is not None and grant.size not in (0, setup.knob.read())

    def _allowed_size(self, decision: Decision, seen: Observation, now_s: float) -> int:
        """Return the size to set: within bounds, and a trial only in this target's turn."""
        may = self._peers.request_turn(self.settings.target, now_s, probing=decision.probing)
        if self.settings.shadow or (decision.probing and not may):
            return seen.size
        return self.settings.bounds.clamp(decision.size)

    def _set_size(self, setup: ControlSetup, size: int, wanted: int) -> int | None:
        """Set a size and wait until it is in effect. Return None to stop."""
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
                # The program works while a slow size settles, so that work is counted.
                count, counted_s = setup.signal.read().ops, time.monotonic()
            self._peers.hear(self.settings.target, count)
            if self._grant_changed:
                break
        return in_force
