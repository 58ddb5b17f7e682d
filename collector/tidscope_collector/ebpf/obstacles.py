"""What stands in the way of eBPF on this machine, and how to mend it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tidscope_collector.ebpf import libbpf
from tidscope_collector.procfs.files import ProcFs

Loaded = TypeVar("Loaded")

CAP_SYS_ADMIN = 21
CAP_PERFMON = 38
CAP_BPF = 39
KERNEL_TYPES = Path("/sys/kernel/btf/vmlinux")

_WANTED = {"CAP_BPF": CAP_BPF, "CAP_PERFMON": CAP_PERFMON}
_INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # include/linux/proc_ns.h, PROC_PID_INIT_INO


@dataclass(frozen=True)
class Obstacle:
    """Why there is no eBPF here.

    Attributes:
        what: one sentence without its full stop.
        mend: a command or an instruction; empty if nothing helps.
    """

    what: str
    mend: str


@dataclass(frozen=True)
class Wanted:
    """What a program needs of the kernel.

    Attributes:
        type: name of a type that kernels have which can do it.
        kind: of that type, a BTF_KIND.
        what: it is for, as a noun phrase.
        since: the first version of Linux.
    """

    type: str
    kind: int
    what: str
    since: str


def find_obstacle(
    procfs: ProcFs, wanted: Wanted, kernel_types: Path = KERNEL_TYPES
) -> Obstacle | None:
    """Look for what stands in the way of an eBPF program; None if nothing is seen.

    Args:
        procfs: root of /proc.
        wanted: what it needs.
        kernel_types: the kernel's BTF.
    """
    return _in_kernel(wanted, kernel_types) or _in_rights(procfs)


def attempt(procfs: ProcFs, wanted: Wanted, load: Callable[[], Loaded]) -> Loaded | Obstacle:
    """Load a program, or say why not.

    Args:
        procfs: root of /proc.
        wanted: what it needs.
        load: loads it; raises BpfError or OSError.
    """
    obstacle = find_obstacle(procfs, wanted)
    if obstacle is not None:
        return obstacle
    try:
        return load()
    except (libbpf.BpfError, OSError) as error:
        told = libbpf.library().warnings
        detail = f" ({told[0]})" if told else ""
        return Obstacle(
            f"the kernel refused the eBPF program: {error}{detail}",
            "look for lockdown or a security module: cat /sys/kernel/security/lockdown",
        )


def _in_kernel(wanted: Wanted, kernel_types: Path) -> Obstacle | None:
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
            known = types.has(wanted.type, wanted.kind)
    except libbpf.BpfError as error:
        return Obstacle(str(error), "")
    if known:
        return None
    return Obstacle(
        f"Linux {os.uname().release} has no {wanted.what}, which came with {wanted.since}",
        f"boot Linux {wanted.since} or newer",
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
