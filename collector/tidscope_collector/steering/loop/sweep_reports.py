"""Sweeps as the wire has them."""

import math

from tidscope_policies.sweep.configuration import PoolKind, line
from tidscope_policies.sweep.record import SweepRecord, SweepSettings
from tidscope_policies.sweep.sentences import describe
from tidscope_policies.sweep.size_curve import CurvePoint
from tidscope_policies.sweep.sweep import Sweep
from tidscope_wire.generated.models import SweepPlan, SweepPoint, SweepState

from tidscope_collector.steering.loop.changes import measured_change

USUAL = SweepSettings()


def sweep_settings(plan: SweepPlan) -> SweepSettings:
    """What was asked for, complete."""
    return SweepSettings(
        block_s=USUAL.block_s if plan.block_s is None else plan.block_s,
        most_s=USUAL.most_s if plan.most_s is None else plan.most_s,
        loss=USUAL.loss if plan.loss_percent is None else plan.loss_percent / 100,
        most_sizes=USUAL.most_sizes if plan.sizes is None else plan.sizes,
        seed=USUAL.seed if plan.seed is None else plan.seed,
    )


def sweep_state(sweep: Sweep, start: int, pool: PoolKind | None) -> SweepState:
    """What a sweep has shown so far.

    Args:
        sweep: it.
        start: the size before it.
        pool: which line sets a size for good; None: not known.
    """
    record = sweep.record or SweepRecord(USUAL, start, [])
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
        line=None if curve is None or pool is None else line(pool, curve.knee),
        lost_s=record.lost_s,
        elapsed_s=record.elapsed_s,
        text=describe(record)[:1024],
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
