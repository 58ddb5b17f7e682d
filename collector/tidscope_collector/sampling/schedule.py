"""When the next sample is due: absolute deadlines, so that lateness never adds up to drift."""

from dataclasses import dataclass


@dataclass
class Schedule:
    """Deadlines of one target on CLOCK_MONOTONIC.

    Attributes:
        rate_hz: samples a second, 1 to 100.
        due_ns: the next deadline.
        missed: deadlines since the start at which no sample was taken.
    """

    rate_hz: float
    due_ns: int
    missed: int = 0

    @property
    def period_ns(self) -> int:
        return round(1e9 / self.rate_hz)

    def advance(self, now_ns: int) -> tuple[int, int]:
        """A sample starts now: move to the first deadline that is still to come.

        Returns:
            How late the sample is, nanoseconds, and how many deadlines were missed.
        """
        late = max(0, now_ns - self.due_ns)
        missed = late // self.period_ns
        self.due_ns += (missed + 1) * self.period_ns
        self.missed += missed
        return late, missed

    def skip(self, now_ns: int) -> None:
        """Take no sample now: every deadline up to now is missed."""
        if now_ns >= self.due_ns:
            self.advance(now_ns)
            self.missed += 1  # `advance` counts the last deadline as met.

    def change_rate(self, rate_hz: float, now_ns: int) -> None:
        """Go on at another rate, one period from now. Deadlines up to now are missed."""
        self.skip(now_ns)
        self.rate_hz = rate_hz
        self.due_ns = now_ns + self.period_ns
