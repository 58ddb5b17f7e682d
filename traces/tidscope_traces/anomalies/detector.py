"""Which traces are unlike the others of their endpoint, and in what.

Source: CRISP, sections 4.6.3 to 4.6.5: a trace with a chain of callers on its critical path that no
normal trace has is abnormal, and so is one whose times are improbable. The density is not the
source's autoencoder but a robust estimate: see density.py.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.anomalies.density import NORMAL_MAD, Density, estimate
from tidscope_traces.anomalies.vectors import Chains, Times, chain_operations
from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.traces import Summaries

LEAST_TRACES = 30
"""Fewer do not say what is usual."""
UNSEEN_SHARE = 0.01
"""Of a request's time, own time of an unseen chain that makes it abnormal; less comes by chance."""
OWN_UNSEEN_SHARE = 0.1
"""The same of a trace among those that say what is usual: of these many have a rare call."""
MOST_DEVIATIONS = 3.09
"""A score this many robust standard deviations above the median is improbable: of normal ones one
in a thousand, the p-value of the source."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Why a trace is abnormal.

    Attributes:
        kind: unseen: a chain that no normal trace has; improbable: its times.
        score: robust standard deviations above a usual trace's.
        column: of the trace's contexts, the chain that stands out most.
    """

    kind: Literal["unseen", "improbable"]
    score: float
    column: int


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A trace that is unlike the others.

    Attributes:
        place: of the trace, in the summaries.
        kind: as in Judgement.
        score: as in Judgement.
        chain: operations from the root to the one that stands out most.
    """

    place: int
    kind: Literal["unseen", "improbable"]
    score: float
    chain: list[Operation]


@dataclass(frozen=True, slots=True)
class PathModel:
    """What critical paths of an endpoint are usual.

    Attributes:
        chains: features, by number.
        density: of their times.
        median: of the scores of usual traces.
        deviation: robust standard deviation of these.
        counts: traces that have each chain.
    """

    chains: Chains
    density: Density
    median: float
    deviation: float
    counts: Counter[int]

    def judge(self, contexts: NDArray[np.int64], own: bool = False) -> Judgement | None:
        """Why a trace is abnormal; None if it is not.

        Args:
            contexts: as in TraceSummary.
            own: the trace is among those that the model was made of.
        """
        times, unseen = self.chains.times(contexts, learn=False)
        score = (self.density.score(times) - self.median) / self.deviation
        if own:
            unseen = {
                column: value
                for column, (place, value) in enumerate(times.items())
                if self.counts[place] == 1
            }
        if unseen:
            column = max(unseen, key=lambda at: unseen[at])
            total_ns = int(contexts[3].sum())
            if unseen[column] > (OWN_UNSEEN_SHARE if own else UNSEEN_SHARE) * total_ns:
                return Judgement("unseen", score, column)
        if score > MOST_DEVIATIONS:
            return Judgement("improbable", score, self._strangest(contexts, times))
        return None

    def _strangest(self, contexts: NDArray[np.int64], times: Times) -> int:
        """The column whose time deviates most; of several that do, the one with most time."""
        places, squares = self.density.squares(times)
        values = np.array([times[place] for place in places])
        strange = squares >= squares.max() - 1e-9
        place = places[int(np.argmax(np.where(strange, values, -1)))]
        columns = self.chains.columns(contexts)
        return columns[place]


def learn_paths(contexts: Sequence[NDArray[np.int64]]) -> PathModel:
    """A model of traces most of which are normal.

    Args:
        contexts: of each trace, as in TraceSummary; their operations have the same numbers.

    Raises:
        ValueError: there are fewer than LEAST_TRACES.
    """
    if len(contexts) < LEAST_TRACES:
        msg = f"{len(contexts)} traces do not say what is usual; want {LEAST_TRACES}"
        raise ValueError(msg)
    chains = Chains()
    rows = [chains.times(one, learn=True)[0] for one in contexts]
    density = estimate(rows, len(chains))
    scores = np.array([density.score(times) for times in rows])
    median = float(np.median(scores))
    deviation = max(1e-3, NORMAL_MAD * float(np.median(np.abs(scores - median))))
    counts = Counter(place for times in rows for place in times)
    return PathModel(chains, density, median, deviation, counts)


def find_anomalies(summaries: Summaries, usual: Summaries | None = None) -> list[Anomaly]:
    """Abnormal traces, the strangest first; none if too few are there to say what is usual.

    Args:
        summaries: traces of one endpoint.
        usual: earlier ones of the same endpoint, with the same catalogue, that the others are
            compared with; None to compare each with all.
    """
    known = summaries if usual is None else usual
    if len(known.traces) < LEAST_TRACES:
        return []
    model = learn_paths([trace.contexts for trace in known.traces])
    names = summaries.catalogue.operations
    found = []
    for place, trace in enumerate(summaries.traces):
        judged = model.judge(trace.contexts, own=usual is None)
        if judged is not None:
            chain = [names[number] for number in chain_operations(trace.contexts, judged.column)]
            found.append(Anomaly(place, judged.kind, judged.score, chain))
    found.sort(key=lambda one: (-one.score, one.place))
    return found
