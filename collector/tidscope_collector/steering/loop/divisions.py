"""Divisions of cores as the wire has them."""

import time

from tidscope_policies.arbitration.division import Claim
from tidscope_policies.contract import Grant
from tidscope_wire.generated.models import CoreDivision


def core_division(claim: Claim, grant: Grant) -> CoreDivision:
    """What a program asks for and gets."""
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
        more_percent=_percent(grant.more),
        less_percent=_percent(grant.less),
    )


def _percent(part: float | None) -> float | None:
    return None if part is None else 100 * part
