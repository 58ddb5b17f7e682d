"""CPU allowance of a process: its affinity, and its control groups' limit and weight.

Sources: proc_pid_status(5); the kernel's admin-guide/cgroup-v2.rst (cpu.weight) and
scheduler/sched-design-CFS.rst (version 1: cpu.shares). Kubernetes converts a container's CPU
request to 1,024 shares per core, and in version 2 to a weight of 1 + (shares - 2) * 9999 / 262142
(KEP 2254).
"""

import re
from dataclasses import dataclass
from pathlib import Path

from tidscope_collector.procfs.control_groups import GROUPS, memberships
from tidscope_collector.procfs.cpu_limit import CpuLimit, cpu_limit
from tidscope_collector.procfs.files import ProcFs

_MAX_BYTES = 1 << 16
_ALLOWED = re.compile(rb"^Cpus_allowed_list:\s*([0-9,-]+)\s*$", re.MULTILINE)
_POD = "kubepods"
SHARES_A_CORE = 1024


@dataclass(frozen=True, slots=True)
class Allowance:
    """CPU allowance of a process.

    Attributes:
        cpus: number of CPUs in the affinity.
        limit: tightest limit of the control groups, or None.
        weight: weight of the own control group in version 2 terms (default: 100); None if unknown.
        request: cores requested by the pod, derived from the weight; None outside Kubernetes.
        own_limit: True if the limit belongs to the own control group, not to a parent.
    """

    cpus: int
    limit: CpuLimit | None
    weight: int | None
    request: float | None
    own_limit: bool = False


def read_allowance(procfs: ProcFs, pid: int, groups: Path = GROUPS) -> Allowance:
    """Read the current allowance of a process.

    Args:
        procfs: root of /proc.
        pid: process ID.
        groups: mount point of control groups.

    Raises:
        OSError: the process has ended.
        ValueError: the status is invalid.
    """
    found = _ALLOWED.search(procfs.read(f"{pid}/status", _MAX_BYTES))
    if found is None:
        raise ValueError(f"/proc/{pid}/status says no CPUs")
    member = memberships(procfs, pid, groups)
    listed = member.listed
    weight = _read_weight(listed, groups)
    limit = cpu_limit(member)
    own = [line.split(":", 2)[2].rstrip("/") for line in listed.splitlines() if ":/" in line]
    return Allowance(
        cpus=count_cpus(found[1].decode()),
        limit=limit,
        weight=weight,
        request=None if weight is None or _POD not in listed else request_of(weight),
        own_limit=limit is not None
        and any(path and str(limit.group).endswith(path) for path in own),
    )


def count_cpus(listed: str) -> int:
    """Return the number of CPUs in a list such as ``0-3,8``.

    Raises:
        ValueError: the text is no such list.
    """
    count = 0
    for part in listed.split(","):
        first, dash, last = part.partition("-")
        count += int(last) - int(first) + 1 if dash else 1 + 0 * int(first)
    return count


def request_of(weight: int) -> float:
    """Return the requested cores for a weight set by Kubernetes, to 0.02 cores."""
    shares = 2 + (weight - 0.5) * 262142 / 9999
    return round(shares / SHARES_A_CORE, 2)


def weight_of(shares: int) -> int:
    """Return the weight for shares of version 1."""
    return 1 + (shares - 2) * 9999 // 262142


def _read_weight(listed: str, groups: Path) -> int | None:
    for line in listed.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not path.startswith("/") or path.startswith("/.."):
            continue
        below = path.lstrip("/")
        if number == "0" and not controllers:
            for root in (groups, groups / "unified"):
                weight = _number(root / below / "cpu.weight")
                if weight is not None:
                    return weight
        elif "cpu" in controllers.split(","):
            for root in (groups / controllers, groups / "cpu"):
                shares = _number(root / below / "cpu.shares")
                if shares is not None:
                    return weight_of(shares)
    return None


def _number(file: Path) -> int | None:
    try:
        text = file.read_bytes()[:32].strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
