"""Ledgers and network bytes of groups: what they add up to is what the kernel says of threads."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from capabilities import needs
from group_targets import Heard, HeldCommand, group_targets, on_cpu_ns
from tidscope_wire.generated.models import GroupSelector, ThreadExited
from tidscope_wire.states import STATE_FIELDS

pytestmark = [needs("root"), needs("btf")]

COMMANDS = 200
SHELL_LOOP = f"for i in $(seq {COMMANDS}); do /bin/true; done"

AWAITED = "(until read -r _ _ state _ </proc/$$/stat && [ $state = S ]; do :; done)"
"""A child of the shell that ends after the shell has begun to wait for it."""

LOCKING = """
import sys, threading
turns = [threading.Semaphore(0), threading.Semaphore(0)]
def work(own, other):
    for _ in range(100):
        turns[own].acquire()
        turns[other].release()
threads = [threading.Thread(target=work, args=pair) for pair in ((0, 1), (1, 0))]
for thread in threads:
    thread.start()
turns[0].release()
for thread in threads:
    thread.join()
sys.stdin.read()
"""
"""Two threads wait for each other in turn; then the process waits for its input to end."""

SHARING = """
import multiprocessing, sys, time
lock = multiprocessing.get_context("fork").Lock()
def work():
    while True:
        with lock:
            time.sleep(0.002)
workers = [multiprocessing.get_context("fork").Process(target=work) for _ in range(3)]
for worker in workers:
    worker.start()
sys.stdin.read()
for worker in workers:
    worker.terminate()
"""
"""Three processes wait for one semaphore in shared memory until the input of a fourth ends."""

TALKING = """
import os, socket, sys
pid = os.fork()
mine = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
mine.sendall(b"x" * (30_000 if pid else 50_000))
mine.shutdown(socket.SHUT_WR)
assert not mine.recv(1)
if pid:
    os.waitpid(pid, 0)
"""
"""A process and its child send bytes."""


def ends(heard: Heard) -> list[ThreadExited]:
    return [event for event in heard.events if isinstance(event, ThreadExited)]


def test_states_of_each_short_command_are_its_life_and_on_cpu_time_is_the_kernels() -> None:
    with group_targets() as groups:
        command = HeldCommand(["bash", "-c", SHELL_LOOP])
        command.settle()
        used_before_ns = on_cpu_ns(command.pid)
        target = groups.attach(GroupSelector(kind="tree", pid=command.pid))
        assert target.source.ledger
        assert target.source.ledger_reason is None
        command.run()
        heard = groups.hear()
    assert heard.last.health.ledger_threads_uncounted == 0
    totals = heard.last.exited.totals
    assert heard.counts.ended == COMMANDS + 2
    # CPU time of the shell before the attachment is in the kernel's count only.
    ran_ns = totals["cpu_run_ns"] - used_before_ns
    assert totals["state_on_cpu_ns"] == pytest.approx(ran_ns, rel=0.001, abs=100_000)
    assert totals["state_child_ns"] > 0  # The shell waited for its commands.
    ended = ends(heard)
    assert all({*STATE_FIELDS} <= event.totals.keys() for event in ended)
    states_ns = sum(totals[name] for name in STATE_FIELDS)
    lives_ns = sum(event.lifetime_ns or 0 for event in ended if event.tid != command.pid)
    # The shell's own ledger began at the attachment; records come before the last switch.
    (shell,) = (event for event in ended if event.tid == command.pid)
    shell_ns = sum(shell.totals[name] for name in STATE_FIELDS)
    assert states_ns - shell_ns >= lives_ns - COMMANDS * 1000
    assert "true" in heard.tables["wakes"]["waker_name"].tolist()


def test_a_process_in_two_targets_gives_both_its_last_numbers() -> None:
    with group_targets() as groups:
        command = HeldCommand(["bash", "-c", f"/bin/true; {AWAITED}; :"])
        alone, _ = groups.targets.attach(command.pid, None, 10)
        tree = groups.attach(GroupSelector(kind="tree", pid=command.pid))
        command.run()
        heard = [groups.hear(target.id) for target in (alone, tree)]
    for one in heard:
        (shell,) = (event for event in ends(one) if event.tid == command.pid)
        assert {*STATE_FIELDS} <= shell.totals.keys()
        assert shell.totals["state_child_ns"] > 0
    assert [len(ends(one)) for one in heard] == [1, 3]


def names_of_locks(heard: Heard) -> list[str]:
    """Names of locks; system calls in which threads waited, such as openat, have rows as well."""
    table = heard.tables.get("lock_names")
    return [] if table is None else table["name"][table["source"] == "futex"].tolist()


def have_waited(heard: Heard) -> bool:
    """True if the locks at which both threads waited in turn have names."""
    names, locks = names_of_locks(heard), heard.tables.get("locks")
    are_named = len(names) > 1 and any("GIL" in name or "heap" in name for name in names)
    return are_named and locks is not None and int(locks["waits"].sum()) >= 100


def test_locks_are_places_in_one_process() -> None:
    with group_targets() as groups:
        shell = ["bash", "-c", '"$@"; true', "bash", sys.executable, "-c", LOCKING]
        command = HeldCommand(shell, subprocess.PIPE)
        target = groups.attach(GroupSelector(kind="tree", pid=command.pid))
        command.begin()
        heard = groups.hear(until=have_waited)
        command.stdin.close()
        command.wait()
        last = groups.hear(target.id)
    assert [name for name in names_of_locks(heard) if " in python" not in name] == []
    assert last.counts.ended == 2 + heard.counts.ended


def test_a_lock_in_shared_memory_is_one_for_all_processes() -> None:
    def waiters(heard: Heard) -> dict[str, set[int]]:
        """Threads that have waited, by the name of the lock."""
        names, locks = heard.tables.get("lock_names"), heard.tables.get("locks")
        found: dict[str, set[int]] = {}
        if names is not None and locks is not None:
            by_number = dict(zip(names["lock"].tolist(), names["name"].tolist(), strict=True))
            waited = locks[locks["waits"] > 0]
            for lock, tid in zip(waited["lock"].tolist(), waited["tid"].tolist(), strict=True):
                found.setdefault(by_number.get(lock, ""), set()).add(tid)
        return found

    def shared(heard: Heard) -> list[set[int]]:
        return [tids for name, tids in waiters(heard).items() if "shared memory" in name]

    with group_targets() as groups:
        shell = ["bash", "-c", '"$@"; true', "bash", sys.executable, "-c", SHARING]
        command = HeldCommand(shell, subprocess.PIPE)
        groups.attach(GroupSelector(kind="tree", pid=command.pid))
        command.begin()
        heard = groups.hear(until=lambda one: any(len(tids) >= 3 for tids in shared(one)))
        command.stdin.close()
        command.wait()
    (threads,) = shared(heard)
    assert len(threads) >= 3
    assert [name for name in waiters(heard) if "shared memory" in name] == [
        f"shared memory #1 in {Path(sys.executable).name}"
    ]


def test_bytes_of_a_child_are_those_that_arrived() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, group_targets() as groups:
        port = str(server.getsockname()[1])
        command = HeldCommand([sys.executable, "-c", TALKING, port])
        target = groups.attach(GroupSelector(kind="tree", pid=command.pid))
        assert "net_write_bytes" in target.fields
        command.begin()
        arrived = 0
        for _ in range(2):
            with server.accept()[0] as connection:
                while data := connection.recv(65536):
                    arrived += len(data)
        command.wait()
        heard = groups.hear()
    assert arrived == 80_000
    assert heard.last.exited.totals["net_write_bytes"] == arrived
    assert heard.last.exited.totals["net_read_bytes"] == 0
    assert int(heard.processes["tx_bytes"].sum()) == arrived
