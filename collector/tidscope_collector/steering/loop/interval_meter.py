"""Makes observations of intervals from cumulative counts. Pure."""

from collections.abc import Sequence

from tidscope_policies.contract import Bounds, CoreShare, Observation, Part, Peers

from tidscope_collector.steering.signals.signal import Count


class IntervalMeter:
    """One interval; a new one for each.

    It begins when the size is in effect, with a count of its own: what was done before, and while
    the size changed, belongs to no size.

    Args:
        first: the count at its beginning.
        size: that was set for it.
        times: finished jobs by response time until then, as an observation has them.
    """

    def __init__(self, first: Count, size: int, times: Sequence[int] = ()) -> None:
        self._first = first
        self._times = times
        self._last = first
        self._size = size
        self._parts: list[Part] = []
        self._fell = False

    def add_part(self, count: Count) -> None:
        """A part has ended."""
        seconds, ops = count.at_s - self._last.at_s, count.ops - self._last.ops
        self._last = count
        if ops < 0:
            # The counter started again: the program's part that counts was started again.
            self._fell = True
        elif seconds > 0:
            self._parts.append(Part(seconds, ops))

    def responses(self, times: Sequence[int]) -> tuple[int, ...]:
        """Jobs that finished in it by response time; empty if the program's counts started again.

        Args:
            times: those until its end.
        """
        before = [*self._times, *[0] * (len(times) - len(self._times))]
        found = tuple(now - then for now, then in zip(times, before, strict=False))
        return found if min(found, default=0) >= 0 else ()

    def end(
        self,
        size: int,
        bounds: Bounds,
        *,
        paused: bool = False,
        probing_elsewhere: bool = False,
        peers: Peers | None = None,
        cores: CoreShare | None = None,
    ) -> Observation:
        """The interval ends with the last part.

        Args:
            size: in effect now; if it is another than was set somebody else changed it.
            bounds: what sizes there may be.
            paused: the target stood still in it.
            probing_elsewhere: another steered program tries sizes out.
            peers: the others.
            cores: what it may have of the machine.
        """
        first, last = self._first, self._last
        waits = None
        jobs = last.jobs - first.jobs
        if first.wait_s is not None and last.wait_s is not None and jobs >= 0:
            waits = max(0.0, last.wait_s - first.wait_s) / jobs if jobs else 0.0
        return Observation(
            at_s=last.at_s,
            elapsed_s=max(0.0, last.at_s - first.at_s),
            ops=max(0.0, last.ops - first.ops),
            size=size,
            bounds=bounds,
            parts=tuple(self._parts),
            moved_by_other=size != self._size,
            probing_elsewhere=probing_elsewhere,
            paused=paused or self._fell,
            mean_wait_s=waits,
            jobs=max(0, jobs),
            peers=peers,
            cores=cores,
        )
