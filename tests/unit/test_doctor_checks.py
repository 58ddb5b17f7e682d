"""Each check's judgement of each state, and that it says what to do."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from tidscope_collector.confinement.confine import Confinement
from tidscope_collector.doctor import checks, source_checks
from tidscope_collector.doctor.check import TaskstatsProbe
from tidscope_collector.doctor.diagnosis import examine, overall
from tidscope_collector.doctor.facts import (
    CAP_DAC_OVERRIDE,
    CAP_KILL,
    CAP_NET_ADMIN,
    CAP_SYS_PTRACE,
    Facts,
    Namespaces,
)
from tidscope_collector.steering.loop.affinity_leases import LeftChanged
from tidscope_wire.generated.models import DoctorCheck

GOOD = Facts(
    host="box",
    kernel="6.18.44-amd64",
    uid=0,
    capabilities=frozenset({CAP_DAC_OVERRIDE, CAP_KILL, CAP_NET_ADMIN, CAP_SYS_PTRACE}),
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
    transactions=False,
    async_abort="Not affected",
)
NO_RIGHTS = replace(GOOD, uid=1000, capabilities=frozenset())
CONFINED = Confinement(
    granted=frozenset({CAP_NET_ADMIN, CAP_SYS_PTRACE}),
    kept=frozenset({CAP_NET_ADMIN, CAP_SYS_PTRACE}),
    landlock_abi=7,
    gaps=(),
)
IN_CONTAINER = Namespaces("initial", "other", "other")


@dataclass
class Probe:
    """A taskstats that answers as it was reported."""

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
    """State of an eBPF program."""

    refusal: str = ""
    fix: str = ""
    capabilities: tuple[str, ...] = ()
    limits: str = ""


OfFacts = Callable[[Facts], DoctorCheck]
OfProbe = Callable[[Facts, TaskstatsProbe], DoctorCheck]


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
            "sysctl -w kernel.task_delayacct=1",
        ),
        (
            checks.delay_accounting,
            replace(GOOD, task_delayacct=False),
            "limited",
            "restart the target afterwards",
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
        (
            checks.process_list,
            replace(NO_RIGHTS, hidepid="invisible"),
            "limited",
            "sudo tidscope up",
        ),
        (checks.process_list, replace(GOOD, hidepid=None), "limited", "mounted"),
        (checks.process_list, replace(GOOD, schedstat=False), "limited", "CONFIG_SCHED_INFO"),
        (checks.transactions, GOOD, "ok", "Absent (no rtm)"),
        (
            checks.transactions,
            replace(GOOD, transactions=True, async_abort="Mitigation: TSX disabled"),
            "ok",
            "Present (rtm): locks could be elided. TSX async abort: Mitigation: TSX disabled.",
        ),
        (checks.transactions, replace(GOOD, transactions=None), "ok", "Unknown"),
        (checks.thread_names, GOOD, "ok", "With --ask-programs"),
        (checks.thread_names, NO_RIGHTS, "limited", "sudo tidscope up"),
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
            "modprobe intel_rapl_msr",
        ),
        (
            checks.energy,
            replace(GOOD, energy_obstacle="absent", hypervisor=True),
            "limited",
            "virtual machine",
        ),
        (
            checks.energy,
            replace(NO_RIGHTS, energy_obstacle="denied"),
            "limited",
            "sudo tidscope up",
        ),
        (checks.energy, replace(GOOD, energy_obstacle="hidden"), "limited", "systempaths"),
        (
            checks.energy,
            replace(GOOD, energy_obstacle="no-package"),
            "limited",
            "Power of the machine",
        ),
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
        (source_checks.taskstats, Probe(), "ok", "28"),
        (source_checks.taskstats, Probe(family_id=None), "failed", "CONFIG_TASKSTATS"),
        (
            source_checks.taskstats,
            Probe(version=None, length=None, refusal="EPERM: not permitted"),
            "failed",
            "EPERM",
        ),
        (source_checks.exit_records, Probe(), "ok", "arrived"),
        (source_checks.exit_records, Probe(arrived=False), "failed", "did not arrive"),
        (
            source_checks.exit_records,
            Probe(error=PermissionError(1, "Operation not permitted")),
            "failed",
            "Operation not permitted",
        ),
    ],
)
def test_judgement_of_taskstats(check: OfProbe, probe: Probe, state: str, words: str) -> None:
    judged(check(GOOD, probe), state, words)


UNKNOWN = Probe(version=99, length=777, layout_name=None, refusal="unknown pair")


@pytest.mark.parametrize(
    ("probe", "state", "words"),
    [
        (Probe(), "ok", "Version 16, 560 bytes"),
        (UNKNOWN, "failed", "Version 99, 777 bytes: unknown pair"),
        (Probe(version=None, length=None), "limited", "does not answer"),
    ],
)
def test_judgement_of_the_layout(probe: Probe, state: str, words: str) -> None:
    judged(source_checks.layout(probe), state, words)


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
    check = source_checks.network(GOOD, Probe(fields=fields), ebpf)
    judged(check, state, words)
    assert check.fix == (ebpf.fix if state == "limited" else "")


def test_judgement_of_ledgers() -> None:
    judged(source_checks.ledger(GOOD, Ebpf()), "ok", "succeeded")
    troubles = [f"java {number}: its attach socket is not open." for number in range(6)]
    check = source_checks.ledger(GOOD, Ebpf(), troubles)
    judged(check, "limited", "java 3: its attach socket is not open; and 2 more.")
    report = examine(GOOD, Probe(), Ebpf(), Ebpf(), Ebpf(), CONFINED, lock_troubles=troubles)
    assert check in report.checks
    check = source_checks.ledger(GOOD, Ebpf("Linux 5.15 has no task iterators", "boot Linux 6.1"))
    judged(check, "limited", "Linux 5.15")
    assert "no locks" in (check.impact or "")
    assert check.fix == "boot Linux 6.1"


def test_judgement_of_walks() -> None:
    judged(source_checks.walk(GOOD, Ebpf()), "ok", "agreed with taskstats")
    disagreed = "walk and taskstats disagreed: cpu_count of thread 12 is 5 by the walk and 4"
    check = source_checks.walk(GOOD, Ebpf(disagreed))
    judged(check, "limited", "thread 12 is 5 by the walk")
    assert "same values" in check.impact
    assert (
        source_checks.walk(GOOD, Ebpf("no BTF", "boot another kernel")).fix == "boot another kernel"
    )


@pytest.mark.parametrize(
    ("granted", "state", "words"),
    [
        (128 << 20, "ok", "59,918 exit records"),
        (212_992, "limited", "about 95 exit records"),
        (None, "limited", "4,194,304"),
    ],
)
def test_judgement_of_the_exit_buffer(granted: int | None, state: str, words: str) -> None:
    judged(source_checks.exit_buffer(GOOD, Probe(receive_buffer_bytes=granted)), state, words)


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
    judged(source_checks.exit_records(GOOD, probe), "failed", "Not tested")
    assert probe.tests == []


NO_REPLY = Probe(version=None, length=None, layout_name=None)
NO_EBPF = Ebpf("no eBPF", capabilities=("CAP_BPF", "CAP_PERFMON"))
SMALL = Probe(receive_buffer_bytes=212_992)


@pytest.mark.parametrize(
    ("check", "right"),
    [
        (checks.rights, "CAP_NET_ADMIN CAP_SYS_PTRACE"),
        (lambda facts: source_checks.taskstats(facts, NO_REPLY), "CAP_NET_ADMIN"),
        (lambda facts: source_checks.exit_records(facts, NO_REPLY), "CAP_NET_ADMIN"),
        (lambda facts: source_checks.exit_records(facts, Probe(arrived=False)), "CAP_NET_ADMIN"),
        (
            lambda facts: source_checks.exit_records(facts, Probe(error=OSError())),
            "CAP_NET_ADMIN",
        ),
        (lambda facts: source_checks.exit_buffer(facts, SMALL), "CAP_NET_ADMIN"),
        (lambda facts: checks.process_list(replace(facts, hidepid="2")), "CAP_SYS_PTRACE"),
        (checks.go_symbols, "CAP_SYS_PTRACE"),
        (checks.thread_names, "CAP_KILL CAP_DAC_OVERRIDE"),
        (
            lambda facts: source_checks.network(facts, Probe(fields=()), NO_EBPF),
            "CAP_BPF CAP_PERFMON",
        ),
        (lambda facts: source_checks.walk(facts, NO_EBPF), "CAP_BPF CAP_PERFMON"),
        (
            lambda facts: checks.energy(replace(facts, energy_obstacle="denied")),
            "CAP_DAC_READ_SEARCH",
        ),
    ],
)
def test_fix_of_a_missing_capability_fits_the_reader(check: OfFacts, right: str) -> None:
    assert check(NO_RIGHTS).fix == "sudo tidscope up"
    options = right.replace("CAP_", "--cap-add=")
    user = check(replace(NO_RIGHTS, namespaces=IN_CONTAINER)).fix
    assert user == f"docker run --user=0 {options} …"
    root = check(replace(NO_RIGHTS, uid=0)).fix
    assert root == (
        f"In a container: docker run {options} …; in a systemd unit: AmbientCapabilities={right}"
    )


@pytest.mark.parametrize(
    ("check", "command"),
    [
        (
            lambda facts: checks.delay_accounting(replace(facts, task_delayacct=False)),
            "sysctl -w kernel.task_delayacct=1",
        ),
        (
            lambda facts: source_checks.exit_buffer(facts, SMALL),
            "sysctl -w net.core.rmem_max=67108864",
        ),
        (
            lambda facts: checks.energy(replace(facts, energy_obstacle="absent")),
            "modprobe intel_rapl_msr",
        ),
        (
            lambda facts: source_checks.walk(facts, Ebpf("no libbpf", "sudo apt-get install x")),
            "apt-get install x",
        ),
    ],
)
def test_root_is_not_reported_to_use_sudo(check: OfFacts, command: str) -> None:
    assert check(GOOD).fix == command
    assert check(replace(GOOD, uid=1000)).fix == f"sudo {command}"


def test_records_that_do_not_arrive_in_a_namespace_name_its_option() -> None:
    facts = replace(GOOD, namespaces=Namespaces("initial", "initial", "other"))
    check = source_checks.exit_records(facts, Probe(arrived=False))
    assert check.fix == "docker run --network=host …, or run it on the host"
    assert source_checks.exit_records(GOOD, Probe(arrived=False)).fix == ""


def test_an_unknown_struct_is_the_fault_of_no_right() -> None:
    probe = replace(UNKNOWN)
    assert source_checks.taskstats(GOOD, probe).status == "ok"
    assert "newer tidscope" in source_checks.layout(probe).fix
    found = source_checks.exit_records(GOOD, probe)
    assert (found.status, found.fix) == ("failed", "")
    assert probe.tests == []


def test_a_report_of_a_good_machine_is_ok_and_in_order() -> None:
    report = examine(GOOD, Probe(), Ebpf(), Ebpf(), Ebpf(), CONFINED)
    assert report.status == "ok"
    assert (report.host, report.kernel) == ("box", "6.18.44-amd64")
    assert [check.name for check in report.checks] == [
        "kernel",
        "capabilities",
        "namespaces",
        "taskstats",
        "taskstats-layout",
        "exit-records",
        "exit-buffer",
        "delay-accounting",
        "process-list",
        "go-symbols",
        "thread-names",
        "network-per-thread",
        "walk",
        "ledger",
        "stacks",
        "energy",
        "clock-source",
        "transactional-memory",
        "confinement",
        "left-programs",
        "process-reader",
    ]


def test_what_does_not_confine_the_collector_is_named() -> None:
    found = checks.confinement(CONFINED)
    assert (found.status, found.fix) == ("ok", "")
    assert found.finding == "Capabilities kept: CAP_NET_ADMIN, CAP_SYS_PTRACE. Landlock: ABI 7."
    open_files = replace(CONFINED, landlock_abi=0, gaps=("files: all.",), fix="Boot another.")
    found = checks.confinement(open_files)
    assert (found.status, found.fix) == ("limited", "Boot another.")
    assert "Not confined: files: all." in found.finding


def test_programs_that_a_killed_collector_left_changed_have_a_line_that_undoes_it() -> None:
    assert checks.left_programs(GOOD, []).status == "ok"
    left = [LeftChanged(41, "api", "taskset -acp 0,1 41"), LeftChanged(7, "db", "taskset 7")]
    found = checks.left_programs(replace(GOOD, uid=1000), left)
    assert found.status == "limited"
    assert "api (41), db (7)" in found.finding
    assert found.fix == "sudo taskset -acp 0,1 41; sudo taskset 7"
    assert checks.left_programs(GOOD, left).fix.startswith("taskset -acp 0,1 41")


def test_that_nothing_reads_other_processes_any_more_is_said() -> None:
    assert checks.process_reader("").status == "ok"
    ebpf = Ebpf()
    found = examine(GOOD, Probe(), ebpf, ebpf, ebpf, CONFINED, "It ended.").checks[-1]
    assert (found.name, found.status, found.finding) == ("process-reader", "limited", "It ended.")
    assert "GOMAXPROCS" in found.impact
    assert found.fix.startswith("Restart the collector")


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        (replace(GOOD, clock_source=None), "limited"),
        (replace(GOOD, clock_source=None, task_delayacct=False), "limited"),
        (replace(NO_RIGHTS, clock_source=None, task_delayacct=False), "failed"),
    ],
)
def test_the_worst_check_counts(facts: Facts, state: str) -> None:
    assert overall(examine(facts, Probe(), Ebpf(), Ebpf(), Ebpf(), CONFINED).checks) == state
