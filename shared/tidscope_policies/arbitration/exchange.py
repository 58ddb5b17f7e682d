"""The move of cores that may gain the most: from one program to another, or to and from the free.

Pure. Curves that promise more the less is known of them are not concave, so that filling up core by
core cannot find what to try; single moves can, and no program but two is disturbed.
"""

from collections.abc import Iterator, Mapping, Sequence

from tidscope_policies.arbitration.division import Claimant, Pool


def best_move(
    claimants: Sequence[Claimant], pools: Sequence[Pool], now: Mapping[str, int]
) -> tuple[float, dict[str, int]]:
    """What to move.

    Floors hold; nobody takes from a program of higher priority, and what one of lower priority
    loses to it does not count.

    Args:
        claimants: with what each size may be worth.
        pools: limits.
        now: the current division, of the same programs.

    Returns:
        The gain in share x log(throughput), and the division after it. 0, and the same division,
        where no move gains.
    """
    ranked = sorted(claimants, key=lambda one: one.name)
    rooms = [
        pool.cores - sum(size for name, size in now.items() if name in pool.members)
        for pool in pools
    ]
    under = {
        one.name: frozenset(at for at, pool in enumerate(pools) if one.name in pool.members)
        for one in ranked
    }
    best, chosen = 0.0, dict(now)
    givers = {one.name: list(_steps(one, now[one.name], -1)) for one in ranked}
    takers = {one.name: list(_steps(one, now[one.name], 1)) for one in ranked}

    def weigh(gain: float, change: Mapping[str, int]) -> None:
        nonlocal best, chosen
        if gain > best + 1e-12:
            best, chosen = gain, {**now, **change}

    for giver in ranked:
        for count, gain in givers[giver.name]:
            weigh(gain, {giver.name: now[giver.name] - count})
    for taker in ranked:
        for count, gain in takers[taker.name]:
            if all(rooms[at] >= count for at in under[taker.name]):
                weigh(gain, {taker.name: now[taker.name] + count})
        for giver in ranked:
            if giver is taker or giver.claim.priority > taker.claim.priority:
                continue
            counts = giver.claim.priority == taker.claim.priority
            for (count, gain), (_, loss) in zip(
                takers[taker.name], givers[giver.name], strict=False
            ):
                if all(rooms[at] >= count for at in under[taker.name] - under[giver.name]):
                    moved = {
                        taker.name: now[taker.name] + count,
                        giver.name: now[giver.name] - count,
                    }
                    weigh(gain + (loss if counts else 0.0), moved)
    return best, chosen


def _steps(one: Claimant, size: int, sign: int) -> Iterator[tuple[int, float]]:
    """Numbers of cores that a program may take (1) or give (-1), and what each gains it."""
    lowest = max(one.bounds.low, min(one.claim.floor, one.bounds.high))
    last = min(one.bounds.high, one.bounds.low + len(one.worths) - 1)
    count = 1
    while lowest <= size + sign * count <= last:
        at = size - one.bounds.low
        yield count, one.claim.share * (one.worths[at + sign * count] - one.worths[at])
        count += 1
