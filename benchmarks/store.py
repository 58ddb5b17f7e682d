"""What runs cost on the disk, in CPU, and in the time of those who open and compare them.

A real program of many busy threads is recorded for a minute and a bit. That minute, repeated with
its counters going on, makes two runs of an hour, which are opened as the page opens them, and
compared.
"""

import argparse
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from compiled import wakers
from hours import long_run
from running import Running, cpu, tidscope

# Every thread wakes between two samples.
PERIOD_MS = 90
QUIET_SECONDS = 15.0
RECORDED_SECONDS = 75.0
REPEATS = 5
REST_SECONDS = 30.0
"""After the last read; memory is to be returned within a minute."""


def record(site: Running, folder: Path, pid: int, rate_hz: float) -> tuple[str, float]:
    """Record a minute and a bit; the run, and the share of a core that recording took, percent."""
    target = site.ask("/targets", {"pid": pid, "rate_hz": rate_hz})["id"]
    quiet = share(site, lambda: time.sleep(QUIET_SECONDS))
    run = ""

    def recorded() -> None:
        nonlocal run
        run = site.ask("/runs", {"target": target})["id"]
        time.sleep(RECORDED_SECONDS)
        site.ask(f"/runs/{run}/stop", {})
        # Its last part is closed now, which is work, too.
        while not (folder / run / "threads.parquet").exists():
            time.sleep(0.1)

    busy = share(site, recorded)
    return run, busy - quiet


def share(site: Running, work: Callable[[], None]) -> float:
    """The backend's share of a core during some work, its children's included; percent."""
    began, before = time.monotonic(), cpu(site.backend)
    work()
    return 100 * (cpu(site.backend) - before) / (time.monotonic() - began)


def typical(work: Callable[[], object]) -> float:
    """The median of some times, seconds."""
    times = []
    for _ in range(REPEATS):
        began = time.monotonic()
        work()
        times.append(time.monotonic() - began)
    return statistics.median(times)


def measure(threads: int, rate_hz: float, hours: float) -> dict[str, float]:
    """All figures."""
    folder = Path(tempfile.mkdtemp(prefix="tidscope-store-"))
    try:
        with (
            wakers(threads, PERIOD_MS) as pid,
            tidscope("--budget-percent", "0", TIDSCOPE_RUNS=str(folder)) as site,
        ):
            run, write_percent = record(site, folder, pid, rate_hz)
            recorded = site.ask(f"/runs/{run}")["counts"]["thread_samples"]
        # Another backend opens them: this one holds the recent past of a target.
        with tidscope(TIDSCOPE_RUNS=str(folder)) as site:
            rss_before = site.backend.memory_info().rss
            long = [long_run(folder, run, hours) for _ in range(2)]
            rows = site.ask(f"/runs/{long[0]}")["counts"]["thread_samples"]
            first, other = long

            def opened() -> None:
                site.fetch(f"/runs/{first}")
                site.fetch(f"/runs/{first}/frames?instants={instants_of(threads)}")
                site.fetch(f"/runs/{first}/extremes")

            compared = f"/compare?runs={first},{other}"
            page = page_times(site, first)
            figures = {
                "open_hour_http_s": round(typical(opened), 2),
                "open_hour_page_s": page["whole_s"],
                "page_first_s": page["first_s"],
                "peer_read_s": round(typical(lambda: read_key_frames(folder / first)), 2),
                "bytes_per_sample": round(size(folder / run) / recorded, 2),
                "hour_bytes_per_sample": round(size(folder / first) / rows, 2),
                "tables_bytes_per_sample": round(size(folder / first / "tables") / rows, 2),
                "compare_s": round(typical(lambda: site.fetch(compared)), 2),
                "write_cpu_percent": round(write_percent, 2),
                "thread_samples": rows,
                "rss_before_mb": round(rss_before / 1e6, 1),
                "rss_peak_mb": round(site.backend.memory_info().rss / 1e6, 1),
            }
            time.sleep(REST_SECONDS)
            return {**figures, "rss_after_mb": round(site.backend.memory_info().rss / 1e6, 1)}
    finally:
        shutil.rmtree(folder)


def instants_of(threads: int) -> int:
    """How many instants the page asks of a whole run; see frontend/src/stream/runWindow.ts."""
    return math.ceil(min(1200, max(150, 150_000 / threads)) / 2)


def read_key_frames(folder: Path) -> None:
    """The peer: what opening costs who reads the parts with PyArrow and makes nothing of them."""
    for path in sorted((folder / "samples").iterdir()):
        with pq.ParquetFile(path) as file:
            file.read_row_group(0)
    for path in sorted((folder / "signals").iterdir()):
        pq.read_table(path, columns=["seq", "time_ns"])


def page_times(site: Running, run: str) -> dict[str, float]:
    """Seconds from the click on a run in the list, in a real browser."""
    page = subprocess.run(
        ["node", str(Path(__file__).with_name("store_page.mjs")), site.url, run],
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    return {name: round(value, 2) for name, value in json.loads(page.stdout).items()}


def size(folder: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="What runs cost.")
    parser.add_argument("--threads", type=int, default=500)
    parser.add_argument("--rate", type=float, default=10)
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.threads, arguments.rate, arguments.hours)
    figures |= {"threads": arguments.threads, "rate_hz": arguments.rate}
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:28} {value:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
