"""Whether ledgers are kept here, why not, and the readers with their columns."""

import logging
from collections.abc import Iterable
from functools import partial
from typing import Literal

from tidscope_wire.generated.models import AbsentField

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.obstacles import KernelFeature, Obstacle, attempt
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.threads.reading import TargetReader
from tidscope_collector.waits.joined_reader import LEDGER_FIELDS, LedgerReader
from tidscope_collector.waits.ledger import LedgerKeeper

LOG = logging.getLogger(__name__)

Choice = Literal["auto", "off"]
CHOICES: tuple[Choice, ...] = ("auto", "off")

TASK_WALKS = KernelFeature(
    "bpf_iter_task", libbpf.BTF_KIND_FUNC, "task iterators for one process", "6.1"
)


class LedgerSource:
    """Decides once, at start.

    Args:
        choice: what was asked for.
        procfs: root of /proc.

    Attributes:
        ebpf: the loaded program, or why there is none.
    """

    def __init__(self, choice: Choice, procfs: ProcFs) -> None:
        self.ebpf: LedgerKeeper | Obstacle = Obstacle("it is switched off (--ledger off)", "")
        self._keeper: LedgerKeeper | None = None
        if choice == "auto":
            found = self.ebpf = attempt(procfs, TASK_WALKS, partial(LedgerKeeper, procfs))
            if isinstance(found, Obstacle):
                LOG.info("no ledgers of states: %s", found.reason)
            else:
                self._keeper = found

    @property
    def reason(self) -> str | None:
        """Why no ledgers are kept; None if they are."""
        return self.ebpf.reason if isinstance(self.ebpf, Obstacle) else None

    @property
    def threads_uncounted(self) -> int:
        """Threads of watched processes without a ledger, because all slots were in use."""
        return 0 if self._keeper is None else self._keeper.threads_without_slot

    def explain(self, absent: Iterable[AbsentField]) -> list[AbsentField]:
        """Give absent fields of states the reason that is in effect here."""
        reason = self.reason
        if reason is None:
            return list(absent)
        return [
            AbsentField(field=one.field, reason=reason) if one.field in LEDGER_FIELDS else one
            for one in absent
        ]

    def close(self) -> None:
        """Take the program out of the kernel."""
        if self._keeper is not None:
            self._keeper.close()
            self._keeper = None

    def beside(self, base: TargetReader, pid: int, attach_ns: int) -> TargetReader:
        """Put the columns of ledgers beside those of a reader, where ledgers are kept.

        Args:
            base: has none itself.
            pid: its process.
            attach_ns: CLOCK_MONOTONIC of the attachment.
        """
        if isinstance(self.ebpf, Obstacle):
            return base
        try:
            return LedgerReader(base, self.ebpf, pid, attach_ns)
        except libbpf.BpfError as error:
            # Targets that have ledgers keep them.
            LOG.warning("no more ledgers: %s", error)
            self.ebpf = Obstacle(f"eBPF stopped working: {error}", "")
            return base
