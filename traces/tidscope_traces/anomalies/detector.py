"""Which traces are unlike the others of their endpoint, and in what.

Source: CRISP, sections 4.6.3 to 4.6.5: a trace with a chain of callers on its critical path that no
normal trace has is abnormal, and so is one that is improbable. What is probable is not said by the
source's autoencoder but by robust measures: all times together and the strangest of them
(density.py), which chains there are (presence.py), and how much time is in chains that no other
trace has. Each has a probability by what it is in the endpoint's own usual traces (limits.py).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.anomalies.density import Density, estimate
from tidscope_traces.anomalies.limits import (
    P_VALUE,
    Rare,
    Usual,
    in_deviations,
    normal,
    rare,
    tailed,
    together,
)
from tidscope_traces.anomalies.presence import Presence, learn_presence
from tidscope_traces.anomalies.vectors import Chains, Times, chain_operations
from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.traces import Summaries

LEAST_TRACES = 30
"""Fewer do not say what is usual."""
FOLDS = 3
LEAST_EXCESS = 1.0
"""Of squared deviations and surprises beyond what is usual, in the mean."""
UNSEEN_SHARE = 0.01
"""Of a trace's time; less in chains that no other trace has comes by chance."""
LEAST_UNSEEN, UNSEEN_TAIL = 0.3, 0.1
"""Of its logarithm: mean excess at least, and share of usual traces that say what it is."""
WHICH_CHAINS, UNSEEN = 2, 3
"""Places of two of the measures."""


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
        usual: four measures of usual traces: all times, the strangest, which chains there are, and
            how much time is in chains that no other trace has.
        counts: traces that have each chain.
    """

    chains: Chains
    density: Density
    presence: Presence
    usual: Sequence[Usual | Rare]
    counts: Counter[int]

    def judge(self, contexts: NDArray[np.int64], own: bool = False) -> Judgement | None:
        """Why a trace is abnormal; None if it is not.

        One that is compared with earlier ones is abnormal by any measure, or by an unseen chain, as
        the source has it. Where each is compared with all, which say less of what is rare, it is so
        by all measures together.

        Args:
            contexts: as in TraceSummary.
            own: the trace is among those that the model was made of.
        """
        times, unseen = self.chains.times(contexts, learn=False)
        columns = self.chains.columns(contexts)
        if own:
            unseen = {columns[at]: time for at, time in times.items() if self.counts[at] == 1}
        total_ns = contexts[3].sum()
        measures = (
            self.density.score(times),
            self.density.largest(times),
            self.presence.surprise(times),
            _log_share(sum(unseen.values()), total_ns),
        )
        surprises = [usual.surprise(one) for usual, one in zip(self.usual, measures, strict=True)]
        if own:
            surprise = together(surprises)
            stands_out = surprises[UNSEEN] > min(max(surprises[:UNSEEN]), -log(P_VALUE))
            is_unseen = surprise > -log(P_VALUE) and stands_out
        else:
            surprise = max(surprises[:UNSEEN])
            is_unseen = max(unseen.values(), default=0) > UNSEEN_SHARE * total_ns
        score = in_deviations(surprise)
        if is_unseen:
            return Judgement("unseen", score, max(unseen, key=lambda at: unseen[at]))
        if surprise <= -log(P_VALUE):
            return None
        most = int(np.argmax(surprises[:UNSEEN]))
        strangest = self.presence.strangest if most == WHICH_CHAINS else self._strangest
        return Judgement("improbable", score, columns[strangest(times)])

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
    parents = chains.parents
    counts = Counter(place for times in rows for place in times)
    alone = [
        _log_share(
            sum(time for place, time in times.items() if counts[place] == 1), sum(times.values())
        )
        for times in rows
    ]
    measures = np.array(list(_held_out(rows, parents)))
    return PathModel(
        chains,
        estimate(rows, len(chains)),
        learn_presence(rows, parents),
        (
            normal(measures[:, 0]),
            tailed(measures[:, 1], LEAST_EXCESS),
            tailed(measures[:, 2], LEAST_EXCESS),
            rare(alone, LEAST_UNSEEN, UNSEEN_TAIL),
        ),
        counts,
    )


def _log_share(part_ns: float, whole_ns: float) -> float:
    return float(np.log1p(part_ns / max(1.0, UNSEEN_SHARE * whole_ns)))


def _held_out(rows: Sequence[Times], parents: Sequence[int]) -> Iterator[tuple[float, ...]]:
    """Three measures of each trace, by what the others say is usual.

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
