"""A policy that proves another one: it lets it steer in every other block only, and compares.

Blocks come in pairs: one in which the tested policy steers, and one with the program's own size.
The tested policy keeps what it has learned between its blocks. The first interval of a block is
left out, because the change of the size is still felt in it; the tested policy sees it marked as
moved by others. Where the policy does not steer, so is one at another size than the program's own.
A proof ends by itself. Only a policy that is better goes on.

When more work seems lost than may be, the policy pauses within its block, and for as long as it
steered the program is measured at its own size: what it lost by itself is not the policy's loss.
"""

from dataclasses import replace

from tidscope_policies.contract import Decision, Observation, Policy, is_usable
from tidscope_policies.proving.order import policy_first
from tidscope_policies.proving.record import Block, ProofRecord, ProofSettings, Verdict
from tidscope_policies.proving.sentences import describe


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

    @property
    def steers(self) -> bool:
        """Whether the tested policy steers in this block, or for good."""
        return self._block.tested

    def observe(self, seen: Observation) -> Decision:
        """Measure an interval, and decide by whose turn it is."""
        if not self._original:
            self._original = seen.size
            self._began_s = seen.at_s - seen.elapsed_s
        if self.verdict == "better":
            return self._steer(seen)
        self.record.elapsed_s = seen.at_s - self._began_s
        at_its_size = self.steers or seen.size == self._original
        if is_usable(seen) and not self._fresh and at_its_size:
            self._block.add(seen.elapsed_s, seen.ops, seen.responses)
            if self.steers:
                self.record.since.add(seen.elapsed_s, seen.ops)
        decided = self._steer(seen) if self.steers else None
        self._fresh = False
        self._end_block()
        self.verdict = self.record.verdict
        if self.verdict not in ("open", "better"):
            return Decision(self._original, "proof ended", describe(self.record), release=True)
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

    def _steer(self, seen: Observation) -> Decision:
        decided = self._policy.observe(replace(seen, moved_by_other=True) if self._fresh else seen)
        self._wanted = decided.size
        return decided

    def _end_block(self) -> None:
        """Turn to the other side once a block is long enough."""
        block, record = self._block, self.record
        if self._paused is not None:
            self._end_check(block, self._paused)
            return
        if block.seconds < record.settings.block_s:
            if block.tested and record.lost_s > record.most_lost_s:
                self._paused, self._check_s = block, min(block.seconds, record.since.seconds)
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
        reason = describe(self.record)
        if self.verdict == "better":
            state = "proven better"
        if not self.steers:
            return Decision(self._original, state, reason)
        if decided is None:
            return Decision(self._wanted or self._original, state, reason)
        return replace(decided, state=state, reason=f"{reason} {decided.reason}")
