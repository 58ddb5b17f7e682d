"""Why eBPF programs cannot be loaded on this machine, and the fix."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.kernel_types import KernelTypes
from tidscope_collector.procfs.files import ProcFs

Loaded = TypeVar("Loaded")

CAP_SYS_ADMIN = 21
CAP_PERFMON = 38
CAP_BPF = 39
KERNEL_TYPES = Path("/sys/kernel/btf/vmlinux")

_NEEDED = {"CAP_BPF": CAP_BPF, "CAP_PERFMON": CAP_PERFMON}
_INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # include/linux/proc_ns.h, PROC_PID_INIT_INO


@dataclass(frozen=True)
class Obstacle:
    """Why an eBPF program cannot be loaded here.

    Attributes:
        reason: one sentence without its full stop.
        fix: a command or an instruction; empty if nothing helps, or if capabilities do.
        capabilities: names of those that are missing.
    """

    reason: str
    fix: str
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True)
class KernelFeature:
    """Kernel feature that a program needs.

    Attributes:
        type: name of a type that only kernels with the feature have.
        kind: of that type, a BTF_KIND.
        name: of the feature, as a noun phrase.
        since: the first version of Linux that has it.
    """

    type: str
    kind: int
    name: str
    since: str


def find_obstacle(
    procfs: ProcFs, feature: KernelFeature, kernel_types: Path = KERNEL_TYPES
) -> Obstacle | None:
    """Return the first known obstacle to loading an eBPF program, or None.

    Args:
        procfs: root of /proc.
        feature: that it needs.
        kernel_types: the kernel's BTF.
    """
    return _in_kernel(feature, kernel_types) or _in_privileges(procfs)


def missing_in_kernel(feature: KernelFeature, kernel_types: Path = KERNEL_TYPES) -> str | None:
    """Why the kernel lacks a feature, one sentence without its full stop; None: it has the feature.

    Args:
        feature: what is looked for.
        kernel_types: the kernel's BTF.
    """
    obstacle = _in_kernel(feature, kernel_types)
    return None if obstacle is None else obstacle.reason


def attempt(
    procfs: ProcFs, feature: KernelFeature, load: Callable[[], Loaded]
) -> Loaded | Obstacle:
    """Load a program, or say why not.

    Args:
        procfs: root of /proc.
        feature: that it needs.
        load: loads it; raises BpfError or OSError.
    """
    obstacle = find_obstacle(procfs, feature)
    if obstacle is not None:
        return obstacle
    try:
        return load()
    except (libbpf.BpfError, OSError) as error:
        warnings = libbpf.library().warnings
        detail = f" ({warnings[0]})" if warnings else ""
        return Obstacle(
            f"the kernel refused the eBPF program: {error}{detail}",
            "check for lockdown or a security module: cat /sys/kernel/security/lockdown",
        )


def _in_kernel(feature: KernelFeature, kernel_types: Path) -> Obstacle | None:
    try:
        libbpf.library()
    except libbpf.BpfError as error:
        return Obstacle(str(error), "install tidscope again; in a checkout: make libbpf")
    if not kernel_types.exists():
        return Obstacle(
            "the kernel does not describe its types (no BTF)",
            "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as distribution kernels have",
        )
    try:
        with KernelTypes() as types:
            known = types.has(feature.type, feature.kind)
    except libbpf.BpfError as error:
        return Obstacle(str(error), "")
    if known:
        return None
    return Obstacle(
        f"Linux {os.uname().release} has no {feature.name} (new in {feature.since})",
        f"boot Linux {feature.since} or newer",
    )


def _in_privileges(procfs: ProcFs) -> Obstacle | None:
    held = _capabilities(procfs)
    missing = [name for name, number in _NEEDED.items() if number not in held]
    if missing and CAP_SYS_ADMIN not in held:
        return Obstacle(f"this process lacks {' and '.join(missing)}", "", tuple(missing))
    try:
        namespace = procfs.link("self/ns/pid")
    except OSError:
        namespace = ""
    if namespace == _INITIAL_PID_NAMESPACE:
        return None
    return Obstacle(
        "eBPF uses process ids of the initial PID namespace, and this process is in another one",
        "docker run --pid=host …, or run it on the host",
    )


def _capabilities(procfs: ProcFs) -> frozenset[int]:
    for line in procfs.read("self/status", 1 << 16).decode("ascii", "replace").splitlines():
        label, _, mask = line.partition(":")
        if label == "CapEff":
            bits = int(mask, 16)
            return frozenset(bit for bit in range(64) if bits >> bit & 1)
    return frozenset()
