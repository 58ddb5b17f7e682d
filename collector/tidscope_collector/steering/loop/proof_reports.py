"""Proofs as the wire has them."""

from tidscope_policies.proving.proof import Proof
from tidscope_policies.proving.record import ProofSettings
from tidscope_policies.proving.response_times import MIN_JOBS
from tidscope_policies.proving.sentences import describe
from tidscope_wire.generated.models import ProofPlan, ProofState

from tidscope_collector.steering.loop.changes import measured_change, percent

USUAL = ProofSettings()
NOT_SEEN = (
    "In no pair of blocks is the 99th percentile of response times seen on both sides: that takes "
    f"{MIN_JOBS} finished jobs, at most half of them within the factor of two that it is in."
)


def proof_settings(plan: ProofPlan) -> ProofSettings:
    """What was asked for, complete."""
    return ProofSettings(
        block_s=USUAL.block_s if plan.block_s is None else plan.block_s,
        most_s=USUAL.most_s if plan.most_s is None else plan.most_s,
        smallest=USUAL.smallest if plan.smallest_percent is None else plan.smallest_percent / 100,
        loss=USUAL.loss if plan.loss_percent is None else plan.loss_percent / 100,
        seed=USUAL.seed if plan.seed is None else plan.seed,
    )


def proof_state(proof: Proof, without_times: str = "") -> ProofState:
    """What a proof has shown so far.

    Args:
        proof: it.
        without_times: why no response times are known; empty: they are.
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
        text=describe(record)[:1024],
    )
