"""Build hook of hatchling: the wheel is for the processor that its sampler is compiled for."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SAMPLER = Path("sampler/tidscope_sampler/native.abi3.so")
_MACHINES = {62: "x86_64", 183: "aarch64"}
"""Values of `e_machine` in the header of an ELF file, which is at offset 18."""


def platform_of(sampler: Path) -> str:
    """The platform tag of the processor that a shared object is for.

    Raises:
        SystemExit: it is not there, or for another processor.
    """
    try:
        header = sampler.read_bytes()[:20]
    except FileNotFoundError:
        raise SystemExit(f"{sampler} is missing: run `make sampler` first") from None
    machine = int.from_bytes(header[18:20], "little")
    if header[:4] != b"\x7fELF" or machine not in _MACHINES:
        raise SystemExit(f"{sampler} is for no processor that tidscope runs on")
    return f"linux_{_MACHINES[machine]}"


class WheelTag(BuildHookInterface[Any]):
    """Sets the tag; an editable installation finds the sampler in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set the tag of the wheel."""
        if version == "editable":
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform_of(Path(self.root) / SAMPLER)}"
