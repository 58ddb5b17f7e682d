"""Addresses of the Go runtime's variables, for programs without symbols too.

`runtime.procresize` is the only function that stores runtime.gomaxprocs, atomically.
`runtime.stopTheWorldWithSema` reads it, and so does `runtime.GOMAXPROCS`, as its only sign-extended
32-bit load. The linker drops the latter if the program does not call it. It also sets
customGOMAXPROCS of runtime.sched, its only byte store (Go 1.25 and newer); `runtime.schedinit` sets
that too. An address counts only if all functions agree on it.

There is no disassembler: on x86-64 instructions are found by their bytes at any offset, so a second
function must confirm each address. Sources: Intel SDM volume 2 (MOVSXD, MOV, LEA, XCHG;
RIP-relative addresses), Arm ARM C6 (ADRP, ADD, LDRSW, LDR, STR, STRB, STLR).
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from tidscope_collector.goruntime.elf import Elf
from tidscope_collector.goruntime.functions import Code, find_code

X86_64, AARCH64 = 62, 183
"""Processors by e_machine (elf(5))."""
_NEAR = 16
_CHOOSES = "runtime.GOMAXPROCS"
_RESIZES = "runtime.procresize"
_STOPS = "runtime.stopTheWorldWithSema"
_STARTS = "runtime.schedinit"
SCHED = "runtime.sched"
FIELD = b"customGOMAXPROCS"
_LARGEST_PLACE = 1 << 16


class Variables(NamedTuple):
    """Addresses that a function uses.

    Attributes:
        words: 32-bit loads with sign extension.
        stored: 32-bit atomic stores.
        flags: bytes set to a constant, or stored (arm64).
        used: all addresses.
    """

    words: frozenset[int]
    stored: frozenset[int]
    flags: frozenset[int]
    used: frozenset[int]


def variables_of(function: Code, machine: int) -> Variables:
    """Return the addresses that a function's code uses; none on other processors."""
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
        # ModRM byte: a 32-bit displacement from the next instruction follows.
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
    """Return True if XCHG, Go's atomic store, soon stores through the register."""
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
        if word >> 22 & 3:  # a load overwrites the register
            held.pop(target, None)


def gomaxprocs_address(elf: Elf) -> int | None:
    """Return the linked address of runtime.gomaxprocs, or None if the code is ambiguous.

    Raises:
        ElfError: the file exceeds the read bound.
    """
    resizes, stops, chooses = _uses(elf, _RESIZES), _uses(elf, _STOPS), _uses(elf, _CHOOSES)
    if resizes is None or stops is None:
        return None
    found = resizes.stored & stops.used
    return _only(found if chooses is None else found & chooses.words, 4)


def custom_address(elf: Elf) -> int | None:
    """Return the linked address of the field customGOMAXPROCS, or None if the code is ambiguous.

    Raises:
        ElfError: the file exceeds the read bound.
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


def chosen_address(elf: Elf) -> int | None:
    """Return the linked address of customGOMAXPROCS in runtime.sched, or None if unknown.

    Since Go 1.25 the runtime follows affinity changes, unless GOMAXPROCS came from the environment
    or a call of runtime.GOMAXPROCS. The field records that (runtime/runtime2.go). Its offset
    differs between versions; debug information or, without it, the code gives it.

    Slow for a large program, because it scans all debug information.

    Raises:
        ElfError: the debug information is damaged or too large.
    """
    sched = elf.variable(SCHED)
    place = None if sched is None else field_place(elf)
    if sched is None or place is None:
        return custom_address(elf)
    return sched.address + place if place < sched.size else None


def field_place(elf: Elf) -> int | None:
    """Return the offset of the field in runtime.sched, in bytes; None if unknown.

    Go's linker writes a field's name into its entry, followed by its offset as a ULEB128
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
        # The number behind the name must be complete; otherwise the next piece has it.
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
