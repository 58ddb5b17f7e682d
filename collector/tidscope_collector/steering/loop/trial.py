"""What a proof or a sweep has to say while it runs, and when it ends."""

from tidscope_policies.registry import ReadyPolicy
from tidscope_policies.sweep.configuration import PoolKind
from tidscope_wire.generated.models import MeasuredChange, SteeringProven, SteeringSwept

from tidscope_collector.steering.loop.changes import measured_change
from tidscope_collector.steering.loop.proof_reports import proof_state
from tidscope_collector.steering.loop.sweep_reports import sweep_state
from tidscope_collector.steering.signals.response_times import ResponseTimes

PROOF = "the proof"
SWEEP = "the sweep"
NO_AGENT = "The program has no agent that reports response times."


class Trial:
    """Reads the proof or the sweep that a policy is, if it is one.

    Args:
        ready: the policy.
        start: size before it.
        pool: what is steered, for the line that sets a size for good; None: not known.
        times: response times of the program's jobs; None: it has no agent.
    """

    def __init__(
        self, ready: ReadyPolicy, start: int, pool: PoolKind | None, times: ResponseTimes | None
    ) -> None:
        self._proof, self._sweep = ready.proof, ready.sweep
        self._start, self._pool = start, pool
        self._without_times = ""
        if ready.proof is not None:
            self._without_times = NO_AGENT if times is None else times.missing()
        self._reported = False

    @property
    def releaser(self) -> str:
        """Who releases the program at its end."""
        return PROOF if self._sweep is None else SWEEP

    @property
    def wants_response_times(self) -> bool:
        """Whether observations are to have them."""
        return self._proof is not None and not self._without_times

    @property
    def with_policy(self) -> bool | None:
        """In a proof, whether the policy steers at present; None: it is none."""
        return None if self._proof is None else self._proof.steers

    @property
    def gain(self) -> MeasuredChange | None:
        """In a proof, the gain so far."""
        found = None if self._proof is None else self._proof.record.gain
        return None if found is None else measured_change(*found)

    def state(self) -> dict[str, object]:
        """Properties of `Steering`."""
        proof, sweep = self._proof, self._sweep
        return {
            "proof": None if proof is None else proof_state(proof, self._without_times),
            "sweep": None if sweep is None else sweep_state(sweep, self._start, self._pool),
        }

    def result(self, policy: str) -> SteeringProven | SteeringSwept | None:
        """The event of its end, once."""
        proof, sweep = self._proof, self._sweep
        if self._reported:
            return None
        if proof is not None and proof.verdict != "open":
            self._reported = True
            return SteeringProven(policy=policy, proof=proof_state(proof, self._without_times))
        if sweep is not None and sweep.verdict != "open":
            self._reported = True
            return SteeringSwept(policy=policy, sweep=sweep_state(sweep, self._start, self._pool))
        return None
