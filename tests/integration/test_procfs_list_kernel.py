"""The process list of this machine."""

import os
import pwd
import socket
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import psutil
from programs.go_programs import GoProgramRun
from programs.known_work import KnownWork
from tidscope_collector.processes.listing import ProcessLister
from tidscope_wire.generated.models import Process


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


def test_every_process_that_stays_is_listed() -> None:
    before = set(psutil.pids())
    listed = set(by_pid(ProcessLister().processes()))
    after = set(psutil.pids())
    assert before & after
    assert before & after <= listed


def test_the_share_of_cpu_is_what_was_burned() -> None:
    with KnownWork(burn_ms=800) as program:
        lister = ProcessLister()
        began = time.monotonic()
        lister.processes()
        between = time.monotonic()
        program.command("b")
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
        held = usual_hold_of(lister)
    finally:
        for child in children:
            child.kill()
            child.wait()
    assert len(listed) > number
    # CPU time, in that of reading three files of a process: 1.2 of it where this was written.
    assert cost < 12 * reading
    # An interpreter that is shared changes hands every 5 ms of work.
    assert held < 0.02


def usual_hold_of(lister: ProcessLister) -> float:
    """CPU seconds that a listing uses between two turns of another thread, in nine of ten cases.

    Of CPU time, so that a machine that does other work too does not matter.
    """
    stop = threading.Event()
    turns: list[float] = []
    clock = time.pthread_getcpuclockid(threading.get_ident())

    def look() -> None:
        while not stop.is_set():
            turns.append(time.clock_gettime(clock))
            time.sleep(0.002)

    thread = threading.Thread(target=look)
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
