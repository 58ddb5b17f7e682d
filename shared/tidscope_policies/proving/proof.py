"""A policy that proves another one: it lets it steer in every other block only, and compares.

Blocks come in pairs: one in which the tested policy steers, and one with the program's own size.
The tested policy keeps what it has learned between its blocks. The first interval of a block is
left out, because the change of the size is still felt in it; the tested policy sees it marked as
moved by others. Where the policy does not steer, so is one at another size than the program's own.
A proof ends by itself. Only a policy that is better goes on.

Until the policy has learned, which is when it has chosen a size twice in a row, its intervals are
in no block: what they cost is said, and may be lost once besides what else may be.

When more work seems lost than may be, the policy pauses within its block, and for as long as it
steered the program is measured at its own size: what it lost by itself is not the policy's loss.
"""

from collections.abc import Sequence
from dataclasses import replace

from tidscope_policies.contract import Decision, Observation, Policy, is_usable
from tidscope_policies.proving.evidence import (
    MIN_PAIRS,
    Block,
    Interval,
    ProofRecord,
    ProofSettings,
    Verdict,
)

_MASK = (1 << 64) - 1
_LEARNED = 2
"""Intervals in a row in which a policy chooses its size, after which it has learned."""


class Proof:
    """Compares a policy with the size that the program has by itself.

    Args:
        tested: the policy, with its decorators.
        settings: when it ends.
    """

    def __init__(self, tested: Policy, settings: ProofSettings) -> None:
        self.record = ProofRecord(settings)
        self.verdict: Verdict = "open"
        self._policy = tested
        self._original = 0
        self._wanted = 0
        self._began_s = 0.0
        self._pair = 0
        self._done: Block | None = None
        self._paused: Block | None = None
        self._check_s = 0.0
        self._checks = Block(tested=False)
        self._block = Block(tested=False)
        self._fresh = True
        self._chosen = 0
        self._learns = self._tries = False
        self._seconds_at: dict[int, float] = {}

    @property
    def steers(self) -> bool:
        """Whether the tested policy steers in this block, or for good."""
        return self._block.tested

    @property
    def typical_size(self) -> int | None:
        """Size at which the policy was for most of its blocks; None if it was at several.

        Sizes that it just tried do not count.
        """
        size = max(self._seconds_at, key=lambda one: self._seconds_at[one], default=None)
        half = 0.5 * sum(self._seconds_at.values())
        return None if size is None or self._seconds_at[size] <= half else size

    def observe(self, seen: Observation) -> Decision:
        """Measure an interval, and decide by whose turn it is."""
        if not self._original:
            self._original = seen.size if seen.original is None else seen.original
            self._began_s = seen.at_s - seen.elapsed_s
        if self.verdict == "better":
            return self._steer(seen)
        self.record.elapsed_s = seen.at_s - self._began_s
        at_its_size = self.steers or seen.size == self._original
        if is_usable(seen) and not self._fresh and at_its_size:
            self._measure(seen)
        decided = self._steer(seen) if self.steers else None
        self._fresh = False
        self._end_block()
        self.verdict = self.record.verdict
        if self.verdict not in ("open", "better"):
            return Decision(
                self._original, "proof ended", describe_proof(self.record), release=True
            )
        return self._go_on(decided)

    def restart(self, reason: str) -> None:
        """The program may have changed: search again, and discard the pair under way."""
        self._policy.restart(reason)
        begun = self._block.seconds or self._done is not None or self._paused is not None
        if self.verdict == "open" and begun:
            self.record.discarded += 1
            self._done = self._paused = None
            self._checks = Block(tested=False)
            self._begin_block(tested=self.steers)

    def _measure(self, seen: Observation) -> None:
        """Add an interval to the block, or to what the policy did while it learned."""
        if self.steers:
            self.record.since.add(seen.elapsed_s, seen.ops)
        if self.steers and self._learns:
            self.record.learn(seen.elapsed_s, seen.ops)
            return
        if self.steers and not self._tries:
            seconds = self._seconds_at.get(seen.size, 0.0)
            self._seconds_at[seen.size] = seconds + seen.elapsed_s
        self._block.add(seen.elapsed_s, seen.ops, seen.responses)
        self._block.moved = self._block.moved or seen.size != self._original

    def _steer(self, seen: Observation) -> Decision:
        decided = self._policy.observe(replace(seen, moved_by_other=True) if self._fresh else seen)
        self._wanted, self._tries = decided.size, decided.probing
        if self._chosen < _LEARNED:
            self._chosen = self._chosen + 1 if decided.chooses else 0
            if self.record.learning.seconds >= self.record.settings.most_learning_s:
                self._chosen = _LEARNED
            self._learns = self._chosen < _LEARNED and not decided.chooses
        return decided

    def _end_block(self) -> None:
        """Turn to the other side once a block is long enough."""
        block, record = self._block, self.record
        if self._paused is not None:
            self._end_check(block, self._paused)
            return
        if block.seconds < record.settings.block_s:
            if block.tested and record.lost_s > record.most_lost_s:
                steered_s = block.seconds + (record.learning.seconds if self._learns else 0.0)
                self._paused, self._check_s = block, min(steered_s, record.since.seconds)
                self._begin_block(tested=False)
            return
        if not block.tested:
            record.charge(block.progress)
        if self._done is None:
            self._done = block
            self._begin_block(tested=not block.tested)
            return
        tested, against = (block, self._done) if block.tested else (self._done, block)
        against.add(self._checks.seconds, self._checks.ops, self._checks.responses)
        self._checks = Block(tested=False)
        record.add_pair(tested, against)
        self._done = None
        self._pair += 1
        self._begin_block(tested=policy_first(self.record.settings.seed, self._pair))

    def _end_check(self, check: Block, paused: Block) -> None:
        """Let the policy go on once it is known what the program does without it."""
        if check.seconds < self._check_s:
            return
        self.record.charge(check.progress)
        self._checks.add(check.seconds, check.ops, check.responses)
        self._paused = None
        self._fresh = True
        self._block = paused

    def _begin_block(self, *, tested: bool) -> None:
        self._fresh = self._fresh or tested != self.steers
        self._block = Block(tested=tested)

    def _go_on(self, decided: Decision | None) -> Decision:
        """The size of the block that comes, or goes on."""
        if self.verdict == "better":
            self._fresh = self._fresh or not self.steers
            self._block = Block(tested=True)
        side = "with the policy" if self.steers else "without it"
        state = f"proof, pair {self._pair + 1}, {side}"
        reason = describe_proof(self.record)
        if self.verdict == "better":
            state = "proven better"
        if not self.steers:
            return Decision(self._original, state, reason)
        if decided is None:
            return Decision(self._wanted or self._original, state, reason)
        return replace(decided, state=state, reason=f"{reason} {decided.reason}")


def mixed(seed: int, at: int) -> int:
    """64 bits of splitmix64, the `at`-th of a seed (G. L. Steele, D. Lea and C. H. Flood, "Fast
    splittable pseudorandom number generators", OOPSLA 2014)."""
    bits = (seed + at * 0x9E3779B97F4A7C15) & _MASK
    bits = ((bits ^ bits >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) & _MASK
    return bits ^ bits >> 31


def policy_first(seed: int, pair: int) -> bool:
    """Whether the block with the policy comes first in a pair, counted from 0.

    Never in the first pair: what the program does by itself has to be known before anything else
    can be called a loss.
    """
    return bool(pair and mixed(seed, pair) & 1)


def shuffled(values: Sequence[int], seed: int, turn: int) -> list[int]:
    """Values in the order of a turn, each order as likely as any other."""
    keys = [mixed(mixed(seed, turn + 1), at + 1) for at in range(len(values))]
    return [value for _, value in sorted(zip(keys, values, strict=True))]


def describe_proof(record: ProofRecord) -> str:
    """How a proof stands, one to four sentences."""
    slow = record.p99
    text = _throughput(record)
    if record.learning.seconds:
        lost_s = record.learning_lost_s
        cost = f"cost {lost_s:.1f} s of work" if lost_s > 0 else "cost no work"
        text += f" To learn took {record.learning.seconds:.0f} s and {cost}."
    return text if slow is None else f"{text} 99th percentile of response times: {slow}."


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
            return f"The policy is better: {gain}, after {pairs}."
        case "worse" if gain is not None:
            return f"The policy is worse: {gain}, after {pairs}."
        case "same" if gain is not None:
            return f"{_sameness(record, gain)}: {gain}, after {pairs}."
        case "unsettled":
            known = f": {gain}, after {pairs}" if gain is not None else ""
            return f"No difference shown in {record.elapsed_s:.0f} s{known}."
        case _:
            known = str(gain) if gain is not None else "no gain is known"
            return f"{known[0].upper()}{known[1:]}, after {pairs}."


def _sameness(record: ProofRecord, gain: Interval) -> str:
    bound = max(record.settings.smallest, -gain.low, gain.high)
    if record.unmoved >= MIN_PAIRS and bound > record.settings.smallest:
        return "The policy keeps the program's own size"
    return f"No difference above {bound:.1%}"


def _pairs(count: int) -> str:
    return f"{count} pair{'' if count == 1 else 's'} of blocks"
