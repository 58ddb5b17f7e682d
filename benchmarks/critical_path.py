"""How fast critical paths of traces are analysed, and what they need of memory.

Made traces in the shape of the source (CRISP, table 4.1: files of 0.68 MB; 25-deep chains, tens of
spans at once) lie in files as Jaeger writes them, one trace each. They are analysed as `tidscope
critical-path` does it: read, checked, fitted, critical path, calling contexts, merged.

`mb_per_s`: megabytes of these files a second, on `processes` cores (2), the median of the rounds.
`mb_per_trace`: what all processes together came to need at most (RSS, shared pages once: PSS) more
than before, divided by the traces that were in flight: read, and their paths kept until the end.
`top_20_of_sample_equal`: whether the 20 operations with most time on the critical paths of a random
tenth of the traces are those of all; `top_20_of_sample_common` how many are, and
`sample_share_error` how far a share of these is off at most.
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
from collections.abc import Callable
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
    """Compare the ranking of a tenth of the traces with that of all."""
    batch = 250
    starts = range(0, traces, batch)
    work: Callable[[int], Summaries] = partial(_made, most=traces, batch=batch)
    summaries = Summaries()
    with ProcessPoolExecutor(processes) as pool:
        for some in pool.map(work, starts):
            summaries.extend(some)
    places = random.Random(SEED).sample(range(traces), traces // SAMPLED)
    everything = rank_operations(summaries)[:TOP]
    some_of_them = rank_operations(summaries.select(places))
    top = [row.operation for row in everything]
    sampled = {row.operation: row.share for row in some_of_them}
    common = set(top) & {row.operation for row in some_of_them[:TOP]}
    return {
        "top_20_of_sample_equal": len(common) == len(top),
        "top_20_of_sample_common": len(common),
        "sample_share_error": round(
            max(abs(row.share - sampled.get(row.operation, 0.0)) for row in everything), 5
        ),
        "sampled_traces": len(places),
        "sampled_of": traces,
    }


def _made(start: int, most: int, batch: int) -> Summaries:
    endpoint = make_endpoint(SEED)
    numbers = range(start, min(most, start + batch))
    spans = (make_spans(endpoint, number, SEED) for number in numbers)
    return summarise_all((make_trace(some[0].trace_id, some) for some in spans), Options())


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=400, help="files of one trace")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--sampled", type=int, default=4000, help="traces to sample a tenth of")
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
