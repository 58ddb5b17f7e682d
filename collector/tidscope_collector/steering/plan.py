"""What a request asks for, checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidscope_policies.algorithms.pss import Learner
from tidscope_policies.contract import Bounds
from tidscope_policies.parameters import ParameterError, make_parameters
from tidscope_policies.registry import POLICIES, SWEEP, ReadyPolicy, make_sweep
from tidscope_predictd.model.perceptron import Rule
from tidscope_wire.generated.models import SteerRequest, SweepPlan

from tidscope_collector.steering.knobs.knob import KnobDescription
from tidscope_collector.steering.loop.proof_reports import proof_settings
from tidscope_collector.steering.loop.sweep_reports import sweep_settings
from tidscope_collector.steering.refusals import BadParameterError

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
    """

    ready: ReadyPolicy
    parameters: Mapping[str, float]
    waits: bool
    shadow: bool

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
        return cls(ready, parameters, entry.signal == "wait", bool(request.shadow))

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
        if request.sweep is not None and low == high:
            raise BadParameterError(f"a sweep needs two sizes: the bounds leave {low} only")
        size = self.parameters.get(SIZE, 0)
        if size and not low <= size <= high:
            raise BadParameterError(f"size {size:g} is not within the bounds {low} to {high}")
        return Bounds(low, high)


def _sweep(request: SteerRequest, plan: SweepPlan) -> ReadyPolicy:
    if request.policy != SWEEP or request.parameters:
        raise BadParameterError(f"a sweep is asked for as policy {SWEEP!r}, without parameters")
    if request.shadow or request.proof is not None:
        raise BadParameterError("a sweep has to act, and is not proven: leave shadow and proof out")
    return make_sweep(sweep_settings(plan))
