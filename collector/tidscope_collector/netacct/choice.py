"""Which source of network numbers is in effect, why, and the readers with its columns.

Best first: the four fields that an extended kernel appends to struct taskstats; eBPF; none.
"""

import logging
import os
from collections.abc import Callable, Iterable
from typing import Literal

from tidscope_wire.frame_tables import Table, empty_table
from tidscope_wire.generated.models import AbsentField

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.ebpf.watched import Processes, Whose
from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.netacct.loading import limits, load
from tidscope_collector.netacct.reader import (
    GroupNetworkReader,
    NetworkExitReader,
    NetworkReader,
)
from tidscope_collector.netacct.slots import FIELDS
from tidscope_collector.netacct.uncounted import uncounted_rows
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.layout import Layout
from tidscope_collector.threads.reading import ExitDecoder, TargetReader, ThreadReader

LOG = logging.getLogger(__name__)

Choice = Literal["auto", "taskstats", "ebpf", "none"]
CHOICES: tuple[Choice, ...] = ("auto", "taskstats", "ebpf", "none")
Kind = Literal["taskstats", "ebpf", "none"]

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
        self._accounts: Accounts | None = None
        self.ebpf: Accounts | Obstacle = Obstacle(
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
        if isinstance(found, Accounts):
            self.kind, self._accounts = "ebpf", found
            self.description = f"ebpf: counted since attachment; {_MEANING}"
            missing = limits(splice=found.splice, release=os.uname().release)
            if missing:
                self.description += f"; not counted here: {missing}"
        else:
            self.description = (
                f"none: {_STOCK}, and eBPF is unavailable: {found.reason}; see Doctor"
            )

    def explain(self, absent: Iterable[AbsentField]) -> list[AbsentField]:
        """Give absent network fields the reason that is in effect here."""
        reason = self.description.removeprefix("none: ")
        return [
            AbsentField(field=one.field, reason=reason) if one.field in FIELDS else one
            for one in absent
        ]

    @property
    def uncounted_calls(self) -> int:
        """Socket calls of watched processes that the eBPF program could not count."""
        accounts = self._accounts
        return accounts.uncounted_calls if accounts is not None else 0

    def uncounted(self, whose: Whose, start_of: Callable[[int], int | None]) -> Table:
        """Values of threads that are lower bounds; see `uncounted_rows`."""
        if self._accounts is None:
            return empty_table("inexact")
        return uncounted_rows(self._accounts, whose, start_of)

    def close(self) -> None:
        """Take the program out of the kernel."""
        if self._accounts is not None:
            self._accounts.close()
            self._accounts = None

    def beside(self, base: ThreadReader, pid: int) -> ThreadReader:
        """Put the network columns beside those of a reader, where eBPF is in effect.

        Args:
            base: has network columns itself only if `kind` is taskstats.
            pid: its process.
        """
        if self._accounts is None:
            return base
        try:
            if isinstance(base, ExitDecoder):
                return NetworkExitReader(base, base, self._accounts, pid)
            return NetworkReader(base, self._accounts, pid)
        except libbpf.BpfError as error:
            self._give_up(error)
            return base

    def beside_group(self, base: TargetReader, whose: Processes) -> TargetReader:
        """The same for the reader of a group.

        Args:
            base: as for `beside`.
            whose: its processes.
        """
        if self._accounts is None:
            return base
        try:
            return GroupNetworkReader(base, self._accounts, whose)
        except libbpf.BpfError as error:
            self._give_up(error)
            return base

    @property
    def lent(self) -> dict[str, int]:
        """Maps of processes that are counted for: see groups.bpf.c."""
        return {} if self._accounts is None else self._accounts.lent

    def _give_up(self, error: libbpf.BpfError) -> None:
        LOG.warning("network counters stop: %s", error)
        self.close()
        self.kind, self.description = "none", f"none: eBPF stopped working: {error}"
        self.ebpf = Obstacle(f"it stopped working: {error}", "")
