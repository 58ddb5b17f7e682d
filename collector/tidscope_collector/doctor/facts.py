"""Facts about this machine and process from /proc and /sys, without judgement."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tidscope_collector.energy.rapl import Obstacle, find_zones
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.machine import hidepid

CAP_DAC_OVERRIDE = 1
CAP_KILL = 5
CAP_NET_ADMIN = 12
CAP_SYS_PTRACE = 19
ROOT = 0

NamespaceStatus = Literal["initial", "other", "unknown"]

# Inode numbers of include/uapi/linux/nsfs.h, earlier include/linux/proc_ns.h. The network
# namespace's number is fixed only since 6.18.
_INITIAL = {"user": 0xEFFFFFFD, "pid": 0xEFFFFFFC, "net": 0xEFFFFFF9}
# net/core/sysctl_net_core.c registers this entry only for the initial network namespace.
_INITIAL_NET_ONLY = "sys/net/core/netdev_max_backlog"


@dataclass(frozen=True, slots=True)
class Namespaces:
    """Whether this process is in each of the kernel's initial namespaces."""

    user: NamespaceStatus
    pid: NamespaceStatus
    net: NamespaceStatus


@dataclass(frozen=True, slots=True)
class Facts:
    """Input of the checks; None is a value that could not be read.

    Attributes:
        uid: effective user ID of this process.
        capabilities: numbers of the effective capabilities.
        task_delayacct: state of the switch of delay accounting.
        rmem_max: limit of SO_RCVBUF, in bytes.
        ptrace_scope: ptrace scope of the Yama module; None if it is not loaded.
        hidepid: mount option of /proc; "0" if nothing is hidden.
        schedstat: True if /proc has schedstat.
        energy_obstacle: why package energy is unavailable; "" if it is available.
        energy_found: description of the energy source or the obstacle.
        hypervisor: True if the processor reports a hypervisor.
        transactions: True if the processor has hardware transactional memory (rtm).
        async_abort: the kernel's mitigation of TSX async abort (TAA); None if it reports none.
    """

    host: str
    kernel: str
    uid: int
    capabilities: frozenset[int] | None
    namespaces: Namespaces
    task_delayacct: bool | None
    rmem_max: int | None
    ptrace_scope: int | None
    hidepid: str | None
    schedstat: bool
    clock_source: str | None
    energy_obstacle: Obstacle
    energy_found: str
    hypervisor: bool | None
    transactions: bool | None
    async_abort: str | None

    @property
    def is_root(self) -> bool:
        """True if this process runs as root."""
        return self.uid == ROOT

    @property
    def in_container(self) -> bool:
        """True if this process is in another user or PID namespace than the host."""
        return "other" in (self.namespaces.user, self.namespaces.pid)


def gather_facts(procfs: ProcFs | None = None, sys: Path = Path("/sys")) -> Facts:
    """Gather the facts; absent or unreadable values become None.

    Args:
        procfs: root of /proc.
        sys: root of /sys.
    """
    procfs = procfs or ProcFs()
    delay = _number(procfs, "sys/kernel/task_delayacct")
    powercap = find_zones(sys)
    return Facts(
        host=_text(procfs, "sys/kernel/hostname") or socket.gethostname(),
        kernel=_text(procfs, "sys/kernel/osrelease") or os.uname().release,
        uid=os.geteuid(),
        capabilities=_capabilities(procfs),
        namespaces=Namespaces(
            user=_namespace(procfs, "user"),
            pid=_namespace(procfs, "pid"),
            net=_net_namespace(procfs),
        ),
        task_delayacct=None if delay is None else delay != 0,
        rmem_max=_number(procfs, "sys/net/core/rmem_max"),
        ptrace_scope=_number(procfs, "sys/kernel/yama/ptrace_scope"),
        hidepid=hidepid(procfs),
        schedstat=_text(procfs, "self/schedstat") is not None,
        clock_source=_clock_source(sys),
        energy_obstacle=powercap.obstacle,
        energy_found=powercap.reason,
        hypervisor=_has_flag(procfs, "hypervisor"),
        transactions=_has_flag(procfs, "rtm"),
        async_abort=_async_abort(sys),
    )


def _text(procfs: ProcFs, path: str) -> str | None:
    try:
        return procfs.read(path, 1 << 20).decode(errors="replace").strip()
    except OSError:
        return None


def _number(procfs: ProcFs, path: str) -> int | None:
    text = _text(procfs, path)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def _capabilities(procfs: ProcFs) -> frozenset[int] | None:
    for line in (_text(procfs, "self/status") or "").splitlines():
        label, _, mask = line.partition(":")
        if label == "CapEff":
            bits = int(mask, 16)
            return frozenset(bit for bit in range(64) if bits >> bit & 1)
    return None


def _inode(procfs: ProcFs, kind: str) -> int | None:
    """Return the inode of this process' namespace of a kind; its link reads net:[4026531840]."""
    try:
        return int(procfs.link(f"self/ns/{kind}").rpartition("[")[2].rstrip("]"))
    except (OSError, ValueError):
        return None


def _namespace(procfs: ProcFs, kind: str) -> NamespaceStatus:
    inode = _inode(procfs, kind)
    if inode is None:
        return "unknown"
    return "initial" if inode == _INITIAL[kind] else "other"


def _net_namespace(procfs: ProcFs) -> NamespaceStatus:
    if _inode(procfs, "net") == _INITIAL["net"]:
        return "initial"
    if (procfs.root / _INITIAL_NET_ONLY).exists():
        return "initial"
    return "other" if (procfs.root / _INITIAL_NET_ONLY).parent.exists() else "unknown"


def _has_flag(procfs: ProcFs, flag: str) -> bool | None:
    """Return whether the first processor has an x86 feature flag; None on other processors."""
    for line in (_text(procfs, "cpuinfo") or "").splitlines():
        label, _, words = line.partition(":")
        if label.strip() == "flags":
            return flag in words.split()
    return None


def _async_abort(sys: Path) -> str | None:
    try:
        return (sys / "devices/system/cpu/vulnerabilities/tsx_async_abort").read_text().strip()
    except OSError:
        return None


def _clock_source(sys: Path) -> str | None:
    try:
        path = sys / "devices/system/clocksource/clocksource0/current_clocksource"
        return path.read_text().strip()
    except OSError:
        return None
