"""The committed eBPF objects are what their sources compile to, and arrays mirror their structs."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from tidscope_collector.discovery import task_iterator
from tidscope_collector.discovery.block_walks import FROM
from tidscope_collector.groups import programs
from tidscope_collector.groups.events import EVENT
from tidscope_collector.groups.walks import STRETCH, VISITS
from tidscope_collector.netacct import accounts
from tidscope_collector.netacct.slots import CONTROL, SLOT, UNCOUNTED
from tidscope_collector.waits import loading
from tidscope_collector.waits import slots as wait_slots
from tidscope_collector.waits.states import State
from tidscope_collector.walk.block import BLOCK

ROOT = Path(__file__).parents[2]
OBJECTS = {
    accounts.OBJECT: {"tp_btf/sock_send_length", "tp_btf/sock_recv_length", ".maps"},
    task_iterator.OBJECT: {"iter/task", "syscall", ".maps"},
    loading.OBJECT: {"tp_btf/sched_switch", "tp_btf/sched_waking", "iter/task", ".maps"},
    programs.OBJECT: {"tp_btf/task_newtask", "tp_btf/sched_switch", ".maps"},
}


def contents(path: Path) -> dict[str, bytes]:
    """Programs, maps and licence: what stands in sections that are loaded, or says where to."""
    with path.open("rb") as file:
        return {
            section.name: section.data()
            for section in ELFFile(file).iter_sections()
            if section["sh_size"] and not section.name.startswith((".BTF", ".rel.BTF"))
        }


def test_the_objects_are_compiled_from_their_sources(tmp_path: Path) -> None:
    subprocess.run(
        ["make", "--no-print-directory", "bpf", f"BPF_OUT={tmp_path}"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    version = subprocess.run(["clang", "--version"], check=True, capture_output=True, text=True)
    compiler = version.stdout.splitlines()[0]
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in OBJECTS}
    for path, expected in OBJECTS.items():
        committed, compiled = contents(path), contents(tmp_path / path.name)
        assert expected <= set(committed)
        assert committed.keys() == compiled.keys()
        changed = [name for name in committed if committed[name] != compiled[name]]
        assert not changed, f"run `make bpf`: {changed} differ from what {compiler} makes"


def structs(path: Path) -> dict[str, tuple[int, dict[str, int]]]:
    """The structs that an object file describes: length, and members with their offsets, bytes."""
    command = ["/usr/sbin/bpftool", "-j", "btf", "dump", "file", str(path)]
    reported = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {
        one["name"]: (
            one["size"],
            {member["name"]: member["bits_offset"] // 8 for member in one["members"]},
        )
        for one in reported["types"]
        if one["kind"] == "STRUCT"
    }


@pytest.mark.parametrize(
    ("path", "name", "dtype"),
    [
        (accounts.OBJECT, "slot", SLOT),
        (programs.OBJECT, "event", EVENT),
        (programs.OBJECT, "control", programs.CONTROL),
        (task_iterator.OBJECT, "visits", VISITS),
        (task_iterator.OBJECT, "stretch", STRETCH),
        (accounts.OBJECT, "control", CONTROL),
        (accounts.OBJECT, "uncounted", UNCOUNTED),
        (loading.OBJECT, "slot", wait_slots.SLOT),
        (loading.OBJECT, "detail", wait_slots.DETAIL),
        (loading.OBJECT, "edge", wait_slots.EDGE),
        (loading.OBJECT, "taker", wait_slots.TAKER),
        (loading.OBJECT, "edge_key", wait_slots.EDGE_KEY),
        (loading.OBJECT, "taker_key", wait_slots.TAKER_KEY),
        (loading.OBJECT, "call_key", wait_slots.CALL_KEY),
        (loading.OBJECT, "call_count", wait_slots.CALL_COUNT),
        (loading.OBJECT, "name", wait_slots.NAME),
        (loading.OBJECT, "control", wait_slots.CONTROL),
        (task_iterator.OBJECT, "block", BLOCK),
        (task_iterator.OBJECT, "from", FROM),
    ],
)
def test_arrays_have_the_layout_of_the_structs(
    path: Path, name: str, dtype: np.dtype[np.void]
) -> None:
    fields = dtype.fields
    assert fields is not None
    offsets = {member: where[1] for member, where in fields.items()}
    assert structs(path)[name] == (dtype.itemsize, offsets)


def test_states_have_the_numbers_of_the_program() -> None:
    """Checked in the source: no loaded code refers to the enum, so the object lacks it."""
    source = loading.OBJECT.with_suffix(".c").read_text()
    [numbers] = re.findall(r"^enum state \{(.*?)^\};", source, re.DOTALL | re.MULTILINE)
    names = re.findall(r"^\t(\w+),", numbers, re.MULTILINE)
    assert names == [one.name for one in sorted(State)] + ["STATES"]
    assert [int(one) for one in sorted(State)] == list(range(len(State)))
