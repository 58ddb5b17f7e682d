"""The process list and the fallback reader against the kernel's other accounts."""

import os
import pwd
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
from followed_target import FollowedTarget
from processes import start_ticks, thread_states, wait_until
from programs.go_programs import GoProgramRun
from programs.known_work import Account, KnownWork
from tidscope_collector.processes.listing import ProcessLister
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import TICKS_PER_SECOND, rss_bytes
from tidscope_collector.targets import sources
from tidscope_collector.taskstats.link import TaskstatsUnavailableError
from tidscope_collector.waits.source import LedgerOptions
from tidscope_wire.generated.models import Process


def is_idle(pid: int) -> bool:
    """True if all threads sleep, or have ended like a main thread before the others.

    The kernel adds time on a CPU to the account of a running thread at ticks and switches only, and
    a thread of known_work that has answered still has to go to its sleep.
    """
    return thread_states(pid) <= {"S", "Z"}


def by_pid(processes: list[Process]) -> dict[int, Process]:
    return {process.pid: process for process in processes}


def test_the_list_agrees_with_psutil() -> None:
    earliest = time.time()
    with KnownWork() as program:
        compare_with_psutil(program, earliest)


def compare_with_psutil(known_work: KnownWork, earliest: float) -> None:
    process = by_pid(ProcessLister().processes())[known_work.pid]
    other = psutil.Process(known_work.pid)
    assert process.name == other.name() == "known_work"
    assert process.executable == other.exe()
    assert process.command == " ".join(other.cmdline())
    assert process.user == other.username() == pwd.getpwuid(os.getuid()).pw_name
    assert process.threads == other.num_threads() == 5
    # To a tick; psutil's own answer is to a second, by the boot time of /proc/stat.
    assert earliest - 0.02 <= process.started_unix_ms / 1000 <= time.time()
    assert abs(process.started_unix_ms / 1000 - other.create_time()) < 1.1
    assert (process.runtime, process.runtime_version) == ("native", None)
    assert process.refusal is None


def identities() -> set[tuple[int, int]]:
    """Process IDs with starts: an ID that has become free may be used again at once."""
    found = set()
    for pid in psutil.pids():
        try:
            found.add((pid, start_ticks(pid)))
        except (FileNotFoundError, ProcessLookupError):
            continue  # The process has ended meanwhile.
    return found


def test_every_process_that_stays_is_listed() -> None:
    before = identities()
    listed = {(one.pid, one.start_ticks) for one in ProcessLister().processes()}
    after = identities()
    assert before & after
    assert before & after <= listed


def test_the_share_of_cpu_is_what_was_burned() -> None:
    with KnownWork(burn_ms=800) as program:
        lister = ProcessLister()
        began = time.monotonic()
        lister.processes()
        between = time.monotonic()
        program.command("b")
        wait_until(lambda: is_idle(program.pid))
        burned = time.monotonic()
        process = by_pid(lister.processes())[program.pid]
        ended = time.monotonic()
    assert process.cpu_percent is not None
    # The program is looked at once within each listing; its CPU time is reported in ticks of 10 ms.
    assert 100 * 0.78 / (ended - began) <= process.cpu_percent <= 100 * 0.85 / (burned - between)


def test_listening_ports_of_both_protocols() -> None:
    with socket.create_server(("127.0.0.1", 0)) as four, socket.socket(socket.AF_INET6) as six:
        six.bind(("::1", 0))
        six.listen()
        connected = socket.create_connection(four.getsockname())
        process = by_pid(ProcessLister().processes())[os.getpid()]
        local = connected.getsockname()[1]
        connected.close()
        wanted = {four.getsockname()[1], six.getsockname()[1]}
    assert wanted <= set(process.ports)
    assert local not in process.ports


def test_ports_of_a_process_in_its_own_network_namespace() -> None:
    listen = (
        "import socket\nserver = socket.create_server(('0.0.0.0', 4242))\n"
        "print('up', flush=True)\ninput()"
    )
    with subprocess.Popen(
        ["unshare", "--net", sys.executable, "-c", listen],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "up\n"
        process = by_pid(ProcessLister().processes())[program.pid]
        program.communicate("\n")
    assert process.ports == [4242]


def test_runtimes_of_real_programs() -> None:
    with GoProgramRun() as go, GoProgramRun(flags=("-ldflags=-s -w",)) as stripped:
        listed = by_pid(ProcessLister().processes())
        assert listed[go.pid].runtime == listed[stripped.pid].runtime == "go"
        assert (listed[go.pid].runtime_version or "").startswith("go1.")
    assert listed[os.getpid()].runtime == "python"


def test_kernel_threads_and_a_zombie_are_refused(known_work: KnownWork) -> None:
    known_work.kill_unreaped()
    listed = by_pid(ProcessLister().processes())
    kthreadd, zombie = listed[2].refusal, listed[known_work.pid].refusal
    assert kthreadd is not None and kthreadd.type.endswith("kernel-thread")
    assert zombie is not None and zombie.type.endswith("target-exited")
    assert listed[2].command == "[kthreadd]"


def test_many_processes_are_listed_and_other_threads_run_meanwhile() -> None:
    number = 300
    children = [subprocess.Popen(["sleep", "600"]) for _ in range(number)]
    try:
        lister = ProcessLister()
        began = time.thread_time()
        listed = lister.processes()
        cost = (time.thread_time() - began) / len(listed)
        began = time.thread_time()
        for child in children:
            for name in ("stat", "status", "cmdline"):
                Path(f"/proc/{child.pid}/{name}").read_bytes()
        reading = (time.thread_time() - began) / number
        held = typical_hold_of(lister)
    finally:
        for child in children:
            child.kill()
            child.wait()
    assert len(listed) > number
    # CPU time, in that of reading three files of a process: 1.2 of it where this was written.
    assert cost < 12 * reading
    # An interpreter that is shared changes hands every 5 ms of work.
    assert held < 0.02


def typical_hold_of(lister: ProcessLister) -> float:
    """CPU seconds that a listing uses between two turns of another thread, in nine of ten cases.

    Of CPU time, and the other thread precedes all others if it may, so that a machine that does
    other work too does not matter.
    """
    stop = threading.Event()
    turns: list[float] = []
    clock = time.pthread_getcpuclockid(threading.get_ident())

    def poll() -> None:
        with suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        while not stop.is_set():
            turns.append(time.clock_gettime(clock))
            time.sleep(0.002)

    thread = threading.Thread(target=poll)
    thread.start()
    for _ in range(3):
        lister.processes()
    stop.set()
    thread.join()
    held = sorted(after - before for before, after in pairwise(turns))
    return held[len(held) * 9 // 10]


def test_a_process_keeps_its_start_over_an_exec() -> None:
    with KnownWork() as program:
        before = by_pid(ProcessLister().processes())[program.pid]
        program.command("x")
        after = by_pid(ProcessLister().processes())[program.pid]
    assert (before.start_ticks, before.pid) == (after.start_ticks, after.pid)
    assert Path(after.executable or "").name == "known_work"


PROC = ProcFs()
TICK_US = 1_000_000 // TICKS_PER_SECOND
MIB = 1 << 20


class Watched:
    """A program sampled from /proc, values by thread name and field."""

    def __init__(self, program: KnownWork) -> None:
        self.program = program
        self.followed = FollowedTarget(program.pid, ledger=LedgerOptions("off"))
        assert self.followed.target.source.kind == "procfs"

    def names(self) -> dict[int, str]:
        threads = self.followed.sources.native.threads(self.followed.target.id)
        return {tid: name for tid, _, _, name, _ in threads or ()}

    def read(self) -> dict[str, dict[str, int]]:
        wait_until(lambda: is_idle(self.program.pid))
        self.followed.flush()
        names = self.names()
        return {names[tid]: dict(row) for tid, row in self.followed.seen.rows.items()}


@pytest.fixture
def without_taskstats(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: ProcFs) -> None:
        raise TaskstatsUnavailableError("a test does without")

    monkeypatch.setattr(sources, "probe", refuse)


@pytest.fixture
def watched(known_work: KnownWork, without_taskstats: None) -> Iterator[Watched]:
    made = Watched(known_work)
    yield made
    made.followed.close()


def test_the_burner_has_its_second_and_nobody_else(watched: Watched) -> None:
    before = watched.read()
    own: Account = watched.program.command("b").thread
    after = watched.read()
    burner = after["burner"]
    # The burner runs on for some microseconds after its own reading, until it sleeps.
    assert own.cpu_ns <= burner["cpu_run_ns"] <= own.cpu_ns + 5_000_000
    assert burner["user_cpu_us"] + burner["system_cpu_us"] == pytest.approx(
        burner["cpu_run_ns"] / 1000, abs=2 * TICK_US
    )
    for name in ("writer", "renamer", "sleeper"):
        assert after[name]["cpu_run_ns"] - before[name]["cpu_run_ns"] < 1_000_000
    assert burner["involuntary_switches"] >= own.involuntary_switches
    assert own.minor_faults <= burner["minor_faults"] <= own.minor_faults + 2


def test_the_writer_wrote_what_the_file_has(watched: Watched) -> None:
    before = watched.read()["writer"]
    own = watched.program.command("w").thread
    after = watched.read()["writer"]
    size = watched.program.file.stat().st_size
    assert size == 8 * MIB
    assert after["write_char_bytes"] - before["write_char_bytes"] == size
    assert after["write_syscalls"] - before["write_syscalls"] == size // (64 << 10)
    # getrusage counts the same in blocks of 512 bytes; metadata of the file system comes on top.
    assert after["disk_write_bytes"] == own.blocks_out * 512
    assert size <= after["disk_write_bytes"] < size + MIB
    assert after["voluntary_switches"] >= own.voluntary_switches > before["voluntary_switches"]


def test_a_new_name_is_seen(watched: Watched) -> None:
    watched.program.command("r")
    assert "renamed-1" in watched.read()


def test_all_threads_together_are_the_process(watched: Watched) -> None:
    watched.program.command("b")
    threads = {name: thread["cpu_run_ns"] for name, thread in watched.read().items()}
    process = watched.program.command("p").process.cpu_ns
    after = watched.read()
    assert sum(threads.values()) <= process
    assert process <= sum(thread["cpu_run_ns"] for thread in after.values())
    # The main thread has answered, and nobody else ran.
    ran = {name for name, thread in after.items() if thread["cpu_run_ns"] != threads[name]}
    assert ran == {"known_work"}


def test_the_sleeper_sleeps(watched: Watched) -> None:
    # On a busy machine it has not yet come to its sleep when the program answers.
    while (before := watched.read()["sleeper"])["voluntary_switches"] == 0:
        time.sleep(0.01)
    watched.program.command("b")
    assert watched.read()["sleeper"] == before


def test_schedstat_says_the_same(watched: Watched) -> None:
    watched.program.command("b")
    schedstat = Path(f"/proc/{watched.program.tids['burner']}/schedstat")
    said = ""
    # The program answers shortly before this thread sleeps.
    while said != (said := schedstat.read_text()):
        burner = watched.read()["burner"]
    run, wait, count = said.split()
    assert burner["cpu_run_ns"] == int(run)
    assert burner["cpu_delay_ns"] == int(wait)
    assert burner["cpu_count"] == int(count)


def test_start_is_within_a_tick_of_the_truth(watched: Watched) -> None:
    before = time.monotonic_ns()
    tid = watched.program.command("n").thread.tid
    after = time.monotonic_ns()
    watched.followed.flush()
    sampler = watched.followed.engine.find(watched.followed.target.id)
    assert sampler is not None
    threads = watched.followed.sources.native.threads(watched.followed.target.id) or []
    [start] = [start + sampler.attach_ns for one, _, start, _, _ in threads if one == tid]
    # Ticks are cut off, not rounded.
    assert before - TICK_US * 1000 - 1_000_000 <= start <= after


def test_a_thread_that_has_ended_is_left_out(watched: Watched) -> None:
    extra = watched.program.command("n").thread.tid
    watched.followed.flush()
    assert extra in watched.followed.seen.rows
    watched.program.command("e")
    watched.followed.until(lambda: extra not in watched.followed.seen.rows)
    assert [one.tid for one in watched.followed.seen.ended] == [extra]


def test_a_process_that_ended_is_gone_even_as_a_zombie(watched: Watched) -> None:
    watched.program.kill_unreaped()
    watched.followed.until_ended()


def test_threads_go_on_without_their_main_thread(watched: Watched) -> None:
    program = watched.program
    program.send("z")
    program.answer()
    while "Z" not in Path(f"/proc/{program.pid}/stat").read_text().rpartition(")")[2]:
        time.sleep(0.001)
    own = program.command("b").thread
    assert watched.read()["burner"]["cpu_run_ns"] >= own.cpu_ns
    resident = rss_bytes(PROC, program.pid)
    assert resident is not None
    assert resident > 100_000


def test_resident_memory_is_what_status_says(known_work: KnownWork) -> None:
    status = Path(f"/proc/{known_work.pid}/status").read_text()
    kib = int(status.partition("VmRSS:")[2].split()[0])
    # The kernel sums per-CPU counters only now and then.
    assert rss_bytes(PROC, known_work.pid) == pytest.approx(kib * 1024, abs=MIB)


def test_a_process_that_is_gone_has_no_memory(known_work: KnownWork) -> None:
    known_work.kill()
    assert rss_bytes(PROC, known_work.pid) is None
