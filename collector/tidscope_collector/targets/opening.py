"""Opening of a target: readers, tables and names of one process or of a group."""

import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from tidscope_wire.generated.models import Group, Process, RoleRule, Target
from tidscope_wire.problems import ProblemError, refusal

from tidscope_collector.goroutines.goroutines import Goroutines
from tidscope_collector.groups.boundaries import Boundary, ControlGroup, Matching, Tree
from tidscope_collector.groups.cgroups import find_cgroups
from tidscope_collector.groups.descriptions import Descriptions
from tidscope_collector.groups.listing import read_process
from tidscope_collector.groups.matching import MatchWatch
from tidscope_collector.groups.membership import Membership
from tidscope_collector.groups.own_accounts import Asking, OwnAccounts
from tidscope_collector.groups.sampler import GroupSampler
from tidscope_collector.groups.selector import Selection
from tidscope_collector.inspection.gomaxprocs import GoProgram, open_gomaxprocs
from tidscope_collector.locks.group_locks import GroupLocks, LockOwner
from tidscope_collector.naming.source import runtime_source
from tidscope_collector.naming.thread_names import ThreadNames
from tidscope_collector.processes.cgroup_names import ContainerNames
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import TargetExitedError
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.plan import Plan
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.tables import TargetTables


class Opened(NamedTuple):
    """A target that is not yet sampled.

    Attributes:
        target: the target.
        sampler: takes its samples.
        tables: tables of a process; None for a group.
        names: names of its threads, or None for a group or if programs are not asked.
    """

    target: Target
    sampler: TargetSampler
    tables: TargetTables | None
    names: ThreadNames | None


class TargetOpener:
    """Opens targets, one at a time; any thread may call its methods.

    Args:
        host: ID of this host.
        procfs: root of /proc.
        sources: sources of samples.
        engine: samples the targets.
        containers: names of containers.
        processes: lists the processes of the host.
        workers: run slow work.
        begin: starts to sample an opened target.
    """

    def __init__(
        self,
        host: str,
        procfs: ProcFs,
        sources: Sources,
        engine: Engine,
        containers: ContainerNames,
        processes: Callable[[], list[Process]],
        workers: ThreadPoolExecutor,
        begin: Callable[[Opened], Target],
    ) -> None:
        self._host, self._procfs, self._sources = host, procfs, sources
        self._engine, self._containers = engine, containers
        self._processes, self._workers, self._begin = processes, workers, begin

    def process(self, process: Process, rate_hz: float, rules: list[RoleRule] | None) -> Target:
        """Open a process and begin to sample it; arguments as for `group`.

        Raises:
            ProblemError: the process has ended.
        """
        with ExitStack() as held:
            held.callback(self._sources.hold())
            program = open_gomaxprocs(process.pid, process.start_ticks)
            attach_ns = time.monotonic_ns()
            try:
                plan = self._sources.plan(process.pid)
                target = self._describe(process, plan, rate_hz, rules, program)
                goroutines = self._sources.goroutines(rate_hz)
                tables = self._sources.tables(target.id, process, attach_ns, rate_hz, goroutines)
                names = self._sources.thread_names(process)
                sampler = TargetSampler(
                    target,
                    plan,
                    self._sources.native,
                    program.reader,
                    attach_ns,
                    self._procfs,
                    self._sources.delays,
                    tables,
                    names,
                )
                sampler.on_rate = tables.set_rate
                sampler.closes(held.pop_all().close)
                return self._begin(Opened(target, sampler, tables, names))
            except TargetExitedError:
                raise exited(process.pid) from None

    def _describe(
        self,
        process: Process,
        plan: Plan,
        rate_hz: float,
        rules: list[RoleRule] | None,
        program: GoProgram,
        group: Group | None = None,
        target: str = "",
    ) -> Target:
        target = target or target_id(process.pid)
        return Target(
            id=target,
            host=self._host,
            process=process,
            group=group,
            state="attached",
            rate_hz=rate_hz,
            attached_unix_us=time.time_ns() // 1000,
            source=self._sources.describe(),
            energy=self._engine.energy,
            fields=list(plan.fields),
            absent=list(plan.absent),
            gomaxprocs=program.reader.read() if program.reader else None,
            gomaxprocs_reason=program.reason,
            role_rules=rules,
            steering=None,
            stacks=self._sources.stacks.state(target),
        )

    def group(self, selection: Selection, rate_hz: float, rules: list[RoleRule] | None) -> Target:
        """Open a group and begin to sample it.

        Args:
            selection: processes of the group.
            rate_hz: samples per second.
            rules: role rules; None: none.

        Raises:
            ProblemError: the processes have exited.
        """
        with ExitStack() as held:
            held.callback(self._sources.hold())
            attach_ns = time.monotonic_ns()
            target = target_id(selection.lead.pid)
            membership, release = self._sources.groups.membership(
                target, self._boundary(selection), attach_ns
            )
            held.callback(release)
            try:
                opened = self._open_group(target, selection, membership, attach_ns, rate_hz, rules)
                opened.sampler.closes(held.pop_all().close)
                return self._begin(opened)
            except TargetExitedError:
                raise exited(selection.lead.pid) from None

    def _boundary(self, selection: Selection) -> Boundary:
        if selection.match is not None:
            listed_ns = time.monotonic_ns()
            return Matching(self._procfs, selection.match, selection.pids, listed_ns)
        if selection.cgroup is not None:
            cgroups = tuple(find_cgroups(self._procfs, selection.cgroup))
            return ControlGroup(self._procfs, cgroups, selection.cgroup)
        return Tree(self._procfs, selection.lead.pid)

    def _open_group(
        self,
        target: str,
        selection: Selection,
        membership: Membership,
        attach_ns: int,
        rate_hz: float,
        rules: list[RoleRule] | None,
    ) -> Opened:
        lead = selection.lead
        program = open_gomaxprocs(lead.pid, lead.start_ticks)
        plan = self._sources.plan(lead.pid)
        group = Group(
            kind=selection.kind,
            value=selection.value,
            name=selection.name,
            cgroup=selection.cgroup,
            discovery=membership.discovery,
            discovery_reason=membership.reason,
        )
        described = self._describe(lead, plan, rate_hz, rules, program, group, target)
        matches = None
        if selection.match is not None:
            matches = MatchWatch(
                selection.match, membership, self._processes, self._workers, self._engine.submit
            )
        locks = GroupLocks(lambda pid: lock_owner(membership, pid), self._name_now)
        pools = self._sources.group_pools(attach_ns)
        goroutines = self._sources.goroutines(rate_hz)
        tables = self._sources.group_tables(
            target, membership, attach_ns, rate_hz, locks, pools, goroutines
        )
        sampler = GroupSampler(
            described,
            plan,
            self._sources.native,
            program.reader,
            attach_ns,
            self._procfs,
            self._sources.delays,
            membership,
            tables,
            locks,
            pools,
            Descriptions(self._procfs, self._workers, self._engine.submit, self._containers),
            OwnAccounts(self._asking(goroutines), lead.pid, self._workers, self._engine.submit),
            matches,
        )
        sampler.on_rate = tables.set_rate
        return Opened(described, sampler, None, None)

    def _name_now(self, owner: LockOwner) -> str:
        process = read_process(self._procfs, owner.pid)
        if process is None or process.start_ticks != owner.start_ticks:
            return owner.name
        return process.name

    def _asking(self, goroutines: Goroutines | None) -> Asking:
        return Asking(
            lambda pid, start_ticks: open_gomaxprocs(pid, start_ticks).reader,
            partial(runtime_source, ask=self._sources.naming.ask_programs),
            self._sources.naming.read_programs,
            goroutines,
        )


def target_id(pid: int) -> str:
    """Return a new ID of a target."""
    return f"t-{pid}-{secrets.token_hex(4)}"


def lock_owner(membership: Membership, pid: int) -> LockOwner | None:
    """Return the process of a group with an ID, or None if it is none of them."""
    member = membership.members.find(pid)
    if member is None:
        return None
    return LockOwner(pid, member.start_ticks, member.name, not member.ended_ns)


def exited(pid: int) -> ProblemError:
    """Return the refusal of a process that has exited."""
    return refusal("target-exited", f"process {pid} has exited", "Pick a process that is running.")
