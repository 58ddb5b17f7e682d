"""The committed eBPF objects are what their sources compile to, and the programs have them."""

import re
import subprocess
from pathlib import Path

from capabilities import needs
from elftools.elf.elffile import ELFFile
from tidscope_collector.stacks.program import PROGRAM
from tidscope_collector.waits.states import State
from tidscope_sampler.native import bpf_object

ROOT = Path(__file__).parents[2]
SAMPLER = ROOT / "sampler" / "src"
LEDGER = SAMPLER / "ledger" / "waits.bpf.o"
FILTER = ROOT / "stacks" / "bpf" / "filter.bpf.o"
OF_SAMPLER = {
    SAMPLER / "network" / "netacct.bpf.o": {
        "tp_btf/sock_send_length",
        "tp_btf/sock_recv_length",
        ".maps",
    },
    SAMPLER / "walk" / "task_iterator.bpf.o": {"iter/task", "syscall", ".maps"},
    LEDGER: {"tp_btf/sched_switch", "tp_btf/sched_waking", "iter/task", ".maps"},
    SAMPLER / "processes" / "groups.bpf.o": {"tp_btf/task_newtask", "tp_btf/sched_switch", ".maps"},
}
OBJECTS = {**OF_SAMPLER, FILTER: {"perf_event", "syscall", ".maps"}}


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


def test_the_sampler_has_the_objects() -> None:
    for path in OF_SAMPLER:
        assert bpf_object(path.name.removesuffix(".bpf.o")) == path.read_bytes()


@needs("stacks")
def test_the_program_that_takes_stacks_has_its_object() -> None:
    assert FILTER.read_bytes() in PROGRAM.read_bytes()


def test_states_have_the_numbers_of_the_program() -> None:
    """Checked in the source: no loaded code refers to the enum, so the object lacks it."""
    source = (SAMPLER / "ledger" / "ledgers.bpf.h").read_text()
    [numbers] = re.findall(r"^enum state \{(.*?)^\};", source, re.DOTALL | re.MULTILINE)
    names = re.findall(r"^\t(\w+),", numbers, re.MULTILINE)
    assert names == [one.name for one in sorted(State)] + ["STATES"]
    assert [int(one) for one in sorted(State)] == list(range(len(State)))
