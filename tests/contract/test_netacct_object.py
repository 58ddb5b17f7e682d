"""The committed eBPF object is what its source compiles to."""

import subprocess
from pathlib import Path

from elftools.elf.elffile import ELFFile
from tidscope_collector.netacct.accounts import OBJECT

ROOT = Path(__file__).parents[2]


def contents(path: Path) -> dict[str, bytes]:
    """Programs, maps and licence: what stands in sections that are loaded, or says where to."""
    with path.open("rb") as file:
        return {
            section.name: section.data()
            for section in ELFFile(file).iter_sections()
            if section["sh_size"] and not section.name.startswith((".BTF", ".rel.BTF"))
        }


def test_the_object_is_compiled_from_its_source(tmp_path: Path) -> None:
    made = tmp_path / "made.o"
    subprocess.run(
        ["make", "--no-print-directory", "bpf", f"BPF_OUT={made}"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    committed, compiled = contents(OBJECT), contents(made)
    assert {"tp_btf/sock_send_length", "tp_btf/sock_recv_length", ".maps"} <= set(committed)
    assert committed.keys() == compiled.keys()
    changed = [name for name in committed if committed[name] != compiled[name]]
    version = subprocess.run(["clang", "--version"], check=True, capture_output=True, text=True)
    compiler = version.stdout.splitlines()[0]
    assert not changed, f"run `make bpf`: {changed} differ from what {compiler} makes"
