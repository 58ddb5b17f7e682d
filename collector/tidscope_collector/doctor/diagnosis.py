"""The doctor's report: gathers facts, probes taskstats and eBPF, and runs all checks."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from tidscope_confinement.landlock import Paths
from tidscope_wire.generated.models import CheckStatus, DoctorCheck, DoctorReport

from tidscope_collector.confinement.confine import Confinement, Needs, foreseen
from tidscope_collector.doctor import checks, source_checks
from tidscope_collector.doctor.check import EbpfProbe, TaskstatsProbe
from tidscope_collector.doctor.facts import Facts, gather_facts
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.inspection.reader import reader_trouble
from tidscope_collector.netacct import programs as netacct
from tidscope_collector.netacct.programs import NetworkProgram
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.machine import NOTHING_HIDDEN
from tidscope_collector.stacks.program import CAN_START, obstacle, outlook, without_ledgers
from tidscope_collector.steering.loop.affinity_leases import LeftChanged, left_changed
from tidscope_collector.targets.sources import Sources, give_taskstats, make_sampler
from tidscope_collector.taskstats.columns import Columns
from tidscope_collector.taskstats.exits import (
    EXIT_BUFFER_BYTES,
    ExitSockets,
    exit_self_test,
    possible_cpus,
)
from tidscope_collector.taskstats.link import (
    Kernel,
    TaskstatsUnavailableError,
    UnknownStructError,
    granted_buffer,
    probe,
    resolve_family,
)
from tidscope_collector.waits.programs import LedgerProgram
from tidscope_collector.waits.source import DEFAULT_OPTIONS, LedgerSource
from tidscope_collector.walk.choice import WalkSource
from tidscope_collector.walk.programs import WalkPrograms
from tidscope_collector.walk.programs import load as load_iterators

_WORST_FIRST: tuple[CheckStatus, ...] = ("failed", "limited")


def examine(
    facts: Facts,
    probe: TaskstatsProbe,
    network: EbpfProbe,
    walk: EbpfProbe,
    ledger: EbpfProbe,
    confinement: Confinement,
    reader_trouble: str = "",
    lock_troubles: Sequence[str] = (),
    left: Sequence[LeftChanged] = (),
    stacks: Obstacle | str = CAN_START,
) -> DoctorReport:
    """Run all checks, including the exit self-test."""
    found = [
        checks.kernel(facts),
        checks.rights(facts),
        checks.namespaces(facts),
        source_checks.taskstats(facts, probe),
        source_checks.layout(probe),
        source_checks.exit_records(facts, probe),
        source_checks.exit_buffer(facts, probe),
        checks.delay_accounting(facts),
        checks.process_list(facts),
        checks.go_symbols(facts),
        checks.thread_names(facts),
        source_checks.network(facts, probe, network),
        source_checks.walk(facts, walk),
        source_checks.ledger(facts, ledger, lock_troubles),
        source_checks.stacks(stacks),
        checks.energy(facts),
        checks.clock_source(facts),
        checks.transactions(facts),
        checks.confinement(confinement),
        checks.left_programs(facts, left),
        checks.process_reader(reader_trouble),
    ]
    return DoctorReport(
        host=facts.host,
        kernel=facts.kernel,
        checked_unix_ms=time.time_ns() // 1_000_000,
        status=overall(found),
        checks=found,
    )


def overall(found: list[DoctorCheck]) -> CheckStatus:
    """Return the worst status: failed, then limited, then ok."""
    statuses = {check.status for check in found}
    return next((status for status in _WORST_FIRST if status in statuses), "ok")


class LiveProbe:
    """Answers of this machine's kernel, taken on creation.

    Args:
        family: returns the number of the family TASKSTATS, or raises TaskstatsUnavailableError.
    """

    def __init__(self, family: Callable[[], int]) -> None:
        self.family_id: int | None = None
        self.version: int | None = None
        self.length: int | None = None
        self.layout_name: str | None = None
        self.refusal = ""
        self.fields: tuple[str, ...] = ()
        self.receive_buffer_bytes: int | None = granted_buffer(EXIT_BUFFER_BYTES)
        self._kernel: Kernel | None = None
        try:
            self.family_id = family()
            kernel = self._kernel = probe()
        except UnknownStructError as error:
            self.refusal, self.version, self.length = str(error), error.version, error.length
            return
        except TaskstatsUnavailableError as error:
            self.refusal = str(error)
            return
        self.version, self.length = kernel.layout.version, kernel.layout.length
        self.layout_name = kernel.layout.name
        self.fields = Columns(kernel.layout, delay_accounting=True).fields

    def walk(self, iterators: WalkPrograms | Obstacle) -> Obstacle | None:
        """Return why bulk reads are unavailable, or None if they work."""
        native = make_sampler(ProcFs())
        base = None
        if self._kernel is not None:
            give_taskstats(native, self._kernel)
            base = Columns(self._kernel.layout, delay_accounting=True, network=False).base
        return WalkSource("auto", iterators, base, native).obstacle

    def exit_self_test(self) -> bool:
        """Return True if the exit record of a test thread arrives.

        Raises:
            OSError: the kernel refused the listener.
        """
        kernel = self._kernel
        if kernel is None:
            return False
        try:
            return exit_self_test(lambda: ExitSockets(kernel, possible_cpus()))
        except TaskstatsUnavailableError as error:
            raise OSError(str(error)) from error


class LiveEbpf:
    """Result of loading an eBPF program.

    Args:
        found: the loaded program, the obstacle, or None if there is no obstacle.
    """

    def __init__(self, found: NetworkProgram | LedgerProgram | Obstacle | None) -> None:
        self.refusal, self.fix, self.limits = "", "", ""
        self.capabilities: tuple[str, ...] = ()
        if isinstance(found, Obstacle):
            self.refusal, self.fix = found.reason, found.fix
            self.capabilities = found.capabilities
        elif isinstance(found, NetworkProgram):
            self.limits = netacct.limits(splice=found.splice, release=os.uname().release)


def diagnose_host() -> DoctorReport:
    """Run all checks in an unconfined process. Programs are loaded and unloaded again."""
    procfs = ProcFs()
    accounts, iterators = netacct.load(procfs), load_iterators(procfs)
    ledger = LedgerSource(DEFAULT_OPTIONS, procfs)
    facts, probe = gather_facts(procfs), LiveProbe(resolve_family)
    needs = Needs(
        Paths(()),
        taskstats=probe.layout_name is not None,
        hidden=facts.hidepid not in (None, *NOTHING_HIDDEN),
        steering=True,
        ebpf=True,
    )
    try:
        walk = LiveEbpf(probe.walk(iterators))
        ebpf = LiveEbpf(accounts), walk, LiveEbpf(ledger.ebpf)
        stacks = obstacle() or (without_ledgers(ledger.reason) if ledger.reason else outlook())
        left = left_changed(procfs)
        return examine(facts, probe, *ebpf, foreseen(needs), left=left, stacks=stacks)
    finally:
        ledger.close()
        for program in (accounts, iterators):
            if not isinstance(program, Obstacle):
                program.close()


def diagnose_running(sources: Sources, confinement: Confinement) -> DoctorReport:
    """Run all checks in a confined collector.

    Rights that it gave up after set-up are reported as they were then.
    """
    kernel = sources.kernel
    family = resolve_family if kernel is None else lambda: kernel.family
    return examine(
        replace(gather_facts(), capabilities=confinement.granted),
        LiveProbe(family),
        LiveEbpf(sources.network.ebpf),
        LiveEbpf(sources.walk.obstacle),
        LiveEbpf(sources.ledger.ebpf),
        confinement,
        reader_trouble(),
        sources.ledger.lock_troubles,
        left_changed(ProcFs()),
        sources.stacks.finding(),
    )
