"""What-if replay: a trace as constraints between its spans, replayed with different times.

The constraints are read off the trace, as in a project plan. A span starts a fixed own time of its
parent after the last sibling that had ended before (or after the parent's start). A parent ends a
fixed own time after its last child. Replay with unchanged times reproduces the trace. If a span is
shorter, dependent spans move until another constraint applies.

Terms of the critical-path method (J. Kelley and M. Walker, 1959; S. Devaux, 1990). Slack: how much
later a span could end before the request takes longer. Drag: how much longer the request takes
because of the span.
"""

import heapq
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tidscope_traces.critical.path import FittedTrace, settle_ends


@dataclass(frozen=True, slots=True)
class _Calls:
    """Calls and own time of a span.

    Attributes:
        children: children by start.
        gaps_ns: own time of the span before each child.
        ends: indices in `children`, by end.
        ended: for each child, the number of `ends` before the child's start.
        overlaps_ns: overlap of each child that is attributed to clock skew.
        tail_ns: own time after the last child.
        own_ns: own time that the span's end depends on.
    """

    children: list[int]
    gaps_ns: list[int]
    ends: list[int]
    ended: list[int]
    overlaps_ns: list[int]
    tail_ns: int
    own_ns: int


class Schedule:
    """A fitted trace that can be replayed with different times.

    Attributes:
        steps: total number of replayed spans, a measure of cost.
    """

    def __init__(self, fitted: FittedTrace) -> None:
        self.steps = 0
        self._fitted = fitted
        self._place = {span: place for place, span in enumerate(fitted.order)}
        self._parent: dict[int, int] = {}
        self._calls: dict[int, _Calls] = {}
        self._length = {span: fitted.end_ns[span] - fitted.start_ns[span] for span in fitted.order}
        for span in fitted.order:
            if fitted.children[span]:
                self._calls[span] = self._read_calls(span)
                self._parent.update(dict.fromkeys(fitted.children[span], span))

    def _read_calls(self, span: int) -> _Calls:
        start, end = self._fitted.start_ns, self._fitted.end_ns
        children = self._fitted.children[span]
        moved = settle_ends(span, children, start, end) if len(children) > 1 else {}
        settled = {child: moved.get(child, end[child]) for child in children}
        # Empty spans come first: a sibling starting at the same time may wait for them.
        by_start = sorted(children, key=lambda child: (start[child], settled[child], child))
        ends = sorted(range(len(children)), key=lambda place: (settled[by_start[place]], place))
        gaps: list[int] = []
        counts: list[int] = []
        waits_for: list[int] = []
        last_end, last, seen = start[span], -1, 0
        for place, child in enumerate(by_start):
            while seen < place and ends[seen] < place:
                ended = settled[by_start[ends[seen]]]
                if ended > start[child]:
                    break
                last_end, last = max(last_end, ended), ends[seen]
                seen += 1
            gaps.append(start[child] - last_end)
            counts.append(seen)
            waits_for.append(last)
        tail = end[span] - end[children[0]]
        own = tail
        place = by_start.index(children[0])
        while place >= 0:
            own += gaps[place]
            place = waits_for[place]
        overlaps = [end[child] - settled[child] for child in by_start]
        return _Calls(by_start, gaps, ends, counts, overlaps, tail, own)

    def without_own_time(self, spans: Iterable[int]) -> int:
        """Return the root's duration (ns) if these spans had no own time."""
        return self._play(spans, lambda span: self._length_of(span, None))

    def without(self, spans: Iterable[int]) -> int:
        """Return the root's duration (ns) if these spans and their descendants took no time."""
        return self._play(spans, lambda _: 0)

    def with_less(self, spans: Iterable[int], less_ns: int) -> int:
        """Return the root's duration (ns) if each of these spans had less own time.

        Args:
            spans: indices of the spans in the trace.
            less_ns: reduction for each span, down to no own time; negative for an increase.
        """
        return self._play(spans, lambda span: self._length_of(span, less_ns))

    def _play(self, spans: Iterable[int], length_of: Callable[[int], int]) -> int:
        """Replay the trace: changed spans, then each caller of a changed span."""
        place, order = self._place, self._fitted.order
        changed = {span for span in spans if span in place}
        before: dict[int, int] = {}
        waiting = [-place[span] for span in changed]
        heapq.heapify(waiting)
        queued = set(changed)
        while waiting:
            self.steps += 1
            span = order[-heapq.heappop(waiting)]
            length = length_of(span) if span in changed else self._length_of(span, 0)
            if length != self._length[span]:
                before[span] = self._length[span]
                self._length[span] = length
                parent = self._parent.get(span, -1)
                if parent >= 0 and parent not in queued:
                    queued.add(parent)
                    heapq.heappush(waiting, -place[parent])
        duration_ns = self._length[self._fitted.root]
        self._length.update(before)
        return duration_ns

    def _length_of(self, span: int, less_ns: int | None) -> int:
        """Return a span's duration with the current children; less None means all own time."""
        calls = self._calls.get(span)
        if calls is None:
            own = self._fitted.end_ns[span] - self._fitted.start_ns[span]
            return 0 if less_ns is None else max(0, own - less_ns)
        gaps, tail, own = calls.gaps_ns, calls.tail_ns, calls.own_ns
        if less_ns is None or less_ns >= own > 0:
            gaps, tail = [0] * len(gaps), 0
        elif less_ns < 0 and own == 0:
            tail -= less_ns
        elif less_ns and own:
            gaps = [gap * (own - less_ns) // own for gap in gaps]
            tail = tail * (own - less_ns) // own
        return self._finish(calls, gaps) + tail

    def _finish(self, calls: _Calls, gaps: list[int]) -> int:
        """Return the end of the last child, relative to the span's start."""
        length = self._length
        settled: list[int] = []
        finish = last_end = seen = 0
        for place, child in enumerate(calls.children):
            for ended in calls.ends[seen : calls.ended[place]]:
                last_end = max(last_end, settled[ended])
            seen = calls.ended[place]
            end = last_end + gaps[place] + length[child]
            finish = max(finish, end)
            settled.append(max(0, end - calls.overlaps_ns[place]))
        return finish

    def slack(self) -> dict[int, int]:
        """Return the delay (ns) per span that keeps the root's end; 0 on the critical path."""
        start, end = self._fitted.start_ns, self._fitted.end_ns
        latest = {self._fitted.root: end[self._fitted.root]}
        for span in self._fitted.order:
            calls = self._calls.get(span)
            if calls is None:
                continue
            joined = latest[span] - calls.tail_ns
            starts = [start[child] for child in calls.children]
            # For each place, the latest end of earlier spans that all later ones allow.
            allowed = [joined] * (len(starts) + 1)
            for place in range(len(starts) - 1, -1, -1):
                child = calls.children[place]
                overlap = calls.overlaps_ns[place]
                after = max(bisect_left(starts, end[child] - overlap), place + 1)
                latest[child] = min(joined, allowed[after] + overlap)
                begins = latest[child] - (end[child] - start[child])
                allowed[place] = min(allowed[place + 1], begins - calls.gaps_ns[place])
        return {span: ends - end[span] for span, ends in latest.items()}
