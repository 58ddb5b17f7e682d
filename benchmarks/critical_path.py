"""Speed and memory of the critical path analysis of traces.

Made traces in the shape of the source (CRISP, table 4.1: files of 0.68 MB; 25-deep chains, tens of
spans at once) lie in files as Jaeger writes them, one trace each. They are analysed as `tidscope
critical-path` does it: read, checked, fitted, critical path, calling contexts, merged.

`mb_per_s`: megabytes of these files a second, on `processes` cores (2), the median of the rounds.
`mb_per_trace`: what all processes together came to need at most (RSS, shared pages once: PSS) more
than before, divided by the traces that were in flight: read, and their paths kept until the end.
`top_20_of_sample_equal`: whether the 20 services with most time on the critical paths of a random
tenth of the traces are those of all (as in the source, section 4.7.1), of each of three endpoints;
`top_20_of_sample_common` how many are, `sample_share_error` how far a share of these is off at
most, and `missed_share` how much the shares of those that changed places differ, of all traces.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from made_traces import jaeger_json, make_endpoint, make_spans
from tidscope_backend.critical_paths.trace_files import summarise_files
from tidscope_traces.spans.model import make_trace
from tidscope_traces.summary.analysis import describe
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.ranking import rank_operations
from tidscope_traces.summary.traces import Summaries, summarise_all

SEED = 22
SAMPLED, TOP = 10, 20
SAMPLED_SEEDS = (22, 23, 24)
SAMPLED_CALLS = 300
POLL_SECONDS = 0.02


def write_traces(folder: Path, count: int) -> list[Path]:
    """Write that many files; returns them."""
    endpoint = make_endpoint(SEED)
    files = []
    for number in range(count):
        path = folder / f"{number:05d}.json"
        path.write_bytes(jaeger_json(make_spans(endpoint, number, SEED)))
        files.append(path)
    return files


class MemoryWatch:
    """The most that this process and its children needed while it was open, in bytes."""

    def __init__(self) -> None:
        self.most_bytes = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "MemoryWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self.most_bytes = max(self.most_bytes, used_bytes())
            if self._done.wait(POLL_SECONDS):
                return


def used_bytes() -> int:
    """Proportional set size of this process and its children."""
    own = os.getpid()
    total = 0
    children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
    for pid in (str(own), *children):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


def measure(folder: Path, traces: int, rounds: int, processes: int) -> dict[str, Any]:
    """All figures but those of sampling."""
    files = write_traces(folder, traces)
    size_mb = sum(path.stat().st_size for path in files) / 1e6
    # Modules are loaded, and the cache of the disk is warm.
    summarise_files(files[:2], Options())
    speeds, needed = [], []
    spans = 0
    for _ in range(rounds):
        before = used_bytes()
        with MemoryWatch() as watch:
            start = time.perf_counter()
            summaries, counts = summarise_files(files, Options(), processes)
            describe(summaries)
            speeds.append(size_mb / (time.perf_counter() - start))
        needed.append((watch.most_bytes - before) / 1e6 / traces)
        spans = counts.spans
        del summaries
    return {
        "mb_per_s": round(statistics.median(speeds), 1),
        "mb_per_s_least_most": [round(min(speeds), 1), round(max(speeds), 1)],
        "mb_per_trace": round(max(needed), 4),
        "traces": traces,
        "mb": round(size_mb, 1),
        "mb_of_a_trace": round(size_mb / traces, 3),
        "spans_per_trace": round(spans / traces, 1),
        "processes": processes,
        "rounds": rounds,
    }


def sample(traces: int, processes: int) -> dict[str, Any]:
    """Compare the ranking of a tenth of the traces with that of all, of each endpoint."""
    with ProcessPoolExecutor(processes) as pool:
        rows = list(pool.map(partial(_sample_endpoint, traces=traces), SAMPLED_SEEDS))
    return {
        "top_20_of_sample_equal": all(common == TOP for common, _, _ in rows),
        "top_20_of_sample_common": [common for common, _, _ in rows],
        "sample_share_error": [round(error, 5) for _, error, _ in rows],
        "missed_share": [round(missed, 5) for _, _, missed in rows],
        "sampled_traces": traces // SAMPLED,
        "sampled_of": traces,
    }


def _sample_endpoint(seed: int, traces: int) -> tuple[int, float, float]:
    endpoint = make_endpoint(seed, calls=SAMPLED_CALLS)
    spans = (make_spans(endpoint, number, seed) for number in range(traces))
    made = (make_trace(some[0].trace_id, some) for some in spans)
    summaries = summarise_all(made, Options())
    places = random.Random(seed).sample(range(traces), traces // SAMPLED)
    everything, some_of_them = (
        _service_shares(one) for one in (summaries, summaries.select(places))
    )
    top, sampled = (
        set(sorted(one, key=one.__getitem__, reverse=True)[:TOP])
        for one in (everything, some_of_them)
    )
    error = max(abs(everything[name] - some_of_them.get(name, 0.0)) for name in top)
    gap = max((everything[name] for name in top - sampled), default=0.0)
    gap -= min((everything[name] for name in sampled - top), default=0.0)
    return len(top & sampled), error, gap


def _service_shares(summaries: Summaries) -> dict[str, float]:
    shares: dict[str, float] = {}
    for row in rank_operations(summaries):
        shares[row.operation.service] = shares.get(row.operation.service, 0.0) + row.share
    return shares


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=400, help="files of one trace")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--sampled", type=int, default=10_000, help="traces to sample a tenth of")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidscope-traces-") as folder:
        figures = measure(Path(folder), options.traces, options.rounds, options.processes)
    figures |= sample(options.sampled, options.processes)
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:26}{value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
