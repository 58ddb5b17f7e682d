"""When births, ends and names of threads are taken in: at once, or later where there are many."""

from tidscope_wire.generated.limits import LIFECYCLE_WAIT_SECONDS

EVERY_NS, SELDOM_NS = 450_000_000, LIFECYCLE_WAIT_SECONDS * 1_000_000_000 - 50_000_000
SHARE = 0.004
"""Of a core: where samples with news take more, they are up to `SELDOM_NS` apart."""
AT_ONCE = 4
"""So many samples with news are taken as they come after a quiet time; then one every so often."""
MANY = 256
"""Events of a sample; while there are so many, none waits: exit records and slots run out."""


class News:
    """Of one target. Python takes samples with news, which cost ten times what others do."""

    def __init__(self) -> None:
        self._due_ns = 0
        self._many = False
        self._every_ns = EVERY_NS

    @property
    def due_ns(self) -> int:
        """CLOCK_MONOTONIC up to which what came since is to wait."""
        return 0 if self._many else self._due_ns

    def waits(self, now_ns: int) -> bool:
        """Whether what came since is to wait.

        Args:
            now_ns: CLOCK_MONOTONIC.
        """
        return now_ns < self.due_ns

    def taken_in(self, now_ns: int, events: int) -> None:
        """A sample with so many events was taken."""
        self._many = events >= MANY
        if events:
            earliest_ns = now_ns - (AT_ONCE - 1) * self._every_ns
            # Samples for another reason, such as key frames, come before it is due.
            latest_ns = min(self._due_ns, now_ns)
            self._due_ns = max(latest_ns, earliest_ns) + self._every_ns

    def note_cost(self, cpu_ns: int) -> None:
        """A sample by Python took so much CPU."""
        self._every_ns = min(max(EVERY_NS, int(cpu_ns / SHARE)), SELDOM_NS)
