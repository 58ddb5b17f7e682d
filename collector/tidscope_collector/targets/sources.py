"""Sources of samples in this collector: the native sampler with all that it uses."""

import logging
import threading
from collections.abc import Callable, Mapping
from functools import partial

from tidscope_sampler.native import Sampler
from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS, ROWS
from tidscope_wire.generated.limits import MAX_FOLDED_PROCESSES, MAX_ROLES
from tidscope_wire.generated.models import Process, SampleSource, Source
from tidscope_wire.role import WORDS

from tidscope_collector.ebpf.libbpf import BpfError
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.goroutines.goroutines import Goroutines
from tidscope_collector.groups.group_pools import GroupPools
from tidscope_collector.groups.membership import Membership
from tidscope_collector.groups.opening import GroupSource
from tidscope_collector.groups.programs import load as load_groups
from tidscope_collector.locks.group_locks import GroupLocks
from tidscope_collector.naming.source import NameSource, name_source
from tidscope_collector.naming.thread_names import KERNEL_NAMES, NamingOptions, ThreadNames
from tidscope_collector.netacct.choice import Choice, NetworkSource
from tidscope_collector.pools.reader import PoolReaders
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.thread_columns import thread_columns
from tidscope_collector.queues.reader import QueueReader
from tidscope_collector.sampling.plan import Plan
from tidscope_collector.stacks.program import NO_STACKS, StackProgram
from tidscope_collector.stacks.service import StackService
from tidscope_collector.stacks.target_stacks import TargetStacks
from tidscope_collector.targets.inexact import inexact_rows, uncounted_rows
from tidscope_collector.targets.tables import TargetTables
from tidscope_collector.taskstats.columns import Columns
from tidscope_collector.taskstats.exits import ExitSockets, exit_self_test, possible_cpus
from tidscope_collector.taskstats.link import (
    REQUEST_BUFFER_BYTES,
    Kernel,
    TaskstatsUnavailableError,
    open_socket,
    probe,
)
from tidscope_collector.waits.source import DEFAULT_OPTIONS, LedgerOptions, LedgerSource
from tidscope_collector.waits.wire_tables import LedgerTables
from tidscope_collector.walk.choice import Choice as WalkChoice
from tidscope_collector.walk.choice import WalkSource
from tidscope_collector.walk.programs import WalkPrograms
from tidscope_collector.walk.programs import load as load_walks

LOG = logging.getLogger(__name__)
NOT_LOADED = Obstacle("this collector does not use it: samples come from /proc", "")


def make_sampler(procfs: ProcFs) -> Sampler:
    """Return a native sampler without sources.

    Args:
        procfs: root of /proc.
    """
    shapes = [
        (name, list(columns.items()), len(KEYS[name]), ROWS[name])
        for name, columns in COLUMNS.items()
    ]
    roles, names = MAX_ROLES - 1, MAX_FOLDED_PROCESSES - 1
    return Sampler(str(procfs.root), sorted(WORDS), roles, names, shapes)


def give_taskstats(native: Sampler, kernel: Kernel) -> None:
    """Let a sampler that has not started ask taskstats.

    Args:
        native: the sampler.
        kernel: what the probe found.
    """
    layout = kernel.layout
    with open_socket(REQUEST_BUFFER_BYTES) as link:
        link.setblocking(False)
        native.use_taskstats(
            link.fileno(),
            kernel.family,
            kernel.payload,
            layout.version,
            layout.length,
            layout.profile,
            list(layout.offsets.items()),
        )


class Sources:
    """Selects the sources at start, and gives them to a native sampler.

    Args:
        procfs: root of /proc.
        network: requested source of network counters.
        delays: switch of delay accounting; by default this process sets it.
        counters: requested source of thread counters.
        ledger: options of state ledgers.
        naming: options for names and roles of threads.
        stacks: the program that takes stacks, or why there is none.

    Attributes:
        native: the native sampler; the engine starts it.
        delays: switch of delay accounting.
        iterators: the programs that walk, or the obstacle.
        walk: whether counters are read in one walk.
        ledger: state ledgers, if available.
        groups: programs that follow groups, if available.
        stacks: takes stacks, if it can.
    """

    def __init__(
        self,
        procfs: ProcFs,
        network: Choice = "auto",
        delays: DelayAccounting | None = None,
        counters: WalkChoice = "auto",
        ledger: LedgerOptions = DEFAULT_OPTIONS,
        naming: NamingOptions = KERNEL_NAMES,
        stacks: StackProgram | Obstacle = NO_STACKS,
    ) -> None:
        self._procfs = procfs
        self.naming = naming
        self._ask_programs = ledger.ask_programs
        self.delays = delays or DelayAccounting(procfs)
        self.native = make_sampler(procfs)
        self._held = 0
        self._lock = threading.Lock()
        self._exits: ExitSockets | None = None
        self.kernel: Kernel | None = None
        self.reason = "taskstats over generic netlink: exact kernel counters for every thread"
        try:
            self.kernel = probe(procfs)
            give_taskstats(self.native, self.kernel)
        except TaskstatsUnavailableError as error:
            self.reason = str(error)
        self.exits_reason = self.reason if self.kernel is None else self._open_exits()
        self.iterators: WalkPrograms | Obstacle = NOT_LOADED
        base = None
        if self.kernel is not None:
            self.iterators = load_walks(procfs)
            base = Columns(self.kernel.layout, delay_accounting=True, network=False).base
        self.walk = WalkSource(counters, self.iterators, base, self.native)
        self.network = NetworkSource(network, self.kernel.layout if self.kernel else None, procfs)
        self.ledger = LedgerSource(ledger, procfs)
        for program in (self.network.program, self.ledger.program):
            if program is not None:
                program.give(self.native)
        self.groups = GroupSource(procfs, load_groups(procfs, self._lent), self.native)
        self.stacks = StackService(stacks)
        ledgers = self.ledger.program
        maps = None if ledgers is None else ledgers.stack_maps
        self.stacks.give_maps(maps, self.ledger.reason or "")

    def _lent(self) -> dict[str, int]:
        programs = self.ledger.program, self.network.program
        lent = [one.lent for one in programs if one is not None]
        return {name: descriptor for one in lent for name, descriptor in one.items()}

    def close(self) -> None:
        """Release sockets and programs; samples cannot be taken any more."""
        self.native.stop()
        self.stacks.close()
        self.groups.close()
        self.ledger.close()
        self.network.close()
        if isinstance(self.iterators, WalkPrograms):
            self.iterators.close()
        if self._exits is not None:
            self._exits.close()

    def hold(self) -> Callable[[], None]:
        """Let the eBPF programs run, until the returned function is called."""
        with self._lock:
            self._held += 1
            if self._held == 1:
                self._attach()
        return self._release

    def _attach(self) -> None:
        for source in (self.ledger, self.network):
            program = source.program
            try:
                if program is not None:
                    program.attach()
            except BpfError as error:
                source.give_up(str(error))

    def _release(self) -> None:
        with self._lock:
            self._held -= 1
            for program in (self.ledger.program, self.network.program):
                if program is not None and not self._held:
                    program.detach()

    @property
    def kind(self) -> SampleSource:
        return "procfs" if self.kernel is None else "taskstats"

    @property
    def uses_ebpf(self) -> bool:
        """True if the collector has programs in the kernel."""
        return (
            isinstance(self.iterators, WalkPrograms)
            or self.network.kind == "ebpf"
            or self.ledger.reason is None
        )

    @property
    def has_exits(self) -> bool:
        return self.exits_reason == ""

    def _open_exits(self) -> str:
        """Register for exit records. Return why that is not possible, or an empty string."""
        try:
            heard = exit_self_test(self._register)
            if not heard:
                return (
                    "the kernel accepted the listener, but no exit record of a test thread "
                    "arrived: records go to the initial network namespace only; run the collector "
                    "there"
                )
            self._exits = self._register()
        except TaskstatsUnavailableError as error:
            return str(error)
        self.native.use_exits(self._exits.links)
        return ""

    def _register(self) -> ExitSockets:
        if self.kernel is None:
            raise TaskstatsUnavailableError(self.reason)
        return ExitSockets(self.kernel, possible_cpus())

    def thread_names(self, process: Process) -> ThreadNames | None:
        """Return the names of a process' threads, or None if programs are not asked."""
        if not self.naming.read_programs:
            return None
        return ThreadNames(process.pid, self.name_source(process))

    def name_source(self, process: Process) -> NameSource | None:
        """See `naming.source.name_source`."""
        return name_source(process, ask=self.naming.ask_programs)

    def plan(self, pid: int) -> Plan:
        """Return the columns of a target.

        Args:
            pid: a process of it.

        Raises:
            TargetExitedError: the process has ended.
            PermissionError: its threads may not be read.
        """
        delays_from_ns = 0
        if self.kernel is None:
            columns = thread_columns(self._procfs, pid, self.reason)
            base, absent, walk = columns.base, columns.absent, False
        else:
            since = self.delays.on_since_ns()
            made = Columns(
                self.kernel.layout,
                delay_accounting=since is not None,
                network=self.network.kind == "taskstats",
            )
            base, absent, delays_from_ns = made.base, made.absent, since or 0
            walk = self.walk.covers(base)
        names = tuple(name for name, _ in base)
        return Plan(
            base,
            (*names, *self.network.fields, *self.ledger.fields),
            tuple(self.ledger.explain(self.network.explain(absent))),
            delays_from_ns,
            self.network.kind == "ebpf",
            walk,
        )

    def goroutines(self, rate_hz: float) -> Goroutines | None:
        """Return a reader of goroutines of a target, or None if programs are not asked.

        Args:
            rate_hz: sampling rate of the target.
        """
        return Goroutines(rate_hz) if self._ask_programs else None

    def tables(
        self,
        target: str,
        process: Process,
        attach_ns: int,
        rate_hz: float,
        goroutines: Goroutines | None,
    ) -> TargetTables:
        """Return the tables of a target.

        Args:
            target: target ID.
            process: process of the target.
            attach_ns: CLOCK_MONOTONIC at attach, in nanoseconds.
            rate_hz: sampling rate of the target.
            goroutines: reads its goroutines; closed with the tables.
        """
        if goroutines is not None:
            goroutines.executed(process)
        pools = self._pool_readers(attach_ns).open(process.pid, process.start_ticks)
        ledger = self.ledger.tables(self.native, target, process)
        stacks = self._target_stacks(attach_ns, lambda: {process.pid: process.start_ticks}, ledger)
        queues = QueueReader(lambda: {process.pid: process.start_ticks}, rate_hz, self._procfs)
        return TargetTables(ledger, self._inexact(target), pools, goroutines, queues, stacks)

    def group_tables(
        self,
        target: str,
        membership: Membership,
        attach_ns: int,
        rate_hz: float,
        locks: GroupLocks,
        pools: GroupPools,
        goroutines: Goroutines | None,
    ) -> TargetTables:
        """Return the tables of a group, without that of its processes.

        Args:
            target: target ID.
            membership: its processes.
            attach_ns: CLOCK_MONOTONIC at attach, in nanoseconds.
            rate_hz: sampling rate of the target.
            locks: locks of its processes.
            pools: pools of its processes.
            goroutines: reads goroutines of its processes; closed with the tables.
        """
        ledger = self.ledger.group_tables(self.native, target, locks)
        stacks = self._target_stacks(attach_ns, membership.members.known, ledger)
        queues = QueueReader(membership.members.living, rate_hz, self._procfs)
        return TargetTables(ledger, self._inexact(target), pools, goroutines, queues, stacks)

    def _target_stacks(
        self, attach_ns: int, members: Callable[[], Mapping[int, int]], ledger: LedgerTables | None
    ) -> TargetStacks | None:
        if ledger is None or self.stacks.obstacle is not None:
            return None
        return TargetStacks(self.stacks, attach_ns, members, ledger.locks)

    def group_pools(self, attach_ns: int) -> GroupPools:
        """Return the pools of a group that is attached at `attach_ns`, CLOCK_MONOTONIC."""
        return GroupPools(self._pool_readers(attach_ns))

    def _inexact(self, target: str) -> list[Callable[[], Table]]:
        found = [partial(inexact_rows, self.native, target)]
        program = self.network.program
        if program is not None and not program.splice:
            found.append(partial(uncounted_rows, self.native, target))
        return list(found)

    def _pool_readers(self, attach_ns: int) -> PoolReaders:
        return PoolReaders(self._procfs, attach_ns, ask_program=self._ask_programs)

    def _how(self) -> str:
        return self.reason if self.kernel is None else f"{self.reason}; {self.walk.description}"

    def describe(self) -> Source:
        """Return the description of the source on the wire."""
        layout = self.kernel.layout if self.kernel else None
        return Source(
            kind=self.kind,
            taskstats_version=layout.version if layout else None,
            layout=layout.name if layout else None,
            reply_bytes=layout.length if layout else None,
            reason=self._how(),
            exits=self.has_exits,
            exits_reason=self.exits_reason
            or "one listener per CPU; the self-test received an exit record",
            network=self.network.description,
            ledger=self.ledger.reason is None,
            ledger_reason=self.ledger.reason,
            calls=self.ledger.calls,
        )
