"""Test for silently lost exit records: a storm of threads, and an account of every exit.

The kernel numbers the exit records of each CPU without a gap. A thread that exits on a CPU before
the storm, and another one after it, give two numbers; those between them are all threads that
exited there meanwhile, of the storm or not. Each must have been received, or the kernel must have
reported that it dropped it: received + lost_reported = exited, exactly. Exits 1 if not.
"""

import argparse
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tidscope_collector.taskstats.exits import (
    EXIT_BUFFER_BYTES,
    ExitListener,
    dropped,
    parse_cpu_list,
)
from tidscope_collector.taskstats.link import probe

HERE = Path(__file__).resolve().parent
DRAIN_S = 0.1
"""Interval between drains, as in the collector."""
PATIENCE_S = 10.0


class Drops:
    """Drop counters of a listener's sockets, as last read.

    Args:
        cpus: CPUs of the listener, in the order in which it opens their sockets.
    """

    def __init__(self, cpus: Sequence[int]) -> None:
        self._left = list(cpus)
        self._cpus: dict[int, int] = {}
        self.of_cpu: dict[int, int] = {}

    def __call__(self, link: socket.socket) -> int | None:
        """Read the drop counters, as the listener does."""
        count = dropped(link)
        if link.fileno() not in self._cpus:
            self._cpus[link.fileno()] = self._left.pop(0)
        self.of_cpu[self._cpus[link.fileno()]] = count or 0
        return count


class Account:
    """Received exit records, by sequence number.

    Args:
        listener: newly opened.
        cpus: those that are online.
        pid: process whose records are counted separately.
        drops: drops of the listener's sockets.
    """

    def __init__(self, listener: ExitListener, cpus: Sequence[int], pid: int, drops: Drops) -> None:
        self.target_received = 0
        self._listener, self._pid, self._drops = listener, pid, drops
        self._dropped: dict[int, int] = {}
        self._received: list[tuple[npt.NDArray[np.integer], npt.NDArray[np.uint32]]] = []
        self._first = {cpu: self._mark(cpu) for cpu in cpus}
        self._last = dict(self._first)
        # CPUs were marked one after the other: what one of them lost after its own mark counts.
        since = sum((drops.of_cpu[cpu] - self._dropped[cpu]) % 2**32 for cpu in cpus)
        self._lost_before = listener.lost - since
        # Records before the mark of their CPU are not in the account. Records after it are, even if
        # other CPUs were marked later.
        self._received = [self._after_marks(*exits) for exits in self._received]

    def drain(self) -> dict[int, tuple[int, int]]:
        """Drain the sockets; return the CPU and number of each thread ID."""
        exits = self._listener.drain()
        self._received.append((exits.cpu, exits.number))
        tids = self._listener.own_member(exits, "ac_pid").tolist()
        process = self._listener.own_member(exits, "ac_tgid")
        self.target_received += int(np.count_nonzero(process == self._pid))
        return dict(
            zip(tids, zip(exits.cpu.tolist(), exits.number.tolist(), strict=True), strict=True)
        )

    def mark(self) -> None:
        """Close the account; it includes all threads that have exited."""
        self._last = {cpu: self._mark(cpu) for cpu in self._last}

    @property
    def exited(self) -> int:
        """Threads that exited from the first marks to the last ones, which are among them."""
        return sum((self._last[cpu] - self._first[cpu]) % 2**32 for cpu in self._first)

    @property
    def received(self) -> int:
        """Subset of the threads whose records were received.

        A thread that moved to another CPU while it exited may have sent its record there; the
        number is still its own. So numbers are compared without regard to the socket.
        """
        wanted = [
            np.arange(self._first[cpu] + 1, self._first[cpu] + 1 + span).astype(np.uint32)
            for cpu in self._first
            for span in [(self._last[cpu] - self._first[cpu]) % 2**32]
        ]
        numbers, expected = np.unique(np.concatenate(wanted), return_counts=True)
        seen, count = np.unique(
            np.concatenate([numbers for _, numbers in self._received]), return_counts=True
        )
        _, here, there = np.intersect1d(numbers, seen, assume_unique=True, return_indices=True)
        return int(np.minimum(expected[here], count[there]).sum())

    @property
    def lost_reported(self) -> int:
        """Number of lost records by the listener's count."""
        return self._listener.lost - self._lost_before

    def _after_marks(
        self, cpu: npt.NDArray[np.integer], number: npt.NDArray[np.uint32]
    ) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.uint32]]:
        first = np.array([self._first.get(one, 0) for one in cpu.tolist()], np.uint32)
        # Numbers wrap: at most half of them ahead is after, and the mark itself is not.
        after = (number - first - np.uint32(1)) < np.uint32(1 << 31)
        return cpu[after], number[after]

    def _mark(self, cpu: int) -> int:
        """End a thread on a CPU; the number that it got.

        It counts if nothing was dropped between the two drains around it: else nobody knows what
        was dropped before the mark, and what after it.
        """
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            thread = threading.Thread(target=os.sched_setaffinity, args=(0, {cpu}))
            thread.start()
            tid = thread.native_id
            thread.join()
            again = time.monotonic() + 0.5  # The mark itself may have been lost.
            while tid is not None and time.monotonic() < again:
                before = self._drops.of_cpu[cpu]
                on, number = self.drain().get(tid, (-1, 0))
                if on == cpu and self._drops.of_cpu[cpu] == before:
                    self._dropped[cpu] = before
                    return number
                if on >= 0:
                    break
                time.sleep(0.005)  # The record is sent a moment after join returns.
        raise TimeoutError(f"no record of a thread that exited on CPU {cpu}")


def online_cpus(sys_: Path = Path("/sys")) -> list[int]:
    """CPUs in use."""
    return parse_cpu_list((sys_ / "devices/system/cpu/online").read_text())


def storm(program: Path, arguments: argparse.Namespace) -> dict[str, float]:
    """Run the storm and return the figures of its exits."""
    child = subprocess.Popen(
        [str(program), str(arguments.threads), str(arguments.alive)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    cpus = online_cpus()
    drops = Drops(cpus)
    listener = ExitListener(probe(), cpus, arguments.buffer_bytes, drops=drops)
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        account = Account(listener, cpus, child.pid, drops)
        child.stdin.write(b".")
        child.stdin.flush()
        while not select.select([child.stdout], [], [], DRAIN_S)[0]:
            if not arguments.stall:
                account.drain()
        done = json.loads(child.stdout.readline())
        child.stdin.close()
        child.wait()
        deadline = time.monotonic() + PATIENCE_S
        account.drain()
        account.mark()
        # A thread may have its number and not have sent its record yet.
        while account.received + account.lost_reported != account.exited:
            if time.monotonic() > deadline:
                break
            account.mark()
        return {
            "exited": account.exited,
            "received": account.received,
            "lost_reported": account.lost_reported,
            "seconds": done["seconds"],
            "threads": done["threads"],
            "target_exited": done["threads"] + 1,
            "target_received": account.target_received,
            "refused": listener.refused.total(),
            "buffer_bytes": arguments.buffer_bytes,
        }
    finally:
        listener.close()
        child.kill()
        child.wait()


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(
        description="An account of every thread that exits in a storm."
    )
    parser.add_argument("--threads", type=int, default=20_000)
    parser.add_argument("--alive", type=int, default=200, help="at most so many at a time")
    parser.add_argument("--buffer-bytes", type=int, default=EXIT_BUFFER_BYTES, help="a CPU's")
    parser.add_argument(
        "--stall", action="store_true", help="receive nothing until the storm is over"
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "exit_storm"
        compile_it = [shutil.which("cc") or "cc", "-O2", "-pthread", "-o", str(program)]
        subprocess.run([*compile_it, str(HERE / "exit_storm.c")], check=True)
        figures = storm(program, arguments)
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:16} {value:12}")
    wrong = problems(figures)
    for problem in wrong:
        print(problem, file=sys.stderr)
    return 1 if wrong else 0


def problems(figures: dict[str, float]) -> list[str]:
    """Inconsistencies; empty if every exit is accounted for."""
    wrong: list[str] = []
    accounted = figures["received"] + figures["lost_reported"]
    if accounted != figures["exited"]:
        wrong.append(f"received + lost_reported = {accounted}, but {figures['exited']} exited")
    missing = figures["target_exited"] - figures["target_received"]
    if not 0 <= missing <= figures["lost_reported"]:
        wrong.append(f"{missing} records of the storm are missing, more than were reported lost")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
