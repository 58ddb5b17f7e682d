"""Run the stages of `make test` one after another, and print duration and busy CPUs of each.

`python tools/test_stages.py` runs the targets of STAGES by make. Stages do not overlap: tests with
deadlines get the whole machine, so a test that fails is never run a second time. A failed stage
does not stop the next ones, unless it makes what they need. Exits 1 if any failed.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAKE = os.environ.get("MAKE", "make")
NEEDED = ("install-dev", "build")
STAGES = (
    *NEEDED,
    "check",
    "sampler-test",
    "vitest",
    "unit",
    "kernel-if-possible",
    "integration",
    "e2e",
    "site",
    "audit",
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one stage.

    Attributes:
        target: target of the Makefile.
        seconds: duration.
        busy: CPUs of the machine that were not idle, on average.
        status: exit status of make.
    """

    target: str
    seconds: float
    busy: float
    status: int


def busy_seconds() -> float:
    """Seconds that the CPUs of this machine were busy since its start, by /proc/stat."""
    user, nice, system, _idle, _iowait, *interrupts = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8]
    )
    return sum((user, nice, system, *interrupts)) / os.sysconf("SC_CLK_TCK")


def run_stage(target: str) -> Outcome:
    """Run one target of the Makefile."""
    print(f"\n=== {target}", flush=True)
    began, busy = time.monotonic(), busy_seconds()
    status = subprocess.run([MAKE, target], cwd=ROOT, check=False).returncode
    seconds = time.monotonic() - began
    return Outcome(target, seconds, (busy_seconds() - busy) / seconds, status)


def run_stages() -> list[Outcome]:
    """Run all stages, or those up to a needed one that failed."""
    outcomes: list[Outcome] = []
    for target in STAGES:
        outcomes.append(run_stage(target))
        if outcomes[-1].status and target in NEEDED:
            break
    return outcomes


def report(outcomes: list[Outcome]) -> list[str]:
    """Lines with duration, busy CPUs and outcome of each stage, and the total duration."""
    width = max(len(outcome.target) for outcome in outcomes)
    lines = [
        f"{outcome.target:<{width}}  {outcome.seconds:7.1f} s  {outcome.busy:4.1f} CPUs  "
        + (f"FAILED with status {outcome.status}" if outcome.status else "ok")
        for outcome in outcomes
    ]
    return [*lines, f"{'all':<{width}}  {sum(outcome.seconds for outcome in outcomes):7.1f} s"]


def main() -> int:
    """Run everything."""
    outcomes = run_stages()
    print(flush=True)
    subprocess.run([MAKE, "test-times"], cwd=ROOT, check=False)
    print()
    print("\n".join(report(outcomes)), flush=True)
    return 1 if any(outcome.status for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
