"""Queues of the real kernel: connections and their peers, and a lock of a file."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from processes import wait_until
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.queues.reader import QueueReader
from tidscope_wire.frame_tables import Tables

WAITER = """
import fcntl, sys
with open(sys.argv[1], "w") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
"""
WITHIN_S = 60


def identity(pid: int) -> tuple[int, int]:
    return pid, parse_stat(Path(f"/proc/{pid}/stat").read_bytes()).start_ticks


def waiting_connections(server: socket.socket) -> int:
    """Established connections that wait to be accepted: tcpi_unacked of a listening socket."""
    info = server.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 28)
    return int.from_bytes(info[24:28], sys.byteorder)


def tables_until(reader: QueueReader, enough: Callable[[Tables], bool]) -> Tables:
    end = time.monotonic() + WITHIN_S
    while not enough(tables := reader.tables()):
        assert time.monotonic() < end, tables
        time.sleep(0.05)
    return tables


def test_who_does_not_accept_and_who_keeps_a_lock(tmp_path: Path) -> None:
    holder, file = os.getpid(), tmp_path / "sales"
    with socket.create_server(("127.0.0.1", 0)) as server, file.open("w") as locked:
        os.lockf(locked.fileno(), os.F_LOCK, 0)
        address = server.getsockname()
        clients = [socket.create_connection(address) for _ in range(3)]
        # The last step of the handshake may be processed after connect(2) has returned.
        wait_until(lambda: waiting_connections(server) == len(clients))
        waiter = subprocess.Popen([sys.executable, "-c", WAITER, str(file)])
        members = dict(map(identity, (holder, waiter.pid)))
        reader = QueueReader(lambda: members, 10, ProcFs())
        try:
            found = tables_until(
                reader,
                lambda tables: (
                    "accept_queues" in tables
                    and bool(tables["accept_queues"]["waiting_ns"].max())
                    and "file_locks" in tables
                    and bool(tables["file_locks"]["waiting_ns"].max())
                ),
            )
        finally:
            reader.close()
            waiter.kill()
            waiter.wait()
            for client in clients:
                client.close()
    port = f"127.0.0.1:{address[1]}"
    (queue,) = (row for row in found["accept_queues"] if row["address"] == port)
    assert (queue["pid"], queue["waiting"]) == (holder, 3)
    assert queue["waiting_ns"] == 3 * queue["some_ns"] == 3 * queue["covered_ns"]
    locks = {row["pid"]: row for row in found["file_locks"] if row["path"] == str(file)}
    assert locks[holder]["held_ns"] > 0 == locks[holder]["waiting_ns"]
    assert locks[waiter.pid]["waiting_ns"] > 0 == locks[waiter.pid]["held_ns"]


READER = """
import socket, sys
from pathlib import Path
Path("/proc/self/comm").write_text("slow-reader")
with socket.create_connection(("::1", int(sys.argv[1]))) as link:
    sys.stdin.read()
"""


STORE = """
import socket, sys
from pathlib import Path
Path("/proc/self/comm").write_text("store")
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    links = [server.accept()[0] for _ in range(2)]
    sys.stdin.read()
"""


def test_who_does_not_read_what_was_sent() -> None:
    sender = os.getpid()
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        words = [sys.executable, "-c", READER, str(server.getsockname()[1])]
        reading = subprocess.Popen(words, stdin=subprocess.PIPE)
        link, _ = server.accept()
        link.setblocking(False)
        members = dict([identity(sender)])
        reader = QueueReader(lambda: members, 10, ProcFs())
        try:
            try:
                while True:
                    link.send(bytes(1 << 16))
            except BlockingIOError:
                pass  # the reader's buffer and the own one are full
            found = tables_until(
                reader,
                lambda tables: "peers" in tables and bool(tables["peers"]["full"].max()),
            )
        finally:
            reader.close()
            link.close()
            reading.communicate()
    (row,) = (row for row in found["peers"] if row["peer_pid"] == reading.pid)
    assert (row["pid"], row["name"], row["address"]) == (sender, "slow-reader", "[::1]")
    assert (row["full"], row["full_ns"]) == (1, row["covered_ns"])
    assert row["unsent"] >= 8192
    assert row["opened"] == 0


def test_who_was_connected_to() -> None:
    """The store is a process of its own, to which this one connects twice."""
    words = [sys.executable, "-c", STORE]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as store:
        assert store.stdout is not None
        port = int(store.stdout.readline())
        links = [socket.create_connection(("127.0.0.1", port)) for _ in range(2)]
        members = dict([identity(os.getpid())])
        reader = QueueReader(lambda: members, 10, ProcFs())

        try:
            found = tables_until(
                reader,
                lambda tables: "peers" in tables and store.pid in tables["peers"]["peer_pid"],
            )
        finally:
            reader.close()
            for link in links:
                link.close()
            store.communicate()
    (row,) = (row for row in found["peers"] if row["peer_pid"] == store.pid)
    assert (row["pid"], row["name"], row["opened"], row["full"]) == (os.getpid(), "store", 2, 0)
