"""Datagrams that another process sends to our netlink sockets."""

import socket

import numpy as np
from taskstats_replies import AGGR_PID, message, record
from tidscope_collector.taskstats.link import NETLINK_GENERIC, Kernel


def forge(to: socket.socket, tid: int, kernel: Kernel, sequence: int) -> None:
    """Send a record that is right in every way, but for who sends it: all its numbers are 7."""
    words = np.full(kernel.layout.length // 8, 7, np.uint64)
    words[0] = kernel.layout.version
    halves = words.view(np.uint32)
    halves[kernel.layout.offsets["ac_pid"] // 4] = tid
    body = record(AGGR_PID, tid, words.tobytes(), pad="none" if kernel.payload == 36 else "inside")
    datagram = message(body, sequence=sequence, type_=kernel.family)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC) as other:
        other.bind((0, 0))
        assert other.sendto(datagram, (to.getsockname()[0], 0)) == len(datagram)
