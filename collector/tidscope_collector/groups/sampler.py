"""A target of several processes: what differs from a target of one."""

from contextlib import ExitStack
from typing import NamedTuple

from tidscope_wire.frame import Rows
from tidscope_wire.generated.models import (
    GroupCounts,
    Process,
    ProgramExecuted,
    Target,
    TargetEvent,
    ThreadBorn,
    ThreadRenamed,
)

from tidscope_collector.groups.account_check import AccountCheck
from tidscope_collector.groups.accounts import GroupAccount, account_of
from tidscope_collector.groups.descriptions import Descriptions
from tidscope_collector.groups.group_pools import GroupPools
from tidscope_collector.groups.matching import MatchWatch
from tidscope_collector.groups.members import Member
from tidscope_collector.groups.membership import Membership
from tidscope_collector.groups.meter import GroupMeter
from tidscope_collector.groups.own_accounts import OwnAccounts
from tidscope_collector.groups.process_sums import ProcessSums
from tidscope_collector.groups.process_table import SUMMED, JoinedTables, Live, ProcessTable
from tidscope_collector.groups.reader import GroupReader
from tidscope_collector.groups.selector import group_name
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader, GoProgram
from tidscope_collector.locks.group_locks import GroupLocks
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.exit_cpu import CPU
from tidscope_collector.sampling.health import HealthNow
from tidscope_collector.sampling.presence import Presence, presence_in
from tidscope_collector.sampling.process_clock import process_cpu_ns
from tidscope_collector.sampling.process_meter import ProcessMeter
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.state_columns import StateColumns
from tidscope_collector.sampling.table_changes import TableSource
from tidscope_collector.sampling.target import DESCRIBE_NS, TargetSampler
from tidscope_collector.sampling.tracker import Tracker
from tidscope_collector.threads.reading import TargetReader
from tidscope_collector.waits.joined_reader import LedgerReader


class GroupReading(NamedTuple):
    """What a group is sampled with.

    Attributes:
        reader: of all columns.
        group: of the counters, at the bottom of it.
        ledgers: in it; None: none are kept.
        tables: that frames carry besides that of the processes.
        locks: of the processes, closed with the tables.
        pools: of their workers, closed with the tables.
    """

    reader: TargetReader
    group: GroupReader
    ledgers: LedgerReader | None
    tables: TableSource
    locks: GroupLocks
    pools: GroupPools


class GroupSampler(TargetSampler):
    """Samples the processes of a group; belongs to the sampling thread.

    Of its lead process alone are GOMAXPROCS, the CPU limit, and the description of what it runs.

    Args:
        target: description, as attached; it has a group.
        reading: where readings come from; closed with the sampler.
        gomaxprocs: reads GOMAXPROCS of the lead process, or None; closed with the sampler.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        procfs: root of /proc.
        delays: the switch of delay accounting, whose state is reported.
        descriptions: of the processes, for their table.
        accounts: what their programs say of themselves; closed with the sampler.
        matches: says which processes match; None: the group is not of those that match.
    """

    def __init__(
        self,
        target: Target,
        reading: GroupReading,
        gomaxprocs: GomaxprocsReader | None,
        attach_ns: int,
        procfs: ProcFs,
        delays: DelayAccounting | None,
        descriptions: Descriptions,
        accounts: OwnAccounts,
        matches: MatchWatch | None = None,
    ) -> None:
        self._matches = matches
        self._group, self._ledgers, self._locks = reading.group, reading.ledgers, reading.locks
        self._pools = reading.pools
        self._membership: Membership = reading.group.membership
        self._procfs = procfs
        summed = StateColumns(reading.reader.fields, attach_ns).summed
        self._sums = ProcessSums(reading.group.members, summed, SUMMED)
        self._accounts = accounts
        self._account = self._find_account(target, procfs)
        self._check = AccountCheck(self._account)
        table = ProcessTable(self._sums, self._live, descriptions, self._gomaxprocs_of)
        tables = JoinedTables(table, reading.tables, self._check)
        super().__init__(target, reading.reader, gomaxprocs, attach_ns, procfs, delays, tables)
        self._descriptions = descriptions
        self._named_ns = -DESCRIBE_NS

    @property
    def exits_of(self) -> frozenset[int] | None:
        """Of any process: members may begin and end between two looks."""
        return None

    @property
    def membership(self) -> Membership:
        """Its processes."""
        return self._membership

    def _live(self, now_ns: int) -> Live:
        return self._tracker.by_process(now_ns)

    def _make_tracker(self) -> Tracker:
        return Tracker(
            self.reader.fields,
            self.attach_ns,
            0,
            foreign_exits=self.foreign_exits,
            processes=self._sums,
            role_rules=self._role_rules(),
        )

    def _make_meter(
        self, procfs: ProcFs, delays: DelayAccounting | None, gomaxprocs: GomaxprocsReader | None
    ) -> ProcessMeter:
        self._meter = GroupMeter(
            self.pid,
            procfs,
            delays,
            gomaxprocs,
            self.target.gomaxprocs,
            self._membership.members,
            self._account,
        )
        return self._meter

    def _find_account(self, target: Target, procfs: ProcFs) -> GroupAccount | None:
        membership = self._membership
        if target.group is None:
            return None
        return account_of(
            target.group.kind, procfs, membership.members, membership.cgroups, process_cpu_ns
        )

    def _gomaxprocs_of(self, member: Member) -> int:
        if member.pid == self.pid:
            return self._meter.gomaxprocs or 0
        return self._accounts.size_of(member.number)

    def _open(self, opened: ExitStack, procfs: ProcFs) -> None:
        """Nothing is open but the reader: members come and go."""
        opened.callback(self._accounts.close)

    def _group_counts(self) -> GroupCounts:
        members = self._membership.members
        missed = self._membership.missed
        return GroupCounts(
            live=len(members.alive),
            started=members.started,
            ended=members.ended,
            unseen=members.unseen,
            missed=None if missed is None else missed + self._group.uncounted,
            check=self._check.found,
        )

    def _check_alive(self) -> None:
        """The reader says when nobody is left. Who counts for members has to know them before."""
        self._membership.update()

    def _is_cpu_due(self, *, last: bool) -> bool:
        """See `TargetSampler`: the account is read with the rows that tables are made from."""
        tables = self._tables
        return last or (tables is not None and tables.begins_before(self.schedule.due_ns))

    def _settle(self) -> None:
        """Count what ended threads used more than was said with their ends."""
        for name, process, cpu_ns in self._group.take_late():
            self._tracker.add_late(name, process, {CPU: cpu_ns})
        if self._ledgers is not None:
            for name, process, totals in self._ledgers.take_late():
                self._tracker.add_late(name, process, totals)

    def _sample(
        self,
        events: list[TargetEvent],
        rows: Rows | None,
        started_ns: int,
        late: int,
        health: HealthNow,
        *,
        last: bool = False,
    ) -> list[SampledFrame]:
        self._settle()
        used = self._meter.take_used()
        # Many records that came at once are counted in several samples: until then much is missing.
        counted = self._tracker.exited().threads >= self._membership.members.ended
        self._check.noted = None
        if used is not None and counted:
            self._check.note(self._sums.rows(*self._live(started_ns)[:3], started_ns), used)
        return super()._sample(events, rows, started_ns, late, health, last=last)

    def _look(self, tid: int) -> Presence:
        return presence_in(self._procfs, tid, self._membership.members.alive)

    def _watch_program(self, now_ns: int) -> None:
        lead = self._membership.members.alive.get(self.pid)
        for pid, name in self._group.take_executions():
            self._locks.executed_in(pid)
            self._pools.executed(pid)
            member = self._membership.members.find(pid)
            if member is not None:
                self._descriptions.executed(member)
                self._accounts.executed(pid)
            if member is not None and member.seen:
                self._pending.append(
                    ProgramExecuted(name=name, executable=None, previous=None, pid=pid)
                )
            if pid == self.pid:
                self._stale = self._executed = True
                self._process.close_gomaxprocs()
        main = self._tracker.threads.get(self.pid)
        if lead is not None and main is not None and main.name != self.target.process.name:
            self._stale = True
        if self._stale and now_ns - self._described_ns >= DESCRIBE_NS:
            executed, self._stale, self._executed = self._executed, False, False
            self._described_ns = now_ns
            self.on_change(executed)
        if self._matches is not None:
            self._matches.ask(now_ns)
        self._descriptions.ask(self._membership.members, now_ns)

    def _name_threads(self, events: list[TargetEvent], started_ns: int) -> None:
        """See `TargetSampler`: of all programs."""
        accounts = self._accounts
        accounts.update(self._membership.members, self._descriptions, started_ns)
        self._pools.update(self._membership.members, self._descriptions, started_ns)
        self._pending += accounts.take_changes()
        named = [one for one in events if isinstance(one, ThreadBorn | ThreadRenamed)]
        if named:
            accounts.began({one.pid for one in named if one.pid is not None})
        threads = self._tracker.threads
        for pid, names in accounts.take_names():
            own = {
                t: name for t, name in names.items() if t in threads and threads[t].process == pid
            }
            events += self._tracker.rename(own)
        described = accounts.description
        if started_ns - self._named_ns >= DESCRIBE_NS and described != self.target.thread_names:
            self._named_ns = started_ns
            self.target = self.target.model_copy(update={"thread_names": described})

    def describe_again(
        self, process: Process, program: GoProgram | None, gomaxprocs: int | None
    ) -> None:
        """See `TargetSampler`: of the lead process, and of the group's name."""
        super().describe_again(process, program, gomaxprocs)
        group = self.target.group
        if group is not None:
            name = group_name(group.kind, group.value, process)
            named = group.model_copy(update={"name": name})
            self.target = self.target.model_copy(update={"group": named})
