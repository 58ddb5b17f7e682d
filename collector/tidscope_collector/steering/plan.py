"""A steering request, checked: policy, parameters, bounds, and the learner of the policy."""

import re
import threading
from collections.abc import Callable, Mapping
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
from tidscope_wire.generated.models import PolicyInfo, PolicyParameter, SteerRequest, SweepPlan

from tidscope_collector.inspection.asking import DamagedError, NoAnswerError, UnreadableError
from tidscope_collector.inspection.reader import connect_predictions
from tidscope_collector.steering.loop.knob import KnobDescription
from tidscope_collector.steering.loop.trial import proof_settings, sweep_settings
from tidscope_collector.steering.refusals import BadParameterError

MAX_SHARED = 32
"""Maximum number of open models. Further programs learn alone."""

TIMEOUT_S = 1.0

_ODD = re.compile(r"[^A-Za-z0-9._-]")

CORES = "cores"
"""A parameter of this name is the number of cores that an arbiter divides; 0: it finds out."""

SIZE = "size"
"""A parameter of this name is a size that the policy keeps; 0: it has none."""


@dataclass(frozen=True)
class SteeringPlan:
    """A policy that is ready to be fed, for one target.

    Attributes:
        ready: the policy.
        parameters: all of them.
        waits: whether it steers on the time that jobs wait.
        shadow: decide, but do not act.
        claim: what it asks of the arbiter; None: the policy does not ask it.
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
        """Check policy and parameters.

        Args:
            request: names them.
            learner: what a policy that learns is to learn with; None: alone.

        Raises:
            BadParameterError: there is no such policy or parameter, or one is out of bounds.
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
        """The bounds that were asked for, else the knob's.

        Raises:
            BadParameterError: they are not within those of the knob, or a size that the policy is
                to keep is not within them.
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
    """The claim of a program on the arbiter.

    Raises:
        BadParameterError: another policy is asked for, or the arbiter cannot work so.
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
    usual = Claim()
    return Claim(
        usual.share if request.share is None else request.share,
        usual.floor if request.floor is None else request.floor,
        usual.priority if request.priority is None else request.priority,
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
    """Models of the host's prediction service by program: processes of one name learn together.

    Args:
        connect: to the service; raises ServiceError. None: each learns alone.
    """

    def __init__(self, connect: Callable[[], Connection] | None) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._shared: dict[str, SharedPredictor] = {}

    def of(self, program: str, rule: Rule) -> Predictor | SharedPredictor:
        """The learner of a program's processes."""
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
    """The name of the model of a program: with the rule, which an open model cannot change."""
    return f"pss-{rule.threshold}-{rule.limit}.{_ODD.sub('_', program)[:32]}"


def service_connection() -> Connection:
    """A connection to the service, opened by a limited child: this process may open none.

    Raises:
        ServiceError: there is no service.
    """
    try:
        return Connection(connect_predictions(TIMEOUT_S), TIMEOUT_S)
    except (NoAnswerError, UnreadableError, DamagedError) as error:
        raise ServiceError(f"no prediction service: {error}") from error
