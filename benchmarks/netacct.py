"""What counting network bytes by eBPF costs a program that does nothing but socket calls.

The program runs in short rounds, attached to and not, in turn. Its throughput is what it did in a
second of its own CPU time: the time on the wall also holds what other programs took of the
machine. The overhead is the median over the rounds of what neighbours differ by. The figure is
that of a server, 200 bytes in and 1,000 out; `cases` has a stream over TCP, 128 KiB a call, where
counting costs the least, datagrams of 64 bytes, where it costs the most, and `bystander`: the
server while another process is attached to.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.netacct.loading import load
from tidscope_collector.procfs.files import ProcFs

HERE = Path(__file__).resolve().parent
CALLS = {"stream": 2, "server": 2, "requests": 4, "datagrams": 2, "bystander": 2}
"""Socket calls of one operation."""
THREADS = 1000


@dataclass(frozen=True)
class Round:
    """What one round did."""

    a_cpu_second: float
    a_wall_second: float


class Load:
    """The program, running, waiting for rounds."""

    def __init__(self, executable: Path, mode: str, seconds: float) -> None:
        self._process = subprocess.Popen(
            [str(executable), mode, str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.pid = self._process.pid

    def round(self) -> Round:
        """Let it work for one round."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        result = json.loads(self._process.stdout.readline())
        return Round(result["done"] / result["cpu_s"], result["done"] / result["wall_s"])

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


def overhead(without: list[float], attached: list[float]) -> tuple[float, list[float]]:
    """Percent that throughput fell by: the median of the pairs, and their quartiles."""
    falls = [100 * (1 - b / a) for a, b in zip(without, attached, strict=True)]
    low, middle, high = statistics.quantiles(falls, n=4)
    return middle, [round(low, 2), round(high, 2)]


def measure(
    accounts: Accounts, load: Load, rounds: int, calls: int, *, bystander: bool
) -> dict[str, object]:
    """Rounds with and without, in turn; who goes first changes.

    Args:
        accounts: the program that counts.
        load: what is measured.
        rounds: pairs.
        calls: socket calls of one operation.
        bystander: another process is attached to, not this one.
    """
    watched = os.getpid() if bystander else load.pid
    load.round()
    without: list[Round] = []
    attached: list[Round] = []
    for number in range(rounds):
        for counted in (False, True) if number % 2 else (True, False):
            if counted:
                accounts.watch(watched)
                attached.append(load.round())
                accounts.forget(watched)
            else:
                without.append(load.round())
    percent, spread = overhead(
        [one.a_cpu_second for one in without], [one.a_cpu_second for one in attached]
    )
    wall, wall_spread = overhead(
        [one.a_wall_second for one in without], [one.a_wall_second for one in attached]
    )
    more_us = [
        1e6 / after.a_cpu_second - 1e6 / before.a_cpu_second
        for before, after in zip(without, attached, strict=True)
    ]
    base_us = statistics.median(1e6 / one.a_cpu_second for one in without)
    return {
        "overhead_percent": round(percent, 2),
        "quartiles": spread,
        "wall_overhead_percent": round(wall, 2),
        "wall_quartiles": wall_spread,
        "operation_us": round(base_us, 3),
        "a_call_ns": round(1000 * statistics.median(more_us) / calls),
    }


def read_us(accounts: Accounts) -> float:
    """CPU microseconds that reading the counters of a thread takes, of 1,000 threads."""
    pid = os.getpid()
    accounts.watch(pid)
    moved, leave = threading.Barrier(THREADS + 1), threading.Event()

    def move() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.bind(("127.0.0.1", 0))
            own.sendto(b"x", own.getsockname())
        moved.wait()
        leave.wait()

    threading.stack_size(65536)
    threads = [threading.Thread(target=move) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    moved.wait()
    tids = np.array([thread.native_id for thread in threads], np.uint32)
    costs = []
    for _ in range(50):
        before = time.thread_time_ns()
        _, counted = accounts.live(pid, tids, time.monotonic_ns())
        costs.append((time.thread_time_ns() - before) / 1000 / THREADS)
        assert counted.all()
    leave.set()
    for thread in threads:
        thread.join()
    accounts.forget(pid)
    return statistics.median(costs)


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="What counting network bytes costs.")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.05, help="of a round")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    accounts = load(ProcFs())
    if not isinstance(accounts, Accounts):
        raise SystemExit(f"no eBPF here: {accounts.reason}")
    cases: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        executable = Path(folder) / "socket_load"
        compiler = shutil.which("cc") or "cc"
        source = str(HERE / "socket_load.c")
        subprocess.run([compiler, "-O2", "-pthread", "-o", str(executable), source], check=True)
        for mode, calls in CALLS.items():
            bystander = mode == "bystander"
            program = Load(executable, "server" if bystander else mode, arguments.seconds)
            try:
                cases[mode] = measure(
                    accounts, program, arguments.rounds, calls, bystander=bystander
                )
            finally:
                program.close()
    read = read_us(accounts)
    accounts.close()
    figures = {
        "overhead_percent": cases["server"]["overhead_percent"],
        "quartiles": cases["server"]["quartiles"],
        "cases": cases,
        "read_us": round(read, 4),
        "rounds": arguments.rounds,
        "unix_s": round(time.time()),
    }
    if arguments.json:
        print(json.dumps(figures))
        return 0
    for mode, case in cases.items():
        print(f"{mode:10} {case}")
    print(f"overhead: {figures['overhead_percent']} %; reading: {read:.3f} µs a thread")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
