"""Which traces are unlike the others of their endpoint, and in what.

Source: CRISP, sections 4.6.3 to 4.6.5: a trace with a chain of callers that no normal trace has is
abnormal, and so is one that is improbable. What is probable is not said by the source's autoencoder
but by measures that abnormal traces among the usual ones hardly move: times (times.py), and which
calls there are, in which order, and whether they fail (choices.py). A trace is abnormal by any one
of them: several weak ones together say less than one strong one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np

from tidscope_traces.anomalies.choices import (
    P_VALUE,
    Events,
    Kind,
    Limit,
    in_deviations,
    learn_choices,
    tailed,
)
from tidscope_traces.anomalies.times import learn_times
from tidscope_traces.anomalies.vectors import Chains, Entries, Floats, Ints, read_entries
from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.calls import Calls
from tidscope_traces.summary.traces import Summaries, TraceSummary

MIN_TRACES = 30
"""Fewer do not say what is usual."""
MIN_EXCESS = 0.7
"""Of surprises beyond what is usual, in the mean."""
P_TIMES = 0.005
"""Of usual traces so many are improbable by times, before like times of others are considered."""
P_TOTAL = 1e-5
"""Of usual traces so many are improbable by all choices: the values of few choices are few."""
Progress = Callable[[int, int], None]
"""Called with how many traces were read, and of how many."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A trace that is unlike the others.

    Attributes:
        place: of the trace, in the summaries.
        kind: unseen: a call that hardly any usual trace makes; missing: none of one that nearly all
            make; failed, repeated or reordered: a call that hardly ever does, is or comes so;
            improbable: its times, or all its calls together.
        score: how improbable: above 3.09 one normal trace in a thousand is.
        chain: operations from the root to the one that stands out most.
    """

    place: int
    kind: Kind
    score: float
    chain: list[Operation]


def find_anomalies(
    summaries: Summaries, usual: Summaries | None = None, progress: Progress | None = None
) -> list[Anomaly]:
    """Abnormal traces, the strangest first; none if too few are there to say what is usual.

    Takes time in proportion to the calls of all traces, but for sorting them.

    Args:
        summaries: traces of one endpoint, with their calls.
        usual: earlier ones of the same endpoint, with the same catalogue, that the others are
            compared with; None to compare each with all.
        progress: called from time to time.
    """
    known = [_calls(one) for one in (summaries if usual is None else usual).traces]
    if len(known) < MIN_TRACES:
        return []
    judged = [] if usual is None else [_calls(one) for one in summaries.traces]
    report = _Report(progress, len(known) + len(judged))
    chains = Chains()
    learnt = read_entries(chains, known, report.advance)
    entries = learnt if usual is None else read_entries(chains, judged, report.advance)
    strongest = _judge(chains, learnt, entries)
    names = summaries.catalogue.operations
    found = [
        Anomaly(
            place,
            strongest.kind[place],
            in_deviations(float(strongest.surprise[place])),
            [names[number] for number in chains.chain(int(strongest.feature[place]))],
        )
        for place in np.flatnonzero(strongest.surprise > -log(P_VALUE)).tolist()
    ]
    found.sort(key=lambda one: (-one.score, one.place))
    return found


def _calls(trace: TraceSummary) -> Calls:
    if trace.calls is None:
        msg = f"trace {trace.trace_id} was summarised without its calls"
        raise ValueError(msg)
    return trace.calls


@dataclass(slots=True)
class _Strongest:
    """The most surprising of each trace: how much, of which kind and chain."""

    surprise: Floats
    kind: list[Kind]
    feature: Ints

    def take(self, kind: Kind, events: Events) -> None:
        """Take over what is more surprising than what was taken before.

        Calls that are missing, say, change times too: times name only what nothing else does.
        """
        order = np.argsort(events.surprise, kind="stable")
        for trace, feature, surprise in zip(
            events.trace[order].tolist(),
            events.feature[order].tolist(),
            events.surprise[order].tolist(),
            strict=True,
        ):
            if surprise > self.surprise[trace]:
                if kind != "improbable" or self.kind[trace] == "improbable":
                    self.kind[trace] = kind
                    self.feature[trace] = feature
                self.surprise[trace] = surprise


def _judge(chains: Chains, learnt: Entries, entries: Entries) -> _Strongest:
    """Judge traces by usual ones.

    Args:
        chains: features of both.
        learnt: usual traces.
        entries: those that are judged; `learnt` itself to judge each by all.
    """
    own = entries is learnt
    choices = learn_choices(chains, learnt)
    varied = choices.varied()
    times = learn_times(learnt, len(chains), varied)
    traces = entries.traces
    strongest = _Strongest(
        np.zeros(traces), ["improbable"] * traces, np.zeros(traces, dtype=np.int64)
    )
    usual_events = choices.events(learnt, 1, own=False) if not own else {}
    for kind, events in choices.events(entries, 0, own=own).items():
        beyond = events.surprise > choices.crowd(usual_events.get(kind, events), own)
        strongest.take(
            kind,
            Events(
                events.trace[beyond],
                events.feature[beyond],
                events.surprise[beyond] - log(P_VALUE),
            ),
        )
    measures: list[tuple[Kind, Floats, Floats, float]] = [
        ("repeated", times.repeated(learnt), times.repeated(entries), -log(P_VALUE)),
        (
            "improbable",
            times.surprises(learnt, int(not own), own),
            times.surprises(entries, 0, own),
            0.0,
        ),
    ]
    for kind, known, judged, least in measures:
        limit = tailed(_largest(learnt, known).most(learnt.traces), MIN_EXCESS)
        value = limit.value - limit.excess * log(P_TIMES / P_VALUE) * (kind == "improbable")
        limit = Limit(max(value, least), limit.excess)
        strongest.take(kind, _largest(entries, judged).above(limit))
    limit = tailed(choices.total(learnt, 1), MIN_EXCESS)
    limit = Limit(limit.value + limit.excess * log(P_VALUE / P_TOTAL), limit.excess)
    surprise = limit.surprise(choices.total(entries, int(own)))
    weak = strongest.surprise <= -log(P_VALUE)
    strongest.surprise[weak] = surprise[weak]
    return strongest


def _largest(entries: Entries, surprise: Floats) -> Events:
    """Surprises as of one of so many chains as the trace has."""
    finite = np.bincount(entries.trace, surprise > 0, entries.traces)
    return Events(
        entries.trace,
        entries.feature,
        np.maximum(0.0, surprise - np.log(np.maximum(1, finite))[entries.trace]),
    )


class _Report:
    """Progress, a hundred times at most."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0
        self._every = max(1, total // 100)

    def advance(self) -> None:
        """One more trace was read."""
        self._done += 1
        if self._progress and (self._done % self._every == 0 or self._done == self._total):
            self._progress(self._done, self._total)
