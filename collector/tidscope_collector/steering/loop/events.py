"""Events of a control loop, and the published state of steering."""

import time
from collections.abc import Callable

from tidscope_policies.contract import WAITS_ITS_TURN, Decision, Observation, is_usable
from tidscope_wire.generated.models import (
    CoreDivision,
    SearchRestarted,
    Steering,
    SteeringDecided,
    SteeringProblem,
    SteeringProven,
    SteeringReleased,
    SteeringStarted,
    SteeringSwept,
)

from tidscope_collector.steering.loop.loop_inputs import ControlSetup, LoopSettings
from tidscope_collector.steering.loop.peers import PeerRegistry
from tidscope_collector.steering.loop.signals import PROXIES
from tidscope_collector.steering.loop.trial import PROOF, SWEEP, Trial, core_division

PROGRAM_EXIT = "program exit"
LOOP_FAILURE = "control loop failure"
DETACH = "detach"
SHUTDOWN = "collector shutdown"
COMMAND_GONE = "end of the command"
UNASKED = frozenset({PROGRAM_EXIT, LOOP_FAILURE, DETACH, SHUTDOWN, COMMAND_GONE, PROOF, SWEEP})
"""Actors of unrequested releases."""

Event = (
    SteeringStarted
    | SteeringDecided
    | SearchRestarted
    | SteeringReleased
    | SteeringProblem
    | SteeringProven
    | SteeringSwept
)
EventSink = Callable[[Steering | None, Event], None]
"""Receives the current state (None if no longer steered) and an event. Called by any thread."""


class SteeringReporter:
    """Keeps the state of one target's steering, and publishes its events.

    Args:
        settings: settings of the control loop.
        setup: knob and signal, open.
        trial: proof or sweep, if the policy is one.
        peers: other steered targets.
        publish: receives state and events.
    """

    def __init__(
        self,
        settings: LoopSettings,
        setup: ControlSetup,
        trial: Trial,
        peers: PeerRegistry,
        publish: EventSink,
    ) -> None:
        self._settings, self._trial = settings, trial
        self._peers, self._publish = peers, publish
        described = setup.knob.describe()
        self.steering = Steering(
            policy=settings.policy,
            parameters=dict(settings.parameters),
            shadow=settings.shadow,
            knob=described.kind,
            signal=setup.signal.kind,
            proxy=setup.signal.kind in PROXIES,
            lower=settings.bounds.low,
            upper=settings.bounds.high,
            original=described.original,
            size=trial.start,
            state="starting",
            reason="Waiting for the first interval.",
            decisions=0,
            since_unix_us=time.time_ns() // 1000,
            problem=None,
        ).model_copy(update=trial.state())

    def report_start(self) -> None:
        """Publish the start of steering."""
        now = self.steering
        self._publish(
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
                actor=self._settings.actor,
            ),
        )

    def report_problem(self, problem: str | None) -> None:
        """Publish a problem, or None for its end; repetitions are suppressed."""
        if problem == self.steering.problem:
            return
        problem = problem and problem[:1024]
        self._update({"problem": problem, "division": self._division()})
        self._publish(self.steering, SteeringProblem(policy=self._settings.policy, problem=problem))

    def report_restart(self, reason: str, actor: str) -> None:
        """Publish the start of a new search."""
        self._update({"state": "restarting", "reason": f"{reason[:1000].capitalize()}."})
        self._publish(
            self.steering,
            SearchRestarted(policy=self._settings.policy, reason=reason[:256], actor=actor),
        )

    def report_decision(
        self, seen: Observation, decision: Decision, in_force: int, *, with_policy: bool | None
    ) -> None:
        """Publish a decision, then the result if it ended a proof or sweep.

        Args:
            seen: observation of the interval.
            decision: decision of the policy.
            in_force: size in effect now.
            with_policy: in a proof, True if the policy steered in the interval; otherwise None.
        """
        division = self._division()
        waiting = decision.probing and in_force != decision.size and not self._settings.shadow
        now_us = time.time_ns() // 1000
        chosen_us = self.steering.chosen_unix_us
        if chosen_us is None and decision.chooses:
            chosen_us = now_us
        reason = WAITS_ITS_TURN if waiting else decision.reason
        if not self._settings.shadow:
            reason += self._trial.finding(decision, self.steering.original)
        self._update(
            {
                "size": in_force,
                "state": decision.state[:256],
                "reason": reason[:1024],
                "decisions": self.steering.decisions + 1,
                "ops_per_s": seen.progress,
                "interval_s": seen.elapsed_s,
                "decided_unix_us": now_us,
                "chosen_unix_us": chosen_us,
                "division": division,
            }
            | self._trial.state()
        )
        self._publish(
            self.steering,
            SteeringDecided(
                policy=self._settings.policy,
                number=self.steering.decisions,
                at_ns=max(0, time.monotonic_ns() - self._settings.attach_ns),
                elapsed_s=seen.elapsed_s,
                ops=seen.ops,
                mean_wait_s=seen.mean_wait_s,
                size=seen.size,
                next_size=in_force,
                proposed=decision.proposed,
                state=self.steering.state,
                reason=self.steering.reason,
                counted=is_usable(seen),
                probing=decision.probing,
                deferred=decision.deferred,
                with_policy=with_policy,
                division=division,
                gain=self._trial.gain,
            ),
        )
        result = self._trial.result(self._settings.policy)
        if result is not None:
            self._publish(self.steering, result)

    def report_release(self, actor: str) -> None:
        """Publish the end of steering."""
        self._publish(
            None,
            SteeringReleased(
                policy=self._settings.policy, size=self.steering.original, actor=actor
            ),
        )

    def _update(self, changes: dict[str, object]) -> None:
        self.steering = self.steering.model_copy(update=changes)

    def _division(self) -> CoreDivision | None:
        """Return the arbiter's grant in the form of the wire, or None without one."""
        contender = self._settings.contender
        grant = self._peers.grant(self._settings.target)
        if contender is None or grant is None:
            return None
        return core_division(contender.claim, grant)
