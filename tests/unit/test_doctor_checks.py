"""Each check's judgement of each state, and that it says what to do."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from tidscope_collector.doctor import checks
from tidscope_collector.doctor.facts import CAP_NET_ADMIN, CAP_SYS_PTRACE, Facts, Namespaces
from tidscope_collector.doctor.probe import TaskstatsProbe
from tidscope_collector.doctor.report import examine, overall
from tidscope_wire.generated.models import DoctorCheck

GOOD = Facts(
    host="box",
    kernel="6.18.44-amd64",
    capabilities=frozenset({CAP_NET_ADMIN, CAP_SYS_PTRACE}),
    namespaces=Namespaces("initial", "initial", "initial"),
    task_delayacct=True,
    rmem_max=4 << 20,
    ptrace_scope=1,
    hidepid="0",
    schedstat=True,
    clock_source="tsc",
    energy_obstacle="",
    energy_found="RAPL, sum of package-0",
    hypervisor=False,
)
NO_RIGHTS = replace(GOOD, capabilities=frozenset())


@dataclass
class Probe:
    """A taskstats that answers as it was told."""

    family_id: int | None = 28
    version: int | None = 16
    length: int | None = 560
    layout_name: str | None = "taskstats v16"
    refusal: str = ""
    fields: tuple[str, ...] = ("cpu_run_ns", "net_read_bytes")
    receive_buffer_bytes: int | None = 128 << 20
    arrived: bool = True
    error: OSError | None = None
    tests: list[str] = field(default_factory=list)

    def exit_self_test(self) -> bool:
        self.tests.append("exit")
        if self.error:
            raise self.error
        return self.arrived


@dataclass(frozen=True)
class Ebpf:
    """What became of an eBPF program."""

    refusal: str = ""
    mend: str = ""
    limits: str = ""


OfFacts = Callable[[Facts], DoctorCheck]
OfProbe = Callable[[TaskstatsProbe], DoctorCheck]


@pytest.mark.parametrize(
    ("check", "facts", "state", "words"),
    [
        (checks.kernel, GOOD, "ok", "6.18.44"),
        (checks.kernel, replace(GOOD, kernel="4.19.0"), "limited", "4.19"),
        (checks.kernel, replace(GOOD, kernel="5.4.0-rc1"), "ok", "5.4.0"),
        (checks.kernel, replace(GOOD, kernel="plan9"), "limited", "plan9"),
        (checks.rights, GOOD, "ok", "CAP_NET_ADMIN: yes"),
        (checks.rights, NO_RIGHTS, "failed", "CAP_NET_ADMIN: no"),
        (
            checks.rights,
            replace(GOOD, capabilities=frozenset({CAP_NET_ADMIN})),
            "limited",
            "CAP_SYS_PTRACE: no",
        ),
        (checks.rights, replace(GOOD, capabilities=None), "limited", "cannot be read"),
        (checks.namespaces, GOOD, "ok", "network: initial"),
        (
            checks.namespaces,
            replace(GOOD, namespaces=Namespaces("initial", "initial", "other")),
            "failed",
            "--network=host",
        ),
        (
            checks.namespaces,
            replace(GOOD, namespaces=Namespaces("other", "other", "initial")),
            "failed",
            "--userns=host --pid=host",
        ),
        (
            checks.namespaces,
            replace(GOOD, namespaces=Namespaces("initial", "initial", "unknown")),
            "limited",
            "network: unknown",
        ),
        (checks.delay_accounting, GOOD, "ok", "= 1"),
        (
            checks.delay_accounting,
            replace(GOOD, task_delayacct=False),
            "limited",
            "sudo sysctl -w kernel.task_delayacct=1",
        ),
        (
            checks.delay_accounting,
            replace(GOOD, task_delayacct=False),
            "limited",
            "Only threads that start after",
        ),
        (
            checks.delay_accounting,
            replace(GOOD, task_delayacct=None),
            "limited",
            "CONFIG_TASK_DELAY_ACCT",
        ),
        (
            checks.delay_accounting,
            replace(GOOD, task_delayacct=None, kernel="5.10.0"),
            "limited",
            "5.14",
        ),
        (checks.process_list, GOOD, "ok", "hides nothing"),
        (checks.process_list, replace(GOOD, hidepid="2"), "ok", "hidepid=2"),
        (checks.process_list, replace(NO_RIGHTS, hidepid="invisible"), "limited", "remount"),
        (checks.process_list, replace(GOOD, hidepid=None), "limited", "mounted"),
        (checks.process_list, replace(GOOD, schedstat=False), "limited", "CONFIG_SCHED_INFO"),
        (checks.go_symbols, GOOD, "ok", "ptrace_scope 1"),
        (checks.go_symbols, replace(GOOD, ptrace_scope=3), "failed", "next boot"),
        (checks.go_symbols, NO_RIGHTS, "failed", "sudo tidscope up"),
        (checks.go_symbols, replace(NO_RIGHTS, ptrace_scope=0), "limited", "other users"),
        (checks.go_symbols, replace(NO_RIGHTS, ptrace_scope=None), "limited", "no Yama"),
        (checks.go_symbols, replace(GOOD, capabilities=None), "limited", "cannot be read"),
        (checks.energy, GOOD, "ok", "RAPL, sum of package-0."),
        (
            checks.energy,
            replace(GOOD, energy_obstacle="absent", energy_found="there is no RAPL"),
            "limited",
            "sudo modprobe intel_rapl_msr",
        ),
        (
            checks.energy,
            replace(GOOD, energy_obstacle="absent", hypervisor=True),
            "limited",
            "virtual machine",
        ),
        (checks.energy, replace(GOOD, energy_obstacle="denied"), "limited", "sudo tidscope up"),
        (checks.energy, replace(GOOD, energy_obstacle="hidden"), "limited", "systempaths"),
        (checks.energy, replace(GOOD, energy_obstacle="no-package"), "limited", "Watts"),
        (checks.clock_source, GOOD, "ok", "tsc"),
        (checks.clock_source, replace(GOOD, clock_source="hpet"), "limited", "hpet"),
        (checks.clock_source, replace(GOOD, clock_source=None), "limited", "cannot be read"),
    ],
)
def test_judgement_of_facts(check: OfFacts, facts: Facts, state: str, words: str) -> None:
    judged(check(facts), state, words)


@pytest.mark.parametrize(
    ("check", "probe", "state", "words"),
    [
        (checks.taskstats, Probe(), "ok", "28"),
        (checks.taskstats, Probe(family_id=None), "failed", "CONFIG_TASKSTATS"),
        (
            checks.taskstats,
            Probe(version=None, length=None, refusal="EPERM: not permitted"),
            "failed",
            "EPERM",
        ),
        (checks.layout, Probe(), "ok", "Version 16, 560 bytes"),
        (
            checks.layout,
            Probe(version=99, length=777, layout_name=None, refusal="unknown pair"),
            "limited",
            "Version 99, 777 bytes: unknown pair",
        ),
        (checks.layout, Probe(version=None, length=None), "limited", "No reply"),
        (checks.exit_totals, Probe(), "ok", "arrived"),
        (checks.exit_totals, Probe(arrived=False), "failed", "did not arrive"),
        (
            checks.exit_totals,
            Probe(error=PermissionError(1, "Operation not permitted")),
            "failed",
            "Operation not permitted",
        ),
    ],
)
def test_judgement_of_taskstats(check: OfProbe, probe: Probe, state: str, words: str) -> None:
    judged(check(probe), state, words)


@pytest.mark.parametrize(
    ("fields", "ebpf", "state", "words"),
    [
        (("net_read_bytes",), Ebpf(refusal="not needed"), "ok", "struct taskstats"),
        ((), Ebpf(), "ok", "eBPF"),
        ((), Ebpf(limits="splice() out of TCP sockets"), "ok", "Not counted: splice()"),
        ((), Ebpf("no BTF", "boot another kernel"), "limited", "no BTF"),
    ],
)
def test_judgement_of_the_network(
    fields: tuple[str, ...], ebpf: Ebpf, state: str, words: str
) -> None:
    check = checks.network(Probe(fields=fields), ebpf)
    judged(check, state, words)
    assert check.fix == (ebpf.mend if state == "limited" else "")


def test_judgement_of_the_task_iterator() -> None:
    judged(checks.task_iterator(Ebpf()), "ok", "loaded")
    check = checks.task_iterator(Ebpf("no BTF", "boot another kernel"))
    judged(check, "limited", "no BTF")
    assert (check.fix, "every thread" in check.impact) == ("boot another kernel", True)


@pytest.mark.parametrize(
    ("granted", "state", "words"),
    [
        (128 << 20, "ok", "59,918 exits"),
        (212_992, "limited", "about 95 exits"),
        (None, "limited", "4,194,304"),
    ],
)
def test_judgement_of_the_exit_buffer(granted: int | None, state: str, words: str) -> None:
    judged(checks.exit_buffer(GOOD, Probe(receive_buffer_bytes=granted)), state, words)


def judged(check: DoctorCheck, state: str, words: str) -> None:
    """Status and text are as given; what is not ok names its impact."""
    assert check.status == state
    assert words in f"{check.finding} {check.impact} {check.fix}"
    assert check.finding
    assert bool(check.impact) == (state in {"limited", "failed"})
    if state == "ok":
        assert check.fix == ""


def test_no_exit_is_tried_without_taskstats() -> None:
    probe = Probe(family_id=None)
    judged(checks.exit_totals(probe), "failed", "Not tried")
    assert probe.tests == []


def test_a_report_of_a_good_machine_is_ok_and_in_order() -> None:
    report = examine(GOOD, Probe(), Ebpf(), Ebpf())
    assert report.status == "ok"
    assert (report.host, report.kernel) == ("box", "6.18.44-amd64")
    assert [check.name for check in report.checks] == [
        "kernel",
        "capabilities",
        "namespaces",
        "taskstats",
        "taskstats-layout",
        "exit-totals",
        "exit-buffer",
        "delay-accounting",
        "process-list",
        "go-symbols",
        "network-per-thread",
        "task-iterator",
        "energy",
        "clock-source",
    ]


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        (replace(GOOD, clock_source=None), "limited"),
        (replace(GOOD, clock_source=None, task_delayacct=False), "limited"),
        (replace(NO_RIGHTS, clock_source=None, task_delayacct=False), "failed"),
    ],
)
def test_the_worst_check_counts(facts: Facts, state: str) -> None:
    assert overall(examine(facts, Probe(), Ebpf(), Ebpf()).checks) == state
