"""A running program of a workload, and its line protocol for measurements.

The program writes `{"ready": ADDRESS}` as a line of JSON when it is ready. It answers each input
line, `begin` and `end`, with one line; the answer to `end` reports the work in between. It ends
when its input ends, or with its parent process at the latest.
"""

import json
import math
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidscope_backend.experiments.workload import ExperimentError, RepeatError, Value, Workload
from tidscope_backend.processes import bound_to_parent, wait_or_kill

EXIT_SECONDS = 5.0
TAIL = 2000
"""Maximum characters shown of a program's errors."""


class RunningProgram:
    """A program that runs until `stop`.

    Args:
        name: name of the workload.
        command: arguments of the program.
        environment: environment variables.
        cpus: allowed CPUs, or None for all of ours.
        patience_s: timeout for readiness and for each answer.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        cpus: frozenset[int] | None = None,
        patience_s: float = 60.0,
    ) -> None:
        self.name, self._patience_s = name, patience_s
        # Unnamed file that disappears with this process.
        self._errors = os.fdopen(os.memfd_create(name), "w+b")
        with on_cpus(cpus):
            self._process = subprocess.Popen(
                bound_to_parent(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=dict(environment),
                # Ctrl-C in the terminal is handled here, and this process ends the program.
                start_new_session=True,
                bufsize=0,
            )
        self._left = b""
        self._rings: Mapping[str, Ring] = {}
        self.address = ""

    @property
    def pid(self) -> int:
        """Process ID of the program."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Wait for the program's first line. Raises RepeatError."""
        self.address = str(self._answer(self._patience_s).get("ready", ""))

    def begin(self) -> None:
        """Start counting. Raises RepeatError."""
        self._ask("begin")
        self._rings = read_rings(self.pid)

    def end(self) -> dict[str, float]:
        """Return the work since `begin`. Raises RepeatError."""
        rings = ring_counts(self._rings, read_rings(self.pid))
        found = self._ask("end")
        try:
            return rings | {str(name): float(value) for name, value in found.items()}
        except (TypeError, ValueError):
            raise RepeatError(
                f"{self.name} answered {found!r:.200}, which are no figures"
            ) from None

    def check(self) -> None:
        """Check that the program is running. Raises RepeatError."""
        code = self._process.poll()
        if code is not None:
            raise RepeatError(f"{self.name} {exit_text(code)}{self._said()}")

    def stop(self) -> None:
        """End the program by closing its input, or by force."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        wait_or_kill(process, EXIT_SECONDS)
        self._errors.close()

    def _ask(self, line: str) -> dict[str, Any]:
        self.check()
        try:
            if self._process.stdin is not None:
                self._process.stdin.write(line.encode() + b"\n")
        except OSError:
            pass  # Already ended; the answer reports the exit.
        return self._answer(self._patience_s)

    def _answer(self, seconds: float) -> dict[str, Any]:
        line = self._line(time.monotonic() + seconds, seconds)
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise RepeatError(f"{self.name} answered {line[:200]!r}, which is no object of JSON")
        return found

    def _line(self, until: float, seconds: float) -> bytes:
        out = self._process.stdout
        if out is None:
            raise RepeatError(f"{self.name} has no output")
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            while b"\n" not in self._left:
                if not selector.select(max(0.0, until - time.monotonic())):
                    raise RepeatError(
                        f"{self.name} did not answer within {seconds:g} s{self._said()}"
                    )
                piece = os.read(out.fileno(), 65536)
                if not piece:
                    code = self._process.wait()
                    raise RepeatError(f"{self.name} {exit_text(code)}{self._said()}")
                self._left += piece
        line, _, self._left = self._left.partition(b"\n")
        return line

    def _said(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - TAIL))
        text = self._errors.read().decode(errors="replace").strip()
        return f": {text}" if text else ""


@contextmanager
def on_cpus(cpus: frozenset[int] | None) -> Iterator[None]:
    """Restrict child processes started in this context to these CPUs; None for all of ours."""
    own = os.sched_getaffinity(0)
    if cpus is not None:
        os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def exit_text(code: int) -> str:
    """Describe the exit of a process."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def cpus_of(placement: str) -> tuple[frozenset[int] | None, frozenset[int] | None]:
    """Return the CPUs of the programs and of the load; None for all of ours."""
    if placement == "shared":
        return None, None
    cpus = sorted(os.sched_getaffinity(0))
    half = (len(cpus) + 1) // 2
    if len(cpus) < 2:
        raise RepeatError("programs and load cannot be placed apart on one CPU")
    return frozenset(cpus[:half]), frozenset(cpus[half:])


PACKAGES = {"wrk": "wrk"}
"""Debian package of each load generator."""
SCRIPT = "wrk.lua"
"""File beside the workload: writes wrk's counts as JSON."""
GRACE_SECONDS = 30.0


def wrk_command(
    workload: Workload, values: Mapping[str, Value], address: str, seconds: int
) -> list[str]:
    """Return arguments of wrk.

    Args:
        workload: workload of the load.
        values: values of the load's parameters.
        address: address of the program.
        seconds: duration; wrk supports whole seconds only.
    """
    path = "" if workload.spec.load is None else workload.spec.load.path
    connections = int(values["connections"])
    threads = min(int(values["load_threads"]), connections)
    options = [f"-t{threads}", f"-c{connections}", f"-d{seconds}s"]
    script = str(workload.folder / SCRIPT)
    return [find_generator("wrk"), *options, "-s", script, f"http://{address}{path}"]


class Load:
    """Requests sent to a program by a load generator.

    Args:
        name: name of the generator.
        command: returns the generator's arguments for a duration in seconds.
        environment: environment variables.
        cpus: CPUs of the generator, or None for all of ours.
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
        """Start the load, for whole seconds."""
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
        """Wait for the end and return the generator's counts. Raises RepeatError."""
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
        """End the generator if it is running."""
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def parse_report(said: str, name: str) -> dict[str, float]:
    """Parse a generator's figures from its last line, a JSON object. Raises RepeatError."""
    try:
        found = json.loads(said.strip().rpartition("\n")[2])
        figures = {str(name): float(value) for name, value in found.items()}
        if figures["requests"] <= 0 or figures["duration_us"] <= 0:
            raise RepeatError(f"no request of {name} was answered")
    except (ValueError, AttributeError, TypeError, KeyError):
        raise RepeatError(f"{name} wrote no report: {said.strip()[-500:]}") from None
    return figures


def find_generator(name: str) -> str:
    """Find a load generator's program. Raises ExperimentError with the package's name."""
    found = shutil.which(name)
    if found is None:
        raise ExperimentError(
            f"the load generator {name} is missing: install the package {PACKAGES[name]} "
            f"(apt-get install {PACKAGES[name]})"
        )
    return found


def check_generator(workload: Workload) -> None:
    """Check that a workload's load generator is installed. Raises ExperimentError."""
    if workload.spec.load is not None and workload.spec.load.generator == "wrk":
        find_generator("wrk")
        script = workload.folder / SCRIPT
        if not Path(script).is_file():
            raise ExperimentError(f"the workload {workload.name} lacks {SCRIPT}")


PROC = Path("/proc")
LINK = "anon_inode:[io_uring]"
SUBMITTED, COMPLETED = "CachedSqHead", "CachedCqTail"
WRAP = 1 << 32
RING_COUNTS = ("ring_submissions", "ring_completions")


@dataclass(frozen=True)
class Ring:
    """Counts of submitted entries and completions of an io_uring; modulo 2³²."""

    submitted: int
    completed: int


def read_rings(pid: int, proc: Path = PROC) -> dict[str, Ring]:
    """Return the rings of a process by descriptor; unreadable ones are omitted."""
    found = {}
    try:
        descriptors = list(os.scandir(proc / str(pid) / "fd"))
    except OSError:
        return {}
    for one in descriptors:
        try:
            if str(Path(one.path).readlink()) == LINK:
                text = (proc / str(pid) / "fdinfo" / one.name).read_text()
                found[one.name] = parse_ring(text)
        except (OSError, KeyError, ValueError):
            continue
    return found


def parse_ring(text: str) -> Ring:
    """Parse the counts of a ring. Raises KeyError or ValueError if the text lacks them."""
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return Ring(int(fields[SUBMITTED]), int(fields[COMPLETED]))


def ring_counts(before: Mapping[str, Ring], after: Mapping[str, Ring]) -> dict[str, float]:
    """Return rings, submissions and completions between two readings; empty without rings."""
    if not after:
        return {}
    new = Ring(0, 0)
    grown = [(one, before.get(name, new)) for name, one in after.items()]
    return {
        "rings": float(len(after)),
        "ring_submissions": float(sum((a.submitted - b.submitted) % WRAP for a, b in grown)),
        "ring_completions": float(sum((a.completed - b.completed) % WRAP for a, b in grown)),
    }
