"""Kind of the lock at a futex address, from surrounding bytes and symbols. Pure.

Layouts: the GNU C library on 64-bit machines (sysdeps/nptl/bits/struct_mutex.h and
thread-shared-types.h) and CPython (Include/internal/pycore_gil.h, 3.11 to 3.14). Bytes are read
while the program runs, so each rule also accepts the states between two of its steps.
"""

import struct
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["lock", "mutex", "condition", "gil", "park", "join", "monitor", "call", "unknown"]

BEFORE, AFTER = 192, 128
"""Bytes read before and after an address."""

MUTEX_BYTES, CONDITION_BYTES = 40, 48
_RWLOCK_BYTES, _RWLOCK_PLACES = 56, (8, 12)
"""Size of pthread_rwlock_t in bytes, and the offsets at which readers and writers wait."""
_OLD_PLACES = (40, 44, 16, 20, 32, 36)
"""Futex offsets in pthread_cond_t up to glibc 2.40: __g_signals, where threads wait for a signal;
__g_refs, where a signaller waits for them to leave; __g1_orig_size, a lock; __wrefs."""
_NEW_PLACES = (32, 36, 24, 28)
"""Futex offsets in pthread_cond_t since glibc 2.41, which has no __g_refs."""
_MAX_WAITERS = 1 << 22
_COUNTER_LIMIT = 1 << 40
_ADDRESS_LIMIT = 1 << 48
_KINDS_OF_MUTEX = 0x3FF

_COND_BEGIN = struct.Struct("<QQ")
_OLD_REST = struct.Struct("<IIiiII")  # g_refs[2], g_size[2], g1_orig_size, wrefs
_NEW_REST = struct.Struct("<iiII")  # g_size[2], g1_orig_size, wrefs
_MUTEX = struct.Struct("<iIiIi")  # lock, count, owner, nusers, kind
_GIL = struct.Struct("<QQixxxxQ")  # interval, last_holder, locked, switch_number
_LONGEST_INTERVAL_US = 60_000_000
_WORD = struct.Struct("<I")
_CONTENDED = 2
_SEMAPHORE = struct.Struct("<III")  # value, waiters, private
_CHUNK = struct.Struct("<Q")
_PREVIOUS_IN_USE = 1
_CHUNK_FLAGS = 0b111
_CHUNK_SIZES = range(32, 1 << 20, 16)
"""Size of a piece of memory that malloc() gave, with its head; lowest bits of the head: flags."""


class Surroundings(NamedTuple):
    """Bytes around an address.

    Attributes:
        data: bytes read; empty if the memory is gone.
        place: offset of the address in `data`.
        address: address.
    """

    data: bytes
    place: int
    address: int

    def around(self, begin: int, size: int) -> bytes:
        """Return ``size`` bytes from ``begin``, relative to the address; empty if some are unknown.

        Args:
            begin: start, possibly negative.
            size: number of bytes.
        """
        first = self.place + begin
        piece = self.data[first : first + size] if first >= 0 else b""
        return piece if len(piece) == size else b""

    def word(self) -> int | None:
        """Return the 32-bit word at the address, or None if unknown."""
        data = self.around(0, _WORD.size)
        return int(_WORD.unpack(data)[0]) if data else None


def kind_by_size(size: int, place: int) -> Kind | None:
    """Return the kind of a variable by its size and the waiting offset; None if ambiguous."""
    if size == CONDITION_BYTES and place in _OLD_PLACES + _NEW_PLACES:
        return "condition"
    if (size == MUTEX_BYTES and place == 0) or (size == _RWLOCK_BYTES and place in _RWLOCK_PLACES):
        return "mutex"
    return None


def kind_of(near: Surroundings, tids: Collection[int]) -> Kind:
    """Return mutex or condition variable, or lock for anything else, such as a semaphore.

    Args:
        near: bytes around the address.
        tids: threads of the process.
    """
    if mutex_holder(near, tids):
        return "lock"
    return "condition" if condition_begin(near) is not None else "lock"


def is_mutex_or_condition(near: Surroundings, tids: Collection[int]) -> bool:
    """Return True for a held mutex or a condition variable."""
    return bool(mutex_holder(near, tids)) or condition_begin(near) is not None


def condition_begin(near: Surroundings) -> int | None:
    """Return the start of a condition variable whose waiters wait at the address.

    Returns:
        Negative offset from the address; None if it is no condition variable.
    """
    for place, old in _wait_places(near):
        if _is_condition(near.around(-place, CONDITION_BYTES), old=old):
            return -place
    return None


def is_semaphore(near: Surroundings) -> bool:
    """Return True if threads now wait for a POSIX semaphore (sem_t: no units, some waiters)."""
    data = near.around(0, _SEMAPHORE.size)
    if not data:
        return False
    value, waiters, private = _SEMAPHORE.unpack(data)
    return value == 0 and 0 < waiters < _MAX_WAITERS and private in (0, 128)


def gil_begin(near: Surroundings) -> int | None:
    """Return the start of CPython's global interpreter lock if threads wait for it at the address.

    The GIL has two pairs of condition variable and mutex, one for acquiring it and one for forced
    switches. The switch interval and the last holder precede them.

    Returns:
        Negative offset from the address; None if it is another lock.
    """
    pair = CONDITION_BYTES + MUTEX_BYTES
    places = {place for place, _ in _wait_places(near)}
    for place in (*sorted(places, reverse=True), CONDITION_BYTES):
        for first in (0, pair):
            if _is_gil_at(near, -place - first):
                return -place - first - _GIL.size
    return None


def _is_gil_at(near: Surroundings, condition: int) -> bool:
    """Return True if a GIL's first condition variable starts at this offset from the address."""
    head = near.around(condition - _GIL.size, _GIL.size)
    mutex = near.around(condition + CONDITION_BYTES, _MUTEX.size)
    if not head or not mutex:
        return False
    interval, holder, locked, switches = _GIL.unpack(head)
    lock, count, _, users, kind = _MUTEX.unpack(mutex)
    return (
        0 < interval <= _LONGEST_INTERVAL_US
        and 0 < holder < _ADDRESS_LIMIT
        and holder % 8 == 0
        and locked in (-1, 0, 1)
        and 0 < switches < _COUNTER_LIMIT
        and lock in (0, 1, 2)
        and (count, kind) == (0, 0)
        and users < _MAX_WAITERS  # includes users of its condition variable
        and any(
            _is_condition(near.around(condition, CONDITION_BYTES), old=old) for old in (True, False)
        )
    )


def mutex_holder(near: Surroundings, tids: Collection[int]) -> int:
    """Return the ID of the thread that holds the mutex at the address; 0 if it is no held mutex."""
    data = near.around(0, _MUTEX.size)
    if not data:
        return 0
    lock, _, owner, users, kind = _MUTEX.unpack(data)
    fits = owner in tids and users < _MAX_WAITERS and 0 <= kind <= _KINDS_OF_MUTEX
    return int(owner) if lock != 0 and fits else 0


def is_contended(near: Surroundings) -> bool:
    """Return True if the word is that of a held mutex with waiters: 0 free, 1 held, 2 contended.

    So do mutexes of the C library and of Rust's standard library (U. Drepper, "Futexes are
    tricky", 2011).
    """
    return near.word() == _CONTENDED and condition_begin(near) is None


def _wait_places(near: Surroundings) -> list[tuple[int, bool]]:
    """Return possible offsets in a condition variable, and True for glibc up to 2.40.

    A condition variable is aligned to eight bytes.
    """
    if _begins_allocation(near):
        return []
    places = [(place, True) for place in _OLD_PLACES] + [(place, False) for place in _NEW_PLACES]
    return [one for one in places if (near.address - one[0]) % 8 == 0]


def _begins_allocation(near: Surroundings) -> bool:
    """Return True if the head of a piece of memory of glibc's malloc() precedes the address.

    As part of a condition variable, the same number would be a lock held without a waiter, or the
    count of its waiters at a moment when one of them is still leaving.
    """
    data = near.around(-_CHUNK.size, _CHUNK.size)
    if not data or near.address % 16:
        return False
    (head,) = _CHUNK.unpack(data)
    return bool(head & _PREVIOUS_IN_USE) and head & ~_CHUNK_FLAGS in _CHUNK_SIZES


def _is_condition(data: bytes, *, old: bool) -> bool:
    """Return True if the bytes fit a condition variable that a thread has waited at."""
    if len(data) != CONDITION_BYTES:
        return False
    sequence, group_start = _COND_BEGIN.unpack_from(data)
    if old:
        refs = list(_OLD_REST.unpack_from(data, _COND_BEGIN.size))
        first_refs, second_refs = refs[:2]
        sizes, original, waiters = refs[2:4], refs[4], refs[5]
    else:
        first_refs = second_refs = 0
        *sizes, original, waiters = _NEW_REST.unpack_from(data, _COND_BEGIN.size)
        if any(data[40:]):
            return False  # no longer used, and set to zero
    counts = (first_refs >> 1, second_refs >> 1, original >> 2, waiters >> 3)
    return (
        1 < sequence < _COUNTER_LIMIT
        and group_start >> 1 <= sequence >> 1
        and all(count < _MAX_WAITERS for count in counts)
        and all(abs(size) < _MAX_WAITERS for size in sizes)
        and bool(group_start >> 1 or waiters >> 3 or first_refs or second_refs)
    )


Place = Literal["file", "shared memory", "heap", "stack", "gone"]

GO_IDLE = "idle in Go's scheduler"
GO_SIGNALS = "Go's wait for signals"
GO_LOCK = "lock of Go's runtime"
JVM_PARK = "JVM park"
JVM_LIBRARY = "/libjvm.so"
GIL = "GIL"
SUBINTERPRETER = "GIL of a subinterpreter"
JOIN = "pthread_join"
PARKING_LOT = "parking_lot park"
THREAD_PARK = "park in thread-local memory"

_SLEEPING_SEMAPHORE = 0xFFFFFFFF  # m.waitsema; a note, as m.park, is 0 or 1
_SLEEPING_MUTEX = 2  # a runtime.mutex before Go 1.24
_OF_PARKING_LOT = "parking_lot_core"


@dataclass(frozen=True, slots=True)
class Program:
    """Properties of a program.

    Attributes:
        go: True if the Go linker wrote it.
        jvm: True if it has loaded a Java virtual machine.
        python: True if it is CPython or has loaded it.
        tids: IDs of its threads.
    """

    go: bool = False
    jvm: bool = False
    python: bool = False
    tids: Collection[int] = frozenset()


class Variable(NamedTuple):
    """A place in a loaded file.

    Attributes:
        name: name of the variable; empty without a symbol.
        place: offset in the variable, or in the linked file without a name.
        size: size of the variable, in bytes.
        file: path of the file.
        executable: True for the program's own file.
    """

    name: str
    place: int
    size: int
    file: str
    executable: bool


class Found(NamedTuple):
    """The lock at an address.

    Attributes:
        kind: kind of lock.
        name: name; empty if only its place is known.
        base: start address, the same for all addresses of one lock.
        place: kind of memory.
        file: path of the file that defines the variable, or that is mapped there.
        shared: where it is in memory that processes share, the same in all of them: device, inode
            and offset; empty for other memory.
        holder: ID of the thread that holds it, if it is a mutex of the C library; else 0.
        held: True if somebody surely holds it.
    """

    kind: Kind
    name: str
    base: int
    place: Place
    file: str
    shared: str = ""
    holder: int = 0
    held: bool = False


def classify(
    program: Program,
    address: int,
    place: Place,
    near: Surroundings,
    variable: Variable | None = None,
    *,
    go_heap: bool = False,
) -> Found:
    """Identify the lock at an address.

    Args:
        program: properties of the program.
        address: address that threads wait at.
        place: kind of memory at the address.
        near: bytes around the address.
        variable: variable at the address, or None outside files' variables.
        go_heap: True if the Go runtime requested the memory from the kernel.
    """
    file = variable.file if variable else ""
    python = program.python or (variable is not None and variable.name == "_PyRuntime")
    gil = gil_begin(near) if python else None
    if gil is not None:
        name = GIL if variable is not None else SUBINTERPRETER
        return Found("gil", name, address + gil, place, file)
    if program.go:
        own = _of_go(near, variable, go_heap)
        if own is not None:
            return Found(*own, address, place, file)
    whole = kind_by_size(variable.size, variable.place) if variable else None
    kind = whole or kind_of(near, program.tids)
    begin = (condition_begin(near) or 0) if kind == "condition" else 0
    if variable is not None and whole is not None:
        begin = -variable.place
    of_jvm = program.jvm and (variable is None or file.endswith(JVM_LIBRARY))
    if of_jvm and (kind == "condition" or is_semaphore(near)):
        return Found("park", JVM_PARK, address, place, file)
    if variable is None:
        return Found(kind, "", address + begin, place, file)
    if variable.name and variable.place + begin < 0:
        kind, begin = "lock", 0  # the lock would begin before its variable
    return Found(kind, _named(variable, begin), address + begin, place, file)


def classify_thread_local(
    program: Program, address: int, near: Surroundings, variable: Variable
) -> Found:
    """Identify the lock at an address in thread-local memory.

    The crate parking_lot parks each thread at its own word, whatever lock it waits for.

    Args:
        program: properties of the program.
        address: address that threads wait at.
        near: bytes around the address.
        variable: variable at the address; its name is empty without a symbol.
    """
    if _OF_PARKING_LOT in variable.name:
        return Found("park", PARKING_LOT, address, "stack", variable.file)
    if not variable.name and not is_mutex_or_condition(near, program.tids):
        return Found("park", THREAD_PARK, address, "stack", variable.file)
    begin = condition_begin(near) or 0
    name = _named(variable, begin) if variable.name else ""
    return Found(kind_of(near, program.tids), name, address + begin, "stack", variable.file)


def _of_go(near: Surroundings, variable: Variable | None, go_heap: bool) -> tuple[Kind, str] | None:
    """Return the Go runtime's lock at an address, or None for other code, such as cgo.

    Go code itself never waits at a futex, because its locks park goroutines.
    """
    if variable is None:
        if not go_heap:
            return None
    elif variable.name == "runtime.sig":
        return "park", GO_SIGNALS
    elif not (variable.name.startswith("runtime.") if variable.name else variable.executable):
        return None
    if near.word() in (_SLEEPING_SEMAPHORE, _SLEEPING_MUTEX):
        return "lock", GO_LOCK
    return "park", GO_IDLE


def _named(variable: Variable, begin: int) -> str:
    if not variable.name:
        return f"{variable.file.rpartition('/')[2]}+{variable.place + begin:#x}"
    if variable.place + begin == 0:
        return variable.name
    return f"{variable.name}+{variable.place + begin:#x}"
