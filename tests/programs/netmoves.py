"""Drives netmoves.c and compares a source's network numbers with what it moved, byte for byte.

The cases stand here, for every source: `python tests/programs/netmoves.py --network taskstats` runs
them all against the extended struct, where the machine has it; exit code 1 if any number differs.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

# Needed when run as a script.
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from engines import engine_of
from frame_queues import TakenFrames
from processes import thread_files
from programs.build import build_c
from pydantic import BaseModel, ConfigDict
from tidscope_collector.netacct.choice import CHOICES, Choice
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.targets.sources import Sources
from tidscope_collector.walk.choice import Choice as WalkChoice
from tidscope_wire.frame import FrameDecoder, Rows
from tidscope_wire.generated.models import FrameHeader, ThreadExited

FIELDS = ("net_read_bytes", "net_write_bytes", "net_read_calls", "net_write_calls")
PATIENCE_S = 120.0
PATIENCE_US = 120_000_000
RATE_HZ = 20
PF_EXITING = 0x4

CASES: dict[str, str] = {
    "tcp4_read_write": "read and write",
    "tcp6_read_write": "the same over IPv6",
    "tcp4_vectors": "readv and writev",
    "tcp6_vectors": "the same over IPv6",
    "tcp4_send_recv": "send, sendto, sendmsg, recv, recvfrom, recvmsg",
    "tcp6_send_recv": "the same over IPv6",
    "tcp4_mmsg": "sendmmsg over a stream",
    "tcp4_much": "64 MiB",
    "udp4_send_recv": "datagrams, all ways to send and receive",
    "udp6_send_recv": "the same over IPv6",
    "udp4_vectors": "readv and writev of datagrams",
    "udp4_mmsg": "sendmmsg and recvmmsg",
    "udp6_mmsg": "the same over IPv6",
    "tcp4_sendfile": "sendfile",
    "tcp6_sendfile": "the same over IPv6",
    "tcp4_splice_out": "splice from a pipe into a socket",
    "tcp4_splice_in": "splice from a stream into a pipe",
    "udp4_splice_in": "splice from datagrams into a pipe",
    "tcp4_peek": "peeked bytes are counted once, when they are taken",
    "failed_calls": "EAGAIN, ECONNRESET, EPIPE, EMSGSIZE, EFAULT, ECONNREFUSED, empty datagrams",
    "truncated": "datagrams longer than the room for them",
    "errors_received": "MSG_ERRQUEUE gives one's own datagram back",
    "not_internet": "AF_UNIX, pipes and netlink are not counted",
    "shared_socket": "40 threads on the two ends of one connection",
    "short_threads": "500 threads that live between two samples",
    "used_id": "three threads after each other with one id",
    "child_process": "a child's traffic is not its parent's",
    "io_uring_inline": "operations that the submitting thread runs itself",
    "io_uring_worker": "operations that a worker thread of the kernel runs",
    "io_uring_polled": "operations that the polling thread of the kernel runs",
}


class Account(BaseModel):
    """Network bytes and calls of a thread; see netmoves.c."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    tid: int
    name: str
    calls_exact: bool
    read_bytes: int
    write_bytes: int
    read_calls: int
    write_calls: int

    @property
    def numbers(self) -> tuple[int, ...]:
        """In the order of FIELDS."""
        return self.read_bytes, self.write_bytes, self.read_calls, self.write_calls


class Report(BaseModel):
    """Final report of the program."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: str
    unsupported: str | None
    threads: tuple[Account, ...]


@dataclass
class Outcome:
    """Network traffic of a case, and the collector's counters for it.

    Attributes:
        report: report of the program.
        network: the source of network numbers.
        listed: threads that were there when the work was done.
        live: the numbers of each thread, by id, at that time.
        exited: id, name and numbers of each thread, in the order in which the exits were received.
        inexact: number of threads without an exit record.
        totals: totals of all threads.
    """

    report: Report
    network: str
    listed: frozenset[int]
    live: dict[int, tuple[int, ...]]
    exited: list[tuple[int, str, tuple[int, ...]]] = field(default_factory=list)
    inexact: int = 0
    totals: tuple[int, ...] = ()


def build() -> Path:
    """The executable, compiled if it is not there yet."""
    return build_c(Path(__file__).with_name("netmoves.c"), "-static")


class Harness:
    """A collector without a backend, whose frames come to whoever asks.

    Args:
        network: source of network counters.
        counters: source of other counters.
    """

    def __init__(self, network: Choice, counters: WalkChoice = "auto") -> None:
        self._decoder = FrameDecoder()
        self.sources = Sources(ProcFs(), network, counters=counters)
        self._frames = TakenFrames(self.sources.native)
        self._engine, self.targets = engine_of(self.sources)
        self._engine.start()

    def next(self) -> tuple[FrameHeader, Rows]:
        """The next frame, waited for."""
        return self._decoder.decode(self._frames.get(timeout=PATIENCE_S))

    def close(self) -> None:
        """Stop sampling and give everything back."""
        self._engine.stop()
        self.sources.close()


@contextmanager
def harness(network: Choice, counters: WalkChoice = "auto") -> Iterator[Harness]:
    """A harness for the time of a ``with`` statement."""
    made = Harness(network, counters)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def program(case: str) -> Iterator[subprocess.Popen[str]]:
    """The program of a case, started, and killed at the end if it still runs."""
    process = subprocess.Popen(
        [str(build()), case], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    """The next line that the program says.

    Raises:
        EOFError: it ended instead; what was wrong is on the standard error output.
    """
    assert process.stdout is not None
    text = process.stdout.readline()
    if not text:
        raise EOFError(f"netmoves ended, code {process.wait()}")
    return text


def go_on(process: subprocess.Popen[str]) -> None:
    """Tell the program to go on."""
    assert process.stdin is not None
    process.stdin.write("\n")


def measure(case: str, harness: Harness) -> Outcome:
    """Run a case under the eyes of the collector."""
    with program(case) as process:
        json.loads(line(process))
        target, _ = harness.targets.attach(process.pid, None, RATE_HZ)
        live: dict[int, tuple[int, ...]] = {}
        exited: list[ThreadExited] = []
        header, _ = harness.next()
        go_on(process)
        report = Report.model_validate_json(line(process))
        listed = _staying(process.pid)
        done_us = time.time_ns() // 1000
        # Births and ends are taken in later than the next sample where the machine is busy.
        mine = listed & {one.tid for one in report.threads}
        while header.unix_us <= done_us or live.keys() - listed or mine - live.keys():
            header, rows = harness.next()
            _take(header, rows, live, exited)
            if header.unix_us > done_us + PATIENCE_US:
                break
        outcome = Outcome(report, target.source.network, listed, dict(live))
        go_on(process)
        while not any(event.type == "target_exited" for event in header.events):
            header, rows = harness.next()
            _take(header, rows, live, exited)
    outcome.exited = [(one.tid, one.name, _of(one.totals)) for one in exited]
    outcome.inexact = header.exited.inexact
    outcome.totals = _of(header.exited.totals)
    return outcome


def _staying(pid: int) -> frozenset[int]:
    """Threads that are not about to end: joined ones stay listed until the kernel is done."""
    return frozenset(
        tid
        for tid, stat in thread_files(pid, "stat").items()
        if not int(stat.rpartition(")")[2].split()[6]) & PF_EXITING
    )


def _of(totals: dict[str, int]) -> tuple[int, ...]:
    return tuple(totals.get(name, -1) for name in FIELDS)


def _take(
    header: FrameHeader,
    rows: Rows,
    live: dict[int, tuple[int, ...]],
    exited: list[ThreadExited],
) -> None:
    for event in header.events:
        if isinstance(event, ThreadExited):
            exited.append(event)
            live.pop(event.tid, None)
    for row, tid in enumerate(rows.tid.tolist()):
        live[tid] = tuple(
            int(rows.columns[name][row]) if name in rows.columns else -1 for name in FIELDS
        )


def differences(case: str, outcome: Outcome) -> list[str]:
    """Everything in which the collector's numbers are not the program's."""
    wrong: list[str] = []
    accounts = [_expected(case, one, outcome.network) for one in outcome.report.threads]
    by_tid: dict[int, list[Account]] = defaultdict(list)
    for account in accounts:
        by_tid[account.tid].append(account)
    for tid, mine in by_tid.items():
        if tid in outcome.listed and len(mine) == 1 and tid not in outcome.live:
            wrong.append(f"live thread {tid} is not shown")
        if tid in outcome.live:
            wrong += _compare(f"live thread {tid}", mine[-1:], [outcome.live[tid]])
        if tid:
            ends = [numbers for one, _, numbers in outcome.exited if one == tid]
            wrong += _compare(f"exited thread {tid}", mine, ends)
    workers = [(name, numbers) for tid, name, numbers in outcome.exited if tid not in by_tid]
    for account in by_tid.get(0, []):
        ends = [numbers for name, numbers in workers if name.startswith(account.name)]
        summed = tuple(map(sum, zip(*ends, strict=True))) if ends else (0, 0, 0, 0)
        wrong += _compare(f"threads {account.name}", [account], [summed])
    wanted = tuple(account.name for account in by_tid.get(0, []))
    for name, numbers in workers:
        if any(numbers) and not name.startswith(wanted or ("\0",)):
            wrong.append(f"{name} has {numbers} and was not reported")
    if outcome.inexact:
        wrong.append(f"{outcome.inexact} threads without an exit record")
    sums = tuple(map(sum, zip(*(one.numbers for one in accounts), strict=True)))
    if outcome.totals[:2] != sums[:2]:
        wrong.append(f"all threads: {outcome.totals[:2]} bytes instead of {sums[:2]}")
    return wrong


def _expected(case: str, account: Account, network: str) -> Account:
    """Expected counters of a source, or a text for uncountable ones."""
    if case == "tcp4_splice_in" and "splice() out of TCP" in network and account.read_bytes:
        return account.model_copy(update={"read_bytes": 0, "read_calls": 0})
    if "into TCP sockets" in network and case in (
        "tcp4_sendfile",
        "tcp6_sendfile",
        "tcp4_splice_out",
    ):
        return account.model_copy(update={"write_bytes": 0, "write_calls": 0})
    return account


def _compare(whose: str, accounts: list[Account], received: list[tuple[int, ...]]) -> list[str]:
    # Records of threads that used one id may come in any order: each is on its own CPU's socket.
    ordered = sorted(accounts, key=lambda one: one.numbers)
    wrong = []
    if len(accounts) != len(received):
        wrong.append(f"{whose}: {len(received)} times instead of {len(accounts)}")
    for account, numbers in zip(ordered, sorted(received), strict=False):
        exact = numbers if account.calls_exact else (*numbers[:2], *account.numbers[2:])
        called = all(
            bool(calls) == bool(moved)
            for moved, calls in zip(numbers[:2], numbers[2:], strict=True)
        )
        if exact != account.numbers or not called:
            wrong.append(f"{whose} ({account.name}): {numbers} instead of {account.numbers}")
    return wrong


def main() -> int:
    """Run all cases, or those that are named; see the module's text."""
    parser = argparse.ArgumentParser(description="Network numbers against what was moved.")
    parser.add_argument("--network", choices=CHOICES, default="auto")
    parser.add_argument("cases", nargs="*", choices=[[], *CASES])
    arguments = parser.parse_args()
    failed = 0
    with harness(arguments.network) as made:
        for case in arguments.cases or CASES:
            outcome = measure(case, made)
            wrong = differences(case, outcome)
            state = outcome.report.unsupported or ("; ".join(wrong) if wrong else "agrees")
            failed += bool(wrong)
            sys.stdout.write(f"{case}: {state} [{outcome.network}]\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
