"""Time of a pool's workers: with a job, on a CPU, and runnable without one."""

from collections.abc import Mapping
from dataclasses import dataclass

from tidscope_policies.contract import BusyWorkers


@dataclass(frozen=True, slots=True)
class WorkerTimes:
    """Cumulative times at one moment.

    Attributes:
        run_s: time of finished jobs from start to end, in seconds; None if the agent has none.
        cpu_s: CPU time of the program, in seconds; None if unknown.
        delays: run-queue delay of each thread, in nanoseconds; empty if unknown.
    """

    run_s: float | None
    cpu_s: float | None
    delays: Mapping[int, int]

    def since(self, before: "WorkerTimes", seconds: float) -> BusyWorkers | None:
        """Return the workers of an interval; None if a time is unknown, or its count restarted.

        Args:
            before: times at the start.
            seconds: length of the interval.
        """
        both = self.delays.keys() & before.delays.keys()
        run_s, cpu_s = _difference(self.run_s, before.run_s), _difference(self.cpu_s, before.cpu_s)
        if run_s is None or cpu_s is None or not both or seconds <= 0:
            return None
        delay_s = sum(max(0, self.delays[tid] - before.delays[tid]) for tid in both) / 1e9
        return BusyWorkers(run_s / seconds, cpu_s / seconds, delay_s / seconds)


def _difference(now: float | None, before: float | None) -> float | None:
    return None if now is None or before is None or now < before else now - before
