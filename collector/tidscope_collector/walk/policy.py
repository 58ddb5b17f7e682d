"""When asking for each thread takes too much CPU, and walking is cheaper. Pure: no clock, no I/O.

Asking may take half of the CPU budget. What it takes comes in sample by sample; while counters are
walked, what it would take is estimated from the number of threads that ran.

- to walking when the mean of the last second is above the half. The first sample is left out: it
  asks for every thread.
- back to asking when the mean of the last ten seconds is below a quarter of the budget. If that has
  to be taken back within a minute, the ten seconds double for the next time, up to ten minutes.
"""

from collections import deque

SHARE_OF_BUDGET = 0.5
USUAL_BUDGET_PERCENT = 2.0
"""Where there is no budget, asking may take half of this one."""
UP_NS = 1_000_000_000
DOWN_NS = 10_000_000_000
LONGEST_DOWN_NS = 600_000_000_000
PROVEN_NS = 60_000_000_000
_MIN_SAMPLES = 3
_MIN_ASKED = 32
"""Of fewer threads most of the price is that of the sample."""


class AskingCost:
    """What asking takes of one process, and whether that is too much.

    Args:
        limit: share of a core that asking may take, of all targets.

    Attributes:
        share: of a core that asking takes, or would take; 0 until it is known.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.share = 0.0
        self._walks = False
        self._samples: deque[tuple[int, float]] = deque()
        self._per_thread_ns = 0.0
        self._first = True
        self._down_ns = DOWN_NS
        self._since_ns = 0
        self._went_down_ns: int | None = None

    def asked(self, now_ns: int, cpu_ns: int, threads: int, rate_hz: float) -> None:
        """A sample was taken by asking.

        Args:
            now_ns: a monotonic clock.
            cpu_ns: what it took.
            threads: how many were asked for.
            rate_hz: samples a second that are wanted.
        """
        self._per_thread_ns = cpu_ns / max(threads, _MIN_ASKED)
        if not self._first:
            self._note(now_ns, cpu_ns * rate_hz / 1e9, UP_NS)
        self._first = False

    def walked(self, now_ns: int, cpu_ns: int, ran: int, rate_hz: float) -> None:
        """A sample was taken by a walk.

        Args:
            now_ns: a monotonic clock.
            cpu_ns: what it took: about as much as listing the threads does.
            ran: how many threads had new counters, and would have been asked for.
            rate_hz: samples a second that are wanted.
        """
        estimate_ns = cpu_ns + ran * self._per_thread_ns
        self._note(now_ns, estimate_ns * rate_hz / 1e9, self._down_ns)

    def walks(self, now_ns: int, others: float = 0.0) -> bool:
        """Whether the next sample is to be taken by a walk.

        Args:
            now_ns: a monotonic clock.
            others: share of a core that asking takes of other targets.
        """
        if len(self._samples) < _MIN_SAMPLES:
            return self._walks
        whole = self.share + others
        if self._walks:
            if now_ns - self._since_ns >= self._down_ns and whole < self.limit / 2:
                self._went_down_ns = now_ns
                self._turn(now_ns)
        elif now_ns - self._samples[0][0] >= UP_NS // 2 and whole > self.limit:
            again = self._went_down_ns is not None and now_ns - self._went_down_ns < PROVEN_NS
            self._down_ns = min(LONGEST_DOWN_NS, 2 * self._down_ns) if again else DOWN_NS
            self._turn(now_ns)
        return self._walks

    def _note(self, now_ns: int, share: float, length_ns: int) -> None:
        self._samples.append((now_ns, share))
        while len(self._samples) > _MIN_SAMPLES and now_ns - self._samples[0][0] > length_ns:
            self._samples.popleft()
        self.share = sum(one for _, one in self._samples) / len(self._samples)

    def _turn(self, now_ns: int) -> None:
        self._walks, self._since_ns = not self._walks, now_ns
        self._samples.clear()
        # The first sample by asking asks for every thread again.
        self._first = True
