"""Run all stages of `make test`, those that can beside each other, and print what each took.

`python tools/test_stages.py` runs the targets of STAGES by make. The stage in front writes to the
terminal as it goes; the output of one behind it is kept, and printed in one piece once the stage in
front has ended. All stages run even if one fails, except that nothing runs without an installation
and a page. Exits 1 if any failed.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "test-output" / "stages"
MAKE = os.environ.get("MAKE", "make")


@dataclass
class Stage:
    """A target of the Makefile.

    Attributes:
        target: its name.
        nice: how much of the CPU time it leaves to others: 0 nothing, 19 nearly all.
        seconds: what it took; None before its end.
        status: its exit status.
    """

    target: str
    nice: int = 0
    seconds: float | None = field(default=None, init=False)
    status: int = field(default=0, init=False)

    @property
    def log(self) -> Path:
        """Where its output is kept if it runs behind another one."""
        return LOGS / f"{self.target}.log"

    def run(self, *, behind: bool = False) -> bool:
        """Run it; whether it succeeded."""
        command = ["nice", "-n", str(self.nice), MAKE, self.target]
        began = time.monotonic()
        if behind:
            with self.log.open("wb") as log:
                self.status = subprocess.run(
                    command, cwd=ROOT, check=False, stdout=log, stderr=subprocess.STDOUT
                ).returncode
        else:
            print(f"\n=== {self.target}", flush=True)
            self.status = subprocess.run(command, cwd=ROOT, check=False).returncode
        self.seconds = time.monotonic() - began
        return self.status == 0

    def print_log(self) -> None:
        """Print what it wrote while it ran behind another one."""
        print(f"\n=== {self.target}", flush=True)
        sys.stdout.buffer.write(self.log.read_bytes())
        sys.stdout.buffer.flush()


@dataclass(frozen=True)
class Step:
    """A stage in front, and those behind it: each list one after the other."""

    front: Stage
    behind: tuple[tuple[Stage, ...], ...] = ()
    needed: bool = False


STEPS = (
    Step(Stage("install-dev"), needed=True),
    Step(Stage("build"), needed=True),
    Step(
        Stage("integration"),
        behind=(
            (Stage("unit", nice=10), Stage("audit", nice=19)),
            (
                Stage("kernel-if-possible", nice=19),
                Stage("check", nice=19),
                Stage("vitest", nice=19),
            ),
        ),
    ),
    Step(Stage("e2e")),
)
"""Integration tests wait most of the time; behind them is what computes, and takes the CPU time
that they leave. The browser tests have the machine for themselves: they wait for what is drawn."""


def run(steps: tuple[Step, ...]) -> list[Stage]:
    """Run the steps; the stages that were started, in the order in which they are reported."""
    LOGS.mkdir(parents=True, exist_ok=True)
    started: list[Stage] = []
    for step in steps:
        lanes = [
            Thread(target=lambda lane=lane: [stage.run(behind=True) for stage in lane])
            for lane in step.behind
        ]
        for lane in lanes:
            lane.start()
        succeeded = step.front.run()
        for lane in lanes:
            lane.join()
        behind = [stage for lane in step.behind for stage in lane]
        for stage in behind:
            stage.print_log()
        started += [step.front, *behind]
        if step.needed and not succeeded:
            break
    return started


def report(stages: list[Stage], seconds: float) -> list[str]:
    """What each stage took, and all together: less than the sum, as some ran beside others."""
    width = max(len(stage.target) for stage in stages)
    lines = [
        f"{stage.target:<{width}}  {stage.seconds or 0:7.1f} s  "
        + ("ok" if stage.status == 0 else f"FAILED with status {stage.status}")
        for stage in stages
    ]
    return [*lines, f"{'all':<{width}}  {seconds:7.1f} s"]


def main() -> int:
    """Run everything."""
    began = time.monotonic()
    stages = run(STEPS)
    print()
    seconds = time.monotonic() - began
    subprocess.run([MAKE, "test-times"], cwd=ROOT, check=False)
    print()
    print("\n".join(report(stages, seconds)), flush=True)
    return 1 if any(stage.status for stage in stages) else 0


if __name__ == "__main__":
    sys.exit(main())
