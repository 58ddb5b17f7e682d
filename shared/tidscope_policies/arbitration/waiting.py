"""Workers of a pool that wait, and so need no core. Pure.

A worker that waits for a disk, a peer or a timer holds a job without using a CPU. How many do is
Little's law (J. D. C. Little, 1961): jobs finished a second times the time that a job waits. Taking
their places away saves no core and costs the jobs that they would hold, so the arbiter divides
cores among the other workers only.

The time that a job waits does not depend on the size, so its share of a job's time is learnt, and
counts for the size that the program chose itself. Time without a CPU is neither: with more cores it
would be less. Where others take the CPUs, jobs spend most of their time without one, and what is
left says nothing.
"""

from tidscope_policies.contract import BusyWorkers, Observation

MEMORY = 0.8
"""Weight of earlier intervals against the last one."""
ENOUGH = 0.5
"""Workers that were busy on average, below which an interval says too little."""
CROWDED = 0.5
"""Share of busy workers without a CPU. Above it others keep a program from its cores, if it hardly
uses them."""
SPARED, KEPT = 0.25, 0.5
"""CPUs that a pool uses on average, below which it spares its core, and above which it no longer
does."""
BLIND = 3
"""Intervals without figures after which no worker is taken to wait."""


class WaitingWorkers:
    """Learns how many workers of a pool wait.

    Args:
        own: size that the program chose itself; 0 if each worker counts as a core.

    Attributes:
        count: workers that wait: all but one of a pool that is not measured yet.
        is_known: True if the pool was measured, or needs not to be.
        spares_core: True if the pool hardly uses its one core, so that others may have it, too.
    """

    def __init__(self, own: int) -> None:
        self._own = own
        self.count = max(0, own - 1)
        self.is_known = own < 2
        self.spares_core = False
        self._waiting = self._computing = self._weight = 0.0
        self._missing = 0

    def take_in(self, seen: Observation) -> bool:
        """Learn from an interval. Return True if what others may have changes."""
        workers = seen.workers
        if self._own < 2 or (
            workers is not None and (workers.busy < ENOUGH or _is_crowded(seen, workers))
        ):
            return False
        if workers is None:
            self._missing += 1
            return self._missing == BLIND and self._set(0)
        self._missing = 0
        self._waiting = MEMORY * self._waiting + workers.waiting
        self._computing = MEMORY * self._computing + workers.computing
        self._weight = MEMORY * self._weight + 1
        spared, most = self.spares_core, KEPT if self.spares_core else SPARED
        self.spares_core = self._computing < most * self._weight
        share = self._waiting / max(self._waiting + self._computing, 1e-9)
        needed = share * self._own
        if self.is_known and abs(needed - self.count) < 1.0:
            # Noise must not move a size to and fro.
            return self.spares_core != spared
        return self._set(min(self._own - 1, round(needed)))

    def _set(self, count: int) -> bool:
        changed = count != self.count or not self.is_known
        self.count, self.is_known = count, True
        return changed

    def describe(self) -> str:
        """Return a sentence on what needs no core, with a space before it; empty if nothing."""
        if not self.is_known:
            return " It keeps its own size until it is known how many of its workers wait."
        if not self.count:
            return ""
        verb = "waits and needs" if self.count == 1 else "wait and need"
        shared = " It hardly uses its own, which others may have, too." if self.spares_core else ""
        return f" {self.count} of its {self._own} workers {verb} no core.{shared}"


def _is_crowded(seen: Observation, workers: BusyWorkers) -> bool:
    """True if other programs keep this one from its cores."""
    hardly = seen.cores is not None and seen.cores.is_hardly_used
    return hardly and workers.delayed > CROWDED * workers.busy
