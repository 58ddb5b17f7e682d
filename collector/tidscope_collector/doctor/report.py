"""All checks of a machine, as one report."""

import time
from collections.abc import Sequence

from tidscope_wire.generated.models import CheckStatus, DoctorCheck, DoctorReport

from tidscope_collector.confinement.confine import Confinement
from tidscope_collector.doctor import checks, taskstats_checks
from tidscope_collector.doctor.facts import Facts
from tidscope_collector.doctor.probe import EbpfProbe, TaskstatsProbe
from tidscope_collector.steering.loop.affinity_leases import LeftChanged

_WORST_FIRST: tuple[CheckStatus, ...] = ("failed", "limited")


def examine(
    facts: Facts,
    probe: TaskstatsProbe,
    network: EbpfProbe,
    iterator: EbpfProbe,
    walk: EbpfProbe,
    ledger: EbpfProbe,
    confinement: Confinement,
    reader_trouble: str = "",
    lock_troubles: Sequence[str] = (),
    left: Sequence[LeftChanged] = (),
) -> DoctorReport:
    """Run all checks, the exit self-test too."""
    found = [
        checks.kernel(facts),
        checks.rights(facts),
        checks.namespaces(facts),
        taskstats_checks.taskstats(facts, probe),
        taskstats_checks.layout(probe),
        taskstats_checks.exit_records(facts, probe),
        taskstats_checks.exit_buffer(facts, probe),
        checks.delay_accounting(facts),
        checks.process_list(facts),
        checks.go_symbols(facts),
        checks.thread_names(facts),
        checks.network(facts, probe, network),
        checks.task_iterator(facts, iterator),
        checks.walk(facts, walk),
        checks.ledger(facts, ledger, lock_troubles),
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
    """The worst status of all: failed, then limited."""
    statuses = {check.status for check in found}
    return next((status for status in _WORST_FIRST if status in statuses), "ok")
