"""What a sweep says, in words. Pure."""

import math

from tidscope_policies.sweep.record import SweepRecord
from tidscope_policies.sweep.size_curve import KNEE, Gain, SizeCurve


def describe(record: SweepRecord) -> str:
    """How a sweep stands, one to three sentences."""
    curve, said = record.curve, []
    match record.verdict:
        case "harmful":
            most = record.settings.loss * record.settings.most_s
            said.append(
                f"Stopped: other sizes than {record.start} lost {record.lost_s:.1f} s of work in "
                f"{record.elapsed_s:.0f} s, more than the {most:.1f} s that may be lost."
            )
        case "unsettled" if curve is None:
            said.append(f"No curve after {record.elapsed_s:.0f} s.")
        case "unsettled":
            said.append(f"The knee is not settled after {record.elapsed_s:.0f} s.")
        case _:
            pass
    if curve is None:
        said.append(f"{_rounds(len(record.rounds))} measured.")
    else:
        said.append(_knee(curve, record))
    if record.refused:
        names = ", ".join(str(size) for size in sorted(record.refused))
        said.append(f"Cannot be set: {names}.")
    return " ".join(said)


def _knee(curve: SizeCurve, record: SweepRecord) -> str:
    known = {point.size: point.ops_per_s for point in curve.points}
    text = f"{curve.knee} is the smallest size within {KNEE:.0%} of the best"
    if curve.knee_from != curve.knee_to:
        text += f" so far (from {curve.knee_from} to {curve.knee_to} is possible)"
    text += f": {known[curve.knee]:,.4g} operations a second"
    if curve.gain is not None and curve.knee != record.start:
        text += f", {_interval(curve.gain)} against size {record.start}"
    return f"{text}, after {_rounds(len(record.rounds))}."


def _interval(gain: Gain) -> str:
    if math.isinf(gain.high):
        return f"{gain.mean:+.1%} so far"
    return f"{gain.mean:+.1%} [{gain.low:+.1%}, {gain.high:+.1%}]"


def _rounds(count: int) -> str:
    return f"{count} round{'' if count == 1 else 's'}"
