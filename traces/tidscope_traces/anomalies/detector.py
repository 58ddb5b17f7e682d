"""Which traces are unlike the others of their endpoint, and in what.

Source: CRISP, sections 4.6.3 to 4.6.5: a trace with a chain of callers on its critical path that no
normal trace has is abnormal, and so is one that is improbable. What is probable is not said by the
source's autoencoder but by three robust measures: all times together and the strangest of them
(density.py), and which chains there are (presence.py).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.anomalies.density import Density, estimate
from tidscope_traces.anomalies.limits import MOST_DEVIATIONS, Usual, normal, tailed
from tidscope_traces.anomalies.presence import Presence, learn_presence
from tidscope_traces.anomalies.vectors import Chains, Times, chain_operations
from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.traces import Summaries

LEAST_TRACES = 30
"""Fewer do not say what is usual."""
UNSEEN_SHARE = 0.01
"""Of a request's time, own time of an unseen chain that makes it abnormal; less comes by chance."""
OWN_UNSEEN_SHARE = 0.1
"""The same of a trace among those that say what is usual: of these many have a rare call."""
FOLDS = 3
LEAST_EXCESS = 1.0
"""Of squared deviations and surprises beyond what is usual, in the mean."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Why a trace is abnormal.

    Attributes:
        kind: unseen: a chain that no normal trace has; improbable: its times, or its chains.
        score: how improbable: above 3.09 one normal trace in a thousand is.
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
        presence: of the chains themselves.
        all_times, one_time, which_chains: of usual traces, the three measures.
        counts: traces that have each chain.
    """

    chains: Chains
    density: Density
    presence: Presence
    all_times: Usual
    one_time: Usual
    which_chains: Usual
    counts: Counter[int]

    def judge(self, contexts: NDArray[np.int64], own: bool = False) -> Judgement | None:
        """Why a trace is abnormal; None if it is not.

        Args:
            contexts: as in TraceSummary.
            own: the trace is among those that the model was made of.
        """
        times, unseen = self.chains.times(contexts, learn=False)
        by_times = max(
            self.all_times.score(self.density.score(times)),
            self.one_time.score(self.density.largest(times)),
        )
        by_chains = self.which_chains.score(self.presence.surprise(times))
        score = max(by_times, by_chains)
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
            strangest = self._strangest if by_times >= by_chains else self.presence.strangest
            column = self.chains.columns(contexts)[strangest(times)]
            return Judgement("improbable", score, column)
        return None

    def _strangest(self, times: Times) -> int:
        """The chain whose time deviates most."""
        places, strangeness = self.density.strangeness(times)
        return places[int(np.argmax(strangeness))]


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
    parents = chains.parents
    measures = np.array(list(_held_out(rows, parents)))
    return PathModel(
        chains,
        density,
        learn_presence(rows, parents),
        normal(measures[:, 0]),
        tailed(measures[:, 1], LEAST_EXCESS),
        tailed(measures[:, 2], LEAST_EXCESS),
        Counter(place for times in rows for place in times),
    )


def _held_out(rows: Sequence[Times], parents: Sequence[int]) -> Iterator[tuple[float, ...]]:
    """The three measures of each trace, by what the others say is usual.

    Rare chains make what a trace says of itself look usual: judged later, others score higher.
    """
    for fold in range(FOLDS):
        others = [times for at, times in enumerate(rows) if at % FOLDS != fold]
        density = estimate(others, len(parents))
        presence = learn_presence(others, parents)
        seen = {place for times in others for place in times}
        for times in rows[fold::FOLDS]:
            known = {place: value for place, value in times.items() if place in seen}
            yield density.score(known), density.largest(known), presence.surprise(known)


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
