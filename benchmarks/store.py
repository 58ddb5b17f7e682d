"""What runs cost on the disk, in CPU, and in the time of those who open and compare them.

A real program of many busy threads is recorded for a minute and a bit. That minute, repeated with
its counters going on, makes two runs of an hour, which are opened as the page opens them, and
compared.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from compiled import wakers
from hours import long_run
from running import Running, cpu, tidscope

# Every thread wakes between two samples.
PERIOD_MS = 90
QUIET_SECONDS = 15.0
RECORDED_SECONDS = 75.0
REPEATS = 5


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
            long = [long_run(folder, run, hours) for _ in range(2)]
            rows = site.ask(f"/runs/{long[0]}")["counts"]["thread_samples"]
            first, other = long

            def opened() -> None:
                site.fetch(f"/runs/{first}")
                site.fetch(f"/runs/{first}/frames?instants=600")

            return {
                "bytes_per_thread_sample": round(size(folder / run) / recorded, 2),
                "hour_bytes_per_thread_sample": round(size(folder / first) / rows, 2),
                "write_cpu_percent": round(write_percent, 2),
                "open_s": round(typical(opened), 2),
                "compare_s": round(
                    typical(lambda: site.fetch(f"/compare?runs={first},{other}")), 2
                ),
                **page_times(site, first),
                "thread_samples": rows,
                "backend_rss_mb": round(site.backend.memory_info().rss / 1e6, 1),
            }
    finally:
        shutil.rmtree(folder)


def page_times(site: Running, run: str) -> dict[str, float]:
    """Seconds from the click on a run in the list, in a real browser."""
    page = subprocess.run(
        ["node", str(Path(__file__).with_name("store_page.mjs")), site.url, run],
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    return {f"page_{name}": round(value, 2) for name, value in json.loads(page.stdout).items()}


def size(folder: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="What runs cost.")
    parser.add_argument("--threads", type=int, default=200)
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
