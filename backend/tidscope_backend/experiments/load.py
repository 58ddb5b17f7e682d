"""Load generators: what they are called, how they are run, and what they say."""

import json
import math
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tidscope_backend.experiments.errors import ExperimentError, RepeatError
from tidscope_backend.experiments.program import exit_text, on_cpus
from tidscope_backend.experiments.workload import Value, Workload
from tidscope_backend.parent_death import bound_to_parent

PACKAGES = {"wrk": "wrk"}
"""The Debian package of each."""
SCRIPT = "wrk.lua"
"""Beside the workload: writes what wrk counted as JSON."""
GRACE_SECONDS = 30.0


def wrk_command(
    workload: Workload, values: Mapping[str, Value], address: str, seconds: int
) -> list[str]:
    """Arguments of wrk.

    Args:
        workload: whose load it is.
        values: of its parameters.
        address: of the program.
        seconds: how long it runs; wrk knows whole ones only.
    """
    path = "" if workload.spec.load is None else workload.spec.load.path
    connections = int(values["connections"])
    threads = min(int(values["load_threads"]), connections)
    options = [f"-t{threads}", f"-c{connections}", f"-d{seconds}s"]
    script = str(workload.folder / SCRIPT)
    return [find_generator("wrk"), *options, "-s", script, f"http://{address}{path}"]


class Load:
    """Requests for a program, made by a generator of load.

    Args:
        name: of the generator.
        command: its arguments, if it is to run for so many seconds.
        environment: its variables.
        cpus: those that the generator may run on; None: all of ours.
    """

    def __init__(
        self,
        name: str,
        command: Callable[[int], Sequence[str]],
        environment: Mapping[str, str],
        cpus: frozenset[int] | None,
    ) -> None:
        self._name, self._command = name, command
        self._environment, self._cpus = environment, cpus
        self._process: subprocess.Popen[str] | None = None
        self._seconds = 0

    def start(self, seconds: float) -> None:
        """Begin, for whole seconds."""
        self._seconds = max(1, math.ceil(seconds))
        with on_cpus(self._cpus):
            self._process = subprocess.Popen(
                bound_to_parent(self._command(self._seconds)),
                env=dict(self._environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )

    def wait(self) -> dict[str, float]:
        """Wait for its end; what it counted. Raises RepeatError."""
        process = self._process
        if process is None:
            raise RepeatError("the load was not started")
        try:
            said, _ = process.communicate(timeout=self._seconds + GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            raise RepeatError(f"{self._name} did not end in time") from None
        finally:
            self.stop()
        if process.returncode != 0:
            said = said.strip()[-500:]
            raise RepeatError(f"{self._name} {exit_text(process.returncode)}: {said}")
        return parse_report(said, self._name)

    def stop(self) -> None:
        """End it, if it still runs."""
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def parse_report(said: str, name: str) -> dict[str, float]:
    """Figures of what a generator wrote: its last line is an object of JSON. Raises RepeatError."""
    try:
        found = json.loads(said.strip().rpartition("\n")[2])
        figures = {str(name): float(value) for name, value in found.items()}
        if figures["requests"] <= 0 or figures["duration_us"] <= 0:
            raise RepeatError(f"no request of {name} was answered")
    except (ValueError, AttributeError, TypeError, KeyError):
        raise RepeatError(f"{name} wrote no report: {said.strip()[-500:]}") from None
    return figures


def find_generator(name: str) -> str:
    """The program of a load generator. Raises ExperimentError, which names the package."""
    found = shutil.which(name)
    if found is None:
        raise ExperimentError(
            f"the load generator {name} is missing: install the package {PACKAGES[name]} "
            f"(apt-get install {PACKAGES[name]})"
        )
    return found


def check_generator(workload: Workload) -> None:
    """See that what a workload needs is there. Raises ExperimentError."""
    if workload.spec.load is not None and workload.spec.load.generator == "wrk":
        find_generator("wrk")
        script = workload.folder / SCRIPT
        if not Path(script).is_file():
            raise ExperimentError(f"the workload {workload.name} lacks {SCRIPT}")
