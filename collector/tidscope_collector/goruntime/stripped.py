"""Variables of Go's runtime in programs without symbols, from the code of functions that use them.

`runtime.procresize` is the only one that sets runtime.gomaxprocs, atomically;
`runtime.stopTheWorldWithSema` reads it, and so does `runtime.GOMAXPROCS`, the only 32-bit variable
that it loads with its sign. The linker leaves the latter out of programs that do not call it. It
also sets customGOMAXPROCS of runtime.sched, the only byte that it sets (Go 1.25 and newer), which
`runtime.schedinit` sets too. What not all of them agree on is not believed.
"""

from tidscope_collector.goruntime.elf import Elf
from tidscope_collector.goruntime.functions import find_code
from tidscope_collector.goruntime.instructions import Variables, variables_of

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
