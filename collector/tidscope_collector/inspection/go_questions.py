"""Questions to limited children about Go programs: GOMAXPROCS, runtime threads, served handlers.

The Go runtime starts some threads with a function that never returns (newm in runtime/proc.go). In
every version an address within that function is on the thread's stack, a few frames from its end.
Only threads that wait in a system call are examined, because the kernel reports their stack pointer
(proc_pid_syscall(5)).
"""

import errno
import os
import signal
import struct
from typing import NamedTuple

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.goruntime.elf import (
    BuildInfo,
    Elf,
    ElfError,
    Symbol,
    is_go,
    read_build_info,
    read_elf,
)
from tidscope_collector.goruntime.runtime_variables import chosen_address, gomaxprocs_address
from tidscope_collector.inspection.answering import (
    MEMORY_BYTES,
    PROCESSES_S,
    PROGRAM_S,
    Arguments,
    open_named_folder,
    say,
)
from tidscope_collector.inspection.process_files import (
    open_file,
    read_beginning,
    read_variables,
    thread_ids,
)

_PROFILE = b"net/http/pprof.Index\0"
_METRICS = b"runtime/metrics.Read\0"

SYMBOL = "runtime.gomaxprocs"
WORD = struct.Struct("<i")
UNREADABLE = b"\0\0\0\0"
"""Answer for an unreadable GOMAXPROCS, which itself is never 0."""
MAX_PROCESSORS = 1 << 20
"""Maximum plausible GOMAXPROCS; larger values are withheld."""
GO_VARIABLES = ("GOMAXPROCS", "GODEBUG")
"""Environment variables that may be answered."""

_LONGEST_SETTING = 4096
_MAX_SETTINGS = 64
_AUXV_BYTES = 4096
_DAMAGED = "The executable of process {} cannot be read: {}."


class Execution(NamedTuple):
    """Descriptors of one execution of a process; -1 if refused.

    Attributes:
        file: executable.
        auxv: auxiliary vector.
        memory: memory of the process.
        auxv_later: auxiliary vector, opened again after the memory.
    """

    file: int
    auxv: int
    memory: int
    auxv_later: int


def open_execution(folder: int) -> Execution:
    """Open the files that locate a variable, and the memory that holds it.

    All must belong to one execution. Otherwise a process that executes a privileged program
    meanwhile could have an address of its choice read there.

    Raises:
        OSError: the executable is inaccessible, or has changed.
    """
    file = os.open("exe", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
    auxv, memory, auxv_later = (open_file(folder, name) for name in ("auxv", "mem", "auxv"))
    if not os.path.samestat(os.fstat(file), os.stat("exe", dir_fd=folder)):
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
    return Execution(file, auxv, memory, auxv_later)


def gomaxprocs(arguments: Arguments, answer: int) -> None:
    """Answer facts about a Go program, then its GOMAXPROCS at each request.

    The child locates the variable itself, from the executable and the auxiliary vector. No address
    is accepted or answered.

    Arguments: pid, start_ticks. Answers: {"unreadable": errno}, {"damaged": reason}, or {"go",
    "version", "settings", "symbols", "size", "memory"}: size of the variable in bytes, null if not
    found; memory 0, or the errno of reading it. If memory is 0, each byte received is answered by
    WORD. The answer is UNREADABLE if the program has ended, executed another one, or has an
    implausible value.
    """
    limit_resources(Limits(MEMORY_BYTES, None, PROGRAM_S))
    found = False

    def late(*_: object) -> None:
        if not found:
            os._exit(1)

    # The deadline applies only to locating the variable; later readings have none.
    signal.signal(signal.SIGALRM, late)
    try:
        opened = open_execution(open_named_folder(arguments))
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    confine()
    vector = read_beginning(opened.auxv, _AUXV_BYTES)
    try:
        elf = read_elf(opened.file)
        go = is_go(elf)
        info = (read_build_info(elf) if go else None) or BuildInfo(None, {})
        symbol = _gomaxprocs(elf) if go else None
    except ElfError as error:
        say(answer, {"damaged": _DAMAGED.format(arguments["pid"], error)})
        return
    address = None if symbol is None else relocate(elf, symbol.address, vector)
    memory = 0 if address is not None and opened.memory >= 0 else errno.EACCES
    if read_beginning(opened.auxv_later, _AUXV_BYTES) != vector:
        memory = errno.ESRCH
    size = None if symbol is None else min(symbol.size, HIGHEST_ADDRESS)
    found = True
    say(
        answer,
        {
            "go": go,
            "version": info.version and info.version[:128],
            "settings": {
                key[:128]: value[:_LONGEST_SETTING]
                for key, value in list(info.settings.items())[:_MAX_SETTINGS]
            },
            "symbols": elf.section(".symtab") is not None,
            "size": size,
            "memory": memory,
        },
    )
    if address is not None and memory == 0 and size == WORD.size:
        while os.read(answer, 1):
            os.write(answer, _read_number(opened.memory, address))


def _read_number(memory: int, address: int) -> bytes:
    """Return GOMAXPROCS as WORD, or UNREADABLE."""
    try:
        word = os.pread(memory, WORD.size, address)
    except OSError:
        return UNREADABLE
    plausible = len(word) == WORD.size and 1 <= WORD.unpack(word)[0] <= MAX_PROCESSORS
    return word if plausible else UNREADABLE


def _gomaxprocs(elf: Elf) -> Symbol | None:
    """Return the variable, from the symbol table or from code that uses it; None if unknown."""
    symbol = elf.variable(SYMBOL)
    if symbol is not None:
        return symbol
    address = gomaxprocs_address(elf)
    return None if address is None else Symbol(address, WORD.size)


def go_chosen(arguments: Arguments, answer: int) -> None:
    """Answer whether a Go program or its environment chose GOMAXPROCS.

    Arguments: pid, start_ticks. Answers: {"unreadable": errno}, or {"chosen": true, false, or null
    if unknown}.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROGRAM_S))
    try:
        opened = open_execution(open_named_folder(arguments))
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    confine()
    chosen = None
    vector = read_beginning(opened.auxv, _AUXV_BYTES)
    try:
        elf = read_elf(opened.file)
        linked = chosen_address(elf)
        address = None if linked is None else relocate(elf, linked, vector)
        same = read_beginning(opened.auxv_later, _AUXV_BYTES) == vector
        if address is not None and same:
            chosen = {b"\0": False, b"\1": True}.get(os.pread(opened.memory, 1, address))
    except (ElfError, OSError):
        pass
    say(answer, {"chosen": chosen})


def go_environment(arguments: Arguments, answer: int) -> None:
    """Answer GO_VARIABLES of the environment that a process was started with.

    Arguments: pid, start_ticks. Answers: {"unreadable": errno} or {"variables": {name: value}}; the
    first of duplicate names wins.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    try:
        folder = open_named_folder(arguments)
        file = os.open("environ", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    confine()
    say(answer, {"variables": read_variables(file, GO_VARIABLES)})


HIGHEST_ADDRESS = 1 << 62
_AT_ENTRY = 9  # include/uapi/linux/auxvec.h


def entry_address(auxv: bytes, bits: int) -> int | None:
    """Return the address of the entry point (getauxval(3), AT_ENTRY) from /proc/PID/auxv, or None.

    Subtracting the file's entry point gives the load base of a position-independent program.
    """
    pair = struct.Struct("<QQ" if bits == 64 else "<II")
    whole = auxv[: len(auxv) - len(auxv) % pair.size]
    return next((value for key, value in pair.iter_unpack(whole) if key == _AT_ENTRY), None)


def relocate(elf: Elf, address: int, auxv: bytes) -> int | None:
    """Return the address in memory of a linked address, or None if it is not loaded."""
    entry = entry_address(auxv, elf.bits)
    found = None if entry is None else address + entry - elf.entry
    return found if found is not None and 0 <= found < HIGHEST_ADDRESS else None


STARTED_BY = {"runtime.sysmon": "sysmon", "runtime.templateThread": "template thread"}
"""Names of threads by the function that they run."""

_STACK_BYTES = 1024
_SYSCALL_BYTES = 256


def go_threads(arguments: Arguments, answer: int) -> None:
    """Answer the Go runtime's own threads, as far as they wait at this instant.

    Arguments: pid, start_ticks. Answers: {"damaged": reason}, or {"tid", "name"} for each one, and
    {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROGRAM_S))
    folder = open_named_folder(arguments)
    file, auxv, memory = (open_file(folder, name) for name in ("exe", "auxv", "mem"))
    # Kernel data that requires rights, so it is read before they are given up.
    stacks = {tid: _stack(folder, tid) for tid in thread_ids(folder)}
    confine()
    try:
        elf = read_elf(file)
        vector = read_beginning(auxv, _AUXV_BYTES)
        ranges = []
        for function, name in STARTED_BY.items():
            symbol = elf.function(function)
            begin = None if symbol is None else relocate(elf, symbol.address, vector)
            if symbol is not None and begin is not None:
                ranges.append((begin, begin + symbol.size, name))
    except ElfError as error:
        say(answer, {"damaged": str(error)})
        return
    if not ranges or elf.bits != 64:
        say(answer, {"damaged": "it has no symbols (-ldflags=-s)"})
        return
    for tid, stack in stacks.items():
        for (word,) in struct.iter_unpack("<Q", _words(memory, stack)):
            known = next((name for begin, end, name in ranges if begin < word <= end), None)
            if known is not None:
                say(answer, {"tid": tid, "name": known})
                break
    say(answer, {})


def _stack(folder: int, tid: int) -> int:
    """Return the stack pointer of a thread that waits in a system call, or 0."""
    file = open_file(folder, f"task/{tid}/syscall")
    words = read_beginning(file, _SYSCALL_BYTES).split()
    if file >= 0:
        os.close(file)
    return int(words[-2], 16) if len(words) >= 3 else 0


def _words(memory: int, stack: int) -> bytes:
    try:
        data = os.pread(memory, _STACK_BYTES, stack) if stack and memory >= 0 else b""
    except OSError:
        data = b""
    return data[: len(data) - len(data) % 8]


def go_serving(arguments: Arguments, answer: int) -> None:
    """Answer which handlers a Go program could serve, judged by its function list.

    Arguments: pid, start_ticks. Answers: {"profile", "metrics"}: whether it has the handlers of
    net/http/pprof, and whether it reads runtime/metrics.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROGRAM_S))
    folder = open_named_folder(arguments)
    file = open_file(folder, "exe")
    confine()
    found: set[bytes] = set()
    try:
        elf = read_elf(file)
        functions = elf.section(".gopclntab") or elf.section(".data.rel.ro.gopclntab")
        before = b""
        for piece in elf.pieces(functions) if functions else ():
            joined = before + piece
            found |= {name for name in (_PROFILE, _METRICS) if name in joined}
            before = joined[-len(_PROFILE) :]
    except (ElfError, OSError):
        pass
    say(answer, {"profile": _PROFILE in found, "metrics": _METRICS in found})
