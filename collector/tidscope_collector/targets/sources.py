"""Sources of samples in this collector, and the readers made from them."""

import logging
from collections.abc import Iterable
from functools import partial

from tidscope_wire.generated.models import AbsentField, Process, SampleSource, Source

from tidscope_collector.compiled.library import load as load_compiled
from tidscope_collector.discovery.task_folder import TaskFolder, ThreadLister
from tidscope_collector.discovery.task_iterator import TaskIterator, TaskIterators
from tidscope_collector.discovery.task_iterator import load as load_iterators
from tidscope_collector.ebpf.libbpf import BpfError
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.groups.group_pools import GroupPools
from tidscope_collector.groups.membership import Membership
from tidscope_collector.groups.opening import GroupSource
from tidscope_collector.groups.programs import load as load_groups
from tidscope_collector.groups.sampler import GroupReading
from tidscope_collector.groups.watched import GroupProcesses
from tidscope_collector.locks.group_locks import GroupLocks
from tidscope_collector.naming.source import NameSource, name_source
from tidscope_collector.naming.thread_names import KERNEL_NAMES, NamingOptions, ThreadNames
from tidscope_collector.netacct.choice import Choice, NetworkSource
from tidscope_collector.netacct.reader import NetworkReader
from tidscope_collector.pools.reader import PoolReaders
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.thread_reader import ProcThreadReader
from tidscope_collector.sampling.idle_skipping import IdleSkippingReader
from tidscope_collector.sampling.steady_reader import SteadyReader
from tidscope_collector.sampling.valid_delays import ValidDelays
from tidscope_collector.targets.tables import TargetTables
from tidscope_collector.taskstats.exits import ExitListener, exit_self_test, possible_cpus
from tidscope_collector.taskstats.link import Kernel, TaskstatsUnavailableError, probe
from tidscope_collector.taskstats.reader import BatchQuery, TaskstatsReader
from tidscope_collector.threads.reading import ProcessReader, TargetExitedError, ThreadReader
from tidscope_collector.waits.joined_reader import LedgerReader
from tidscope_collector.waits.source import DEFAULT_OPTIONS, LedgerOptions, LedgerSource
from tidscope_collector.walk.choice import Choice as WalkChoice
from tidscope_collector.walk.choice import WalkSource
from tidscope_collector.walk.switching import SwitchingReader

LOG = logging.getLogger(__name__)
NOT_LOADED = Obstacle("this collector does not use it: samples come from /proc", "")


class Sources:
    """Selects the source at start and makes readers from it.

    Args:
        procfs: root of /proc.
        network: requested source of network counters.
        delays: switch of delay accounting; by default this process sets it.
        counters: requested source of thread counters.
        budget_percent: CPU budget for sampling and sending, in percent of one core; 0 for no limit.
        ledger: options of state ledgers.
        naming: options for names and roles of threads.

    Attributes:
        delays: switch of delay accounting.
        iterators: lists threads by eBPF, or the obstacle, in which case /proc is used.
        walk: bulk reads of counters, if available.
        compiled: compiled fast path of a sample; None if Python takes every sample.
        ledger: state ledgers, if available.
        groups: readers of groups of processes.
    """

    def __init__(
        self,
        procfs: ProcFs,
        network: Choice = "auto",
        delays: DelayAccounting | None = None,
        counters: WalkChoice = "auto",
        budget_percent: float = 0,
        ledger: LedgerOptions = DEFAULT_OPTIONS,
        naming: NamingOptions = KERNEL_NAMES,
    ) -> None:
        self._procfs = procfs
        self.naming = naming
        self._ask_programs = ledger.ask_programs
        self.delays = delays or DelayAccounting(procfs)
        self._query: BatchQuery | None = None
        self.kernel: Kernel | None = None
        self.reason = "taskstats over generic netlink: exact kernel counters for every thread"
        try:
            self.kernel = probe(procfs)
            self._query = BatchQuery(self.kernel)
        except TaskstatsUnavailableError as error:
            self.reason = str(error)
        self.exits_reason = self.reason if self.kernel is None else self._check_exits()
        self.iterators: TaskIterators | Obstacle = NOT_LOADED
        if self._query is not None:
            self.iterators = self._load_iterators(procfs)
        of_taskstats = None if self._query is None else partial(every_field, self._query)
        self.compiled = load_compiled()
        self.walk = WalkSource(
            counters, self.iterators, of_taskstats, budget_percent, self.compiled
        )
        self.network = NetworkSource(network, self.kernel.layout if self.kernel else None, procfs)
        self.ledger = LedgerSource(ledger, procfs)
        self.groups = GroupSource(
            procfs,
            load_groups(procfs, lambda: {**self.ledger.lent, **self.network.lent}),
            self._query,
            self.reason,
            self.delays,
            self.walk,
            self.iterators,
            extended=self.network.kind == "taskstats",
        )

    def close(self) -> None:
        """Close the sockets; readers made here stop working."""
        self.groups.close()
        self.ledger.close()
        self.network.close()
        if isinstance(self.iterators, TaskIterators):
            self.iterators.close()
        if self._query is not None:
            self._query.close()

    @staticmethod
    def _load_iterators(procfs: ProcFs) -> TaskIterators | Obstacle:
        found = load_iterators(procfs)
        if isinstance(found, Obstacle):
            LOG.info("every sample reads every thread: %s", found.reason)
        return found

    @property
    def kind(self) -> SampleSource:
        return "procfs" if self._query is None else "taskstats"

    @property
    def uses_ebpf(self) -> bool:
        """True if the collector has programs in the kernel."""
        return (
            isinstance(self.iterators, TaskIterators)
            or self.network.kind == "ebpf"
            or self.ledger.reason is None
        )

    @property
    def has_exits(self) -> bool:
        return self.exits_reason == ""

    def _check_exits(self) -> str:
        try:
            heard = exit_self_test(self.open_exits)
        except TaskstatsUnavailableError as error:
            return str(error)
        if heard:
            return ""
        return (
            "the kernel accepted the listener, but no exit record of a test thread arrived: "
            "records go to the initial network namespace only; run the collector there"
        )

    def open_exits(self) -> ExitListener:
        """Return a new exit listener.

        Raises:
            TaskstatsUnavailableError: the kernel refused.
        """
        if self.kernel is None:
            raise TaskstatsUnavailableError(self.reason)
        return ExitListener(self.kernel, possible_cpus())

    def thread_names(self, process: Process) -> ThreadNames | None:
        """Return the names of a process' threads, or None if programs are not asked."""
        if not self.naming.ask_programs:
            return None
        return ThreadNames(process.pid, self.name_source(process))

    def name_source(self, process: Process) -> NameSource | None:
        """See `naming.source.name_source`."""
        return name_source(process)

    def reader(self, pid: int) -> ThreadReader:
        """Return a reader of a process' threads by thread ID.

        Raises:
            TargetExitedError: the process has ended.
        """
        if self._query is None:
            return self.network.beside(ProcThreadReader(self._procfs, pid, self.reason), pid)
        since = self.delays.on_since_ns()
        reader = TaskstatsReader(
            self._query,
            pid,
            delay_accounting=since is not None,
            delays_from_ns=since or 0,
            network=self.network.kind == "taskstats",
        )
        return self.network.beside(reader, pid)

    def target_reader(self, pid: int, rate_hz: float, attach_ns: int) -> ValidDelays:
        """Return the reader that samples a target, by requests or bulk reads.

        Args:
            pid: process ID.
            rate_hz: requested readings per second.
            attach_ns: CLOCK_MONOTONIC after attaching, in nanoseconds.

        Raises:
            TargetExitedError: the process has ended.
        """
        reader = self.reader(pid)
        asking = self._asking(pid, reader)
        if self._query is None:
            counters = SwitchingReader(pid, asking, "procfs", rate_hz)
        else:
            option = self.walk.option(pid, reader)
            counters = SwitchingReader(pid, asking, "genetlink", rate_hz, option)
        return ValidDelays(self.ledger.beside(counters, pid, attach_ns), attach_ns)

    def tables(self, reader: ValidDelays, process: Process, attach_ns: int) -> TargetTables:
        """Return the tables of a target.

        Args:
            reader: reader from `target_reader`.
            process: process of the target.
            attach_ns: CLOCK_MONOTONIC at attach, in nanoseconds.
        """
        uncounted = partial(self.network.uncounted, process.pid, reader.start_of)
        pools = self._pool_readers(attach_ns).open(process.pid, process.start_ticks)
        ledger = self.ledger.tables(reader.base, process)
        return TargetTables(ledger, [reader.table, uncounted], pools)

    def group_reader(self, membership: Membership, name: str, attach_ns: int) -> GroupReading:
        """Return the reader that samples a group.

        Args:
            membership: members of the group; closed with the reader.
            name: name of the group, for messages.
            attach_ns: CLOCK_MONOTONIC after attaching, in nanoseconds.

        Raises:
            TargetExitedError: the group has no members left.
        """
        whose = GroupProcesses(membership)
        group = self.groups.reader(membership, name)
        counted = self.network.beside_group(group, whose)
        ledgers = self.ledger.beside(counted, whose, attach_ns)
        valid = ValidDelays(ledgers, attach_ns)
        locks = GroupLocks(whose.lock_owner)
        tables = self.ledger.group_tables(ledgers, whose, locks)
        uncounted = partial(self.network.uncounted, whose, valid.start_of)
        pools = GroupPools(self._pool_readers(attach_ns))
        return GroupReading(
            valid,
            group,
            ledgers if isinstance(ledgers, LedgerReader) else None,
            TargetTables(tables, [valid.table, uncounted], pools),
            locks,
            pools,
        )

    def _pool_readers(self, attach_ns: int) -> PoolReaders:
        return PoolReaders(self._procfs, attach_ns, ask_program=self._ask_programs)

    def explain(self, absent: Iterable[AbsentField]) -> list[AbsentField]:
        """Replace the reasons of absent fields by those in effect here."""
        return self.ledger.explain(self.network.explain(absent))

    def process_reader(self, pid: int) -> ProcessReader:
        """Return a reader that lists a process' threads and reads those that may have run.

        Raises:
            TargetExitedError: the process has ended.
        """
        return self._asking(pid, self.reader(pid))

    def _asking(self, pid: int, reader: ThreadReader) -> ProcessReader:
        try:
            lister = self._lister(pid)
        except TargetExitedError:
            reader.close()
            raise
        general = IdleSkippingReader(lister, reader)
        network = reader if isinstance(reader, NetworkReader) else None
        base = reader if network is None else network.base
        if self.compiled and isinstance(lister, TaskIterator) and isinstance(base, TaskstatsReader):
            walks = self.walk.walks_of(base.fields)
            return SteadyReader(self.compiled, general, lister, base, network, walks)
        return general

    def _lister(self, pid: int) -> ThreadLister:
        if isinstance(self.iterators, TaskIterators):
            try:
                return self.iterators.over(pid)
            except BpfError as error:
                LOG.warning("every sample reads every thread from here on: %s", error)
        return TaskFolder(self._procfs, pid)

    def _how(self) -> str:
        return self.reason if self._query is None else f"{self.reason}; {self.walk.description}"

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


def every_field(query: BatchQuery, pid: int) -> ThreadReader:
    """Return a reader over taskstats with delays and without network columns."""
    return TaskstatsReader(query, pid, delay_accounting=True, delays_from_ns=0, network=False)
