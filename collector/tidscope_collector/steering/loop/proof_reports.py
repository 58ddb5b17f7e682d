"""Proofs as the wire has them."""

import math

from tidscope_policies.proving.proof import Proof
from tidscope_policies.proving.record import ProofSettings
from tidscope_policies.proving.sentences import describe
from tidscope_wire.generated.models import ProofPlan, ProofState

USUAL = ProofSettings()


def proof_settings(plan: ProofPlan) -> ProofSettings:
    """What was asked for, complete."""
    percent = 0.01
    return ProofSettings(
        block_s=USUAL.block_s if plan.block_s is None else plan.block_s,
        most_s=USUAL.most_s if plan.most_s is None else plan.most_s,
        smallest=USUAL.smallest
        if plan.smallest_percent is None
        else plan.smallest_percent * percent,
        loss=USUAL.loss if plan.loss_percent is None else plan.loss_percent * percent,
        seed=USUAL.seed if plan.seed is None else plan.seed,
    )


def proof_state(proof: Proof) -> ProofState:
    """What a proof has shown so far."""
    record = proof.record
    gain = record.gain
    return ProofState(
        verdict=proof.verdict,
        pairs=len(record.ratios),
        discarded=record.discarded,
        gain_percent=None if gain is None else _percent(gain.mean),
        low_percent=None if gain is None else _percent(gain.low),
        high_percent=None if gain is None else _percent(gain.high),
        lost_s=record.lost_s,
        elapsed_s=record.elapsed_s,
        steers=proof.steers,
        text=describe(record)[:1024],
    )


def _percent(share: float) -> float | None:
    """None while an interval has no end; its lower one is -1 then."""
    return None if math.isinf(share) or share <= -1 else 100 * share
