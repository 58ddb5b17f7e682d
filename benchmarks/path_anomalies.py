"""How many abnormal traces are found by their critical paths, and by all their spans.

Made requests of endpoints; abnormal ones have a fifth of their calls dropped and their own times
dealt out again, as the source makes them (CRISP, section 4.7.3). A model is learnt from normal
requests and judges others, half of them abnormal. `path` is by vectors of the critical path, `all`
by those of all spans; of each `features`, `precision`, `recall`, `learn_ms` and `judge_ms` (a
thousand traces). `among`: abnormal requests among normal ones, each compared with all.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from made_traces import make_endpoint, make_spans
from numpy.typing import NDArray
from tidscope_traces.anomalies.detector import find_anomalies, learn_paths
from tidscope_traces.anomalies.vectors import all_contexts
from tidscope_traces.critical.fitting import fit
from tidscope_traces.spans.model import make_trace
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.traces import Summaries, summarise

WIDE = (2, 6, 20, 40)
ENDPOINTS: dict[str, dict[str, Any]] = {
    "steady": {"seed": 22, "calls": 300, "always": 0.75},
    "steady, other": {"seed": 31, "calls": 300, "always": 0.75},
    "varied": {"seed": 24, "calls": 2000, "always": 0.3},
    "varied, other": {"seed": 33, "calls": 2000, "always": 0.3},
    "wide": {"seed": 25, "calls": 2000, "always": 0.6, "widths": WIDE},
    "wide, other": {"seed": 34, "calls": 2000, "always": 0.6, "widths": WIDE},
}
"""Endpoints whose requests make much the same calls, ones whose requests differ, and ones that make
many calls at once."""
Contexts = NDArray[np.int64]


def make_contexts(
    endpoint: dict[str, Any], numbers: Iterable[int], *, faulty: bool
) -> tuple[Summaries, list[Contexts]]:
    """Summaries of requests, and contexts of all their spans, with the same numbers."""
    plan = make_endpoint(**endpoint)
    summaries = Summaries()
    every = []
    for number in numbers:
        spans = make_spans(plan, number, endpoint["seed"], faulty=faulty)
        trace = make_trace(spans[0].trace_id, spans)
        root = trace.roots[0]
        summaries.traces.append(summarise(trace, root, Options(), summaries.catalogue))
        every.append(all_contexts(fit(trace, root), summaries.catalogue))
    return summaries, every


def milliseconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and how long it took."""
    start = time.perf_counter()
    found = work()
    return found, (time.perf_counter() - start) * 1000


def judge(
    usual: Sequence[Contexts], normal: Sequence[Contexts], abnormal: Sequence[Contexts]
) -> dict[str, Any]:
    """Learn from usual traces, judge others."""
    model, learn_ms = milliseconds(lambda: learn_paths(usual))
    rows, judge_ms = milliseconds(
        lambda: [[model.judge(one) for one in some] for some in (normal, abnormal)]
    )
    wrong, right = (sum(one is not None for one in row) for row in rows)
    unseen = sum(one is not None and one.kind == "unseen" for one in rows[1])
    return {
        "features": len(model.chains),
        "precision": round(right / max(1, right + wrong), 4),
        "recall": round(right / len(abnormal), 4),
        "found_by_unseen_chain": round(unseen / len(abnormal), 4),
        "false_alarms": round(wrong / len(normal), 4),
        "learn_ms": round(learn_ms, 1),
        "judge_ms": round(judge_ms / (len(normal) + len(abnormal)) * 1000, 1),
    }


def among(normal: Summaries, abnormal: Summaries, few: int) -> dict[str, Any]:
    """Sets of abnormal traces among 20 times as many normal ones, each compared with all."""
    many, found, right, alone = 20 * few, 0, 0, 0
    sets = min(len(normal.traces) // many, len(abnormal.traces) // few)
    for number in range(sets):
        usual = Summaries(normal.catalogue, normal.traces[many * number :][:many])
        alone += len(find_anomalies(usual))
        usual.extend(Summaries(abnormal.catalogue, abnormal.traces[few * number :][:few]))
        places = [one.place for one in find_anomalies(usual)]
        found += len(places)
        right += sum(place >= many for place in places)
    return {
        "sets": sets,
        "precision": round(right / max(1, found), 4),
        "recall": round(right / (few * sets), 4),
        "found_among_normal_alone": round(alone / (many * sets), 4),
    }


def shape(summaries: Summaries) -> dict[str, float]:
    """Means over traces of what the source says of its own (section 4.7.2)."""
    figures = {
        "spans": [one.spans for one in summaries.traces],
        "depth": [one.depth for one in summaries.traces],
        "concurrency": [one.concurrency for one in summaries.traces],
        "spans_on_path": [int(one.contexts[4].sum()) for one in summaries.traces],
    }
    return {name: round(float(np.mean(values)), 1) for name, values in figures.items()}


def measure(name: str, learnt: int, judged: int) -> dict[str, Any]:
    """All figures of an endpoint."""
    endpoint = ENDPOINTS[name]
    usual, usual_all = make_contexts(endpoint, range(learnt), faulty=False)
    later = range(10**6, 10**6 + judged)
    # Numbers of operations must be the same in all three.
    renumbered = Summaries(usual.catalogue)
    normal, normal_all = make_contexts(endpoint, later, faulty=False)
    abnormal, abnormal_all = make_contexts(
        endpoint, range(2 * 10**6, 2 * 10**6 + judged), faulty=True
    )
    renumbered.extend(normal)
    renumbered.extend(abnormal)
    own = [trace.contexts for trace in renumbered.traces]
    everything = [
        _renumber(one, some.catalogue.operations, usual)
        for some, every in ((normal, normal_all), (abnormal, abnormal_all))
        for one in every
    ]
    path = judge([trace.contexts for trace in usual.traces], own[:judged], own[judged:])
    every = judge(usual_all, everything[:judged], everything[judged:])
    return {
        "path": path,
        "all": every,
        "fewer_features": round(every["features"] / path["features"], 2),
        "among": among(usual, abnormal, 25),
        "shape": shape(usual),
    }


def _renumber(contexts: Contexts, operations: Sequence[Any], usual: Summaries) -> Contexts:
    changed = contexts.copy()
    changed[0] = [usual.catalogue.number(*operations[number]) for number in contexts[0].tolist()]
    return changed


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learnt", type=int, default=4000, help="normal requests to learn from")
    parser.add_argument("--judged", type=int, default=500, help="of each kind")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        work = {
            name: pool.submit(measure, name, options.learnt, options.judged) for name in ENDPOINTS
        }
        figures = {name: one.result() for name, one in work.items()}
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, one in figures.items():
            print(name, *(f"  {key}: {value}" for key, value in one.items()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
