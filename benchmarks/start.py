"""Cost of a start: from `tidscope up` to the first page, with a warm disk.

`python benchmarks/start.py [--rounds N] [--tidscope FILE]` starts it, fetches the page and its
script once the address is printed, and ends it. Prints JSON: of each round wall time, the CPU time
of each process until then, and the load of the machine; and their medians. The first round, which
fills caches, is not counted.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import psutil

NAMES = {"up": "tidscope", "serve": "backend", "tidscope_backend.collector_launcher": "launcher"}


def name_of(process: psutil.Process) -> str:
    """Return the part that a process has in tidscope."""
    words = process.cmdline()
    if "tidscope_collector" in words:
        return "collector"
    return next((name for word, name in NAMES.items() if word in words), "helpers")


def measure(tidscope: Path, folder: str) -> dict[str, Any]:
    """Start and end it once.

    Args:
        tidscope: the command.
        folder: folder for its runs and its state.
    """
    environ = {**os.environ, "TIDSCOPE_RUNS": f"{folder}/runs", "XDG_STATE_HOME": folder}
    load = os.getloadavg()[0]
    started = time.monotonic()
    with subprocess.Popen(
        [tidscope, "up", "--port", "0", "--no-open", "--json"],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        page = urllib.request.urlopen(f"{address}/").read().decode()
        for script in re.findall(r'src="(/[^"]+\.js)"', page):
            urllib.request.urlopen(f"{address}{script}").read()
        wall_s = time.monotonic() - started
        top = psutil.Process(process.pid)
        cpu_s: dict[str, float] = {}
        for one in (top, *top.children(recursive=True)):
            name, times = name_of(one), one.cpu_times()
            cpu_s[name] = cpu_s.get(name, 0.0) + times.user + times.system
        process.send_signal(signal.SIGINT)
    return {"wall_s": wall_s, "cpu_s": sum(cpu_s.values()), "of": cpu_s, "load": load}


def main() -> None:
    """Print what starts cost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="how many starts")
    parser.add_argument(
        "--tidscope", type=Path, default=Path(sys.executable).parent / "tidscope", help="command"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidscope-start-") as folder:
        measure(options.tidscope, folder)
        rounds = [measure(options.tidscope, folder) for _ in range(options.rounds)]
    medians = {
        key: round(statistics.median(one[key] for one in rounds), 2)
        for key in ("wall_s", "cpu_s", "load")
    }
    print(json.dumps({"medians": medians, "rounds": rounds}, indent=2, default=str))


if __name__ == "__main__":
    main()
