"""States of benchmarks/stacks.py: ledgers alone, stacks taken beside them, perf instead of them."""

import errno
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
from attached import Attached
from tidscope_collector.stacks.program import StackProgram

OFF, ON, PERF = "ledgers", "stacks", "perf"
LOADING_S = 60.0
PERF_OFF_CPU = ("-e", "context-switches", "-c", "1")
PERF_ON_CPU = ("-e", "cpu-clock", "-F", "49")
_FLUSHED_S = 0.6
"""Time after which the counts of a worker have arrived, more than two of its intervals."""
_PERF_STARTS_S = 1.0


class Taker:
    """Takes stacks while a benchmark wants them, by a fresh worker each time.

    Args:
        attached: targets.
        program: the keeper that these have.

    Attributes:
        loads: seconds from each demand until stacks were taken.
        rss: largest resident memory of keeper and worker, in bytes.
        stack_ns: time of one stack by each worker's own measurement, in nanoseconds.
        trigger: trigger of the last worker.
    """

    def __init__(self, attached: Attached, program: StackProgram) -> None:
        self._attached = attached
        self._service = attached.sources.stacks
        self._keeper = psutil.Process(program.pid)
        self.loads: list[float] = []
        self.rss = {"keeper": 0, "worker": 0}
        self.stack_ns: list[int] = []
        self.trigger = "none"

    @contextmanager
    def taking(self, pid: int) -> Iterator[None]:
        """Take stacks of a process that is attached."""
        began = time.monotonic()
        self._attached.take_stacks(pid, 3600)
        self._await("sampling")
        self.loads.append(time.monotonic() - began)
        status = self._service.status
        assert status is not None
        self.stack_ns.append(status.stack_ns)
        self.trigger = status.trigger
        yield
        self._note_memory()
        self._attached.end_stacks(pid)
        self._await("ended")

    def first_stack(self, pid: int) -> float:
        """Return seconds from a demand until a stack of a process has arrived."""
        latest = max((batch.serial for batch in self._service.since(0)), default=0)
        began = time.monotonic()
        with self.taking(pid):
            while not any(
                ((batch.samples["process"] == pid) & (batch.samples["node"] > 0)).any()
                for batch in self._service.since(latest)
            ):
                if time.monotonic() > began + LOADING_S:
                    raise SystemExit(f"no stack in {LOADING_S:.0f} s")
                time.sleep(0.01)
            return time.monotonic() - began

    def taken(self) -> int:
        """Return how many stacks were taken; the watched program must be at rest."""
        time.sleep(_FLUSHED_S)
        return self._service.counts()[0]

    def _note_memory(self) -> None:
        for name, processes in (("keeper", [self._keeper]), ("worker", self._keeper.children())):
            for process in processes:
                self.rss[name] = max(self.rss[name], process.memory_info().rss)

    def _await(self, state: str) -> None:
        give_up = time.monotonic() + LOADING_S
        while (status := self._service.status) is None or status.state != state:
            obstacle = self._service.obstacle
            if obstacle is not None or time.monotonic() > give_up:
                raise SystemExit(f"stacks are not {state}: {obstacle or status}")
            time.sleep(0.005)


def why_no_perf(folder: Path) -> str:
    """Return why `perf record -g` does not work on this machine; empty if it does."""
    for options in (PERF_OFF_CPU, PERF_ON_CPU):
        command = ["perf", "record", "-g", *options, "-o", str(folder / "tried"), "--", "true"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return "perf is not installed"
        if done.returncode:
            said = (done.stderr.strip() or "no message").splitlines()[-1]
            return f"perf does not record {options[1]} on Linux {os.uname().release}: {said}"
    return ""


def why_no_kprobes() -> str:
    """Return what the kernel says to a kprobe at the end of a switch; empty if it can be set."""
    type_of_kprobes = Path("/sys/bus/event_source/devices/kprobe/type")
    if type_of_kprobes.exists():
        return ""
    return f"kprobes: {type_of_kprobes}: {os.strerror(errno.ENOENT)}"


def perf_version() -> str:
    """Return the version of perf; distributions name its package after their own kernel's."""
    command = ["perf", "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@contextmanager
def perf(options: Sequence[str], pid: int, folder: Path) -> Iterator[None]:
    """Run `perf record -g` on a process."""
    data = folder / "perf.data"
    command = ["perf", "record", "-g", *options, "-p", str(pid), "-o", str(data)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        time.sleep(_PERF_STARTS_S)
        if running.poll() is not None:
            raise SystemExit("perf ended early")
        yield
        running.send_signal(signal.SIGINT)
    data.unlink(missing_ok=True)


class States:
    """States that a watched program is measured in.

    Args:
        taker: takes stacks.
        folder: for data of perf; None: that is not measured.
        options: options of perf.
    """

    def __init__(self, taker: Taker, folder: Path | None, options: Sequence[str]) -> None:
        self._taker = taker
        self._folder = folder
        self._options = options
        self.names = (OFF, ON) if folder is None else (OFF, ON, PERF)

    def within(
        self, pid: int, measure: Callable[[], tuple[float, ...]]
    ) -> Callable[[str], tuple[float, ...]]:
        """Return a function that measures in a state."""

        def one(name: str) -> tuple[float, ...]:
            if name == ON:
                with self._taker.taking(pid):
                    return measure()
            if name == PERF:
                assert self._folder is not None
                with perf(self._options, pid, self._folder):
                    return measure()
            return measure()

        return one
