"""The doctor's facts on this machine's kernel, with rights and without, here and elsewhere."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from capabilities import delay_switch_kept, needs
from programs.unprivileged import see
from tidscope_collector.doctor import checks
from tidscope_collector.doctor.facts import (
    CAP_NET_ADMIN,
    CAP_SYS_PTRACE,
    Facts,
    Namespaces,
    gather_facts,
)
from tidscope_collector.stacks.program import CAN_START, outlook

NOBODY = 65534


def facts_of(seen: dict[str, Any]) -> Facts:
    return Facts(
        **seen
        | {
            "namespaces": Namespaces(**seen["namespaces"]),
            "capabilities": frozenset(seen["capabilities"]),
        }
    )


def test_root_has_the_rights_and_is_at_home() -> None:
    facts = gather_facts()
    assert facts.kernel == os.uname().release
    assert facts.capabilities is not None
    assert {CAP_NET_ADMIN, CAP_SYS_PTRACE} <= facts.capabilities
    assert facts.namespaces == Namespaces("initial", "initial", "initial")
    assert facts.schedstat
    assert facts.clock_source
    assert [check(facts).status for check in (checks.kernel, checks.rights, checks.namespaces)] == [
        "ok"
    ] * 3


def test_delay_accounting_is_what_the_kernel_says() -> None:
    with delay_switch_kept():
        facts = gather_facts()
        switch = Path("/proc/sys/kernel/task_delayacct").read_text().strip()
    assert facts.task_delayacct == (switch != "0")
    judged = checks.delay_accounting(facts)
    assert judged.status == ("ok" if facts.task_delayacct else "limited")
    assert ("sysctl" in judged.fix) == (not facts.task_delayacct)


@needs("btf")
def test_how_stacks_will_be_taken_is_foretold() -> None:
    fires = " bpf_modify_return_test_tp\n" in Path("/proc/kallsyms").read_text()
    assert (outlook() == CAN_START) == fires
    assert ("in windows of time" in outlook()) == (not fires)


def test_energy_is_there_or_it_is_said_why_not() -> None:
    """Energy counters are usable, or a reason is given; most virtual machines have none."""
    facts = gather_facts()
    judged = checks.energy(facts)
    zones = list(Path("/sys/class/powercap").glob("intel-rapl*:*/energy_uj"))
    assert (judged.status == "ok") == (facts.energy_obstacle == "")
    if not zones:
        assert facts.energy_obstacle in {"absent", "hidden"}
        assert "powercap" in judged.finding
        assert judged.fix or facts.hypervisor


def test_another_user_has_no_rights_and_is_reported_so() -> None:
    with delay_switch_kept():
        facts, own = facts_of(see(NOBODY, "facts")), gather_facts()
    assert facts.capabilities == frozenset()
    rights = checks.rights(facts)
    assert rights.status == "failed"
    assert rights.fix == "sudo tidscope up"
    assert checks.go_symbols(facts).status in {"limited", "failed"}
    # The path can be reported without rights.
    assert facts.namespaces == Namespaces("initial", "initial", "initial")
    by_rights = dict.fromkeys(("uid", "capabilities", "energy_obstacle", "energy_found"))
    assert asdict(facts) | by_rights == asdict(own) | by_rights


@pytest.mark.parametrize(
    ("options", "places"),
    [
        (["--net"], Namespaces("initial", "initial", "other")),
        (["--pid", "--fork", "--mount-proc"], Namespaces("initial", "other", "initial")),
        (
            ["--user", "--map-root-user", "--net", "--pid", "--fork", "--mount-proc"],
            Namespaces("other", "other", "other"),
        ),
    ],
)
def test_other_namespaces_are_noticed(options: list[str], places: Namespaces) -> None:
    facts = facts_of(see(0, "facts", within=["unshare", *options]))
    assert facts.namespaces == places
    check = checks.namespaces(facts)
    assert check.status == "failed"
    assert ("--network=host" in check.fix) == (places.net == "other")
    assert ("--pid=host" in check.fix) == (places.pid == "other")


def test_another_user_in_another_network_namespace_still_notices() -> None:
    facts = facts_of(see(NOBODY, "facts", within=["unshare", "--net"]))
    assert facts.namespaces.net == "other"


def test_a_proc_that_hides_processes_is_noticed() -> None:
    hiding = ["unshare", "--mount", "sh", "-c"]
    hiding += ['mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh"]
    facts = facts_of(see(NOBODY, "facts", within=hiding))
    assert facts.hidepid in {"2", "invisible"}
    assert checks.process_list(facts).status == "limited"
    assert checks.process_list(gather_facts()).status == "ok"
