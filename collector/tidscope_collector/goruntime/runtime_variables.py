"""The few instructions by which Go's compiler reads and writes variables of the runtime.

Not a disassembler: on x86-64 instructions are found by their bytes wherever they are, so what is
found has to be confirmed by something else. Sources: Intel SDM volume 2 (MOVSXD, MOV, LEA, XCHG;
an address relative to the next instruction), Arm ARM C6 (ADRP, ADD, LDRSW, LDR, STR, STRB, STLR).
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from tidscope_collector.goruntime.elf import Elf
from tidscope_collector.goruntime.functions import Code, find_code

X86_64, AARCH64 = 62, 183
"""e_machine (elf(5))."""
_NEAR = 16


class Variables(NamedTuple):
    """Addresses that a function uses.

    Attributes:
        words: 32-bit numbers that are loaded with their sign.
        stored: 32-bit numbers that are stored atomically.
        flags: bytes that are set to a constant, or stored (arm64).
        used: everything that is addressed.
    """

    words: frozenset[int]
    stored: frozenset[int]
    flags: frozenset[int]
    used: frozenset[int]


def variables_of(function: Code, machine: int) -> Variables:
    """What the code of a function addresses; nothing on other processors."""
    found = {
        X86_64: _x86_64,
        AARCH64: _aarch64,
    }.get(machine)
    uses = list(found(function)) if found else []
    return Variables(
        frozenset(address for kind, address in uses if kind == "word"),
        frozenset(address for kind, address in uses if kind == "stored"),
        frozenset(address for kind, address in uses if kind == "flag"),
        frozenset(address for _, address in uses),
    )


def _x86_64(function: Code) -> Iterator[tuple[str, int]]:
    base, code = function
    for place in range(1, len(code) - 4):
        # The byte before says: 32 bits follow, from the next instruction on.
        if code[place - 1] & 0xC7 != 0x05:
            continue
        (distance,) = struct.unpack_from("<i", code, place)
        behind = base + place + 4 + distance
        before = code[max(place - 3, 0) : place - 1]
        if len(before) == 2 and before[0] & 0xFB == 0x48 and before[1] == 0x63:
            yield "word", behind
        if len(before) == 2 and before[0] & 0xFB == 0x48 and before[1] == 0x8D:
            register = code[place - 1] >> 3 & 7
            if _is_exchanged(code[place + 4 : place + 4 + _NEAR], register):
                yield "stored", behind
        if (
            before[-1:] == b"\xc6"
            and code[place - 1] == 0x05
            and code[place + 4 : place + 5] == b"\1"
        ):
            yield "flag", behind + 1
        for constant in (0, 1, 4):
            yield "used", behind + constant


def _is_exchanged(code: bytes, register: int) -> bool:
    """Whether XCHG, which is Go's atomic store, soon stores where the register points to."""
    place = code.find(b"\x87")
    return 0 <= place < len(code) - 1 and code[place + 1] & 0xC7 == register


def _aarch64(function: Code) -> Iterator[tuple[str, int]]:
    base, code = function
    held: dict[int, int] = {}
    for place in range(0, len(code) - 3, 4):
        (word,) = struct.unpack_from("<I", code, place)
        target, source = word & 31, word >> 5 & 31
        if word & 0x9F000000 == 0x90000000:  # ADRP
            pages = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
            pages -= (pages & 1 << 20) << 1
            held[target] = (base + place & ~0xFFF) + (pages << 12)
            continue
        address = held.get(source)
        if word & 0xFFFFFC00 == 0x889FFC00 and address is not None:  # STLR; Go's atomic store
            yield "stored", address
            continue
        if word & 0xFFC00000 == 0x91000000:  # ADD with a constant
            if address is None:
                held.pop(target, None)
            else:
                held[target] = address + (word >> 10 & 0xFFF)
                yield "used", held[target]
            continue
        if address is None or word & 0x3F000000 != 0x39000000:  # a load or store
            continue
        scale = word >> 30
        at = address + ((word >> 10 & 0xFFF) << scale)
        yield "used", at
        if word & 0xFFC00000 == 0xB9800000:  # LDRSW
            yield "word", at
        elif word & 0xFFC00000 == 0x39000000:  # STRB
            yield "flag", at
        if word >> 22 & 3:  # a load replaces what the register held
            held.pop(target, None)


_CHOOSES = "runtime.GOMAXPROCS"
_RESIZES = "runtime.procresize"
_STOPS = "runtime.stopTheWorldWithSema"
_STARTS = "runtime.schedinit"


def gomaxprocs_address(elf: Elf) -> int | None:
    """Address of runtime.gomaxprocs as linked; None if the code does not say.

    Raises:
        ElfError: there is more to read than any program has.
    """
    resizes, stops, chooses = _uses(elf, _RESIZES), _uses(elf, _STOPS), _uses(elf, _CHOOSES)
    if resizes is None or stops is None:
        return None
    found = resizes.stored & stops.used
    return _only(found if chooses is None else found & chooses.words, 4)


def custom_address(elf: Elf) -> int | None:
    """Address of the field customGOMAXPROCS as linked; None if the code does not say.

    Raises:
        ElfError: there is more to read than any program has.
    """
    chooses, starts = _uses(elf, _CHOOSES), _uses(elf, _STARTS)
    if chooses is None or starts is None:
        return None
    return _only(chooses.flags & starts.used, 1)


def _uses(elf: Elf, function: str) -> Variables | None:
    code = find_code(elf, function)
    return None if code is None else variables_of(code, elf.machine)


def _only(addresses: frozenset[int], step: int) -> int | None:
    if len(addresses) != 1:
        return None
    (address,) = addresses
    return address if address % step == 0 else None


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
