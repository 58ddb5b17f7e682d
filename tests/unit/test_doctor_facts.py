"""Facts, from a /proc and a /sys of files."""

from pathlib import Path

import pytest
from fake_proc import FakeProc
from tidscope_collector.doctor.facts import CAP_NET_ADMIN, CAP_SYS_PTRACE, Namespaces, gather_facts

CLOCK = "devices/system/clocksource/clocksource0/current_clocksource"


@pytest.fixture
def machine(tmp_path: Path) -> FakeProc:
    proc = FakeProc(tmp_path / "proc")
    for name, content in {
        "sys/kernel/hostname": "box\n",
        "sys/kernel/osrelease": "6.1.0-13-amd64\n",
        "sys/kernel/task_delayacct": "1\n",
        "sys/kernel/yama/ptrace_scope": "2\n",
        "sys/net/core/rmem_max": "212992\n",
        "sys/net/core/netdev_max_backlog": "1000\n",
        "self/status": "Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t0000000000081000\n",
        "self/schedstat": "1 2 3\n",
        "cpuinfo": "processor\t: 0\nflags\t\t: fpu vme rtm hypervisor\n",
        "self/mountinfo": "22 27 0:21 / / rw - ext4 /dev/vda rw\n"
        f"23 27 0:22 / {proc.root} rw,relatime - proc proc rw,hidepid=invisible\n",
    }.items():
        proc.write(name, content.encode())
    for kind, inode in {"user": 4026531837, "pid": 4026531836, "net": 4026531992}.items():
        proc.link(f"self/ns/{kind}", f"{kind}:[{inode}]")
    clock = tmp_path / "sys" / CLOCK
    clock.parent.mkdir(parents=True)
    clock.write_text("kvm-clock\n")
    flaw = tmp_path / "sys/devices/system/cpu/vulnerabilities/tsx_async_abort"
    flaw.parent.mkdir(parents=True)
    flaw.write_text("Vulnerable\n")
    return proc


def test_all_facts_are_found(machine: FakeProc) -> None:
    facts = gather_facts(machine.procfs, machine.root.parent / "sys")
    assert (facts.host, facts.kernel) == ("box", "6.1.0-13-amd64")
    assert facts.capabilities == frozenset({CAP_NET_ADMIN, CAP_SYS_PTRACE})
    assert facts.namespaces == Namespaces("initial", "initial", "initial")
    assert (facts.task_delayacct, facts.ptrace_scope) == (True, 2)
    assert (facts.rmem_max, facts.hidepid) == (212_992, "invisible")
    assert (facts.schedstat, facts.clock_source) == (True, "kvm-clock")
    assert (facts.hypervisor, facts.energy_obstacle) == (True, "absent")
    assert (facts.transactions, facts.async_abort) == (True, "Vulnerable")


def test_the_network_namespace_of_an_old_kernel_is_reported_by_its_settings(
    machine: FakeProc,
) -> None:
    (machine.root / "sys/net/core/netdev_max_backlog").unlink()
    assert gather_facts(machine.procfs).namespaces.net == "other"


def test_the_network_namespace_of_a_new_kernel_is_reported_by_its_number(machine: FakeProc) -> None:
    (machine.root / "sys/net/core/netdev_max_backlog").unlink()
    (machine.root / "self/ns/net").unlink()
    machine.link("self/ns/net", "net:[4026531833]")
    assert gather_facts(machine.procfs).namespaces.net == "initial"


@pytest.mark.parametrize("kind", ["user", "pid"])
def test_a_child_namespace_is_reported(machine: FakeProc, kind: str) -> None:
    (machine.root / f"self/ns/{kind}").unlink()
    machine.link(f"self/ns/{kind}", f"{kind}:[4026532315]")
    places = gather_facts(machine.procfs).namespaces
    assert {"user": places.user, "pid": places.pid}[kind] == "other"


def test_a_proc_without_options_hides_nothing(machine: FakeProc) -> None:
    machine.write(
        "self/mountinfo", f"23 27 0:22 / {machine.root} rw,relatime - proc proc rw\n".encode()
    )
    assert gather_facts(machine.procfs).hidepid == "0"


def test_nothing_to_read_is_nothing_known(tmp_path: Path) -> None:
    facts = gather_facts(FakeProc(tmp_path).procfs, tmp_path)
    assert facts.namespaces == Namespaces("unknown", "unknown", "unknown")
    assert facts.capabilities is None
    assert (facts.task_delayacct, facts.rmem_max, facts.ptrace_scope) == (None, None, None)
    assert (facts.hidepid, facts.schedstat, facts.clock_source) == (None, False, None)
    assert (facts.hypervisor, facts.transactions, facts.async_abort) == (None, None, None)
    assert facts.kernel and facts.host
