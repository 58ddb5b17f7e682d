"""The collector's rate and CPU on the demo program, on a quiet and on a busy machine.

Busy is two programs that compute without a pause, and two that start and end processes as fast as
they can, as a build does. The collector has ledgers, the default budget, and a rate of 10 samples
a second. For each case: `rate_hz`, samples a second once rates have settled; `cpu_ms`, CPU
milliseconds a second of its whole process; `tick_us`, CPU microseconds a sample. With
`--budget-percent 0` rates stay, and `tick_us` of two versions can be compared.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from running import Running, build, tidscope
from tick import SECRET, collector, cpu, frames

RATE_HZ = 10
HOG = "while :; do :; done"


@contextmanager
def demo() -> Iterator[int]:
    """The demo; its process id."""
    command = [sys.executable, "-m", "tidscope_backend.demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process.pid
        finally:
            process.kill()


@contextmanager
def running(command: list[str]) -> Iterator[None]:
    """A program that runs until it is killed."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


@contextmanager
def fork_storm() -> Iterator[None]:
    """A program that starts and ends processes as fast as it can, as a build does."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running([str(build("fork_storm", Path(folder)))]),
    ):
        yield


@contextmanager
def load() -> Iterator[None]:
    """A machine that computes and builds."""
    with ExitStack() as opened:
        for _ in range(2):
            opened.enter_context(running(["/bin/sh", "-c", HOG]))
            opened.enter_context(fork_storm())
        yield


def measure(installation: Running, options: argparse.Namespace) -> dict[str, float]:
    """Measure one case."""
    budget = ["--budget-percent", str(options.budget_percent)]
    ledgers = ["--ledger", "auto", *budget, *options.collector]
    with demo() as pid, collector(installation, ledgers) as process:
        target = installation.ask("/targets", {"pid": pid, "rate_hz": RATE_HZ})["id"]
        time.sleep(options.settle)
        began, cpu_s, taken = time.monotonic(), cpu(process), frames(installation)
        time.sleep(options.seconds)
        seconds = time.monotonic() - began
        cpu_s, taken = cpu(process) - cpu_s, max(1, frames(installation) - taken)
        installation.fetch(f"/targets/{target}", method="DELETE")
    return {
        "rate_hz": round(taken / seconds, 2),
        "cpu_ms": round(1000 * cpu_s / seconds, 2),
        "tick_us": round(1e6 * cpu_s / taken, 1),
    }


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="The collector on a busy machine.")
    parser.add_argument("--settle", type=float, default=40, help="seconds for rates to settle")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--budget-percent", type=float, default=2)
    parser.add_argument("--collector", action="append", default=[], help="an option of it; repeat")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tidscope("--no-collector", TIDSCOPE_COLLECTOR_SECRET=SECRET) as installation:
        figures = {"quiet": measure(installation, options)}
        with load():
            figures["busy"] = measure(installation, options)
    if options.json:
        print(json.dumps(figures))
        return 0
    for name, found in figures.items():
        print(f"{name:6} {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
