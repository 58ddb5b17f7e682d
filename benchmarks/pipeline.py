"""From the sample to the pixels: a real target, collector, backend and headless Chromium.

Reports the time from the kernel sample to the first paint that shows it (p50, p95), the CPU and
memory of collector and backend over the same seconds, bytes a second, coalesced and dropped.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from compiled import wakers
from running import cpu, tidscope

ROOT = Path(__file__).resolve().parent.parent
# Half of the threads or fewer change between two samples, as in a pool that mostly waits.
PERIOD_MS = 500


def measure(
    pid: int, rate_hz: float, seconds: float, budget_percent: float = 0
) -> dict[str, float]:
    """Watch a process through collector, backend and page; the figures.

    Without a CPU budget (0) the collector keeps to the rate whatever it costs.
    """
    with tidscope("--budget-percent", str(budget_percent)) as site:
        attached = site.ask("/targets", {"pid": pid, "rate_hz": rate_hz})
        url = site.url_of(f"/?target={attached['id']}")
        collector, backend = site.collector, site.backend
        began = time.monotonic(), cpu(collector), cpu(backend)
        page = subprocess.run(
            ["node", str(ROOT / "benchmarks" / "pipeline_page.mjs"), url, str(seconds)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            check=True,
            timeout=seconds + 120,
        )
        took = time.monotonic() - began[0]
        health = site.ask("/health")
        seen = json.loads(page.stdout)
        late = sorted(
            entry["painted_unix_ms"] - entry["unix_us"] / 1000
            for entry in seen["entries"]
            if entry["unix_us"] / 1000 >= seen["start"]
        )
        return {
            "p50_ms": round(statistics.median(late), 1),
            "p95_ms": round(late[int(len(late) * 0.95)], 1),
            "frames": len(late),
            "collector_cpu_percent": round(100 * (cpu(collector) - began[1]) / took, 2),
            "backend_cpu_percent": round(100 * (cpu(backend) - began[2]) / took, 2),
            "collector_rss_mb": round(collector.memory_info().rss / 1e6, 1),
            "backend_rss_mb": round(backend.memory_info().rss / 1e6, 1),
            "bytes_per_s": round(health["frame_bytes"] / health["uptime_s"]),
            "coalesced": health["coalesced"],
            "dropped": health["dropped"],
        }


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="From the sample to the pixels.")
    parser.add_argument("--threads", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--budget-percent", type=float, default=0, help="of the collector")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with wakers(arguments.threads, PERIOD_MS) as pid:
        figures = measure(pid, arguments.rate, arguments.seconds, arguments.budget_percent)
    figures |= {"threads": arguments.threads, "rate_hz": arguments.rate}
    figures |= {"budget_percent": arguments.budget_percent}
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:22} {value:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
