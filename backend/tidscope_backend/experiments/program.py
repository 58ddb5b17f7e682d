"""A running program of a workload, and the lines by which it is measured.

The program writes a line of JSON when it is ready: `{"ready": ADDRESS}`. It answers each line of
its input, `begin` and `end`, with another; that of `end` has what it did in between. It ends when
its input ends, and at the latest when we do.
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
"""Characters of a program's errors that are shown."""


class RunningProgram:
    """A program that is there until `stop`.

    Args:
        name: of its workload.
        command: its arguments.
        environment: its variables.
        cpus: those that it may run on; None: all of ours.
        patience_s: how long it may take to be ready, and to answer.
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
        # Unnamed, and gone with us.
        self._errors = os.fdopen(os.memfd_create(name), "w+b")
        with on_cpus(cpus):
            self._process = subprocess.Popen(
                bound_to_parent(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=dict(environment),
                # A Ctrl-C of the terminal is for us, and we end it.
                start_new_session=True,
                bufsize=0,
            )
        self._left = b""
        self._rings: Mapping[str, Ring] = {}
        self.address = ""

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Wait for its first line. Raises RepeatError."""
        self.address = str(self._answer(self._patience_s).get("ready", ""))

    def begin(self) -> None:
        """Count from now on. Raises RepeatError."""
        self._ask("begin")
        self._rings = read_rings(self.pid)

    def end(self) -> dict[str, float]:
        """What it did since `begin`. Raises RepeatError."""
        rings = ring_counts(self._rings, read_rings(self.pid))
        found = self._ask("end")
        try:
            return rings | {str(name): float(value) for name, value in found.items()}
        except (TypeError, ValueError):
            raise RepeatError(
                f"{self.name} answered {found!r:.200}, which are no figures"
            ) from None

    def check(self) -> None:
        """See that it runs. Raises RepeatError."""
        code = self._process.poll()
        if code is not None:
            raise RepeatError(f"{self.name} {exit_text(code)}{self._said()}")

    def stop(self) -> None:
        """End it: by its input, or by force."""
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
            pass  # It has ended; the answer says so.
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
    """What this thread starts within it may run on these CPUs only; None: on all of ours."""
    own = os.sched_getaffinity(0)
    if cpus is not None:
        os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def exit_text(code: int) -> str:
    """How a process ended, as text."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def cpus_of(placement: str) -> tuple[frozenset[int] | None, frozenset[int] | None]:
    """CPUs of the programs and of the load; None: all of ours."""
    if placement == "shared":
        return None, None
    cpus = sorted(os.sched_getaffinity(0))
    half = (len(cpus) + 1) // 2
    if len(cpus) < 2:
        raise RepeatError("programs and load cannot be placed apart on one CPU")
    return frozenset(cpus[:half]), frozenset(cpus[half:])


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


PROC = Path("/proc")
LINK = "anon_inode:[io_uring]"
SUBMITTED, COMPLETED = "CachedSqHead", "CachedCqTail"
WRAP = 1 << 32
RING_COUNTS = ("ring_submissions", "ring_completions")


@dataclass(frozen=True)
class Ring:
    """Entries that were submitted to a ring, and completions that it has made; modulo 2³²."""

    submitted: int
    completed: int


def read_rings(pid: int, proc: Path = PROC) -> dict[str, Ring]:
    """Rings of a process by their descriptor; those that cannot be read are left out."""
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
    """The counts of a ring. Raises KeyError or ValueError: they are not in the text."""
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return Ring(int(fields[SUBMITTED]), int(fields[COMPLETED]))


def ring_counts(before: Mapping[str, Ring], after: Mapping[str, Ring]) -> dict[str, float]:
    """Rings, and submissions and completions between two readings; empty: there are no rings."""
    if not after:
        return {}
    new = Ring(0, 0)
    grown = [(one, before.get(name, new)) for name, one in after.items()]
    return {
        "rings": float(len(after)),
        "ring_submissions": float(sum((a.submitted - b.submitted) % WRAP for a, b in grown)),
        "ring_completions": float(sum((a.completed - b.completed) % WRAP for a, b in grown)),
    }
