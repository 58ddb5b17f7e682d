"""A policy that measures sizes, each for a block in every round, and ends by itself.

The first interval of a block is left out, because the change of the size is still felt in it. So is
one in which another size than the wanted one was in effect. At the end the program has its own size
again.
"""

from tidscope_policies.contract import WAITS_ITS_TURN, Decision, Observation, is_usable
from tidscope_policies.sweep.plan import choose_sizes, order
from tidscope_policies.sweep.record import SweepRecord, SweepSettings, Verdict
from tidscope_policies.sweep.sentences import describe

INTERVAL_S = 0.5
LATE_S = 4.0
"""A block may take so much longer than three of its length; then its size cannot be had."""
MIN_OPS = 0.5
"""What a block without an operation counts as: a logarithm needs something."""


class Sweep:
    """Measures operations a second against size.

    Args:
        settings: what is measured, and when it ends.
    """

    def __init__(self, settings: SweepSettings) -> None:
        self._settings = settings
        self._record: SweepRecord | None = None
        self._began_s = 0.0
        self._turn = 0
        self._queue: list[int] = []
        self._found: dict[int, float] = {}
        self._missed: dict[int, int] = {}
        self._begin_block()
        self.verdict: Verdict = "open"

    @property
    def record(self) -> SweepRecord | None:
        """What is measured so far; None before the first interval."""
        return self._record

    def observe(self, seen: Observation) -> Decision:
        """Measure an interval, and go on to the next size when its block is long enough."""
        record = self._record or self._begin(seen)
        record.elapsed_s = seen.at_s - self._began_s
        if is_usable(seen) and seen.size != record.start:
            record.add_loss(seen.elapsed_s, seen.ops)
        if seen.probing_elsewhere:
            self._begin_block()
            self.verdict = record.verdict
            if self.verdict == "open":
                return Decision(record.start, "sweep, waiting", WAITS_ITS_TURN, deferred=True)
        else:
            self._measure(record, seen)
            self.verdict = record.verdict
        if self.verdict != "open":
            return Decision(record.start, "sweep ended", describe(record), release=True)
        size = self._queue[0]
        state = f"sweep, round {self._turn + 1}, size {size}"
        return Decision(size, state, describe(record), probing=True)

    def restart(self, reason: str) -> None:
        """The program may have changed: discard the round under way; `reason` says why."""
        record = self._record
        if record is not None and self.verdict == "open" and (self._found or self._seconds):
            record.discarded += 1
            self._begin_round(record)

    def _begin(self, seen: Observation) -> SweepRecord:
        settings, bounds = self._settings, seen.bounds
        start = bounds.clamp(seen.size)
        sizes = choose_sizes(bounds, settings.most_sizes)
        record = SweepRecord(settings, start, sorted({*sizes, start}))
        self._record, self._began_s = record, seen.at_s - seen.elapsed_s
        self._begin_round(record)
        return record

    def _begin_round(self, record: SweepRecord) -> None:
        self._found = {}
        self._queue = order(record.sizes, record.start, self._settings.seed, self._turn)
        self._begin_block()

    def _begin_block(self) -> None:
        self._fresh = True
        self._seconds = self._ops = self._spent_s = 0.0

    def _measure(self, record: SweepRecord, seen: Observation) -> None:
        size = self._queue[0]
        self._spent_s += seen.elapsed_s
        if is_usable(seen) and not self._fresh and seen.size == size:
            self._seconds += seen.elapsed_s
            self._ops += seen.ops
        self._fresh = False
        if self._seconds >= self._settings.block_s:
            self._end_block(record, size)
        elif self._spent_s > 3 * self._settings.block_s + LATE_S:
            self._miss(record, size)

    def _end_block(self, record: SweepRecord, size: int) -> None:
        if size == record.start:
            record.usual = self._ops / self._seconds
            self._found[size] = record.usual
        else:
            self._found[size] = max(MIN_OPS, self._ops) / self._seconds
        self._go_on(record)

    def _miss(self, record: SweepRecord, size: int) -> None:
        """A size did not come into effect, or no interval at it counted."""
        self._missed[size] = self._missed.get(size, 0) + 1
        if self._missed[size] > 1 and size != record.start:
            record.refuse(size)
        self._go_on(record)

    def _go_on(self, record: SweepRecord) -> None:
        self._queue.pop(0)
        if self._queue:
            self._begin_block()
            return
        record.add_round(self._found)
        self._turn += 1
        self._begin_round(record)
