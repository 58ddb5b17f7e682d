"""A validated steering request: policy, parameters, bounds, learner; and why one is refused."""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tidscope_policies.algorithms.pss import Learner
from tidscope_policies.arbitration.division import Claim
from tidscope_policies.contract import Bounds
from tidscope_policies.parameters import ParameterError, make_parameters
from tidscope_policies.perceptron import Predictor, Rule
from tidscope_policies.registry import POLICIES, SWEEP, PolicyEntry, ReadyPolicy, make_sweep
from tidscope_predictd.client import Connection, ServiceError, open_over
from tidscope_predictd.messages import Open
from tidscope_predictd.shared import SharedPredictor
from tidscope_wire.generated.models import (
    PolicyInfo,
    PolicyParameter,
    PrometheusCounter,
    Steering,
    SteerRequest,
    SweepPlan,
)
from tidscope_wire.problems import refusal

from tidscope_collector.inspection.asking import DamagedError, NoAnswerError, UnreadableError
from tidscope_collector.inspection.reader import connect_predictions
from tidscope_collector.steering.loop.control_loop import ControlLoop
from tidscope_collector.steering.loop.knob import KnobDescription
from tidscope_collector.steering.loop.loop_inputs import ControlSetup
from tidscope_collector.steering.loop.trial import proof_settings, sweep_settings


class NotSteerableError(Exception):
    """The target cannot be steered; the text is a sentence for people."""


class NotSteeredError(Exception):
    """No policy steers the target."""


class BadParameterError(Exception):
    """A requested value does not exist or is out of bounds; the text names it."""


class TooManyActionsError(Exception):
    """Actions follow each other faster than programs can adapt."""


@contextmanager
def refused_as_problems() -> Iterator[None]:
    """Convert steering errors to API problems.

    Raises:
        ProblemError: instead of the errors above.
    """
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


MAX_SHARED = 32
"""Maximum number of open models. Further programs learn alone."""

TIMEOUT_S = 1.0

_ODD = re.compile(r"[^A-Za-z0-9._-]")

CORES = "cores"
"""Name of the parameter for the cores that an arbiter divides; value 0 detects them."""

SIZE = "size"
"""Name of the parameter for a size that the policy keeps; value 0 for none."""


@dataclass(frozen=True)
class SteeringPlan:
    """A policy ready to observe one target.

    Attributes:
        ready: policy.
        parameters: all parameters.
        waits: True if it steers on job wait times.
        shadow: True to decide without acting.
        claim: claim on the arbiter; None if the policy does not use it.
    """

    ready: ReadyPolicy
    parameters: Mapping[str, float]
    waits: bool
    shadow: bool
    claim: Claim | None = None

    @classmethod
    def of(
        cls, request: SteerRequest, learner: Callable[[Rule], Learner] | None = None
    ) -> "SteeringPlan":
        """Validate policy and parameters.

        Args:
            request: request with their names and values.
            learner: returns the learner of a learning policy; None to learn alone.

        Raises:
            BadParameterError: the policy or parameter does not exist, or a value is out of bounds.
        """
        if request.sweep is not None:
            return cls(_sweep(request, request.sweep), {}, False, False)
        entry = POLICIES.get(request.policy)
        if entry is None:
            names = ", ".join(POLICIES)
            raise BadParameterError(f"there is no policy {request.policy!r}; there are: {names}")
        try:
            ready = entry.make(
                request.parameters or {},
                shadow=bool(request.shadow),
                proof=None if request.proof is None else proof_settings(request.proof),
                learner=learner
                and (lambda values: learner(Rule(int(values.threshold), int(values.limit)))),
            )
            values = make_parameters(entry.kind, request.parameters or {})
        except ParameterError as error:
            raise BadParameterError(str(error)) from error
        parameters = {name: float(value) for name, value in vars(values).items()}
        waits, shadow = entry.signal == "wait", bool(request.shadow)
        return cls(ready, parameters, waits, shadow, _claim(request, entry))

    def bounds(self, knob: KnobDescription, request: SteerRequest) -> Bounds:
        """Return the requested bounds, or else the knob's.

        Raises:
            BadParameterError: the bounds exceed the knob's, or exclude a size that the policy
                keeps.
        """
        low = knob.lower if request.lower is None else request.lower
        high = knob.upper if request.upper is None else request.upper
        if low < knob.lower or high > knob.upper or low > high:
            raise BadParameterError(
                f"the bounds {low} to {high} are not within those of the knob, "
                f"{knob.lower} to {knob.upper}"
            )
        if self.claim is not None and self.claim.floor > high:
            raise BadParameterError(
                f"the floor {self.claim.floor} is above the largest size {high}"
            )
        if request.sweep is not None and low == high:
            raise BadParameterError(f"a sweep needs two sizes: the bounds leave {low} only")
        size = self.parameters.get(SIZE, 0)
        if size and not low <= size <= high:
            raise BadParameterError(f"size {size:g} is not within the bounds {low} to {high}")
        return Bounds(low, high)


def _claim(request: SteerRequest, entry: PolicyEntry[Any]) -> Claim | None:
    """Return the claim of a program on the arbiter, or None.

    Raises:
        BadParameterError: another policy is requested, or the arbiter cannot use the claim.
    """
    if not entry.arbitrated:
        if (request.share, request.floor, request.priority) != (None, None, None):
            raise BadParameterError(
                f"share, floor and priority are for the policy arbiter, not {entry.name}"
            )
        return None
    if request.shadow:
        raise BadParameterError("the arbiter has to act: it cannot decide in shadow mode")
    if request.proof is not None:
        raise BadParameterError("a proof is of one program: the arbiter divides among several")
    default = Claim()
    return Claim(
        default.share if request.share is None else request.share,
        default.floor if request.floor is None else request.floor,
        default.priority if request.priority is None else request.priority,
    )


def _sweep(request: SteerRequest, plan: SweepPlan) -> ReadyPolicy:
    if request.policy != SWEEP or request.parameters:
        raise BadParameterError(f"a sweep is asked for as policy {SWEEP!r}, without parameters")
    if request.shadow or request.proof is not None:
        raise BadParameterError("a sweep has to act, and is not proven: leave shadow and proof out")
    return make_sweep(sweep_settings(plan))


def policies() -> list[PolicyInfo]:
    """Return all policies in the form of the wire."""
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


class Learners:
    """Models of the prediction service; processes with the same name learn together.

    Args:
        connect: connects to the service or raises ServiceError; None to learn alone.
    """

    def __init__(self, connect: Callable[[], Connection] | None) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._shared: dict[str, SharedPredictor] = {}

    def of(self, program: str, rule: Rule) -> Predictor | SharedPredictor:
        """Return the learner of a program's processes."""
        if self._connect is None or not program:
            return Predictor(rule)
        name = model_name(program, rule)
        connect = self._connect
        with self._lock:
            found = self._shared.get(name)
            if found is None:
                if len(self._shared) >= MAX_SHARED:
                    return Predictor(rule)
                found = self._shared[name] = SharedPredictor(
                    lambda: open_over(connect(), Open(name, create=True, rule=rule)), rule
                )
        return found


def model_name(program: str, rule: Rule) -> str:
    """Return a program's model name. It includes the rule, which an open model cannot change."""
    return f"pss-{rule.threshold}-{rule.limit}.{_ODD.sub('_', program)[:32]}"


def service_connection() -> Connection:
    """Connect to the service by a limited child, because this process may not connect.

    Raises:
        ServiceError: the service does not run.
    """
    try:
        return Connection(connect_predictions(TIMEOUT_S), TIMEOUT_S)
    except (NoAnswerError, UnreadableError, DamagedError) as error:
        raise ServiceError(f"no prediction service: {error}") from error


class PreparedSteering:
    """A policy ready to steer one target; commit or abort it once, soon.

    Attributes:
        target: target to steer.
        loop: control loop, not started.
        opening: identity of the opening; the service drops it when the target is released.
        counter: counter that the signal was opened with, or None.
    """

    def __init__(
        self,
        adopt: Callable[["PreparedSteering"], bool],
        abandon: Callable[["PreparedSteering"], None],
        target: str,
        loop: ControlLoop,
        before: ControlLoop | None,
        held: ControlSetup | None,
        counter: PrometheusCounter | None,
        opening: object,
        busy: threading.Lock,
    ) -> None:
        self.target, self.loop, self.counter, self.opening = target, loop, counter, opening
        self._adopt, self._abandon = adopt, abandon
        self._before, self._held, self._busy = before, held, busy

    def commit(self) -> Steering:
        """Start steering.

        Raises:
            NotSteerableError: the target was released meanwhile.
        """
        try:
            if not self._adopt(self):
                close_new(self.loop.setup, self._held)
                raise NotSteerableError("It was released while knob and signal were opened.")
            if self._before is not None:
                self._before.retire(self.loop.setup)
            self.loop.start()
        finally:
            self._busy.release()
        return self.loop.steering

    def abort(self) -> None:
        """Leave the target as it was."""
        try:
            self._abandon(self)
            close_new(self.loop.setup, self._held)
            if self._before is not None:
                self._before.resume()
        finally:
            self._busy.release()


def close_new(setup: ControlSetup, held: ControlSetup | None) -> None:
    """Close the parts of a setup that another one in use does not share."""
    if held is None or setup.knob is not held.knob:
        setup.close()
    elif setup.signal is not held.signal:
        setup.signal.close()
