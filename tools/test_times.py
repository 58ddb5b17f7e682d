"""Print which tests and which files of tests took longest, and why tests failed.

`python tools/test_times.py [--tests 30] [--files 15] REPORT...` reads JUnit XML reports as pytest
writes them, those that exist, and prints seconds: the dearest tests, then the sum of each file.
Failed tests come last, with what was wrong, so that the end of a log says it.
"""

import argparse
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

Name = TypeVar("Name")
MESSAGE_CHARACTERS = 400


def read_times(reports: Iterable[Path]) -> dict[tuple[str, str], float]:
    """Seconds of each test, by its file and its name; set-up and tear-down count."""
    times: dict[tuple[str, str], float] = defaultdict(float)
    for report in reports:
        for case in ET.parse(report).iter("testcase"):
            file = case.get("classname", "").replace(".", "/")
            times[file, case.get("name", "")] += float(case.get("time", 0))
    return times


def read_failures(reports: Iterable[Path]) -> list[str]:
    """Each failed test with the beginning of its message, one line each."""
    lines = []
    for report in reports:
        for case in ET.parse(report).iter("testcase"):
            wrong = [*case.iter("failure"), *case.iter("error")]
            if wrong:
                said = " ".join(wrong[0].get("message", "").split())[:MESSAGE_CHARACTERS]
                file = case.get("classname", "").replace(".", "/")
                lines.append(f"failed: {file}::{case.get('name')}: {said}")
    return lines


def dearest(seconds: Mapping[Name, float]) -> list[tuple[Name, float]]:
    """Names and seconds, the most seconds first."""
    return sorted(seconds.items(), key=lambda item: -item[1])


def table(times: dict[tuple[str, str], float], tests: int, files: int) -> list[str]:
    """Lines to print: the sum, the dearest tests, the dearest files."""
    sums: dict[str, float] = defaultdict(float)
    for (file, _), seconds in times.items():
        sums[file] += seconds
    lines = [f"{len(times)} tests took {sum(times.values()):.0f} s, on all workers together"]
    lines += [f"{seconds:8.1f} s  {'::'.join(name)}" for name, seconds in dearest(times)[:tests]]
    lines += ["by file"]
    lines += [f"{seconds:8.1f} s  {name}" for name, seconds in dearest(sums)[:files]]
    return lines


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Print which tests took longest.")
    parser.add_argument("--tests", type=int, default=30, help="how many tests")
    parser.add_argument("--files", type=int, default=15, help="how many files")
    parser.add_argument("reports", nargs="+", type=Path, help="JUnit XML")
    options = parser.parse_args()
    reports = [report for report in options.reports if report.exists()]
    lines = table(read_times(reports), options.tests, options.files) + read_failures(reports)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
