"""What a pool did, in the form that collectors read."""

from dataclasses import dataclass, field

BUCKETS = 32
_LOWEST_BITS = 10


@dataclass(slots=True)
class Figures:
    """Cumulative figures of a pool; its lock guards them.

    Attributes:
        submitted: jobs.
        started: jobs that a worker took.
        finished: jobs that ended, failed ones included.
        failed: jobs that raised.
        response_ns: from submission to end, of finished jobs.
        run_ns: from start to end, of finished jobs.
        queue_wait_ns: from submission to start, of started jobs.
        idle_ns: time of workers without a job, up to the last change in their number.
        response: finished jobs by response time; entry b is of those below 2^(b+10) ns.
        queue_wait: started jobs by queue wait.
    """

    submitted: int = 0
    started: int = 0
    finished: int = 0
    failed: int = 0
    response_ns: int = 0
    run_ns: int = 0
    queue_wait_ns: int = 0
    idle_ns: int = 0
    response: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    queue_wait: list[int] = field(default_factory=lambda: [0] * BUCKETS)

    def start(self, queued_ns: int, now_ns: int) -> None:
        """A worker takes a job."""
        wait_ns = now_ns - queued_ns
        self.started += 1
        self.queue_wait_ns += wait_ns
        self.queue_wait[bucket_of(wait_ns)] += 1

    def finish(self, queued_ns: int, started_ns: int, now_ns: int, *, failed: bool) -> None:
        """A job ends."""
        response_ns = now_ns - queued_ns
        self.finished += 1
        self.failed += failed
        self.response_ns += response_ns
        self.run_ns += now_ns - started_ns
        self.response[bucket_of(response_ns)] += 1

    def add(self, other: "Figures") -> None:
        """Add those of another pool."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for b in range(BUCKETS):
            self.response[b] += other.response[b]
            self.queue_wait[b] += other.queue_wait[b]

    def members(self) -> dict[str, object]:
        """As `read_pools` answers them."""
        numbers: dict[str, object] = {name: getattr(self, name) for name in _NUMBERS}
        unknown = dict.fromkeys(("parks", "steals", "polls"))
        times = {"response": _trimmed(self.response), "queue_wait": _trimmed(self.queue_wait)}
        return numbers | unknown | times


_NUMBERS = (
    *("submitted", "started", "finished", "failed"),
    *("response_ns", "run_ns", "queue_wait_ns", "idle_ns"),
)


def bucket_of(ns: int) -> int:
    """Place of a time in a histogram."""
    return min(max(0, ns >> _LOWEST_BITS).bit_length(), BUCKETS - 1)


def _trimmed(counts: list[int]) -> list[int]:
    end = len(counts)
    while end and not counts[end - 1]:
        end -= 1
    return counts[:end]
