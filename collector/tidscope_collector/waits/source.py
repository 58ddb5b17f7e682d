"""Whether ledgers are kept here, why not, and the readers with their columns."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal
from weakref import WeakKeyDictionary

from tidscope_wire.generated.models import AbsentField, Process

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.obstacles import KernelFeature, Obstacle, attempt
from tidscope_collector.ebpf.watched import Processes, Whose
from tidscope_collector.locks.group_locks import GroupLocks
from tidscope_collector.locks.locks import open_locks
from tidscope_collector.locks.runtime_locks import LockSource, own_account
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.threads.reading import TargetReader
from tidscope_collector.waits.joined_reader import LEDGER_FIELDS, LedgerReader
from tidscope_collector.waits.ledger import LedgerKeeper
from tidscope_collector.waits.wire_tables import LedgerTables

LOG = logging.getLogger(__name__)

Choice = Literal["auto", "off"]
CHOICES: tuple[Choice, ...] = ("auto", "off")

TASK_WALKS = KernelFeature(
    "bpf_iter_task", libbpf.BTF_KIND_FUNC, "task iterators for one process", "6.1"
)


@dataclass(frozen=True)
class LedgerOptions:
    """What is asked for.

    Attributes:
        choice: whether ledgers are kept where the kernel allows it.
        calls: whether system calls are counted, too.
        ask_programs: whether programs are asked for their own account of their locks.
    """

    choice: Choice = "auto"
    calls: bool = False
    ask_programs: bool = False


DEFAULT_OPTIONS = LedgerOptions()


class LedgerSource:
    """Decides once, at start.

    Args:
        options: what was asked for.
        procfs: root of /proc.

    Attributes:
        ebpf: the loaded program, or why there is none.
        calls: whether system calls are counted.
    """

    def __init__(self, options: LedgerOptions, procfs: ProcFs) -> None:
        self._procfs = procfs
        self._ask_programs = options.ask_programs
        self.calls = False
        self._tables: WeakKeyDictionary[LedgerTables, str] = WeakKeyDictionary()
        """Of targets, and the name of the process; empty for those of groups."""
        self.ebpf: LedgerKeeper | Obstacle = Obstacle("it is switched off (--ledger off)", "")
        self._keeper: LedgerKeeper | None = None
        if options.choice == "auto":
            load = partial(LedgerKeeper, procfs, calls=options.calls)
            found = self.ebpf = attempt(procfs, TASK_WALKS, load)
            if isinstance(found, Obstacle):
                LOG.info("no ledgers of states: %s", found.reason)
            else:
                self._keeper, self.calls = found, options.calls

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

    @property
    def lent(self) -> dict[str, int]:
        """Maps of processes that ledgers are kept of: see groups.bpf.c."""
        return {} if self._keeper is None else self._keeper.lent

    def tables(self, reader: TargetReader, process: Process) -> LedgerTables | None:
        """The tables of a process.

        Args:
            reader: made by `beside`; None is returned unless it reads ledgers.
            process: whose.
        """
        if self._keeper is None or not isinstance(reader, LedgerReader):
            return None
        locks = open_locks(process, ask_program=self._ask_programs)
        return self._opened(LedgerTables(self._keeper, process.pid, locks), process.name)

    def group_tables(
        self, reader: TargetReader, whose: Processes, locks: GroupLocks
    ) -> LedgerTables | None:
        """The tables of a group.

        Args:
            reader: made by `beside`; None is returned unless it reads ledgers.
            whose: its processes.
            locks: of them; closed with the tables.
        """
        if self._keeper is None or not isinstance(reader, LedgerReader):
            return None
        return self._opened(LedgerTables(self._keeper, whose, locks), "")

    def _opened(self, tables: LedgerTables, name: str) -> LedgerTables:
        self._tables[tables] = name
        return tables

    @property
    def lock_troubles(self) -> list[str]:
        """Why locks of targets cannot be read or named."""
        found = []
        for tables, name in list(self._tables.items()):
            if reason := tables.locks_reason:
                found.append(f"{name}: {reason}" if name else reason)
        return found

    def account_of(self, process: Process) -> LockSource | None:
        """What a program itself says of its locks; None: nothing, or it is not asked."""
        return own_account(process) if self._ask_programs else None

    def beside(self, base: TargetReader, whose: Whose, attach_ns: int) -> TargetReader:
        """Put the columns of ledgers beside those of a reader, where ledgers are kept.

        Args:
            base: has none itself.
            whose: its processes.
            attach_ns: CLOCK_MONOTONIC of the attachment.
        """
        if isinstance(self.ebpf, Obstacle):
            return base
        try:
            return LedgerReader(base, self.ebpf, whose, attach_ns)
        except libbpf.BpfError as error:
            # Targets that have ledgers keep them.
            LOG.warning("no more ledgers: %s", error)
            self.ebpf = Obstacle(f"eBPF stopped working: {error}", "")
            return base
