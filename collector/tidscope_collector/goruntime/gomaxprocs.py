"""GOMAXPROCS of a running Go program, read from its memory.

The runtime keeps it in the int32 variable runtime.gomaxprocs (runtime/runtime2.go). Reading four
bytes of memory neither stops nor slows the program.
"""

import os
import struct
from dataclasses import dataclass

from tidscope_collector.goruntime.buildinfo import BuildInfo, is_go, read_build_info
from tidscope_collector.goruntime.elf import Elf, ElfError, Symbol, read_elf
from tidscope_collector.procfs.files import ProcFs

SYMBOL = "runtime.gomaxprocs"
MOST = 1 << 20
_AT_ENTRY = 9  # include/uapi/linux/auxvec.h
_RIGHTS = "run the collector as root or with CAP_SYS_PTRACE"

# Where the variable is in executables that were looked at; the table of a big one takes a while.
_MOST_SYMBOLS = 64
_symbols: dict[tuple[int, int, int, int], Symbol | None] = {}


class _UnreadableError(Exception):
    """GOMAXPROCS cannot be read; the message says why and what would change that."""


class GomaxprocsReader:
    """Reads GOMAXPROCS of one process; costs one pread(2).

    The descriptor is of this process' memory: after an exec or the end of the process, and after
    its id went to another one, nothing is read from it any more.
    """

    def __init__(self, memory: int, address: int) -> None:
        self._memory = memory
        self._address = address

    def read(self) -> int | None:
        """The value in effect; None when the program is gone or says nonsense."""
        try:
            word = os.pread(self._memory, 4, self._address)
        except OSError:
            return None
        if len(word) != 4:
            return None
        (value,) = struct.unpack("<i", word)
        return int(value) if 1 <= value <= MOST else None

    def close(self) -> None:
        """Give the descriptor back; twice does no harm."""
        if self._memory >= 0:
            os.close(self._memory)
            self._memory = -1


@dataclass(frozen=True, slots=True)
class GoProgram:
    """What could be found out of a process with regard to Go.

    Attributes:
        reader: to be closed by the caller; None if GOMAXPROCS cannot be read.
        reason: why not, and what would change that; empty if there is a reader.
        version: of Go; None if it is not a Go program or does not say.
        settings: of the build.
    """

    reader: GomaxprocsReader | None
    reason: str
    version: str | None
    settings: dict[str, str]


def open_gomaxprocs(pid: int, procfs: ProcFs) -> GoProgram:
    """Look for GOMAXPROCS in a process.

    The executable is read through /proc/PID/exe, so that containers and replaced or deleted files
    do not matter. Reads the symbol table, up to some tens of milliseconds the first time, with the
    interpreter free for other threads.
    """
    try:
        file = os.open(procfs.path(f"{pid}/exe"), os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        return _without(f"The executable of process {pid} may not be read: {_RIGHTS}.")
    except OSError as error:
        return _without(f"Process {pid} has no executable to read: {error.strerror}.")
    try:
        return _look(pid, procfs, read_elf(file))
    except ElfError as error:
        return _without(f"The executable of process {pid} cannot be read: {error}.")
    finally:
        os.close(file)


def _look(pid: int, procfs: ProcFs, elf: Elf) -> GoProgram:
    if not is_go(elf):
        return _without("Not a Go program.")
    info = read_build_info(elf) or BuildInfo(None, {})
    try:
        reader = _open_reader(pid, procfs, elf)
    except _UnreadableError as reason:
        return GoProgram(None, str(reason), info.version, info.settings)
    return GoProgram(reader, "", info.version, info.settings)


def _open_reader(pid: int, procfs: ProcFs, elf: Elf) -> GomaxprocsReader:
    symbol = _symbol(elf)
    try:
        entry = entry_address(procfs.read(f"{pid}/auxv", 4096), elf.bits)
        memory = os.open(procfs.path(f"{pid}/mem"), os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError as error:
        raise _UnreadableError(
            f"The memory of process {pid} may not be read: {_RIGHTS}."
        ) from error
    except OSError as error:
        raise _UnreadableError(
            f"The memory of process {pid} cannot be read: {error.strerror}."
        ) from error
    reader = GomaxprocsReader(memory, symbol.address + (entry or elf.entry) - elf.entry)
    if entry is None or reader.read() is None:
        reader.close()
        raise _UnreadableError(f"There is no plausible value at {SYMBOL} of process {pid}.")
    return reader


def _symbol(elf: Elf) -> Symbol:
    status = os.fstat(elf.file)
    key = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
    if key not in _symbols:
        if len(_symbols) >= _MOST_SYMBOLS:
            _symbols.pop(next(iter(_symbols)))
        _symbols[key] = elf.variable(SYMBOL)
    symbol = _symbols[key]
    if elf.section(".symtab") is None:
        raise _UnreadableError(
            "The program has no symbols (linked with -s, or stripped): build it with symbols, or "
            "link the Go agent into it, which reports GOMAXPROCS."
        )
    if symbol is None or symbol.size != 4:
        raise _UnreadableError(f"The program's symbol table has no 4-byte variable {SYMBOL}.")
    return symbol


def entry_address(auxv: bytes, bits: int) -> int | None:
    """Where the kernel put the entry point (getauxval(3), AT_ENTRY), in /proc/PID/auxv.

    Minus the entry point in the file it is the load base of a position-independent program.
    """
    pair = struct.Struct("<QQ" if bits == 64 else "<II")
    whole = auxv[: len(auxv) - len(auxv) % pair.size]
    return next((value for key, value in pair.iter_unpack(whole) if key == _AT_ENTRY), None)


def _without(reason: str) -> GoProgram:
    return GoProgram(None, reason, None, {})
