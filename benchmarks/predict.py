"""Cost of a prediction by shared memory and behind a system call, in one run.

`predict_ns` is a prediction of `features` features (2, as the published service has in its example)
in the shared memory of a daemon, by `tidscope_predict.h`, called through a pointer as a library's
function would be. `syscall_ns` is the same prediction behind the cheapest system call that there is
(getppid), so the least that a service in the kernel could cost. `ratio` is of the two, round by
round. For each number of features there are also `latency_ns`, where the next question depends on
the answer before, so that nothing of two predictions overlaps, `read_call_ns`, behind a call that
copies 64 bytes (pread of a file in memory), and `socket_ns`, asked of the daemon over its socket,
both processes switched to. `python_ns` is the Python client's prediction; `update_us` what one
update of 64 sent together takes, until the weights have changed.

Figures are medians over rounds, with the 5th and the 95th percentile.
"""

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from running import HERE, build
from tidscope_predictd.client import Model, open_model

FEATURES = (1, 2, 4, 8, 16)
SHOWN = 2
FIGURES = ("predict_ns", "latency_ns", "syscall_ns", "read_call_ns", "socket_ns")
PYTHON_PREDICTIONS, UPDATES = 20_000, 64 * 40


def rounds(program: Path, address: Path, features: int, count: int) -> list[list[float]]:
    """Rows of FIGURES."""
    done = subprocess.run(
        [str(program), str(address), str(features)],
        input="\n" * count,
        capture_output=True,
        text=True,
        check=True,
    )
    return [list(map(float, line.split()[: len(FIGURES)])) for line in done.stdout.splitlines()]


def described(values: Sequence[float], digits: int = 2) -> dict[str, Any]:
    """Median and spread."""
    low, high = np.percentile(values, [5, 95])
    return {
        "median": round(statistics.median(values), digits),
        "p5_p95": [round(float(low), digits), round(float(high), digits)],
    }


def by_python(model: Model) -> float:
    """Nanoseconds of a prediction by the Python client."""
    questions = [[number, number % 7] for number in range(256)]
    start = time.perf_counter_ns()
    for number in range(PYTHON_PREDICTIONS):
        model.predict(questions[number % 256])
    return (time.perf_counter_ns() - start) / PYTHON_PREDICTIONS


def by_update(model: Model) -> float:
    """Microseconds of an update of a batch."""
    start = time.perf_counter_ns()
    for number in range(UPDATES):
        model.update([number % 1000, number % 7], answer=number % 3 == 0)
    model.flush()
    return (time.perf_counter_ns() - start) / UPDATES / 1000


def measure(folder: Path, count: int) -> dict[str, Any]:
    """All figures."""
    program = build("predict", folder, f"-I{HERE.parent / 'predictd' / 'include'}")
    address = folder / "socket"
    command = ["-m", "tidscope_backend", "predictd"]
    places = ["--socket", str(address), "--folder", str(folder / "models")]
    daemon = subprocess.Popen(
        [sys.executable, *command, *places], stderr=subprocess.PIPE, text=True
    )
    try:
        assert daemon.stderr is not None
        while "serving" not in (line := daemon.stderr.readline()):
            if not line:
                raise SystemExit("the daemon did not start")
        found = {}
        for features in FEATURES:
            rows = rounds(program, address, features, count)
            columns = dict(zip(FIGURES, zip(*rows, strict=True), strict=True))
            ratios = [
                call / predicted
                for call, predicted in zip(
                    columns["syscall_ns"], columns["predict_ns"], strict=True
                )
            ]
            found[features] = {name: described(columns[name]) for name in FIGURES}
            found[features]["ratio"] = described(ratios, 1)
        model = open_model("python", path=address)
        python = described([by_python(model) for _ in range(count)], 0)
        updates = described([by_update(model) for _ in range(count)], 1)
        model.close()
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.communicate()
    return {
        "features": SHOWN,
        "predict_ns": found[SHOWN]["predict_ns"]["median"],
        "syscall_ns": found[SHOWN]["syscall_ns"]["median"],
        "ratio": found[SHOWN]["ratio"]["median"],
        "by_features": found,
        "python_ns": python,
        "update_us": updates,
        "rounds": count,
    }


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=21, help="of each figure (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options.rounds)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print("features  " + "  ".join(f"{name:>12}" for name in (*FIGURES, "ratio")))
    for features, row in found["by_features"].items():
        cells = [f"{row[name]['median']:>12}" for name in (*FIGURES, "ratio")]
        print(f"{features:>8}  " + "  ".join(cells))
    print(
        f"by Python {found['python_ns']['median']} ns; an update {found['update_us']['median']} µs"
    )


if __name__ == "__main__":
    main()
