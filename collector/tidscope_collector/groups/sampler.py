"""A target of several processes: what differs from a target of one."""

import time
from contextlib import ExitStack

from tidscope_sampler.native import Sampler
from tidscope_wire.frame_tables import Tables
from tidscope_wire.generated.models import Process, ProgramExecuted, Target

from tidscope_collector.groups.account_check import AccountCheck
from tidscope_collector.groups.accounts import GroupAccount, Used, account_of
from tidscope_collector.groups.descriptions import Descriptions
from tidscope_collector.groups.group_pools import GroupPools
from tidscope_collector.groups.listing import read_process
from tidscope_collector.groups.matching import MatchWatch
from tidscope_collector.groups.members import Member
from tidscope_collector.groups.membership import Membership
from tidscope_collector.groups.meter import GroupMeter
from tidscope_collector.groups.own_accounts import OwnAccounts
from tidscope_collector.groups.process_table import ProcessTable, read_rows
from tidscope_collector.groups.selector import group_name
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader, GoProgram
from tidscope_collector.locks.group_locks import GroupLocks
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import TargetExitedError
from tidscope_collector.sampling.notices import Execution, Notice
from tidscope_collector.sampling.plan import Plan
from tidscope_collector.sampling.process_clock import process_cpu_ns
from tidscope_collector.sampling.process_meter import ProcessMeter
from tidscope_collector.sampling.tables import TableSource
from tidscope_collector.sampling.target import DESCRIBE_NS, TargetSampler

NEW_NS = 300_000_000
"""Interval between two descriptions of members after new ones were born, in nanoseconds."""
EXECUTIONS_NS = 200_000_000
"""Minimum interval between two batches of executions, in nanoseconds."""


class GroupTables:
    """A `TableSource` of the processes' table and others.

    Args:
        native: samples the group.
        target: target ID.
        processes: makes the processes' table; closed with this.
        meter: reads the group's account.
        check: compares it with the processes' rows.
        others: further tables; closed with this.

    Attributes:
        used: what the account said at the last reading; None if it was not read.
    """

    def __init__(
        self,
        native: Sampler,
        target: str,
        processes: ProcessTable,
        meter: GroupMeter,
        check: AccountCheck,
        others: TableSource,
    ) -> None:
        self._native = native
        self._target = target
        self._processes = processes
        self._meter = meter
        self._check = check
        self._others = others
        self.used: Used | None = None
        self.is_last = False

    @property
    def locks_reason(self) -> str:
        """See `TableSource`."""
        return self._others.locks_reason

    def read(self) -> Tables:
        """See `TableSource`; the rows are those of the last sample."""
        used = self.used = self._meter.read_used(last=self.is_last)
        rows = read_rows(self._native, self._target)
        ended = sum(row.count for row in rows if not row.live)
        # Many records that came at once are counted in several samples: until then much is missing.
        if used is not None and sum(row.threads_ended for row in rows) >= ended:
            self._check.note(rows, used)
        return {"processes": self._processes.table(rows), **self._others.read()}

    def close(self) -> None:
        """Close all."""
        self._processes.close()
        self._others.close()


class GroupSampler(TargetSampler):
    """Samples the processes of a group; belongs to the thread of targets.

    GOMAXPROCS, the CPU limit and the description of the target are those of its lead process.

    Args:
        target: description, as attached; it has a group.
        plan: columns of its samples.
        native: takes the samples.
        gomaxprocs: reads GOMAXPROCS of the lead process, or None; closed with the sampler.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        procfs: root of /proc.
        delays: switch of delay accounting, whose state is reported.
        membership: processes of the group.
        tables: further tables of its frames; closed with the sampler.
        locks: locks of its processes.
        pools: pools of its processes.
        descriptions: of its processes; closed with the sampler.
        accounts: what its programs say of themselves; closed with the sampler.
        matches: says which processes match; None if the group is no match.
    """

    def __init__(
        self,
        target: Target,
        plan: Plan,
        native: Sampler,
        gomaxprocs: GomaxprocsReader | None,
        attach_ns: int,
        procfs: ProcFs,
        delays: DelayAccounting | None,
        membership: Membership,
        tables: TableSource,
        locks: GroupLocks,
        pools: GroupPools,
        descriptions: Descriptions,
        accounts: OwnAccounts,
        matches: MatchWatch | None = None,
    ) -> None:
        self._membership = membership
        self._locks, self._pools = locks, pools
        self._descriptions, self._accounts = descriptions, accounts
        self._matches = matches
        self._procfs = procfs
        self._account = self._find_account(target, procfs)
        self._check = AccountCheck(self._account)
        meter = self._group_meter = GroupMeter(
            target.process.pid, procfs, delays, membership.members, self._account
        )
        processes = ProcessTable(membership.members, descriptions, self._gomaxprocs_of)
        joined = self._group_tables = GroupTables(
            native, target.id, processes, meter, self._check, tables
        )
        super().__init__(target, plan, native, gomaxprocs, attach_ns, procfs, delays, joined)
        self._lead_gomaxprocs = target.gomaxprocs
        self._asked_sample = self._empty = False
        self._executions: list[Execution] = []
        self._executions_due_ns = self._describe_due_ns = 0
        self._known: set[int] = set()

    def _make_meter(self, _procfs: ProcFs, _delays: DelayAccounting | None) -> ProcessMeter:
        return self._group_meter

    def _find_account(self, target: Target, procfs: ProcFs) -> GroupAccount | None:
        if target.group is None:
            return None
        members, cgroups = self._membership.members, self._membership.cgroups
        return account_of(target.group.kind, procfs, members, cgroups, process_cpu_ns)

    def _gomaxprocs_of(self, member: Member) -> int:
        if member.pid == self.pid:
            return self._lead_gomaxprocs or 0
        return self._accounts.size_of(member.number)

    def _open(self, opened: ExitStack) -> None:
        """Members come and go, so nothing of /proc is kept open."""
        opened.callback(self._accounts.close)

    def _processes(self) -> dict[str, object]:
        """See `TargetSampler`."""
        found = self._membership.setup()
        if not found["members"] and self._membership.is_over:
            raise TargetExitedError(f"no process of {self.target.id} is left")
        return found

    def begin(self) -> None:
        """See `TargetSampler`."""
        super().begin()
        self._membership.begun()
        self._give_gauges(time.monotonic_ns())
        self._known = set(self._membership.members.alive)

    def living(self) -> list[Member]:
        """Return living processes, oldest row first."""
        self._membership.update()
        return sorted(self._membership.members.alive.values(), key=lambda one: one.number)

    @property
    def due_ns(self) -> int:
        """See `TargetSampler`."""
        due_ns = min(self._membership.due_ns, self._describe_due_ns)
        if self._executions:
            due_ns = min(due_ns, self._executions_due_ns)
        return due_ns if self._asked_sample else min(due_ns, self._tables.due_ns)

    def work(self) -> None:
        """See `TargetSampler`: tables are read after the next sample, so that they belong to it."""
        now_ns = time.monotonic_ns()
        self._membership.poll(now_ns)
        if self._executions and now_ns >= self._executions_due_ns:
            self._take_executions(now_ns)
        if now_ns >= self._describe_due_ns:
            self._describe_members(now_ns)
        if now_ns >= self._tables.due_ns and not self._asked_sample:
            self._asked_sample = True
            self._native.tell_sample(self.target.id)

    def _describe_members(self, now_ns: int) -> None:
        """Bring what is known of members up to date."""
        membership = self._membership
        if not membership.is_polled:
            membership.update()
        alive = set(membership.members.alive)
        has_new = bool(alive - self._known)
        self._known = alive
        self._describe_due_ns = now_ns + (NEW_NS if has_new else DESCRIBE_NS)
        self._descriptions.ask(membership.members, now_ns)

    def take(self, notice: Notice) -> None:
        """See `TargetSampler`."""
        self._empty = (self._empty or notice["empty"]) and not notice["ending"]
        lost = notice["events_lost"] + notice["executions_missed"]
        if lost:
            self._membership.lost(lost)
        self._executions += notice["executions"]
        now_ns = time.monotonic_ns()
        # Tables that are read now name processes after the programs that they run.
        is_due = now_ns >= self._executions_due_ns or notice["ending"] or notice["sampled"]
        if self._executions and is_due:
            self._take_executions(now_ns)
        if notice["gomaxprocs"] is not None:
            self._lead_gomaxprocs = notice["gomaxprocs"]
        if notice["named"]:
            self._accounts.began(set(notice["named"]))
        if notice["ending"]:
            self._membership.update()
            self._group_tables.is_last = True
        elif notice["sampled"]:
            self._asked_sample = False
            self.give_tables()

    def give_tables(self) -> None:
        """See `TargetSampler`; gives the comparison with the account as well."""
        self._membership.update()
        super().give_tables()
        used, account = self._group_tables.used, self._account
        is_whole = used is not None and account is not None and account.whole
        self._give_group(used.cpu_ns if used is not None and is_whole else None)

    def _give_group(self, cpu_ns: int | None) -> None:
        found = self._check.found
        check = None if found is None else found.model_dump_json()
        self._native.set_group(self.target.id, self._membership.missed, check, cpu_ns)

    def _take_executions(self, now_ns: int) -> None:
        taken, self._executions = self._executions, []
        self._executions_due_ns = now_ns + EXECUTIONS_NS
        for pid, name, member in self._membership.executed(taken):
            self._locks.executed_in(pid)
            self._pools.executed(pid)
            self._descriptions.executed(member)
            self._accounts.executed(pid)
            if member.seen:
                self.report(ProgramExecuted(name=name, executable=None, previous=None, pid=pid))
            if pid == self.pid:
                self._stale = self._executed = True
                self._native.set_gomaxprocs(self.target.id, None)
                self._close_gomaxprocs()
                self._lead_gomaxprocs = None
        self._describe_if_stale(now_ns)

    @property
    def is_over(self) -> bool:
        """See `TargetSampler`."""
        if not self._empty:
            return False
        self._membership.update()
        self._empty = not self._membership.members.alive
        return self._empty and self._membership.is_over

    def second(self, now_ns: int) -> None:
        """See `TargetSampler`."""
        self._describe_members(now_ns)
        members = self._membership.members
        self._accounts.update(members, self._descriptions, now_ns)
        self._pools.update(members, self._descriptions, now_ns)
        for change in self._accounts.take_changes():
            self.report(change)
        for pid, names in self._accounts.take_names():
            self._native.rename(self.target.id, list(names.items()), pid)
        if self._matches is not None:
            self._matches.ask(now_ns)
        lead = read_process(self._procfs, self.pid) if self.pid in members.alive else None
        if lead is not None and lead.name != self.target.process.name:
            self._stale = True
        self._describe_if_stale(now_ns)
        described = self._accounts.description
        if described != self.target.thread_names:
            self.target = self.target.model_copy(update={"thread_names": described})
        self._give_gauges(now_ns)
        self._give_group(None)

    def flush(self) -> tuple[int, int] | None:
        """See `TargetSampler`: the rows of tables are those of a sample taken now."""
        if self._native.flush(self.target.id) is None:
            return None
        return super().flush()

    def describe_again(
        self, process: Process, program: GoProgram | None, gomaxprocs: int | None
    ) -> None:
        """See `TargetSampler`: of the lead process, and of the group's name."""
        super().describe_again(process, program, gomaxprocs)
        if program is not None:
            self._lead_gomaxprocs = gomaxprocs
        group = self.target.group
        if group is not None:
            name = group_name(group.kind, group.value, process)
            named = group.model_copy(update={"name": name})
            self.target = self.target.model_copy(update={"group": named})
