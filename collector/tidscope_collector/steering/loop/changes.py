"""Relative changes as the wire has them."""

import math

from tidscope_wire.generated.models import MeasuredChange


def measured_change(mean: float, low: float, high: float) -> MeasuredChange:
    """A change with its interval, all of them shares of what there was."""
    return MeasuredChange(percent=100 * mean, low_percent=percent(low), high_percent=percent(high))


def percent(share: float) -> float | None:
    """None while an interval has no end; its lower one is -1 then."""
    return None if math.isinf(share) or share <= -1 else 100 * share
