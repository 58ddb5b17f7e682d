"""Where a Go program remembers whether it chose its GOMAXPROCS itself.

Since Go 1.25 the runtime follows changes of the affinity, unless GOMAXPROCS came from the
environment or from a call of runtime.GOMAXPROCS. It remembers that in the bool customGOMAXPROCS of
its variable runtime.sched (runtime/runtime2.go), whose place in there differs between versions and
is reported by the program's debug information; where that was stripped, by the code that sets it.
"""

from tidscope_collector.goruntime.elf import Elf
from tidscope_collector.goruntime.stripped import custom_address

SCHED = "runtime.sched"
FIELD = b"customGOMAXPROCS"
_LARGEST_PLACE = 1 << 16


def chosen_address(elf: Elf) -> int | None:
    """Address of the field as linked; None where neither debug information nor the code says it.

    Takes a while for a large program: all of its debug information is looked through.

    Raises:
        ElfError: the debug information is damaged or too large.
    """
    sched = elf.variable(SCHED)
    place = None if sched is None else field_place(elf)
    if sched is None or place is None:
        return custom_address(elf)
    return sched.address + place if place < sched.size else None


def field_place(elf: Elf) -> int | None:
    """Bytes from the beginning of runtime.sched to the field; None if it is not reported.

    Go's linker writes the name of a field into its entry, and its place right behind, as a ULEB128
    (cmd/internal/dwarf, DW_ABRV_STRUCTFIELD).
    """
    section = elf.section(".debug_info")
    if section is None:
        return None
    wanted = FIELD + b"\0"
    before = b""
    for piece in elf.pieces(section):
        joined = before + piece
        found = joined.find(wanted)
        # The number behind must be in it as a whole; else it is found with the next piece.
        if 0 <= found <= len(joined) - len(wanted) - 4:
            return _uleb128(joined[found + len(wanted) :])
        before = joined[-len(wanted) - 4 :]
    return None


def _uleb128(data: bytes) -> int | None:
    value = 0
    for shift, byte in enumerate(data[:4]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value if value < _LARGEST_PLACE else None
    return None
