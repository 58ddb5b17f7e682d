"""The process list, from a /proc of files."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fake_proc import PF_KTHREAD, FakeProc, children_look_at, stat_line, status_text
from programs.build import GO
from tidscope_collector.processes.identity import (
    Absence,
    Identity,
    attach_refusal,
    group_and_uid,
    identify,
)
from tidscope_collector.processes.listing import ProcessLister
from tidscope_collector.procfs.process import PAGE_BYTES
from tidscope_wire.generated.models import Process, ProcessContainer

TCP = (
    b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n"
    b"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 501 1\n"
    b"   1: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 502 1\n"
    b"   2: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  0  0 503 1\n"
)
TCP6 = (
    b"  sl  local_address                         remote_address                        st ...\n"
    b"   0: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A "
    b"00000000:00000000 00:00000000 00000000  0  0 504 1\n"
)


@pytest.fixture(autouse=True)
def _children(tmp_path: Path) -> Iterator[None]:
    with children_look_at(tmp_path):
        yield


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def only(processes: list[Process], pid: int) -> Process:
    (process,) = [process for process in processes if process.pid == pid]
    return process


def test_a_process_is_described(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(
        70,
        stat_line(70, b"web", threads=12, rss=5),
        status=status_text(70, uid=4_000_000),
        cmdline=b"/srv/web\0--port\x008080\0",
    )
    process = only(ProcessLister(proc.procfs).processes(), 70)
    assert (process.name, process.command) == ("web", "/srv/web --port 8080")
    assert (process.threads, process.rss_bytes) == (12, 5 * PAGE_BYTES)
    assert (process.uid, process.user) == (4_000_000, "4000000")
    assert (process.executable, process.runtime) == (None, "unknown")
    assert process.refusal is None


def test_where_a_process_belongs(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    number = "ab" * 32
    proc.process(
        70,
        stat_line(70, b"nginx", parent=4),
        status=status_text(70) + b"NSpid:\t70\t1\n",
    )
    proc.write("70/cgroup", f"0::/system.slice/docker-{number}.scope\n".encode())
    proc.process(71, stat_line(71))
    proc.write("71/cgroup", b"0::/system.slice/postgresql.service\n")
    inside, service = (only(ProcessLister(proc.procfs).processes(), pid) for pid in (70, 71))
    assert inside.container == ProcessContainer(id=number, name=None, runtime="docker", pod=None)
    assert (inside.parent, inside.namespace_pid) == (4, 1)
    assert inside.cgroup == f"/system.slice/docker-{number}.scope"
    assert (service.unit, service.container) == ("postgresql.service", None)
    assert (service.parent, service.namespace_pid) == (None, None)


def test_the_user_inside_of_namespaces(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    for pid, uid in ((70, 4_000_999), (71, 4_000_000), (72, 4_000_000)):
        proc.process(pid, stat_line(pid), status=status_text(pid, uid=uid), exe="/bin/true")
        proc.write(f"{pid}/root/etc/passwd", b"root:x:0:0::/:\npostgres:x:999:999::/:\n")
        proc.write(f"{pid}/ns/mnt", b"")
        proc.write(f"{pid}/ns/user", b"")
        proc.write(f"{pid}/uid_map", b"         0    4000000       1000\n")
    proc.link("self/fd", "/proc/self/fd")
    for name in ("mnt", "user"):
        proc.write(f"self/ns/{name}", b"")
        (tmp_path / "72" / "ns" / name).unlink()
        (tmp_path / "72" / "ns" / name).hardlink_to(tmp_path / "self" / "ns" / name)
    listed = ProcessLister(proc.procfs).processes()
    inner, root, ours = (only(listed, pid) for pid in (70, 71, 72))
    assert (inner.uid, inner.namespace_uid, inner.namespace_user) == (4_000_999, 999, "postgres")
    assert (root.user, root.namespace_uid, root.namespace_user) == ("4000000", 0, "root")
    assert (ours.namespace_uid, ours.namespace_user) == (None, None)


def test_cpu_is_the_difference_of_two_listings(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    clock = Clock()
    lister = ProcessLister(proc.procfs, clock)
    proc.process(70, stat_line(70, utime=100, stime=50))
    assert only(lister.processes(), 70).cpu_percent is None
    proc.write("70/stat", stat_line(70, utime=190, stime=60))
    clock.now += 2
    assert only(lister.processes(), 70).cpu_percent == 50
    # Too soon to be a base of its own, but the old base still gives a share.
    clock.now += 0.25
    proc.write("70/stat", stat_line(70, utime=200, stime=60))
    assert only(lister.processes(), 70).cpu_percent == 40
    clock.now += 0.25
    assert only(lister.processes(), 70).cpu_percent == 20


def test_waits_and_throttling_are_differences_too(tmp_path: Path) -> None:
    proc, groups = FakeProc(tmp_path), FakeProc(tmp_path / "cgroup")
    clock = Clock()
    lister = ProcessLister(proc.procfs, clock, groups=groups.root)
    groups.write("limited/cpu.max", b"50000 100000\n")
    groups.write("free/cpu.max", b"max 100000\n")
    for pid, group in ((70, b"limited"), (71, b"free")):
        proc.process(pid)
        proc.write(f"{pid}/cgroup", b"0::/" + group + b"\n")

    def at(delay_ns: int, throttled_us: int) -> tuple[Process, Process]:
        text = f"nr_periods 9\nnr_throttled 3\nthrottled_usec {throttled_us}\n"
        for group in ("limited", "free"):
            groups.write(f"{group}/cpu.stat", text.encode())
        proc.write("70/schedstat", f"5000 {delay_ns} 12\n".encode())
        listed = lister.processes()
        return only(listed, 70), only(listed, 71)

    first, _ = at(1_000_000_000, 400_000)
    assert (first.wait_percent, first.throttled_percent) == (None, None)
    clock.now += 2
    limited, free = at(1_500_000_000, 900_000)
    assert (limited.wait_percent, limited.throttled_percent) == (25, 25)
    # Without schedstat, and without a limit.
    assert (free.wait_percent, free.throttled_percent) == (None, None)


def test_another_process_with_the_same_id_has_no_share_yet(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    clock = Clock()
    lister = ProcessLister(proc.procfs, clock)
    proc.process(70, stat_line(70, utime=100, start=1))
    lister.processes()
    proc.write("70/stat", stat_line(70, utime=5000, start=2))
    clock.now += 1
    assert only(lister.processes(), 70).cpu_percent is None


def test_kernel_threads_and_zombies_are_listed_as_refused(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(2, stat_line(2, b"kthreadd", flags=PF_KTHREAD), cmdline=b"")
    proc.process(9, stat_line(9, b"dead", state="Z"), cmdline=b"")
    listed = ProcessLister(proc.procfs).processes()
    refusals = {process.pid: process.refusal for process in listed}
    assert refusals[2] is not None and refusals[2].type.endswith("kernel-thread")
    assert refusals[9] is not None and refusals[9].type.endswith("target-exited")
    assert only(listed, 2).command == "[kthreadd]"
    assert only(listed, 9).command == "[dead]"


def test_ports_of_both_protocols_are_found_through_sockets(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(70, sockets=[501, 504, 503], tables={"tcp": TCP, "tcp6": TCP6})
    proc.process(71, sockets=[502, 999])
    proc.process(72)
    listed = ProcessLister(proc.procfs).processes()
    assert [process.ports for process in listed] == [[443, 8080], [80], []]


def test_ports_of_another_network_namespace_are_found(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(70, sockets=[501], net="net:[1]", tables={"tcp": TCP})
    proc.process(71, sockets=[504], net="net:[2]", tables={"tcp": b"\n", "tcp6": TCP6})
    assert [process.ports for process in ProcessLister(proc.procfs).processes()] == [[8080], [443]]


def test_ports_are_looked_up_again_after_some_seconds(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    clock = Clock()
    lister = ProcessLister(proc.procfs, clock)
    proc.process(70, sockets=[501], tables={"tcp": b"\n"})
    assert only(lister.processes(), 70).ports == []
    proc.write("70/net/tcp", TCP)
    clock.now += 1
    assert only(lister.processes(), 70).ports == []
    clock.now += 5
    assert only(lister.processes(), 70).ports == [8080]


def test_runtimes_are_reported_by_executable(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    java = tmp_path / "java"
    java.write_bytes(b"")
    assert GO is not None
    for pid, exe in {1: sys.executable, 2: GO, 3: str(java), 4: "/bin/sh", 5: "/nowhere"}.items():
        proc.process(pid, exe=str(Path(exe).resolve()))
    listed = ProcessLister(proc.procfs).processes()
    runtimes = [process.runtime for process in listed]
    assert runtimes == ["python", "go", "java", "native", "unknown"]
    assert (listed[1].runtime_version or "").startswith("go1.")
    assert listed[0].runtime_version == Path(sys.executable).resolve().name


def test_an_embedded_runtime_is_reported_by_its_library(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(5, exe="/bin/sh")
    proc.write("5/maps", b"7f00-7f01 r-xp 0 08:01 5 /usr/lib/jvm/lib/server/libjvm.so\n")
    assert only(ProcessLister(proc.procfs).processes(), 5).runtime == "java"


def test_a_process_that_ends_while_it_is_listed_is_left_out(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(70)
    proc.process(71)
    (tmp_path / "71" / "status").unlink()
    (tmp_path / "72").mkdir()
    assert [process.pid for process in ProcessLister(proc.procfs).processes()] == [70]


ALIVE = Identity(
    pid=50, group=50, start_ticks=700, name="web", uid=0, kernel_thread=False, ended=False
)


@pytest.mark.parametrize(
    ("found", "expected_start", "kind", "status", "named"),
    [
        (Absence.MISSING, None, "unknown-process", 404, "50"),
        (Absence.HIDDEN, None, "not-permitted", 403, "50"),
        (replace(ALIVE, group=40), None, "unknown-process", 404, "thread (web)"),
        (ALIVE, 699, "process-id-reused", 409, "699"),
        (replace(ALIVE, kernel_thread=True), None, "kernel-thread", 422, "web"),
        (replace(ALIVE, ended=True), None, "target-exited", 410, "zombie"),
        (replace(ALIVE, ended=True), 699, "process-id-reused", 409, "700"),
    ],
)
def test_refusals(
    found: Identity | Absence, expected_start: int | None, kind: str, status: int, named: str
) -> None:
    problem = attach_refusal(50, found, expected_start)
    assert problem is not None
    assert problem.type == f"urn:tidscope:problem:{kind}"
    assert problem.status == status
    assert named in problem.detail
    assert problem.hint


def test_a_thread_is_refused_with_the_process_to_attach_to() -> None:
    problem = attach_refusal(50, replace(ALIVE, group=40), None)
    assert problem is not None
    assert "40" in problem.hint


@pytest.mark.parametrize("expected_start", [None, 700])
def test_a_living_process_is_not_refused(expected_start: int | None) -> None:
    assert attach_refusal(50, ALIVE, expected_start) is None


def test_identity_is_read(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(50, stat_line(50, b"a) (b", start=700), status=status_text(50, uid=1000))
    assert identify(proc.procfs, 50) == replace(ALIVE, name="a) (b", uid=1000)


def test_a_kernel_thread_is_reported(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(3, stat_line(3, b"kworker/0:1", flags=PF_KTHREAD))
    found = identify(proc.procfs, 3)
    assert isinstance(found, Identity)
    assert found.kernel_thread


@pytest.mark.parametrize(("known", "answer"), [(True, Absence.HIDDEN), (False, Absence.MISSING)])
def test_what_proc_does_not_show_is_asked_of_the_kernel(
    tmp_path: Path, known: bool, answer: Absence
) -> None:
    assert identify(FakeProc(tmp_path).procfs, 50, exists=lambda _: known) is answer


def test_an_id_beyond_all_ids_is_missing(tmp_path: Path) -> None:
    assert identify(FakeProc(tmp_path).procfs, 1 << 80) is Absence.MISSING


def test_a_status_file_without_its_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="Uid"):
        group_and_uid(b"Name:\tx\nTgid:\t4\n")
