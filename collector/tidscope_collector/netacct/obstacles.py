"""What stands in the way of eBPF on this machine, and how to mend it."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from tidscope_collector.netacct import libbpf
from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.procfs.files import ProcFs

CAP_SYS_ADMIN = 21
CAP_PERFMON = 38
CAP_BPF = 39
KERNEL_TYPES = Path("/sys/kernel/btf/vmlinux")
TRACEPOINT = "btf_trace_sock_send_length"

_WANTED = {"CAP_BPF": CAP_BPF, "CAP_PERFMON": CAP_PERFMON}
_INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # include/linux/proc_ns.h, PROC_PID_INIT_INO
_SPLICE_PAGES_SINCE = (6, 5)


@dataclass(frozen=True)
class Obstacle:
    """Why there is no eBPF here.

    Attributes:
        what: one sentence without its full stop.
        mend: a command or an instruction; empty if nothing helps.
    """

    what: str
    mend: str


def find_obstacle(procfs: ProcFs, kernel_types: Path = KERNEL_TYPES) -> Obstacle | None:
    """Look for what stands in the way of counting by eBPF; None if nothing is seen.

    Args:
        procfs: root of /proc.
        kernel_types: the kernel's BTF.
    """
    return _in_kernel(kernel_types) or _in_rights(procfs)


def _in_kernel(kernel_types: Path) -> Obstacle | None:
    try:
        libbpf.library()
    except libbpf.BpfError as error:
        return Obstacle(
            str(error), "sudo apt-get install libbpf1 (Fedora: sudo dnf install libbpf)"
        )
    if not kernel_types.exists():
        return Obstacle(
            "the kernel does not describe its types (no BTF)",
            "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions' kernels have it",
        )
    try:
        with libbpf.KernelTypes() as types:
            known = types.has(TRACEPOINT, libbpf.BTF_KIND_TYPEDEF)
    except libbpf.BpfError as error:
        return Obstacle(str(error), "")
    if known:
        return None
    return Obstacle(
        f"Linux {os.uname().release} has no tracepoints for what sockets move, which came with 6.3",
        "boot Linux 6.3 or newer",
    )


def _in_rights(procfs: ProcFs) -> Obstacle | None:
    held = _capabilities(procfs)
    missing = [name for name, number in _WANTED.items() if number not in held]
    if missing and CAP_SYS_ADMIN not in held:
        return Obstacle(f"this process does not have {' and '.join(missing)}", "sudo tidscope up")
    try:
        place = procfs.link("self/ns/pid")
    except OSError:
        place = ""
    if place == _INITIAL_PID_NAMESPACE:
        return None
    return Obstacle(
        "eBPF tells process ids of the initial PID namespace, and this process is in another one",
        "docker run --pid=host … (or run it on the host)",
    )


def _capabilities(procfs: ProcFs) -> frozenset[int]:
    for line in procfs.read("self/status", 1 << 16).decode("ascii", "replace").splitlines():
        label, _, mask = line.partition(":")
        if label == "CapEff":
            bits = int(mask, 16)
            return frozenset(bit for bit in range(64) if bits >> bit & 1)
    return frozenset()


def load(procfs: ProcFs) -> Accounts | Obstacle:
    """Load the program, or say why not.

    Args:
        procfs: root of /proc.
    """
    obstacle = find_obstacle(procfs)
    if obstacle is not None:
        return obstacle
    try:
        return Accounts(procfs)
    except (libbpf.BpfError, OSError) as error:
        told = libbpf.library().warnings
        detail = f" ({told[0]})" if told else ""
        return Obstacle(
            f"the kernel refused the eBPF program: {error}{detail}",
            "look for lockdown or a security module: cat /sys/kernel/security/lockdown",
        )


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
        missing.append("splice() out of TCP sockets (the kernel refused the program for it)")
    return " and ".join(missing)
