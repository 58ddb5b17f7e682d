"""Run the integration tests; those that failed to measure are run once more, alone.

`python tools/measure_again.py COMMAND...` runs pytest by the command. Tests of MEASURED hold what
the kernel counts against what a program measures by its own clock. A program that is interrupted
between its clock and its call makes them differ, and on a busy machine it is. So where only such
tests failed, and few, they are run again with nothing beside them, and have to pass then. What was
measured again is printed. Exits with the status of the last run.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
MEASURED = {
    "test_budget",
    "test_ledger_frames",
    "test_lock_frames",
    "test_lock_runtimes",
    "test_lock_waits",
    "test_taskstats_sums",
    "test_time_parts",
    "test_waits_kernel",
    "test_waits_queue",
    "test_waits_runtimes",
    "test_waits_short_threads",
    "test_waits_tables",
}
"""Files of tests/integration."""
FEW = 4
"""More failures than these are no chance."""
TESTS_FAILED = 1
"""pytest's exit status."""


def again(failed: list[str]) -> list[str]:
    """Which of the tests that failed are to be measured again: all or none.

    Args:
        failed: their node ids.
    """
    files = {Path(one.partition("::")[0]).stem for one in failed}
    return failed if files and files <= MEASURED and len(failed) <= FEW else []


def read_failed() -> list[str]:
    """Node ids of the integration tests that failed in the last run."""
    failed = json.loads(FAILED.read_text()) if FAILED.exists() else {}
    return [one for one in failed if one.startswith("tests/integration/")]


def main() -> int:
    """Run the command; see the module's text."""
    FAILED.unlink(missing_ok=True)
    status = subprocess.run(sys.argv[1:], cwd=ROOT, check=False).returncode
    tests = again(read_failed()) if status == TESTS_FAILED else []
    if not tests:
        return status
    print(
        f"\n{len(tests)} failed to measure; measured again alone:", *tests, sep="\n  ", flush=True
    )
    alone = [sys.executable, "-m", "pytest", "-n", "0", *tests]
    return subprocess.run(alone, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
