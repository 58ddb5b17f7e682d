"""From what is known of an address that threads wait at to what they wait for. Pure."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tidscope_collector.inspection.lock_layouts import (
    Kind,
    Surroundings,
    condition_begin,
    gil_begin,
    is_mutex_or_condition,
    is_semaphore,
    kind_by_size,
    kind_of,
)

Place = Literal["file", "heap", "stack", "gone"]

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
    """What is known of a program.

    Attributes:
        go: the Go linker wrote it.
        jvm: it has loaded a Java virtual machine.
        python: it is CPython or has loaded it.
        tids: of its threads.
    """

    go: bool = False
    jvm: bool = False
    python: bool = False
    tids: Collection[int] = frozenset()


class Variable(NamedTuple):
    """A place in a loaded file.

    Attributes:
        name: of the variable there; empty if no symbol tells.
        place: within the variable, or within the file as linked if it has no name.
        size: of the variable.
        file: path of the file.
        executable: whether that is the program itself.
    """

    name: str
    place: int
    size: int
    file: str
    executable: bool


class Found(NamedTuple):
    """What threads wait for at an address.

    Attributes:
        kind: of lock.
        name: empty if it has none but its place.
        base: where it begins; the same for all addresses of one lock.
        place: where it lies.
        file: path of the file whose variable it is, or that is mapped there.
    """

    kind: Kind
    name: str
    base: int
    place: Place
    file: str


def classify(
    program: Program,
    address: int,
    place: Place,
    near: Surroundings,
    variable: Variable | None = None,
    *,
    go_heap: bool = False,
) -> Found:
    """Tell what threads wait for.

    Args:
        program: which one.
        address: where they wait.
        place: where that lies.
        near: bytes around it.
        variable: what lies there in a file; None outside of files' variables.
        go_heap: whether it is memory that Go's runtime has asked the kernel for.
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
        kind, begin = "lock", 0  # It would begin before the variable that the address is in.
    return Found(kind, _named(variable, begin), address + begin, place, file)


def classify_thread_local(
    program: Program, address: int, near: Surroundings, variable: Variable
) -> Found:
    """Tell what threads wait for in memory that one thread has for itself.

    The crate parking_lot parks each thread at a word of its own, whatever lock it waits for.

    Args:
        program: which one.
        address: where they wait.
        near: bytes around it.
        variable: what lies there; its name is empty if no symbol tells.
    """
    if _OF_PARKING_LOT in variable.name:
        return Found("park", PARKING_LOT, address, "stack", variable.file)
    if not variable.name and not is_mutex_or_condition(near, program.tids):
        return Found("park", THREAD_PARK, address, "stack", variable.file)
    begin = condition_begin(near) or 0
    name = _named(variable, begin) if variable.name else ""
    return Found(kind_of(near, program.tids), name, address + begin, "stack", variable.file)


def _of_go(near: Surroundings, variable: Variable | None, go_heap: bool) -> tuple[Kind, str] | None:
    """What Go's runtime waits for; None for what belongs to other code, by cgo, say.

    Programs in Go wait at a futex nowhere else: their own locks park goroutines.
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
