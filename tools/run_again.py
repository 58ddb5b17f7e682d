"""Run tests; where few failed, those are run once more, alone.

`python tools/run_again.py COMMAND...` runs pytest by the command. Tests share the machine's cores
with each other, with compilers and with a browser: a program that is interrupted between its clock
and its call measures something else, and one that waits for a CPU answers late. So where few tests
failed, they are run again with nothing beside them, and have to pass then. What was run again is
printed, at the end as well: a name that comes back there is to be fixed. Exits with the status of
the last run.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAILED = Path("v", "cache", "lastfailed")
"""In pytest's cache; each run has one of its own, as unit and integration tests run at once."""
FEW = 4
"""More failures than these are no chance."""
TESTS_FAILED = 1
"""pytest's exit status."""


def again(failed: list[str]) -> list[str]:
    """Which of the tests that failed are to be run again: all or none.

    Args:
        failed: their node ids.
    """
    return failed if len(failed) <= FEW else []


def read_failed(cache: Path) -> list[str]:
    """Node ids of the tests that failed in the run with this cache."""
    file = cache / FAILED
    return list(json.loads(file.read_text())) if file.exists() else []


def main() -> int:
    """Run the command; see the module's text."""
    with tempfile.TemporaryDirectory(prefix="tidscope-tests-") as cache:
        command = [*sys.argv[1:], "-o", f"cache_dir={cache}"]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        tests = again(read_failed(Path(cache))) if status == TESTS_FAILED else []
    if not tests:
        return status
    print(f"\n{len(tests)} failed beside others; run again alone:", *tests, sep="\n  ", flush=True)
    alone = [sys.executable, "-m", "pytest", "-n", "0", *tests]
    status = subprocess.run(alone, cwd=ROOT, check=False).returncode
    if status == 0:
        print("\npassed alone only:", *tests, sep="\n  ", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
