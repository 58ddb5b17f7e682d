"""When asking for each thread takes too much CPU, and walking is cheaper. Pure: no clock, no I/O.

Asking may take half of the CPU budget. What it takes comes in sample by sample; while counters are
walked, what it would take is estimated from the number of threads that ran.

- to walking when the mean of a second is above the half: the first sample, which asks for every
  thread, is left out.
- back to asking when the mean of ten seconds is below a quarter of the budget. If that has to be
  taken back within a minute, the ten seconds double for the next time, up to ten minutes.
"""

from collections import deque
from dataclasses import dataclass, field

SHARE_OF_BUDGET = 0.5
UP_NS = 1_000_000_000
DOWN_NS = 10_000_000_000
LONGEST_DOWN_NS = 600_000_000_000
PROVEN_NS = 60_000_000_000
_LEAST_SAMPLES = 3
_LEAST_ASKED = 32
"""Of fewer threads most of the price is that of the sample."""


@dataclass
class AskingCost:
    """What asking takes of one process, and whether that is too much.

    Args:
        limit: share of a core that asking may take, of all targets.

    Attributes:
        walks: whether counters are to be walked.
        share: of a core that asking takes or would take; 0 until it is known.
    """

    limit: float
    walks: bool = False
    share: float = 0.0
    _samples: deque[tuple[int, float]] = field(default_factory=deque)
    _per_thread_ns: float = 0.0
    _first: bool = True
    _down_ns: int = DOWN_NS
    _since_ns: int = 0
    _went_down_ns: int | None = None

    def asked(
        self, now_ns: int, cpu_ns: int, threads: int, rate_hz: float, others: float = 0.0
    ) -> bool:
        """A sample was taken by asking.

        Args:
            now_ns: a monotonic clock.
            cpu_ns: what it took.
            threads: how many were asked for.
            rate_hz: samples a second that are wanted.
            others: share of a core that asking takes of other targets.

        Returns:
            Whether to walk from now on.
        """
        self._per_thread_ns = cpu_ns / max(threads, _LEAST_ASKED)
        if self._first:
            self._first = False
            return False
        self._note(now_ns, cpu_ns * rate_hz / 1e9, UP_NS)
        long = len(self._samples) >= _LEAST_SAMPLES and now_ns - self._samples[0][0] >= UP_NS // 2
        if long and self.share + others > self.limit:
            if self._went_down_ns is not None and now_ns - self._went_down_ns < PROVEN_NS:
                self._down_ns = min(LONGEST_DOWN_NS, 2 * self._down_ns)
            else:
                self._down_ns = DOWN_NS
            self._turn(now_ns, walks=True)
        return self.walks

    def walked(
        self, now_ns: int, cpu_ns: int, ran: int, rate_hz: float, others: float = 0.0
    ) -> bool:
        """A sample was taken by a walk.

        Args:
            now_ns: a monotonic clock.
            cpu_ns: what it took: about as much as listing the threads does.
            ran: how many threads had new counters, and would have been asked for.
            rate_hz: samples a second that are wanted.
            others: share of a core that asking takes of other targets.

        Returns:
            Whether to walk from now on.
        """
        estimate = (cpu_ns + ran * self._per_thread_ns) * rate_hz / 1e9
        self._note(now_ns, estimate, self._down_ns)
        if now_ns - self._since_ns >= self._down_ns and self.share + others < self.limit / 2:
            self._went_down_ns = now_ns
            self._turn(now_ns, walks=False)
        return self.walks

    def _note(self, now_ns: int, share: float, length_ns: int) -> None:
        self._samples.append((now_ns, share))
        while len(self._samples) > _LEAST_SAMPLES and now_ns - self._samples[0][0] > length_ns:
            self._samples.popleft()
        self.share = sum(one for _, one in self._samples) / len(self._samples)

    def _turn(self, now_ns: int, *, walks: bool) -> None:
        self.walks, self._since_ns = walks, now_ns
        self._samples.clear()
        # The next sample by asking asks for every thread again.
        self._first = not walks
