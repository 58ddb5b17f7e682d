"""Checks of the extended kernel beyond a thread's counters; runs inside of it, as a script.

Process totals (TGID) are not asked for by the collector, which sums threads itself: they are asked
for here. Prints a line for each check: its name, and "agrees" or what was wrong.
"""

import os
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # Needed when run as a script.

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.columns import Columns
from tidscope_collector.taskstats.exits import possible_cpus
from tidscope_collector.taskstats.layout import STOCK, UnknownLayoutError, choose
from tidscope_collector.taskstats.link import open_socket, probe
from tidscope_collector.taskstats.messages import (
    ATTR_PID,
    ATTR_REGISTER_CPUMASK,
    TYPE_AGGR_TGID,
    Record,
    command,
    error_code,
    parse,
)
from tidscope_collector.taskstats.profile import kernel_profile

ATTR_TGID = 2
PAGE = 4096
KERNEL = probe()
Numbers = tuple[int, ...]
"""read_net_bytes, write_net_bytes, read_net_syscalls, write_net_syscalls."""
ZERO: Numbers = (0, 0, 0, 0)


class Link:
    """A taskstats socket, not the collector's."""

    def __init__(self) -> None:
        self._socket = open_socket(1 << 20)
        self._socket.settimeout(120)

    def __enter__(self) -> "Link":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _send(self, attribute: int, payload: bytes) -> None:
        self._socket.send(command(KERNEL.family, attribute, payload, 1))

    def _acknowledged(self) -> None:
        while (code := error_code(self._socket.recv(1 << 16))) is None:
            pass
        assert code == 0, os.strerror(code)

    def ask(self, attribute: int, number: int) -> Numbers:
        """Network numbers of a thread (ATTR_PID) or a process (ATTR_TGID)."""
        self._send(attribute, struct.pack("=I", number))
        reply = self._socket.recv(1 << 16)
        assert error_code(reply) is None, "no such process"
        self._acknowledged()
        (record,) = parse(reply, KERNEL.family)
        return numbers_of(reply, record)

    def listen(self) -> None:
        """Register for the exits on all CPUs."""
        cpus = ",".join(map(str, possible_cpus()))
        self._send(ATTR_REGISTER_CPUMASK, f"{cpus}\0".encode())
        self._acknowledged()

    def end_of(self, pid: int, *, group: bool) -> Numbers:
        """Wait for the exit of a thread, or for the totals of a process."""
        while True:
            message = self._socket.recv(1 << 16)
            for record in parse(message, KERNEL.family):
                if record.id == pid and (record.kind == TYPE_AGGR_TGID) == group:
                    return numbers_of(message, record)


def numbers_of(message: bytes, record: Record) -> Numbers:
    """The four numbers of a record."""
    assert record.length == KERNEL.layout.length
    at = record.offset + KERNEL.layout.offsets["read_net_bytes"]
    return struct.unpack_from("=4Q", message, at)


def less(after: Numbers, before: Numbers) -> Numbers:
    return tuple(a - b for a, b in zip(after, before, strict=True))


def moved(action: Callable[[], object]) -> Numbers:
    """Return the kernel's network counters of this thread for an action."""
    with Link() as link:
        before = link.ask(ATTR_PID, threading.get_native_id())
        action()
        return less(link.ask(ATTR_PID, threading.get_native_id()), before)


def same(reported: object, expected: object) -> None:
    assert reported == expected, f"{reported} instead of {expected}"


def datagrams(family: int = socket.AF_INET) -> tuple[socket.socket, socket.socket]:
    """Two connected UDP sockets."""
    address = "127.0.0.1" if family == socket.AF_INET else "::1"
    ends = socket.socket(family, socket.SOCK_DGRAM), socket.socket(family, socket.SOCK_DGRAM)
    for one in ends:
        one.bind((address, 0))
    ends[0].connect(ends[1].getsockname())
    ends[1].connect(ends[0].getsockname())
    return ends


def streams(family: int = socket.AF_INET) -> tuple[socket.socket, socket.socket]:
    """Two connected TCP sockets with room for what nobody reads."""
    address = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.create_server((address, 0), family=family) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        sender = socket.socket(family)
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        sender.connect(server.getsockname())
        return sender, server.accept()[0]


def exchange(count: int) -> None:
    """Send a datagram to oneself."""
    first, second = datagrams()
    with first, second:
        first.send(b"x" * count)
        assert len(second.recv(1 << 16)) == count


def send_file(into: socket.socket, count: int) -> None:
    """Send a file of so many bytes with one call."""
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * count)
        file.flush()
        assert os.sendfile(into.fileno(), file.fileno(), 0, count) == count


def profile_version_and_length_tell_the_layout() -> None:
    same(kernel_profile(ProcFs()), "netext")
    layout = KERNEL.layout
    same((layout.name, layout.version, layout.length), ("v13+netext", 13, 448))
    reported = Columns(layout, delay_accounting=True).fields[-4:]
    same(reported, ("net_read_bytes", "net_write_bytes", "net_read_calls", "net_write_calls"))
    try:
        choose(layout.version, layout.length, STOCK)
    except UnknownLayoutError:
        return
    raise AssertionError("the stock profile took the struct")


def the_marker_cannot_be_written() -> None:
    try:
        Path("/proc/sys/kernel/taskstats_profile").write_text("other")
    except PermissionError:
        return
    raise AssertionError("it was written")


def sendfile_is_a_call_each_64_kib() -> None:
    for family in (socket.AF_INET, socket.AF_INET6):
        sender, receiver = streams(family)
        with sender, receiver:
            same(moved(partial(send_file, sender, 150_000)), (0, 150_000, 0, 3))


def sendfile_of_datagrams_is_counted_once() -> None:
    # UDP over IPv4 takes pages; over IPv6 each page goes through sendmsg, which counts it.
    for family, calls in ((socket.AF_INET, 1), (socket.AF_INET6, 3)):
        sender, receiver = datagrams(family)
        with sender, receiver:
            same(moved(partial(send_file, sender, 3 * PAGE)), (0, 3 * PAGE, 0, calls))
            left = 3 * PAGE
            while left:  # The kernel makes one datagram or several of them.
                left -= len(receiver.recv(1 << 16))


def splice_between_two_sockets() -> None:
    sender, receiver = streams()
    other, last = streams()
    out, into = os.pipe()
    with sender, receiver, other, last:
        sender.send(b"x" * 10_000)

        def relay() -> None:
            count = os.splice(receiver.fileno(), into, 10_000)
            assert os.splice(out, other.fileno(), count) == count == 10_000

        same(moved(relay), (10_000, 10_000, 1, 1))
    os.close(out)
    os.close(into)


def splice_of_local_sockets_is_not_counted() -> None:
    first, second = socket.socketpair()
    out, into = os.pipe()
    with first, second:

        def relay() -> None:
            first.send(b"x" * 100)
            assert os.splice(second.fileno(), into, 100) == 100
            assert os.splice(out, second.fileno(), 100) == 100
            send_file(first, 100)

        same(moved(relay), ZERO)
    os.close(out)
    os.close(into)


def raw_sockets_are_counted() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.settimeout(120)
        request = struct.pack("!BBHHH", 8, 0, 0xF7FE, 0, 1)

        def ping() -> None:
            assert raw.sendto(request, ("127.0.0.1", 0)) == 8
            assert len(raw.recv(1 << 16)) == 28  # A raw socket receives the IP header as well.

        same(moved(ping), (28, 8, 1, 1))


def a_process_is_the_sum_of_its_threads_dead_ones_included() -> None:
    ready, leave = threading.Barrier(9), threading.Event()
    reported: list[Numbers] = []

    def stay(count: int) -> None:
        exchange(count)
        with Link() as link:
            reported.append(link.ask(ATTR_PID, threading.get_native_id()))
        ready.wait()
        leave.wait()

    with Link() as link:
        before = link.ask(ATTR_TGID, os.getpid())
        for count in range(1, 101):
            one = threading.Thread(target=exchange, args=(count,))
            one.start()
            one.join()
        threads = [threading.Thread(target=stay, args=(1000 + at,)) for at in range(8)]
        for one in threads:
            one.start()
        ready.wait()
        alive = less(link.ask(ATTR_TGID, os.getpid()), before)
        leave.set()
        for one in threads:
            one.join()
        dead = less(link.ask(ATTR_TGID, os.getpid()), before)
    every = sum(range(1, 101)) + sum(1000 + at for at in range(8))
    same(alive, (every, every, 108, 108))
    same(dead, alive)
    same(sorted(reported), [(1000 + at, 1000 + at, 1, 1) for at in range(8)])


def the_sum_never_goes_back_while_threads_end() -> None:
    done = threading.Event()

    def storm() -> None:
        for _ in range(60):
            threads = [threading.Thread(target=exchange, args=(100,)) for _ in range(3)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
        done.set()

    with Link() as link:
        before = last = link.ask(ATTR_TGID, os.getpid())
        driver = threading.Thread(target=storm)
        driver.start()
        while not done.is_set():
            now = link.ask(ATTR_TGID, os.getpid())
            assert all(a >= b for a, b in zip(now, last, strict=True)), f"{now} after {last}"
            last = now
        driver.join()
        reported = less(link.ask(ATTR_TGID, os.getpid()), before)
        same(reported, (18_000, 18_000, 180, 180))


def child(work: Callable[[], object]) -> int:
    """Fork; the child waits for nothing, works and ends."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid


def ended_well(pid: int) -> None:
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def the_record_of_a_process_has_its_threads_and_not_its_children() -> None:
    def work() -> None:
        ended_well(child(lambda: exchange(7)))
        for count in (10, 20, 30):
            one = threading.Thread(target=exchange, args=(count,))
            one.start()
            one.join()
        exchange(5)

    exchange(3)
    with Link() as link:
        link.listen()
        pid = child(work)
        same(link.end_of(pid, group=False), (5, 5, 1, 1))
    ended_well(pid)
    with Link() as link:
        link.listen()
        pid = child(work)
        same(link.end_of(pid, group=True), (65, 65, 4, 4))
    ended_well(pid)


def a_child_begins_at_zero_and_exec_goes_on() -> None:
    def work() -> None:
        exchange(100)
        os.execv(sys.executable, [sys.executable, "-IS", "-c", ""])

    exchange(3)
    with Link() as link:
        link.listen()
        pid = child(work)
        same(link.end_of(pid, group=False), (100, 100, 1, 1))
    ended_well(pid)


def a_zombie_keeps_its_numbers() -> None:
    pid = child(lambda: exchange(50))
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    with Link() as link:
        same(link.ask(ATTR_PID, pid), (50, 50, 1, 1))
        same(link.ask(ATTR_TGID, pid), (50, 50, 1, 1))
    ended_well(pid)


CHECKS: tuple[Callable[[], None], ...] = (
    profile_version_and_length_tell_the_layout,
    the_marker_cannot_be_written,
    sendfile_is_a_call_each_64_kib,
    sendfile_of_datagrams_is_counted_once,
    splice_between_two_sockets,
    splice_of_local_sockets_is_not_counted,
    raw_sockets_are_counted,
    the_record_of_a_process_has_its_threads_and_not_its_children,
    a_child_begins_at_zero_and_exec_goes_on,
    a_zombie_keeps_its_numbers,
    a_process_is_the_sum_of_its_threads_dead_ones_included,
    the_sum_never_goes_back_while_threads_end,
)


def main() -> int:
    """Run all checks."""
    failed = 0
    for check in CHECKS:
        began = time.monotonic()
        try:
            check()
            state = "agrees"
        except Exception as error:
            traceback.print_exc()
            state, failed = f"{type(error).__name__}: {error}", failed + 1
        sys.stdout.write(f"{check.__name__}: {state}\n")
        sys.stderr.write(f"{check.__name__} took {time.monotonic() - began:.2f} s\n")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
