"""Choose the source of the network bytes of threads, and say why it is that one.

Best first: the four fields that an extended kernel appends to struct taskstats; eBPF; none.
"""

import os
from collections.abc import Iterable
from typing import Literal

from tidscope_wire.generated.models import AbsentField

from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.netacct.programs import NetworkProgram, limits, load
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.layout import Layout

Choice = Literal["auto", "taskstats", "ebpf", "none"]
CHOICES: tuple[Choice, ...] = ("auto", "taskstats", "ebpf", "none")
Kind = Literal["taskstats", "ebpf", "none"]

FIELDS = ("net_read_bytes", "net_write_bytes", "net_read_calls", "net_write_calls")
"""Columns that eBPF counts, in their order."""
_MEANING = "socket payload, not wire bytes"
_STOCK = "the struct taskstats of this kernel has no network fields"


class NetworkSource:
    """Decides once, at start.

    Args:
        choice: what was asked for.
        layout: of struct taskstats; None without taskstats.
        procfs: root of /proc.

    Attributes:
        kind: what is in effect.
        description: for people: the source, a colon, and what there is to know about it.
        ebpf: the loaded program, or why there is none.
    """

    def __init__(self, choice: Choice, layout: Layout | None, procfs: ProcFs) -> None:
        self.kind: Kind = "none"
        self.description = "none: disabled (--network none)"
        self.ebpf: NetworkProgram | Obstacle = Obstacle(
            f"this collector did not load it (--network {choice})", ""
        )
        extended = layout is not None and "read_net_bytes" in layout.offsets
        if choice in ("auto", "taskstats") and extended:
            self.kind = "taskstats"
            self.description = (
                f"taskstats extended: counted by the kernel for every thread since its start; "
                f"{_MEANING}"
            )
        elif choice == "taskstats":
            self.description = f"none: {_STOCK if layout else 'taskstats is not available here'}"
        elif choice in ("auto", "ebpf"):
            self._try_ebpf(procfs)

    def _try_ebpf(self, procfs: ProcFs) -> None:
        found = self.ebpf = load(procfs)
        if isinstance(found, NetworkProgram):
            self.kind = "ebpf"
            self.description = f"ebpf: counted since attachment; {_MEANING}"
            missing = limits(splice=found.splice, release=os.uname().release)
            if missing:
                self.description += f"; not counted here: {missing}"
        else:
            self.description = (
                f"none: {_STOCK}, and eBPF is unavailable: {found.reason}; see Doctor"
            )

    @property
    def program(self) -> NetworkProgram | None:
        """The loaded program; None if there is none."""
        return self.ebpf if isinstance(self.ebpf, NetworkProgram) else None

    @property
    def fields(self) -> tuple[str, ...]:
        """Columns that eBPF counts; none if another source is in effect."""
        return FIELDS if self.kind == "ebpf" else ()

    def explain(self, absent: Iterable[AbsentField]) -> list[AbsentField]:
        """Leave out fields that eBPF counts, and give others the reason that is in effect here."""
        reason = self.description.removeprefix("none: ")
        return [
            AbsentField(field=one.field, reason=reason) if one.field in FIELDS else one
            for one in absent
            if one.field not in self.fields
        ]

    def give_up(self, why: str) -> None:
        """Count no more: the kernel refused what it did before."""
        self.kind, self.description = "none", f"none: eBPF stopped working: {why}"
        self.close()
        self.ebpf = Obstacle(f"it stopped working: {why}", "")

    def close(self) -> None:
        """Take the program out of the kernel."""
        if isinstance(self.ebpf, NetworkProgram):
            self.ebpf.close()
