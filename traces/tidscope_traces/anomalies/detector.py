"""Detector of traces that differ from the rest of their endpoint, with the differing feature.

Source: CRISP, sections 4.6.3 to 4.6.5. A trace with a chain of callers that no normal trace has is
abnormal, and so is an improbable trace. The source's autoencoder is replaced by measures that
abnormal reference traces hardly change: times (times.py) and choices of calls (choices.py). One
strong measure makes a trace abnormal; several weak ones do not.
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
"""Minimum reference traces."""
MIN_EXCESS = 0.7
"""Minimum mean of surprises beyond the limit."""
P_TIMES = 0.005
"""Share of reference traces improbable by times, before similar times are considered."""
P_TOTAL = 1e-5
"""Share of reference traces improbable by all choices; few choices have few values."""
Progress = Callable[[int, int], None]
"""Callback with the number of traces read, and the total."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A trace that differs from the rest.

    Attributes:
        place: index of the trace in the summaries.
        kind: `unseen`: a call that hardly any reference trace makes. `missing`: a call that nearly
            all make. `failed`, `repeated` or `reordered`: a call that hardly ever is. `improbable`:
            the times, or all calls together.
        score: improbability; one normal trace in a thousand exceeds 3.09.
        chain: operations from the root to the most prominent one.
    """

    place: int
    kind: Kind
    score: float
    chain: list[Operation]


def find_anomalies(
    summaries: Summaries, reference: Summaries | None = None, progress: Progress | None = None
) -> list[Anomaly]:
    """Return abnormal traces, strongest first; empty if there are too few reference traces.

    Run time is linear in the calls of all traces, except for sorting.

    Args:
        summaries: traces of one endpoint, including calls.
        reference: earlier traces of the same endpoint and catalogue; None compares each trace
            with all.
        progress: called from time to time.
    """
    known = [_calls(one) for one in (summaries if reference is None else reference).traces]
    if len(known) < MIN_TRACES:
        return []
    judged = [] if reference is None else [_calls(one) for one in summaries.traces]
    report = _Report(progress, len(known) + len(judged))
    chains = Chains()
    learnt = read_entries(chains, known, report.advance)
    entries = learnt if reference is None else read_entries(chains, judged, report.advance)
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
    """The strongest anomaly of each trace: surprise, kind and chain."""

    surprise: Floats
    kind: list[Kind]
    feature: Ints

    def take(self, kind: Kind, events: Events) -> None:
        """Replace weaker anomalies by stronger ones.

        A missing call also changes times, so times only name anomalies without another cause.
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
    """Judge traces against reference traces.

    Args:
        chains: features of both trace sets.
        learnt: reference traces.
        entries: judged traces; `learnt` itself judges each by all.
    """
    own = entries is learnt
    choices = learn_choices(chains, learnt)
    varied = choices.varied()
    times = learn_times(learnt, len(chains), varied)
    traces = entries.traces
    strongest = _Strongest(
        np.zeros(traces), ["improbable"] * traces, np.zeros(traces, dtype=np.int64)
    )
    reference_events = choices.events(learnt, 1, own=False) if not own else {}
    for kind, events in choices.events(entries, 0, own=own).items():
        beyond = events.surprise > choices.crowd(reference_events.get(kind, events), own)
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
    """Correct surprises for the number of chains in each trace."""
    finite = np.bincount(entries.trace, surprise > 0, entries.traces)
    return Events(
        entries.trace,
        entries.feature,
        np.maximum(0.0, surprise - np.log(np.maximum(1, finite))[entries.trace]),
    )


class _Report:
    """Reports progress, at most a hundred times."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0
        self._every = max(1, total // 100)

    def advance(self) -> None:
        """Count one more trace read."""
        self._done += 1
        if self._progress and (self._done % self._every == 0 or self._done == self._total):
            self._progress(self._done, self._total)
