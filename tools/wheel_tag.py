"""Build hook of hatchling: the wheel is for the processor that its programs are compiled for."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SAMPLER = Path("sampler/tidscope_sampler/native.abi3.so")
STACKS = Path("collector/tidscope_collector/stacks/tidscope-stacks")
_MACHINES = {62: "x86_64", 183: "aarch64"}
"""Values of `e_machine` in the header of an ELF file, which is at offset 18."""


def platform_of(program: Path) -> str:
    """The platform tag of the processor that a program or shared object is for.

    Raises:
        SystemExit: it is for another processor.
    """
    header = program.read_bytes()[:20]
    machine = int.from_bytes(header[18:20], "little")
    if header[:4] != b"\x7fELF" or machine not in _MACHINES:
        raise SystemExit(f"{program} is for no processor that tidscope runs on")
    return f"linux_{_MACHINES[machine]}"


def platform_of_all(root: Path) -> str:
    """The platform tag of the sampler, and of the program that takes stacks if it is built.

    Raises:
        SystemExit: the sampler is missing, or the two are for different processors.
    """
    sampler, stacks = root / SAMPLER, root / STACKS
    if not sampler.exists():
        raise SystemExit(f"{SAMPLER} is missing: run `make sampler` first")
    platform = platform_of(sampler)
    if stacks.exists() and platform_of(stacks) != platform:
        raise SystemExit(f"{STACKS} is for another processor than {SAMPLER}: run `make stacks`")
    return platform


class WheelTag(BuildHookInterface[Any]):
    """Sets the tag; an editable installation finds the sampler in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set the tag of the wheel."""
        if version == "editable":
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform_of_all(Path(self.root))}"
