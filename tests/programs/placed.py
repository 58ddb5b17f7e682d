"""Drives programs that say where they are in their own code, and finds those places in files."""

import mmap
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from processes import start_ticks
from programs.build import build_c, build_rust, cached
from programs.hanging import Spoken
from tidscope_collector.symbols.frames import NativeFrame

HERE = Path(__file__).parent
OPTIMIZED = ("-O2", "-g")


class PlacedFile(NamedTuple):
    """A file with code: its build ID and loaded segments as (offset, address, size)."""

    build_id: str
    segments: list[tuple[int, int, int]]

    def address(self, offset: int) -> int:
        """Address as the headers count, of an offset in the file."""
        for begin, address, size in self.segments:
            if begin <= offset < begin + size:
                return address + offset - begin
        raise AssertionError(f"no segment holds {offset:#x}")


def read_file(path: Path) -> PlacedFile:
    """Read the headers of an ELF file."""
    with path.open("rb") as opened:
        elf = ELFFile(opened)
        note = elf.get_section_by_name(".note.gnu.build-id")
        build_id = next(note.iter_notes())["n_desc"] if note else ""
        loaded = [one for one in elf.iter_segments() if one["p_type"] == "PT_LOAD"]
        segments = [(one["p_offset"], one["p_vaddr"], one["p_filesz"]) for one in loaded]
    return PlacedFile(build_id, segments)


def frame_at(pid: int, absolute: int, path: Path | None = None) -> NativeFrame:
    """The frame of an address in a process.

    Args:
        pid: process.
        absolute: address in its memory.
        path: where the mapped file can be read; by default where it is mapped from.
    """
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        begin, end = (int(number, 16) for number in line.split()[0].split("-"))
        if begin <= absolute < end:
            name = line.split(maxsplit=5)[5]
            file = read_file(path or Path(name))
            address = file.address(absolute - begin + int(line.split()[2], 16))
            return NativeFrame(pid, start_ticks(pid), Path(name).name, file.build_id, address)
    raise AssertionError(f"{absolute:#x} is not mapped")


class Placed(Spoken):
    """A running program of this folder; use it in a ``with`` statement.

    Attributes:
        places: addresses that the program has printed, by name; each in the call, not behind it.
    """

    def __init__(self, *command: str | Path) -> None:
        super().__init__(*map(str, command))
        self.places: dict[str, int] = {}
        while (line := self.hear()) != "ready":
            name, address = line.split()
            self.places[name] = int(address, 16) - 1


def build_placed(*flags: str) -> Path:
    """Compile placed.c."""
    return build_c(HERE / "placed.c", *flags)


def build_template(*flags: str) -> Path:
    """Compile placed.cpp."""
    source = HERE / "placed.cpp"
    command = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", *flags]
    return cached("template", source.read_bytes(), command, [str(source)], env=dict(os.environ))


def build_generic(*flags: str) -> Path:
    """Compile placed_rust."""
    return build_rust(HERE / "placed_rust" / "main.rs", None, "-g", *flags)


def run(*command: str | Path) -> None:
    """Run a tool."""
    subprocess.run(list(map(str, command)), check=True, capture_output=True)


def stripped_copy(program: Path, folder: Path, *flags: str) -> Path:
    """Copy a program without what strip(1) takes off."""
    copy = folder / program.name
    shutil.copy(program, copy)
    run("strip", *flags, copy)
    return copy


def debug_copy(program: Path, made: Path) -> Path:
    """Make the debug file of a program; the folders of its path too."""
    made.parent.mkdir(parents=True, exist_ok=True)
    run("objcopy", "--only-keep-debug", program, made)
    return made


def by_build_id(build_id: str) -> str:
    """Path of a debug file below the folder of debug files."""
    return f".build-id/{build_id[:2]}/{build_id[2:]}.debug"


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Have a file mapped as code in this process, without running it."""
    with path.open("rb") as opened:
        protection = mmap.PROT_READ | mmap.PROT_EXEC
        held = mmap.mmap(opened.fileno(), 0, mmap.MAP_PRIVATE, protection)
        yield
        held.close()


def own_frames(path: Path, addresses: Sequence[int]) -> list[NativeFrame]:
    """Frames of this process in a file that it has mapped."""
    pid = os.getpid()
    build_id = read_file(path).build_id
    return [NativeFrame(pid, start_ticks(pid), path.name, build_id, one) for one in addresses]
