"""The health part of a target's frames: made about once a second, and when a reader has to know."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from tidscope_wire.generated.models import CollectorHealth

MADE_NS = 950_000_000


@dataclass(slots=True)
class HealthNow:
    """What is reported of a target's sampling; belongs to the sampling thread.

    Args:
        make: makes it as it is now, but for what is of one sample: sample_us and late_us.
        marks: what may not be a second old, such as the rate.
    """

    make: Callable[[], CollectorHealth]
    marks: Callable[[], Hashable]
    _made: CollectorHealth | None = None
    _made_ns: int = 0
    _marks: Hashable = None

    def read(self, now_ns: int, *, last: bool = False) -> CollectorHealth:
        """As it was at most about a second ago; the same object as long as it is not made again.

        Args:
            now_ns: CLOCK_MONOTONIC.
            last: no frame follows, so it is made now.
        """
        marks = self.marks()
        due = last or now_ns - self._made_ns >= MADE_NS or marks != self._marks
        if self._made is None or due:
            self._made, self._made_ns, self._marks = self.make(), now_ns, marks
        return self._made
