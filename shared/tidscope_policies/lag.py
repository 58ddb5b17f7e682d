"""Decorator: operations may be counted seconds after they are done, in a pipeline for example.

After each change of size the lag is estimated: how much later progress changes, if it does (a
change point, at each lag that is possible; C. Chatfield, The Analysis of Time Series, 2003, speaks
of the lag at which two series correlate best). Until the change is likely to have shown itself, the
size stays and the intervals are hidden, on the inner policy's clock as well. Waiting costs little:
it lasts only while progress is as it was before.
"""

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import dropwhile

import numpy as np
from numpy.typing import NDArray

from tidscope_policies.contract import Decision, Observation, Policy

Floats = NDArray[np.float64]

LAGS = np.arange(2, 34, 2)
"""Possible lags in parts: 0.5 to 8 s. The first is none: a change of size may take as long."""
PRIOR_NONE = 0.5
"""Probability of no lag, before anything is measured."""
DOUBT = 0.1
"""Probability that a lag is longer, above which the size stays."""
BEFORE = 16
"""Parts before a change that are compared with those after it."""
IDLE = 0.1
"""Share of the median below which a part says nothing: the program has no work, or a dip."""
OUTLIER = 3.0
"""Standard deviations above which a part is no more evidence: dips and bursts."""
MOST = 3.0
"""Maximum evidence of one change, as a logarithm: one coincidence is not believed."""
KEPT = 0.95
"""Share of the evidence of earlier changes that counts after the next one."""
FALLEN = 0.55
"""Share of the progress before a change below which an interval is never hidden."""
LEAST_SD = 0.01
"""Minimum relative noise of a part."""


@dataclass(slots=True)
class _Change:
    """A change of size: progress of the parts before it, and of those after it up to now."""

    before: list[float]
    after: list[float] = field(default_factory=list)

    def evidence(self) -> Floats:
        """Logarithm of the likelihood of each lag, up to a constant, within MOST of the best."""
        row = np.array(self.before + self.after)
        if len(self.before) < 4 or len(self.after) < LAGS[0] or not np.median(row) > 0:
            return np.zeros(len(LAGS))
        worked = row > IDLE * np.median(row)
        row = np.log(np.where(worked, row, 1.0))
        scale = max(LEAST_SD, 1.4826 * float(np.median(np.abs(np.diff(row)))) / np.sqrt(2))
        found = np.empty(len(LAGS))
        for at, lag in enumerate(LAGS):
            cut = len(self.before) + int(lag)
            parts = (row[:cut][worked[:cut]], row[cut:][worked[cut:]])
            off = np.concatenate([part - np.median(part) for part in parts if len(part)])
            found[at] = -0.5 * np.minimum((off / scale) ** 2, OUTLIER**2).sum()
        capped: Floats = np.maximum(found - found.max(), -MOST)
        return capped


class Lag:
    """Decorator that hides intervals until a change of size can be seen.

    Args:
        inner: sees a program that does not lag.
    """

    def __init__(self, inner: Policy) -> None:
        self._inner = inner
        self._recent: deque[float] = deque(maxlen=BEFORE)
        self._change: _Change | None = None
        self._prior = np.zeros(len(LAGS))
        self._prior[1:] = np.log((1 - PRIOR_NONE) / PRIOR_NONE / (len(LAGS) - 1))
        self._past = self._prior
        self._last: Decision | None = None
        self._size: int | None = None
        self._unsettled = False
        self._hidden_s = 0.0
        self._moved = False

    def observe(self, seen: Observation) -> Decision:
        """Hide an interval in which the last change may not have shown itself, or delegate."""
        progress = [part.progress for part in seen.parts]
        if self._size is not None and seen.size != self._size:
            if self._change is not None:
                self._past = KEPT * (self._past - self._prior) + self._prior
                self._past += self._change.evidence()
            self._change = _Change(list(self._recent))
            self._unsettled = True
        self._size = seen.size
        change = self._change
        if change is not None and len(change.after) < LAGS[-1] + BEFORE:
            change.after.extend(progress)
        # Before the first operation is counted nothing can be seen.
        self._recent.extend(progress if self._recent else dropwhile(lambda one: not one, progress))
        if self._unsettled and change is not None and seen.parts and self._last is not None:
            wanted = self._parts(change) - (len(change.after) - len(progress))
            fell = progress and np.median(progress) < FALLEN * np.median(change.before or [0.0])
            if wanted > len(progress) // 2 and wanted > 2 and not fell:
                self._hidden_s += seen.elapsed_s
                self._moved |= seen.peers is not None and seen.peers.moved
                why = "What the last change does may show itself later: the size stays."
                return replace(self._last, size=seen.size, reason=why, deferred=True)
            if wanted > 2:
                kept = seen.parts[wanted:]
                seen = replace(
                    seen,
                    parts=kept,
                    ops=sum(part.ops for part in kept),
                    elapsed_s=sum(part.seconds for part in kept),
                )
            self._unsettled = False
        if self._moved and seen.peers is not None:
            seen = replace(seen, peers=replace(seen.peers, moved=True))
        self._moved = False
        self._last = self._inner.observe(replace(seen, at_s=seen.at_s - self._hidden_s))
        return self._last

    def _parts(self, change: _Change) -> int:
        """Parts after a change in which it may not have shown itself."""
        logs = self._past + change.evidence()
        chance = np.exp(logs - logs.max())
        chance /= chance.sum()
        longer = 1 - np.cumsum(chance)
        return int(LAGS[int(np.argmax(longer <= DOUBT))])

    def restart(self, reason: str) -> None:
        """Delegate."""
        self._inner.restart(reason)
