"""Availability of state ledgers, and the reason if they are unavailable."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal
from weakref import WeakKeyDictionary

from tidscope_sampler.native import Sampler
from tidscope_wire.generated.models import AbsentField, Process
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS

from tidscope_collector.ebpf.obstacles import Obstacle, attempt
from tidscope_collector.locks.group_locks import GroupLocks
from tidscope_collector.locks.locks import open_locks
from tidscope_collector.locks.runtime_locks import LockSource, own_account
from tidscope_collector.processes.cgroup_names import ContainerNames
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.waits.parties import Parties
from tidscope_collector.waits.programs import LedgerProgram
from tidscope_collector.waits.wire_tables import LedgerTables, LockNumbering
from tidscope_collector.walk.programs import TASK_WALKS

LOG = logging.getLogger(__name__)

Choice = Literal["auto", "off"]
CHOICES: tuple[Choice, ...] = ("auto", "off")

FIELDS = (*STATE_FIELDS, STATE, SINCE)
"""The columns of a ledger, which stand behind all others."""
THROTTLED = "state_throttled_ns"
"""The column that only some kernels fill."""


@dataclass(frozen=True)
class LedgerOptions:
    """Options of state ledgers.

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
        self._ask_programs = options.ask_programs
        self._procfs = procfs
        self._containers = ContainerNames()
        self.calls = False
        self._tables: WeakKeyDictionary[LedgerTables, str] = WeakKeyDictionary()
        """Tables of targets, and the name of the process; empty for groups."""
        self.ebpf: LedgerProgram | Obstacle = Obstacle("it is switched off (--ledger off)", "")
        if options.choice == "auto":
            load = partial(LedgerProgram, calls=options.calls)
            found = self.ebpf = attempt(procfs, TASK_WALKS, load)
            if isinstance(found, Obstacle):
                LOG.info("no ledgers of states: %s", found.reason)
            else:
                self.calls = options.calls

    @property
    def reason(self) -> str | None:
        """Why no ledgers are kept; None if they are."""
        return self.ebpf.reason if isinstance(self.ebpf, Obstacle) else None

    @property
    def program(self) -> LedgerProgram | None:
        """The loaded program; None if there is none."""
        return self.ebpf if isinstance(self.ebpf, LedgerProgram) else None

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns of ledgers, where they are kept."""
        return tuple(field for field in FIELDS if self._why_absent(field) is None)

    def _why_absent(self, field: str) -> str | None:
        """Why a column of ledgers is not filled here; None: it is."""
        program = self.program
        if program is not None and field == THROTTLED:
            return program.no_throttling
        return self.reason

    def explain(self, absent: Iterable[AbsentField]) -> list[AbsentField]:
        """Leave out fields that ledgers have, and give others the reason that is in effect here."""
        explained = []
        for one in absent:
            reason = self._why_absent(one.field) if one.field in FIELDS else one.reason
            if reason is not None:
                explained.append(AbsentField(field=one.field, reason=reason))
        return explained

    def give_up(self, why: str) -> None:
        """Keep no more ledgers: the kernel refused what it did before."""
        LOG.warning("no more ledgers: %s", why)
        self.close()
        self.ebpf = Obstacle(f"eBPF stopped working: {why}", "")

    def close(self) -> None:
        """Take the program out of the kernel."""
        if isinstance(self.ebpf, LedgerProgram):
            self.ebpf.close()

    def tables(self, sampler: Sampler, target: str, process: Process) -> LedgerTables | None:
        """The tables of a process; None where no ledgers are kept.

        Args:
            sampler: has them.
            target: id of the target.
            process: whose.
        """
        if self.program is None:
            return None
        locks = open_locks(process, ask_program=self._ask_programs)
        return self._opened(sampler, target, locks, process.name)

    def group_tables(self, sampler: Sampler, target: str, locks: GroupLocks) -> LedgerTables | None:
        """The tables of a group; None where no ledgers are kept.

        Args:
            sampler: has them.
            target: id of the target.
            locks: of its processes; closed with the tables.
        """
        if self.program is None:
            return None
        return self._opened(sampler, target, locks, "")

    def _opened(
        self, sampler: Sampler, target: str, locks: LockNumbering, name: str
    ) -> LedgerTables:
        parties = Parties(self._procfs, self._containers)
        tables = LedgerTables(sampler, target, locks, parties)
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
        """Return a program's own account of its locks, or None if it gives none or is not asked."""
        return own_account(process) if self._ask_programs else None
