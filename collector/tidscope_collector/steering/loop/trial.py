"""Reports of proofs, sweeps and divisions in the form of the wire."""

import math
import time
from collections.abc import Mapping

from tidscope_policies.arbitration.division import Claim
from tidscope_policies.contract import Decision, Grant
from tidscope_policies.proving.evidence import MIN_JOBS, ProofSettings
from tidscope_policies.proving.proof import Proof, describe_proof
from tidscope_policies.registry import ReadyPolicy
from tidscope_policies.sweep.size_curve import CurvePoint
from tidscope_policies.sweep.sweep import (
    LINES,
    PoolKind,
    Sweep,
    SweepRecord,
    SweepSettings,
    describe_sweep,
    line,
)
from tidscope_wire.generated.models import (
    CoreDivision,
    KnobKind,
    MeasuredChange,
    ProofPlan,
    ProofState,
    Runtime,
    SteeringProven,
    SteeringSwept,
    SweepPlan,
    SweepPoint,
    SweepState,
)

from tidscope_collector.steering.loop.signals import ResponseTimes

POOLS: Mapping[Runtime, PoolKind] = {
    "go": "go-pool",
    "python": "python",
    "java": "java",
    "native": "rust",
}
"""Kind of pool by the runtime that the agent reports, if the agent names no line itself."""
PROOF = "the proof"
SWEEP = "the sweep"
NO_AGENT = "The program has no agent that reports response times."


class Trial:
    """Reads the proof or sweep behind a policy, if it is one.

    Args:
        ready: policy.
        start: size before the trial.
        keeps: line with {size} that sets a size permanently; None if unknown.
        times: response times of the program's jobs; None without an agent.
    """

    def __init__(
        self, ready: ReadyPolicy, start: int, keeps: str | None, times: ResponseTimes | None
    ) -> None:
        self._proof, self._sweep = ready.proof, ready.sweep
        self.start, self._keeps = start, keeps
        self._without_times = ""
        if ready.proof is not None:
            self._without_times = NO_AGENT if times is None else times.missing()
        self._reported = False

    @property
    def releaser(self) -> str:
        """Actor of the release at the end of the trial."""
        return PROOF if self._sweep is None else SWEEP

    @property
    def wants_response_times(self) -> bool:
        """True if observations need response times."""
        return self._proof is not None and not self._without_times

    @property
    def with_policy(self) -> bool | None:
        """In a proof, True while the policy steers; None without a proof."""
        return None if self._proof is None else self._proof.steers

    def finding(self, decision: Decision, own: int) -> str:
        """Return the sentence on the size that a search found; empty in a proof or sweep."""
        if self._proof is not None or self._sweep is not None:
            return ""
        return finding(decision, own, self._keeps)

    @property
    def gain(self) -> MeasuredChange | None:
        """In a proof, the gain so far."""
        found = None if self._proof is None else self._proof.record.gain
        return None if found is None else measured_change(*found)

    def state(self) -> dict[str, object]:
        """Return properties of `Steering`."""
        proof, sweep = self._proof, self._sweep
        return {
            "proof": proof and proof_state(proof, self._without_times, self._keeps),
            "sweep": None if sweep is None else sweep_state(sweep, self.start, self._keeps),
        }

    def result(self, policy: str) -> SteeringProven | SteeringSwept | None:
        """Return the event of the trial's end, once."""
        proof, sweep = self._proof, self._sweep
        if self._reported:
            return None
        if proof is not None and proof.verdict != "open":
            self._reported = True
            state = proof_state(proof, self._without_times, self._keeps)
            return SteeringProven(policy=policy, proof=state)
        if sweep is not None and sweep.verdict != "open":
            self._reported = True
            return SteeringSwept(policy=policy, sweep=sweep_state(sweep, self.start, self._keeps))
        return None


def keeping_line(knob: KnobKind, runtime: Runtime) -> str | None:
    """Return the line with {size} that does for good what a knob does; None if unknown."""
    kind = POOLS.get(runtime) if knob == "pool-agent" else "go"
    return None if kind is None else LINES[kind]


def measured_change(mean: float, low: float, high: float) -> MeasuredChange:
    """Return a change with its interval, all as shares of the baseline."""
    return MeasuredChange(percent=100 * mean, low_percent=percent(low), high_percent=percent(high))


def percent(share: float) -> float | None:
    """Return percent, or None for an infinite end of an interval (the lower one is then -1)."""
    return None if math.isinf(share) or share <= -1 else 100 * share


def core_division(claim: Claim, grant: Grant) -> CoreDivision:
    """Return the claim and the grant of a program in the form of the wire."""
    ago_us = int((time.monotonic() - grant.since_s) * 1e6)
    return CoreDivision(
        share=claim.share,
        floor=claim.floor,
        priority=claim.priority,
        cores=grant.cores,
        total=grant.total,
        programs=grant.programs,
        state=grant.state,
        cause=grant.cause,
        reason=grant.reason[:1024],
        changed_unix_us=max(0, time.time_ns() // 1000 - ago_us),
        more_percent=_percent_or_none(grant.more),
        less_percent=_percent_or_none(grant.less),
    )


def _percent_or_none(part: float | None) -> float | None:
    return None if part is None else 100 * part


DEFAULT_PROOF = ProofSettings()
NOT_SEEN = (
    "In no pair of blocks is the 99th percentile of response times seen on both sides: that takes "
    f"{MIN_JOBS} finished jobs, at most half of them within the factor of two that it is in."
)


def proof_settings(plan: ProofPlan) -> ProofSettings:
    """Return settings of a proof, with defaults for missing ones."""
    return ProofSettings(
        block_s=DEFAULT_PROOF.block_s if plan.block_s is None else plan.block_s,
        most_s=DEFAULT_PROOF.most_s if plan.most_s is None else plan.most_s,
        smallest=DEFAULT_PROOF.smallest
        if plan.smallest_percent is None
        else plan.smallest_percent / 100,
        loss=DEFAULT_PROOF.loss if plan.loss_percent is None else plan.loss_percent / 100,
        seed=DEFAULT_PROOF.seed if plan.seed is None else plan.seed,
    )


def recommendation(proof: Proof, keeps: str | None) -> str:
    """Return the sentence on the size that replaces a policy proven better; empty without one."""
    size = proof.typical_size
    if proof.verdict != "better" or size is None:
        return ""
    return f" The policy was at size {size} most of the time{permanent(size, keeps)}."


def finding(decision: Decision, own: int, keeps: str | None) -> str:
    """Return the sentence on a size that a search found to be better; empty without one.

    Args:
        decision: decision of the policy.
        own: size that the program chose itself.
        keeps: line with {size} that sets a size permanently; None if unknown.
    """
    gain, size = decision.gain, decision.size
    if gain is None or gain.low <= 0:
        return ""
    return f" {size} does {gain} against the program's own {own}{permanent(size, keeps)}."


def permanent(size: int, keeps: str | None) -> str:
    """Return the end of a sentence that says how to keep a size; empty if that is unknown."""
    return "" if keeps is None else f"; to keep that without the policy: {line(keeps, size)}"


def proof_state(proof: Proof, without_times: str = "", keeps: str | None = None) -> ProofState:
    """Return the state of a proof in the form of the wire.

    Args:
        proof: running proof.
        without_times: why response times are unknown; empty if they are known.
        keeps: line with {size} that sets a size permanently; None if unknown.
    """
    record = proof.record
    gain, p99 = record.gain, record.p99
    missing = without_times or (NOT_SEEN if record.ratios and p99 is None else None)
    return ProofState(
        verdict=proof.verdict,
        pairs=len(record.ratios),
        discarded=record.discarded,
        gain_percent=None if gain is None else percent(gain.mean),
        low_percent=None if gain is None else percent(gain.low),
        high_percent=None if gain is None else percent(gain.high),
        p99=None if p99 is None else measured_change(*p99),
        p99_missing=missing,
        lost_s=record.lost_s,
        elapsed_s=record.elapsed_s,
        steers=proof.steers,
        text=f"{describe_proof(record)}{recommendation(proof, keeps)}"[:1024],
    )


DEFAULT_SWEEP = SweepSettings()


def sweep_settings(plan: SweepPlan) -> SweepSettings:
    """Return settings of a sweep, with defaults for missing ones."""
    return SweepSettings(
        block_s=DEFAULT_SWEEP.block_s if plan.block_s is None else plan.block_s,
        most_s=DEFAULT_SWEEP.most_s if plan.most_s is None else plan.most_s,
        loss=DEFAULT_SWEEP.loss if plan.loss_percent is None else plan.loss_percent / 100,
        most_sizes=DEFAULT_SWEEP.most_sizes if plan.sizes is None else plan.sizes,
        seed=DEFAULT_SWEEP.seed if plan.seed is None else plan.seed,
    )


def sweep_state(sweep: Sweep, start: int, keeps: str | None) -> SweepState:
    """Return the state of a sweep in the form of the wire.

    Args:
        sweep: running sweep.
        start: size before the sweep.
        keeps: line with {size} that sets a size permanently; None if unknown.
    """
    record = sweep.record or SweepRecord(DEFAULT_SWEEP, start, [])
    curve = record.curve
    gain = None if curve is None else curve.gain
    return SweepState(
        verdict=sweep.verdict,
        start=record.start,
        rounds=len(record.rounds),
        discarded=record.discarded,
        points=[] if curve is None else [_point(point) for point in curve.points],
        best=None if curve is None else curve.best,
        knee=None if curve is None else curve.knee,
        knee_from=None if curve is None else curve.knee_from,
        knee_to=None if curve is None else curve.knee_to,
        gain=None if gain is None else measured_change(gain.mean, gain.low, gain.high),
        refused=sorted(record.refused),
        line=None if curve is None or keeps is None else line(keeps, curve.knee),
        lost_s=record.lost_s,
        elapsed_s=record.elapsed_s,
        text=describe_sweep(record)[:1024],
    )


def _point(point: CurvePoint) -> SweepPoint:
    bounded = math.isfinite(point.high)
    return SweepPoint(
        size=point.size,
        ops_per_s=point.ops_per_s,
        low=point.low if bounded else None,
        high=point.high if bounded else None,
        rounds=point.rounds,
    )
