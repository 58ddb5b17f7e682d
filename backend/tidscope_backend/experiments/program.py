"""A running program of a workload, and the lines by which it is measured.

The program writes a line of JSON when it is ready: `{"ready": ADDRESS}`. It answers each line of
its input, `begin` and `end`, with another; that of `end` has what it did in between. It ends when
its input ends, and at the latest when we do.
"""

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tidscope_backend.experiments.errors import RepeatError
from tidscope_backend.experiments.rings import Ring, read_rings, ring_counts
from tidscope_backend.parent_death import bound_to_parent
from tidscope_backend.process_end import wait_or_kill

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
