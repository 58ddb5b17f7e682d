"""What a proof says, in words. Pure."""

import math

from tidscope_policies.proving.evidence import Interval
from tidscope_policies.proving.record import ProofRecord


def describe(record: ProofRecord) -> str:
    """How a proof stands, one to three sentences."""
    slow = record.p99
    text = _throughput(record)
    return text if slow is None else f"{text} 99th percentile of response times: {_interval(slow)}."


def _throughput(record: ProofRecord) -> str:
    pairs = _pairs(len(record.ratios))
    gain = record.gain
    match record.verdict:
        case "harmful":
            return (
                f"Stopped: the policy lost {record.lost_s:.1f} s of work in {record.elapsed_s:.0f} "
                f"s, more than the {record.settings.loss:.1%} that may be lost."
            )
        case "better" if gain is not None:
            return f"The policy is better: {_interval(gain)}, after {pairs}."
        case "worse" if gain is not None:
            return f"The policy is worse: {_interval(gain)}, after {pairs}."
        case "same" if gain is not None:
            return (
                f"No difference above {record.settings.smallest:.1%}: {_interval(gain)}, after "
                f"{pairs}."
            )
        case "unsettled":
            known = f": {_interval(gain)}, after {pairs}" if gain is not None else ""
            return f"No difference shown in {record.elapsed_s:.0f} s{known}."
        case _:
            known = _interval(gain) if gain is not None else "no gain is known"
            return f"{known[0].upper()}{known[1:]}, after {pairs}."


def _interval(gain: Interval) -> str:
    if math.isinf(gain.high):
        return f"{gain.mean:+.1%} so far"
    return f"{gain.mean:+.1%} [{gain.low:+.1%}, {gain.high:+.1%}]"


def _pairs(count: int) -> str:
    return f"{count} pair{'' if count == 1 else 's'} of blocks"
