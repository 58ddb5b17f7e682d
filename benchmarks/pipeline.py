"""From the kernel to the pixels: a real target, collector, backend and headless Chromium.

For each frame that was painted, milliseconds of each stage and from the start of its sample to the
paint (p50, p95); beside them the floor of the same run: a page that only paints a rectangle for
each frame. Also CPU and memory of collector and backend, coalesced and dropped.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from running import TOKEN, Running, cpu, wakers

HERE = Path(__file__).resolve().parent
# Half of the threads or fewer change between two samples, as in a pool that mostly waits.
PERIOD_MS = 500

Times = dict[str, float]
"""Unix milliseconds at which one frame passed, by the names in STAGES."""

STAGES = (
    ("sample", "started", "made", "threads read, frame encoded"),
    ("uplink", "made", "received", "given to the socket, to the backend's program"),
    ("backend", "received", "forwarded", "checked, kept, given to the page's socket"),
    ("worker wait", "forwarded", "begun", "through the browser, and until the worker had time"),
    ("model", "begun", "held", "decoded, into the model"),
    ("view made", "held", "viewed", "until views with it were made"),
    ("page wait", "viewed", "delivered", "until the page had time"),
    ("drawn", "delivered", "drawn", "until the charts were drawn"),
    ("painted", "drawn", "painted", "until the browser had painted"),
)
"""Each with the moments at its ends. The floor's page draws what it receives."""
FLOOR_STAGES = (*STAGES[:4], ("painted", "begun", "painted", ""))

SECRET = "benchmark-" + os.urandom(16).hex()


class Program:
    """A collector or backend. The backend writes when frames passed to `times` as it ends.

    Args:
        command: arguments of the interpreter.
        folder: folder of its data.
        descriptors: descriptors that it inherits.
    """

    def __init__(
        self, command: Sequence[str], folder: Path, descriptors: Sequence[int] = ()
    ) -> None:
        self._times = folder / "times.json"
        self._process = subprocess.Popen(
            [sys.executable, *command],
            env={
                **os.environ,
                "TIMES": str(self._times),
                "TIDSCOPE_TOKEN": TOKEN,
                "TIDSCOPE_COLLECTOR_SECRET": SECRET,
                "XDG_DATA_HOME": str(folder),
            },
            stderr=subprocess.DEVNULL,
            pass_fds=descriptors,
        )
        self.process = psutil.Process(self._process.pid)

    def end(self) -> None:
        """End the program."""
        self._process.terminate()
        self._process.wait(20)

    def times(self) -> dict[str, dict[int, float]]:
        """Unix milliseconds by the number of the frame, by the name of the moment."""
        noted = json.loads(self._times.read_text())
        return {
            name: {int(seq): ns / 1e6 for seq, ns in moments.items()}
            for name, moments in noted.items()
        }


@contextmanager
def timed_installation(
    folder: Path, budget_percent: float
) -> Iterator[tuple[Running, Program, Program]]:
    """Run backend and collector; yield the installation and both programs."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        fd = listening.fileno()
        backend = Program([str(HERE / "timed_backend.py"), "serve", "--fd", str(fd)], folder, [fd])
        installation = Running(f"http://127.0.0.1:{port}", os.getpid())
        url = f"ws://127.0.0.1:{port}/ws/collector"
        options = [
            "-m",
            "tidscope_collector",
            "run",
            "--backend",
            url,
            "--budget-percent",
            f"{budget_percent:g}",
        ]
        collector = Program(options, folder)
        try:
            deadline = time.monotonic() + 30
            while not installation.ask("/health")["collectors"]:
                if time.monotonic() > deadline:
                    raise SystemExit("the collector did not connect")
                time.sleep(0.1)
            yield installation, collector, backend
        finally:
            collector.end()
            backend.end()


def measure(threads: int, options: argparse.Namespace) -> dict[str, Any]:
    """Watch a process through collector, backend and page; return the figures.

    Without a CPU budget (0) the collector keeps to the rate whatever it costs.
    """
    with tempfile.TemporaryDirectory() as name, wakers(threads, PERIOD_MS) as pid:
        folder = Path(name)
        with timed_installation(folder, options.budget_percent) as (
            installation,
            collector,
            backend,
        ):
            target = installation.ask("/targets", {"pid": pid, "rate_hz": options.rate})["id"]
            began = time.monotonic(), cpu(collector.process), cpu(backend.process)
            seen = observe(installation, target, options.seconds, options.floor_seconds)
            took = time.monotonic() - began[0]
            health = installation.ask("/health")
            figures = {
                "collector_cpu_percent": 100 * (cpu(collector.process) - began[1]) / took,
                "backend_cpu_percent": 100 * (cpu(backend.process) - began[2]) / took,
                "collector_rss_mb": collector.process.memory_info().rss / 1e6,
                "backend_rss_mb": backend.process.memory_info().rss / 1e6,
                "bytes_per_s": round(health["frame_bytes"] / health["uptime_s"]),
                "coalesced": health["coalesced"],
                "dropped": health["dropped"],
            }
        moments = backend.times()
    ours = [joined(moments, entry) for entry in seen["entries"]]
    floor = [joined(moments, entry) for entry in seen["floor"]]
    whole, least = spread(ours, "started", "painted"), spread(floor, "started", "painted")
    return {
        "threads": threads,
        "rate_hz": options.rate,
        "budget_percent": options.budget_percent,
        "frames": len(ours),
        "p50_ms": whole[0],
        "p95_ms": whole[1],
        "floor_p50_ms": least[0],
        "floor_p95_ms": least[1],
        "vs_floor_p95": round(whole[1] / least[1], 2),
        "stages": {name: spread(ours, *ends) for name, *ends, _ in STAGES},
        "floor_stages": {name: spread(floor, *ends) for name, *ends, _ in FLOOR_STAGES},
        **{name: round(value, 2) for name, value in figures.items()},
    }


def observe(
    installation: Running, target: str, seconds: float, floor_seconds: float
) -> dict[str, Any]:
    """Watch a target in a browser, then only paint; return when frames passed in either page."""
    page = subprocess.run(
        [
            *(
                "node",
                str(HERE / "page_times.mjs"),
                "frames",
                installation.url_of(f"/?target={target}"),
            ),
            *(target, str(seconds), str(floor_seconds)),
        ],
        stdout=subprocess.PIPE,
        cwd=HERE.parent,
        check=True,
        timeout=seconds + floor_seconds + 120,
    )
    found: dict[str, Any] = json.loads(page.stdout)
    return found


def joined(moments: dict[str, dict[int, float]], entry: dict[str, Any]) -> Times:
    """Times at which each frame passed, from all programs."""
    times = {name: at[entry["seq"]] for name, at in moments.items() if entry["seq"] in at}
    in_page = {
        "begun": "received",
        "held": "held",
        "viewed": "made",
        "delivered": "delivered",
        "drawn": "drawn",
        "painted": "painted",
    }
    for name, own in in_page.items():
        if f"{own}_unix_ms" in entry:
            times[name] = entry[f"{own}_unix_ms"]
    return times


def spread(frames: Sequence[Times], begin: str, end: str) -> tuple[float, float]:
    """Median and 95th percentile of the time between two moments, ms."""
    took = sorted(one[end] - one[begin] for one in frames if begin in one and end in one)
    if not took:
        raise SystemExit(f"no frame has {begin} and {end}")
    return round(statistics.median(took), 2), round(took[int(len(took) * 0.95)], 2)


def print_table(figures: dict[str, Any]) -> None:
    """Print the figures of one number of threads for a person."""
    print(f"{figures['threads']} threads at {figures['rate_hz']:g} Hz, {figures['frames']} frames")
    print(f"{'stage':12} {'p50 ms':>8} {'p95 ms':>8}")
    for (name, *_, meaning), (p50, p95) in zip(STAGES, figures["stages"].values(), strict=True):
        print(f"{name:12} {p50:8.2f} {p95:8.2f}  {meaning}")
    print(f"{'all':12} {figures['p50_ms']:8.2f} {figures['p95_ms']:8.2f}")
    print(f"{'floor':12} {figures['floor_p50_ms']:8.2f} {figures['floor_p95_ms']:8.2f}")
    others = {"stages", "floor_stages", "threads", "rate_hz", "frames"}
    for name, value in figures.items():
        if name not in others and not name.endswith(("p50_ms", "p95_ms")):
            print(f"{name:22} {value:>12}")


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="From the kernel to the pixels.")
    parser.add_argument("--threads", type=int, action="append", help="repeat; 1000, 5000")
    parser.add_argument("--rate", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--floor-seconds", type=float, default=10)
    parser.add_argument("--budget-percent", type=float, default=0, help="of the collector")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = [measure(threads, options) for threads in options.threads or [1000, 5000]]
    if options.json:
        print(json.dumps(found))
    else:
        for figures in found:
            print_table(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
