"""Instructions of eBPF programs that the kernel verifier processes: most of the start-up cost."""

import gc
import os
from pathlib import Path

from capabilities import needs
from engines import engine_of
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.targets.sources import Sources

pytestmark = [needs("root"), needs("btf")]

MAX_INSTRUCTIONS = 100_000
"""Maximum instructions that the verifier follows here. It refuses at a million, and other kernels
follow more of one program."""


def verified_instructions() -> list[int]:
    """Verified instructions of each program that this process holds."""
    found = []
    for name in os.listdir("/proc/self/fdinfo"):
        try:
            lines = Path(f"/proc/self/fdinfo/{name}").read_text().splitlines()
        except FileNotFoundError:
            continue  # The folder's own.
        found += [int(line.split()[1]) for line in lines if line.startswith("verified_insns:")]
    return found


def test_the_verifier_is_done_soon() -> None:
    sources = Sources(ProcFs())
    try:
        assert sources.ledger.ebpf is not None
        found = verified_instructions()
    finally:
        sources.close()
    assert 0 < max(found) < MAX_INSTRUCTIONS, sorted(found)


def bpf_descriptors() -> list[str]:
    """Maps, programs and links that this process holds."""
    links = []
    for file in Path("/proc/self/fd").iterdir():
        try:
            links.append(str(file.readlink()))
        except FileNotFoundError:
            continue  # The folder's own, or another thread has closed it meanwhile.
    return [link for link in links if link.startswith("anon_inode:bpf")]


def test_closed_sources_hold_no_descriptor_of_a_program() -> None:
    """Without help of the garbage collector, which may come late."""
    gc.collect()  # Garbage of earlier tests may hold descriptors.
    before = bpf_descriptors()
    sources = Sources(ProcFs())
    engine, targets = engine_of(sources)
    engine.start()
    held = bpf_descriptors()
    engine.stop()
    sources.close()
    assert targets
    assert len(held) > len(before)
    assert bpf_descriptors() == before
