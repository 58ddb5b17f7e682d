"""Where what is linked at an address is in the memory of a running program."""

import struct

from tidscope_collector.goruntime.elf import Elf

HIGHEST_ADDRESS = 1 << 62
_AT_ENTRY = 9  # include/uapi/linux/auxvec.h


def entry_address(auxv: bytes, bits: int) -> int | None:
    """Where the kernel put the entry point (getauxval(3), AT_ENTRY), in /proc/PID/auxv.

    Minus the entry point in the file it is the load base of a position-independent program.
    """
    pair = struct.Struct("<QQ" if bits == 64 else "<II")
    whole = auxv[: len(auxv) - len(auxv) % pair.size]
    return next((value for key, value in pair.iter_unpack(whole) if key == _AT_ENTRY), None)


def relocate(elf: Elf, address: int, auxv: bytes) -> int | None:
    """Where something linked at an address is in memory; None where nothing can be."""
    entry = entry_address(auxv, elf.bits)
    found = None if entry is None else address + entry - elf.entry
    return found if found is not None and 0 <= found < HIGHEST_ADDRESS else None
