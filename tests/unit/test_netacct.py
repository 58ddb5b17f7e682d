"""Network accounting: its choice and its slots."""

import os
import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from fake_proc import FakeProc
from tidscope_backend.cli.server_options import COUNTERS_SOURCES, LEDGERS, NETWORK_SOURCES
from tidscope_collector.ebpf import libbpf, thread_slots
from tidscope_collector.ebpf.exited_threads import find_exited
from tidscope_collector.ebpf.obstacles import Obstacle, find_obstacle
from tidscope_collector.netacct import choice
from tidscope_collector.netacct.accounts import OBJECT
from tidscope_collector.netacct.choice import CHOICES, Choice, NetworkSource
from tidscope_collector.netacct.loading import TRACEPOINTS, limits
from tidscope_collector.netacct.slots import (
    COUNTERS,
    FIELDS,
    SLOT,
    SLOTS,
    Slots,
    counters,
    list_living,
)
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.columns import Columns
from tidscope_collector.taskstats.layout import Layout
from tidscope_collector.taskstats.layout import choose as choose_layout
from tidscope_collector.waits.source import CHOICES as LEDGER_CHOICES
from tidscope_collector.walk.choice import CHOICES as WALK_CHOICES
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import AbsentField

# Which source of network numbers is chosen, and what is said when there is none.


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


def test_a_system_without_libbpf_is_named(
    machine: FakeProc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libbpf, "NAMES", ("libbpf.so.none",))
    libbpf.library.cache_clear()
    try:
        found = find_obstacle(machine.procfs, TRACEPOINTS)
    finally:
        libbpf.library.cache_clear()
    assert found is not None
    assert "libbpf.so.none" in found.reason
    assert "libbpf1" in found.fix


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


# Finding the slots of living and of ended threads.


PID = 100
NOW = 10_000_000_000
MS = 1_000_000


def slots(*rows: dict[str, int]) -> Slots:
    made = np.zeros(len(rows), SLOT)
    for at, row in enumerate(rows):
        for name, value in ({"tgid": PID} | row).items():
            made[name][at] = value
    return made


def tids(*numbers: int) -> "np.ndarray[Any, np.dtype[np.uint32]]":
    return np.array(numbers, np.uint32)


def exited(
    found: Slots, records: dict[int, int] | list[tuple[int, int]], *, exiting: bool = False
) -> list[int]:
    pairs = list(records.items()) if isinstance(records, dict) else records
    ages = np.array([age for _, age in pairs], np.int64)
    chosen = find_exited(
        found, PID, tids(*(tid for tid, _ in pairs)), ages, NOW, lambda _, __: exiting
    )
    return [int(index) for index in chosen]


def test_counters_come_in_the_order_of_the_catalogues_fields() -> None:
    made = slots(
        {"tid": 5, "read_bytes": 1, "write_bytes": 2, "read_calls": 3, "write_calls": 4},
        {"tid": 6, "read_bytes": 2**40},
    )
    assert counters(made, np.array([1, -1, 0], np.intp)).tolist() == [
        [2**40, 0, 0, 0],
        [0, 0, 0, 0],
        [1, 2, 3, 4],
    ]
    assert [name.removeprefix("net_") for name in FIELDS] == list(COUNTERS)
    catalogue = [field.name for field in CATALOGUE.fields if field.group == "network"]
    assert catalogue == list(FIELDS)


def test_living_threads_are_found_whatever_their_order() -> None:
    made = slots({"tid": 9}, {"tid": 5}, {"tid": 7})
    assert list_living(made, PID, NOW).find(tids(5, 6, 7, 9, 8)).tolist() == [1, -1, 2, 0, -1]
    assert list_living(made, PID, NOW).find(tids()).tolist() == []
    assert list_living(slots(), PID, NOW).find(tids(5)).tolist() == [-1]


def test_ended_threads_other_processes_and_vacant_slots_are_not_living_threads() -> None:
    made = slots({"tid": 5, "exit_ns": 1}, {"tid": 6, "tgid": 101}, {"tid": 7, "tgid": 0})
    assert list_living(made, PID, NOW).find(tids(5, 6, 7)).tolist() == [-1, -1, -1]


def test_a_thread_that_began_after_the_reading_is_another_one() -> None:
    made = slots({"tid": 5, "start_ns": NOW + 1}, {"tid": 6, "start_ns": NOW})
    living = list_living(made, PID, NOW)
    assert living.find(tids(5, 6)).tolist() == [-1, 1]
    assert not living.complete
    assert list_living(made, PID, NOW + 1).complete


def test_of_two_threads_with_one_id_the_living_one_is_found() -> None:
    made = slots({"tid": 5, "start_ns": 1, "exit_ns": 2}, {"tid": 5, "start_ns": 3})
    assert list_living(made, PID, NOW).find(tids(5)).tolist() == [1]


def test_an_ended_thread_is_found_by_its_id_and_age() -> None:
    made = slots({"tid": 5, "start_ns": NOW - 9 * MS, "exit_ns": NOW - 4 * MS})
    assert exited(made, {5: 5 * MS}) == [0]
    assert exited(made, {5: 5 * MS - 100_000}) == [0]  # the record is written a little earlier
    assert exited(made, {6: 5 * MS}) == [-1]
    assert exited(made, {5: 6 * MS}) == [-1]  # it did not live that long


def test_the_ages_tell_threads_with_one_id_apart() -> None:
    made = slots(
        {"tid": 5, "start_ns": NOW - 50 * MS, "exit_ns": NOW - 20 * MS},
        {"tid": 5, "start_ns": NOW - 19 * MS, "exit_ns": NOW - 18 * MS},
    )
    assert exited(made, [(5, 1 * MS), (5, 30 * MS)]) == [1, 0]
    assert exited(made, [(5, 30 * MS), (5, 1 * MS)]) == [0, 1]
    # The first of three used no network: it has no slot, and takes nobody else's.
    assert exited(made, [(5, 500_000), (5, 30 * MS), (5, 1 * MS - 1000)]) == [-1, 0, 1]


def test_a_slot_is_not_given_twice() -> None:
    made = slots({"tid": 5, "start_ns": NOW - 9 * MS, "exit_ns": NOW - 4 * MS})
    assert sorted(exited(made, [(5, 5 * MS), (5, 5 * MS)])) == [-1, 0]


@pytest.mark.parametrize("exiting", [True, False])
def test_a_slot_without_an_end_is_an_ended_threads_only_if_that_is_exiting(exiting: bool) -> None:
    made = slots({"tid": 5, "start_ns": NOW - 9 * MS})
    assert exited(made, {5: 2 * MS}, exiting=exiting) == [0 if exiting else -1]


def test_the_arrays_are_as_long_as_the_programs() -> None:
    source = OBJECT.with_suffix(".c").read_text()
    assert f"#define SLOTS {SLOTS}\n" in source
    shared = Path(thread_slots.__file__).with_name("thread_slots.bpf.h").read_text()
    assert f"#define WATCHED {thread_slots.WATCHED}\n" in shared
