"""Runs a command in one of two folders, once per measurement, until it exits."""

import argparse
import contextlib
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

# Killing the experiment ends the command as well.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

NS_PER_OP = re.compile(r"^Benchmark\S*\s.*?([0-9.]+) ns/op", re.MULTILINE)


class Run(NamedTuple):
    """A run of the command: its output and duration."""

    said: str
    elapsed_s: float


class Runner:
    """Runs the command; `kill` ends the run that is under way.

    Args:
        command: words of the command.
        folder: folder that it is run in.
    """

    def __init__(self, command: Sequence[str], folder: str) -> None:
        self._command, self._folder = command, folder
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> Run:
        """Run the command to its end. Raises ValueError or OSError if it fails or cannot start."""
        with tempfile.TemporaryFile() as out:
            began = time.monotonic()
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                # Killing the group ends the children as well.
                process_group=0,
            )
            code = self._process.wait()
            elapsed_s = time.monotonic() - began
            out.seek(0)
            said = out.read().decode(errors="replace")
        if code != 0:
            name = self._command[0]
            raise ValueError(f"{name} ended with exit code {code}: {said.strip()[-1000:]}")
        return Run(said, elapsed_s)

    def kill(self) -> None:
        """Kill the running command."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def figures(run: Run, figure: str) -> dict[str, float]:
    """Figures of a run: one operation, or those of its benchmarks (the geometric mean).

    Raises:
        ValueError: it wrote no result of a benchmark.
    """
    if figure == "wall-time":
        return {"ops": 1, "elapsed_s": run.elapsed_s}
    found = [float(one) for one in NS_PER_OP.findall(run.said)]
    if not found or min(found) <= 0:
        raise ValueError(f"no benchmark gave ns/op: {run.said.strip()[-1000:]}")
    ns = math.exp(math.fsum(map(math.log, found)) / len(found))
    return {"ops": 1e9 / ns, "elapsed_s": 1.0, "mean_us": ns / 1e3}


def serve(runner: Runner, figure: str) -> None:
    """Answer the lines of an experiment: the run that `begin` starts is over at `end`."""
    running: Future[Run] | None = None
    # The first run builds missing artifacts and does not count.
    figures(runner.run(), figure)
    with ThreadPoolExecutor(1) as pool:
        try:
            print(json.dumps({"ready": ""}), flush=True)
            for line in sys.stdin:
                if line == "begin\n":
                    running = pool.submit(runner.run)
                    print("{}", flush=True)
                elif line == "end\n" and running is not None:
                    print(json.dumps(figures(running.result(), figure)), flush=True)
                    running = None
                else:
                    raise ValueError(f"{line!r} is neither begin nor the end of it")
        finally:
            runner.kill()


def main() -> None:
    """Serve until the end of the input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", type=shlex.split, required=True)
    parser.add_argument("--variant", choices=["before", "after"], required=True)
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--figure", choices=["go-bench", "wall-time"], required=True)
    options = parser.parse_args()
    folder = options.before if options.variant == "before" else options.after
    runner = Runner(options.command, folder)
    try:
        serve(runner, options.figure)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    finally:
        runner.kill()


if __name__ == "__main__":
    main()
