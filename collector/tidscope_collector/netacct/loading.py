"""Loading the program that counts network bytes, and what it does not count here."""

import re
from functools import partial

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.obstacles import KernelFeature, Obstacle, attempt
from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.procfs.files import ProcFs

TRACEPOINTS = KernelFeature(
    "btf_trace_sock_send_length",
    libbpf.BTF_KIND_TYPEDEF,
    "tracepoints for socket traffic",
    "6.3",
)
_SPLICE_PAGES_SINCE = (6, 5)


def load(procfs: ProcFs) -> Accounts | Obstacle:
    """Load the program, or say why not.

    Args:
        procfs: root of /proc.
    """
    return attempt(procfs, TRACEPOINTS, partial(Accounts, procfs))


def limits(splice: bool, release: str) -> str:
    """What eBPF does not count here, as a noun phrase; empty if it counts everything it should.

    Args:
        splice: whether splice() out of TCP sockets is counted.
        release: of the kernel, such as 6.4.1-amd64.
    """
    missing: list[str] = []
    version = re.match(r"(\d+)\.(\d+)", release)
    if version and (int(version[1]), int(version[2])) < _SPLICE_PAGES_SINCE:
        missing.append("sendfile() and splice() into TCP sockets (counted from Linux 6.5 on)")
    if not splice:
        missing.append(
            "splice() out of TCP sockets (the kernel refused the program for it; threads that make "
            "such calls are marked)"
        )
    return " and ".join(missing)
