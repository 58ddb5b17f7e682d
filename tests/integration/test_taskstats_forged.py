"""What another process sends to our netlink sockets is not believed; its exits can be left out."""

import os
import select
import socket
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
from taskstats_replies import forge
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.exits import ExitListener, possible_cpus
from tidscope_collector.taskstats.family_cache import FamilyCache
from tidscope_collector.taskstats.link import NETLINK_GENERIC, open_socket, probe
from tidscope_collector.taskstats.reader import BatchQuery
from tidscope_collector.taskstats.refusals import Refusal


class Opened:
    """Remembers the sockets that it opens."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []

    def __call__(self, buffer_bytes: int) -> socket.socket:
        self.sockets.append(open_socket(buffer_bytes))
        return self.sockets[-1]


def test_a_forged_reply_is_refused_and_the_kernels_believed() -> None:
    kernel, opened = probe(), Opened()
    query = BatchQuery(kernel, opened)
    tid = threading.get_native_id()
    offset = kernel.layout.offsets["cpu_run_virtual_total"] // 8
    try:
        for sequence in (1, 2):  # before and after the first right reply was seen
            forge(opened.sockets[0], tid, kernel, sequence)
            words, _ = query.query(np.array([tid], np.uint32))
            assert len(words) == 1
            assert words[0, offset] > 1_000_000
            assert dict(query.refused) == {Refusal.SENDER: sequence}
    finally:
        query.close()


def test_a_forged_exit_is_refused_and_the_kernels_received() -> None:
    kernel, opened = probe(), Opened()
    listener = ExitListener(kernel, possible_cpus(), open_link=opened)
    try:
        forge(opened.sockets[0], os.getpid(), kernel, 1)
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        seen: set[int] = set()
        while thread.native_id not in seen:
            assert select.select(opened.sockets, [], [], 10)[0], "no exit record came"
            seen |= set(listener.own_member(listener.drain(), "ac_pid").tolist())
        assert os.getpid() not in seen
        assert dict(listener.refused) == {Refusal.SENDER: 1}
        assert listener.lost == 0
    finally:
        listener.close()


def test_exits_of_other_processes_are_left_out_by_the_kernel() -> None:
    listener = ExitListener(probe(), possible_cpus())

    def wait_for(tid: int) -> set[int]:
        """Receive records until that of a thread of ours; of which processes they were."""
        deadline = time.monotonic() + 20
        seen: set[int] = set()
        while True:
            exits = listener.drain()
            seen |= set(listener.own_member(exits, "ac_tgid").tolist())
            if tid in listener.own_member(exits, "ac_pid"):
                return seen
            assert time.monotonic() < deadline, "no exit record came"
            time.sleep(0.001)

    def end_thread() -> int:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        assert thread.native_id is not None
        return thread.native_id

    try:
        listener.keep_only({os.getpid()})
        listener.drain()
        subprocess.run(["true"], check=True)
        assert wait_for(end_thread()) == {os.getpid()}
        listener.keep_only(None)
        other = subprocess.Popen(["true"])
        other.wait()
        assert other.pid in wait_for(other.pid)
    finally:
        listener.close()


def test_a_cached_number_of_no_taskstats_is_resolved_again(tmp_path: Path) -> None:
    cache = FamilyCache(ProcFs(), tmp_path / "family")
    kernel = probe(cache=cache)
    assert cache.read() == kernel.family
    # The controller's own number, and one that no family has.
    for wrong in (NETLINK_GENERIC, 65000):
        cache.write(wrong)
        assert probe(cache=cache) == kernel
        assert cache.read() == kernel.family
