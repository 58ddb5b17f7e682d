"""Network numbers by eBPF against what programs moved, on this machine's kernel, byte for byte."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from capabilities import needs
from followed_target import FollowedTarget
from programs.build import build_c
from programs.netmoves import CASES, Harness, build, differences, measure
from programs.netmoves import harness as made_harness
from programs.spliced_reads import BYTES, SplicedReads
from programs.unprivileged import see
from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.netacct.reader import NetworkReader
from tidscope_collector.netacct.slots import SLOTS
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.thread_reader import ProcThreadReader

NOBODY = 65534
EXEC_C = Path(__file__).parents[1] / "programs" / "exec_elsewhere.c"


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with made_harness("ebpf") as made:
        assert made.sources.network.kind == "ebpf", made.sources.network.description
        yield made


@pytest.fixture
def accounts() -> Iterator[Accounts]:
    made = Accounts(ProcFs())
    yield made
    made.close()


def test_the_program_has_the_cases_that_are_listed() -> None:
    reported = subprocess.run([str(build()), "--list"], check=True, capture_output=True, text=True)
    assert reported.stdout.split() == list(CASES)


@pytest.mark.parametrize("case", CASES)
def test_numbers_agree(case: str, harness: Harness) -> None:
    outcome = measure(case, harness)
    assert outcome.report.unsupported is None
    assert any(sum(one.numbers) for one in outcome.report.threads) or case == "not_internet"
    assert differences(case, outcome) == []


@pytest.mark.parametrize("case", ["tcp4_read_write", "used_id", "short_threads", "shared_socket"])
def test_numbers_agree_where_counters_are_walked(case: str) -> None:
    with made_harness("ebpf", "walk") as harness:
        assert harness.sources.walk.obstacle is None
        assert differences(case, measure(case, harness)) == []


def test_nothing_is_left_behind(harness: Harness) -> None:
    accounts = harness.sources.network._accounts
    assert accounts is not None
    assert accounts.uncounted_calls == 0
    measure("short_threads", harness)
    assert accounts.slots_in_use == 0


class Mover:
    """Sends datagrams of this process to itself."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))

    def move(self, count: int) -> None:
        self._socket.sendto(b"x" * count, self._socket.getsockname())
        assert len(self._socket.recv(65536)) == count

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def mover() -> Iterator[Mover]:
    made = Mover()
    yield made
    made.close()


def numbers(accounts: Accounts, tid: int, pid: int = 0) -> list[int]:
    found, _ = accounts.live(pid or os.getpid(), np.array([tid], np.uint32), time.monotonic_ns())
    row: list[int] = found[0].tolist()
    return row


def await_gone(tid: int) -> None:
    """Wait until a thread of this process has left it: join() returns a little earlier."""
    deadline = time.monotonic() + 10
    while Path(f"/proc/self/task/{tid}").exists():
        assert time.monotonic() < deadline
        os.sched_yield()


def test_only_watched_processes_are_counted_and_only_while_they_are(
    accounts: Accounts, mover: Mover
) -> None:
    me, here = os.getpid(), threading.get_native_id()
    mover.move(1)
    assert accounts.slots_in_use == 0
    accounts.watch(me)
    mover.move(20)
    mover.move(30)
    assert numbers(accounts, here) == [50, 50, 2, 2]
    accounts.watch(me)
    accounts.forget(me)  # somebody else still watches
    mover.move(400)
    assert numbers(accounts, here) == [450, 450, 3, 3]
    accounts.forget(me)
    mover.move(5000)
    assert numbers(accounts, here) == [0, 0, 0, 0]
    assert accounts.slots_in_use == 0
    accounts.watch(me)
    mover.move(7)  # the thread still has its old claim, which is of no worth now
    assert numbers(accounts, here) == [7, 7, 1, 1]
    accounts.forget(me)


def test_a_slot_is_used_again_and_begins_at_zero(accounts: Accounts, mover: Mover) -> None:
    me = os.getpid()
    accounts.watch(me)

    def in_thread() -> int:
        tids: list[int] = []

        def work() -> None:
            tids.append(threading.get_native_id())
            mover.move(100)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        await_gone(tids[0])
        return tids[0]

    seen = set()
    for _ in range(5):
        tid = in_thread()
        accounts.exited(me, np.array([tid], np.uint32), np.array([0], np.int64))
        assert accounts.slots_in_use == 0
        time.sleep(0.06)  # a slot rests before it is used again
        numbers(accounts, tid)  # puts rested slots back
        seen.add(int(accounts.control["used"][0]))
    assert seen == {1}
    mover.move(3)
    assert numbers(accounts, threading.get_native_id()) == [3, 3, 1, 1]
    accounts.forget(me)


def test_every_poll_finds_who_came_and_not_who_left(accounts: Accounts, mover: Mover) -> None:
    me, here = os.getpid(), threading.get_native_id()
    accounts.watch(me)
    mover.move(5)
    assert numbers(accounts, here) == [5, 5, 1, 1]
    moved, leave = threading.Event(), threading.Event()

    def work() -> None:
        mover.move(70)
        moved.set()
        leave.wait()

    thread = threading.Thread(target=work)
    thread.start()
    moved.wait()
    tid = thread.native_id
    assert tid is not None
    while_there = numbers(accounts, tid)
    leave.set()
    thread.join()
    await_gone(tid)
    assert while_there == [70, 70, 1, 1]
    assert numbers(accounts, tid) == [0, 0, 0, 0]
    assert numbers(accounts, here) == [5, 5, 1, 1]
    accounts.forget(me)


def test_threads_without_a_slot_are_absent_not_zero(accounts: Accounts, mover: Mover) -> None:
    reader = NetworkReader(ProcThreadReader(ProcFs(), os.getpid()), accounts, os.getpid())
    here = np.array([threading.get_native_id()], np.uint32)
    try:
        reading = reader.read(here)
        assert reading.absent is None or not reading.absent[0, -4:].any()
        accounts.control["used"][0] = SLOTS  # as if all were in use
        mover.move(10)
        assert accounts.uncounted_calls == 2
        reading = reader.read(here)
        assert reading.absent is not None
        assert reading.absent[0, -4:].all()
        assert not reading.absent[0, :-4].any()
    finally:
        accounts.control["used"][0] = 0
        reader.close()


def test_a_thread_that_executes_a_program_goes_on_under_its_process_id(
    accounts: Accounts,
) -> None:
    process = subprocess.Popen(
        [str(build_c(EXEC_C)), "first"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        accounts.watch(process.pid)
        process.stdin.write("\n")
        process.stdin.flush()
        # The first thread sent 5 bytes, another one 70 and then executed the program again, which
        # sent nothing so far.
        assert process.stdout.readline() == "executed\n"
        assert numbers(accounts, process.pid, process.pid) == [0, 70, 0, 1]
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "sent 300\n"
        assert numbers(accounts, process.pid, process.pid) == [0, 370, 0, 2]
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()


def test_without_rights_the_reason_is_reported() -> None:
    reported = see(NOBODY, "network")
    assert reported.startswith("none: ")
    assert "CAP_BPF and CAP_PERFMON" in reported
    assert "see Doctor" in reported


@pytest.mark.parametrize(
    ("rights", "words"), [("+bpf,+perfmon", "ebpf: "), ("+bpf", "lacks CAP_PERFMON")]
)
def test_two_capabilities_are_enough(rights: str, words: str) -> None:
    reported = see(0, "network", within=["setpriv", "--bounding-set", f"-all,{rights}"])
    assert words in reported


def test_in_another_pid_namespace_the_reason_is_reported() -> None:
    reported = see(0, "network", within=["unshare", "--pid", "--fork", "--mount-proc"])
    assert "initial PID namespace" in reported


def test_it_can_be_switched_off() -> None:
    with made_harness("none") as harness:
        outcome = measure("tcp4_peek", harness)
    assert outcome.network == "none: disabled (--network none)"
    assert set(outcome.live.values()) == {(-1, -1, -1, -1)}


def test_the_switch_takes_known_sources_only() -> None:
    command = [sys.executable, "-m", "tidscope_collector", "run", "--network", "wires"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "'wires'" in done.stderr


ROUNDS = 3


@needs("root")
@needs("btf")
def test_who_made_reads_that_are_not_counted_is_said() -> None:
    with SplicedReads() as program, FollowedTarget(program.pid) as followed:
        uncounted = "splice() out of TCP sockets" in followed.target.source.network
        for _ in range(ROUNDS):
            program.read()
        after = followed.catch_up()
        # Tables are read seldom on a slow machine; key frames have them all.
        followed.until(
            lambda: (
                "inexact" in followed.seen.tables
                if uncounted
                else followed.seen.tables_ns > after.time_ns
            )
        )
        rows = followed.seen.rows
        marked = {
            (int(row["tid"]), str(row["name"]), str(row["label"]))
            for row in followed.seen.tables.get("inexact", ())
        }
    assert rows[program.receiver]["net_read_bytes"] == ROUNDS * BYTES
    if uncounted:
        assert marked == {
            (program.splicer, "net_read_bytes", "at_least"),
            (program.splicer, "net_read_calls", "at_least"),
        }
        assert rows[program.splicer]["net_read_bytes"] == 0
    else:
        assert marked == set()
        assert rows[program.splicer]["net_read_bytes"] == ROUNDS * BYTES
