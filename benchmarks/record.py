"""Cost of recording a command, against the command alone and against peers.

`python benchmarks/record.py [--rounds N] [--json]` runs `true` alone, under `tidscope record`
without a running tidscope, and under `perf record` and `strace -f -c` where they are installed,
interleaved; median and minimum of the rounds. CPU time is that of all processes that were waited
for.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

COMMAND = "true"
FIRST_ROUNDS = 1
"""Rounds that are not counted: they fill caches."""


class Cost(NamedTuple):
    """Cost of one run: wall time and CPU time, in seconds."""

    wall_s: float
    cpu_s: float


def measure(arguments: list[str], environ: dict[str, str]) -> Cost:
    """Run a command to its end, without its output.

    Raises:
        SystemExit: it failed.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    started = time.monotonic()
    pid = os.posix_spawnp(
        arguments[0],
        arguments,
        environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, nothing, descriptor) for descriptor in (0, 1, 2)],
    )
    _, status, usage = os.wait4(pid, 0)
    wall_s = time.monotonic() - started
    os.close(nothing)
    if status:
        raise SystemExit(f"{' '.join(arguments)} ended with {status:#x}")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What recording a command costs.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder, "perf.data"))
        commands = {
            "alone": [COMMAND],
            "tidscope": [sys.executable, "-m", "tidscope_backend", "record", "--", COMMAND],
            "perf": ["perf", "record", "-o", data, "--", COMMAND],
            "strace": ["strace", "-f", "-c", "-o", data, COMMAND],
        }
        present = {name: line for name, line in commands.items() if shutil.which(line[0])}
        environ = {k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")}
        # Python caches byte code from the first round on, as in an installation.
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        environ["TIDSCOPE_RUNS"] = str(Path(folder, "runs"))
        costs: dict[str, list[Cost]] = {name: [] for name in present}
        for _ in range(FIRST_ROUNDS + options.rounds):
            for name, line in present.items():
                costs[name].append(measure(line, environ))
    found: dict[str, object] = {"load": os.getloadavg()[0]}
    for name, measured in costs.items():
        for field in Cost._fields:
            values = [getattr(cost, field) for cost in measured[FIRST_ROUNDS:]]
            found[f"{name}_{field}"] = round(statistics.median(values), 4)
            found[f"{name}_{field}_min"] = round(min(values), 4)
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:18} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
