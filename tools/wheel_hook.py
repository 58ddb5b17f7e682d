"""Build hook of hatchling: the wheel's tag, its manual, and a file that names the commit.

The tag names the processor that the compiled programs are for, and the glibc that they need (PEP
600), as `auditwheel show` finds it.
"""

import json
import os
import platform
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SAMPLER = Path("sampler/tidscope_sampler/native.abi3.so")
LIBBPF = Path("collector/tidscope_collector/ebpf/libbpf.so.1")
STACKS = Path("collector/tidscope_collector/stacks/tidscope-stacks")
BUILD_FILE = "tidscope_backend/build.json"
"""Path in the wheel; `tidscope --version` reads it."""
_MACHINES = {62: "x86_64", 183: "aarch64"}
"""Values of `e_machine` in the header of an ELF file."""
_VERNEED = 0x6FFFFFFE
"""SHT_GNU_verneed: the versions of symbols that an ELF file needs (elf.h)."""


def machine_of(program: Path) -> str:
    """The processor that a program or shared object is for.

    Raises:
        SystemExit: it is for another processor.
    """
    header = program.read_bytes()[:20]
    machine = int.from_bytes(header[18:20], "little")
    if header[:4] != b"\x7fELF" or machine not in _MACHINES:
        raise SystemExit(f"{program} is for no processor that tidscope runs on")
    return _MACHINES[machine]


def needed_versions(elf: bytes) -> Iterator[str]:
    """Versions of symbols that a 64-bit little-endian ELF file needs, such as GLIBC_2.34."""
    (sections,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    # Type, offset and link (index of the table of names) of each section header.
    headers = [struct.unpack_from("<4xI16xQ8xI", elf, sections + i * size) for i in range(count)]
    for kind, begin, link in headers:
        if kind != _VERNEED:
            continue
        names = headers[link][1]
        at, following = begin, 1
        while following:
            entries, first, following = struct.unpack_from("<2xH4xII", elf, at)
            entry = at + first
            for _ in range(entries):
                name, step = struct.unpack_from("<8xII", elf, entry)
                text = names + name
                yield elf[text : elf.index(b"\0", text)].decode()
                entry += step
            at += following


def platform_of(programs: list[Path]) -> str:
    """The platform tag of programs for one processor: manylinux_X_Y for the glibc they need."""
    glibc = [(2, 17)]  # The oldest that has a tag for aarch64.
    for program in programs:
        for version in needed_versions(program.read_bytes()):
            if found := re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version):
                glibc.append((int(found[1]), int(found[2])))
    major, minor = max(glibc)
    return f"manylinux_{major}_{minor}_{machine_of(programs[0])}"


def built_in(root: Path, arch: str | None) -> Path:
    """The folder of the compiled programs, as tools/processor names it.

    Args:
        root: checkout.
        arch: processor of the wheel, such as aarch64; None or empty for this machine's.
    """
    return root / ".cache" / arch if arch and arch != platform.machine() else root


def programs_in(root: Path) -> list[Path]:
    """The sampler, libbpf, and the program that takes stacks if it is built.

    Args:
        root: folder that they are in, at their paths in a checkout.

    Raises:
        SystemExit: sampler or libbpf is missing, or one is for another processor.
    """
    found = [SAMPLER, LIBBPF, *([STACKS] if (root / STACKS).exists() else [])]
    for program, target in ((SAMPLER, "sampler"), (LIBBPF, "libbpf")):
        if not (root / program).exists():
            raise SystemExit(f"{program} is missing: run `make {target}` first")
    machine = machine_of(root / SAMPLER)
    for program in found:
        if machine_of(root / program) != machine:
            raise SystemExit(f"{program} is for another processor than {SAMPLER}: compile it again")
    return [root / program for program in found]


def commit_of(root: Path) -> str | None:
    """The commit of a checkout, with `-dirty` if files differ from it; None outside of one."""
    command = ["git", "--no-optional-locks", "-C", str(root), "describe", "--always", "--dirty"]
    command += ["--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def write_manual(root: Path, folder: Path, packages: list[str]) -> None:
    """Write the man pages and completions of a checkout below a folder.

    Args:
        root: checkout.
        folder: folder that the files come to.
        packages: folders of the checkout with its Python packages.

    Raises:
        SystemExit: this Python lacks the packages that tidscope needs.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tidscope_backend.cli.manual", str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(root / one) for one in packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"the manual cannot be made; run `make wheel`\n{done.stderr}")


class WheelHook(BuildHookInterface[Any]):
    """Sets the tag and adds generated files; an editable installation has none of these."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set the tag of the wheel, and add the generated files."""
        if version == "editable":
            return
        root = Path(self.root)
        build_data["pure_python"] = False
        built = built_in(root, os.environ.get("ARCH"))
        programs = programs_in(built)
        build_data["tag"] = f"cp311-abi3-{platform_of(programs)}"
        if built != root:
            for program in (SAMPLER, LIBBPF, STACKS):
                packed = str(Path(*program.parts[1:]))
                if built / program in programs:
                    build_data["force_include"][str(built / program)] = packed
                elif (root / program).exists():
                    raise SystemExit(f"{built / program} is missing: run `make wheel` with Go")
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / "build.json"
        file.write_text(json.dumps({"commit": commit_of(root)}) + "\n")
        build_data["force_include"][str(file)] = BUILD_FILE
        manual = Path(self._folder.name) / "manual"
        write_manual(root, manual, self.build_config.dev_mode_dirs)
        build_data["shared_data"][str(manual / "share")] = "share"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel was built from."""
        if version != "editable":
            self._folder.cleanup()
