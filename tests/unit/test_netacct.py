"""Network accounting: its choice, and why there is none."""

import os
import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from fake_proc import FakeProc
from tidscope_backend.cli.server_options import COUNTERS_SOURCES, LEDGERS, NETWORK_SOURCES
from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.obstacles import Obstacle, find_obstacle
from tidscope_collector.netacct import choice
from tidscope_collector.netacct.choice import CHOICES, Choice, NetworkSource
from tidscope_collector.netacct.programs import TRACEPOINTS, limits
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.columns import Columns
from tidscope_collector.taskstats.layout import Layout
from tidscope_collector.taskstats.layout import choose as choose_layout
from tidscope_collector.waits.source import CHOICES as LEDGER_CHOICES
from tidscope_collector.walk.choice import CHOICES as WALK_CHOICES
from tidscope_wire.generated.models import AbsentField

# Choice of the source of network counters, and the message if there is none.


STOCK = choose_layout(13, 416)
MEMBERS = ("read_net_bytes", "write_net_bytes", "read_net_syscalls", "write_net_syscalls")
EXTENDED = replace(
    STOCK,
    name="v13 extended",
    length=448,
    offsets=MappingProxyType(
        {**STOCK.offsets, **{name: 416 + 8 * at for at, name in enumerate(MEMBERS)}}
    ),
)
PID_NAMESPACE = "pid:[4026531836]"
ALL_RIGHTS = b"CapEff:\t000001ffffffffff\n"


def refused(procfs: ProcFs) -> Obstacle:
    return Obstacle("the test refused it", "do not test")


def test_the_command_line_offers_the_collectors_choices() -> None:
    assert NETWORK_SOURCES == CHOICES
    assert COUNTERS_SOURCES == WALK_CHOICES
    assert LEDGERS == LEDGER_CHOICES


@pytest.mark.parametrize(
    ("asked", "layout", "kind", "words"),
    [
        ("auto", EXTENDED, "taskstats", "taskstats extended: "),
        ("taskstats", EXTENDED, "taskstats", "socket payload, not wire bytes"),
        ("none", EXTENDED, "none", "none: disabled"),
        ("none", STOCK, "none", "none: disabled"),
        ("taskstats", STOCK, "none", "none: the struct taskstats of this kernel has no network"),
        ("taskstats", None, "none", "none: taskstats is not available here"),
        ("auto", STOCK, "none", "eBPF is unavailable: the test refused it; see Doctor"),
        ("ebpf", EXTENDED, "none", "the test refused it"),
    ],
)
def test_choices_without_ebpf(
    monkeypatch: pytest.MonkeyPatch, asked: Choice, layout: Layout | None, kind: str, words: str
) -> None:
    monkeypatch.setattr(choice, "load", refused)
    source = NetworkSource(asked, layout, ProcFs())
    assert source.kind == kind
    assert words in source.description
    assert source.description.startswith("none: ") == (kind == "none")


def test_absent_network_fields_get_the_reason_in_force() -> None:
    source = NetworkSource("none", STOCK, ProcFs())
    absent = [
        AbsentField(field="net_read_bytes", reason="a stock kernel"),
        AbsentField(field="irq_count", reason="an old kernel"),
    ]
    assert source.explain(absent) == [
        AbsentField(field="net_read_bytes", reason="disabled (--network none)"),
        absent[1],
    ]


@pytest.mark.parametrize("network", [True, False])
def test_the_extended_structs_fields_can_be_left_out(network: bool) -> None:
    columns = Columns(EXTENDED, delay_accounting=True, network=network)
    assert ("net_read_bytes" in columns.fields) == network
    assert ("net_write_calls" in {one.field for one in columns.absent}) == (not network)


@pytest.fixture
def machine(tmp_path: Path) -> FakeProc:
    """A machine where nothing stands in the way."""
    proc = FakeProc(tmp_path)
    proc.write("self/status", ALL_RIGHTS)
    (tmp_path / "self/ns").mkdir()
    (tmp_path / "self/ns/pid").symlink_to(PID_NAMESPACE)
    return proc


def test_a_machine_with_all_that_is_needed(machine: FakeProc) -> None:
    assert find_obstacle(machine.procfs, TRACEPOINTS) is None


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        ("0000000000000000", "CAP_BPF and CAP_PERFMON"),
        ("0000008000000000", "lacks CAP_PERFMON"),
        ("0000004000000000", "lacks CAP_BPF"),
        ("000000c000000000", None),
        ("0000000000200000", None),  # CAP_SYS_ADMIN is enough
    ],
)
def test_missing_capabilities_are_named(machine: FakeProc, mask: str, words: str | None) -> None:
    machine.write("self/status", f"Name:\tx\nCapEff:\t{mask}\n".encode())
    found = find_obstacle(machine.procfs, TRACEPOINTS)
    if words is None:
        assert found is None
    else:
        assert found is not None
        assert words in found.reason
        assert set(found.capabilities) == set(re.findall("CAP_[A-Z]+", words))
        assert found.fix == ""


def test_another_pid_namespace_is_named(machine: FakeProc) -> None:
    place = machine.root / "self/ns/pid"
    place.unlink()
    place.symlink_to("pid:[4026532000]")
    found = find_obstacle(machine.procfs, TRACEPOINTS)
    assert found is not None
    assert "--pid=host" in found.fix


def test_a_kernel_without_types_is_named(machine: FakeProc, tmp_path: Path) -> None:
    found = find_obstacle(machine.procfs, TRACEPOINTS, tmp_path / "missing")
    assert found is not None
    assert "BTF" in found.reason


def test_a_kernel_before_6_3_is_named(machine: FakeProc) -> None:
    feature = replace(TRACEPOINTS, type="btf_trace_sock_no_such_thing")
    found = find_obstacle(machine.procfs, feature)
    assert found is not None
    assert os.uname().release in found.reason
    assert "6.3" in found.fix


def test_an_installation_without_libbpf_is_named(
    machine: FakeProc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libbpf, "FILE", Path("/missing/libbpf.so.1"))
    libbpf.library.cache_clear()
    try:
        found = find_obstacle(machine.procfs, TRACEPOINTS)
    finally:
        libbpf.library.cache_clear()
    assert found is not None
    assert "/missing/libbpf.so.1" in found.reason
    assert "make libbpf" in found.fix


@pytest.mark.parametrize(
    ("splice", "release", "words"),
    [
        (True, "6.18.44-fc", ""),
        (True, "6.5.0", ""),
        (True, "6.4.16", "sendfile"),
        (False, "6.10", "splice() out of TCP sockets"),
        (False, "6.3-rc1", "sendfile"),
        (True, "strange", ""),
    ],
)
def test_what_ebpf_does_not_count_is_reported(splice: bool, release: str, words: str) -> None:
    reported = limits(splice=splice, release=release)
    assert words in reported
    assert bool(reported) == bool(words)
