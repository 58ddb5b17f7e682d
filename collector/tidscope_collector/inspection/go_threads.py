"""Which threads of a Go program are the runtime's own: a question to limited children.

The runtime starts some threads with one of its functions, which never returns (newm in
runtime/proc.go). So an address within that function stands on such a thread's stack, a few frames
from its end, in every version. Looked at are threads that wait in a system call: the kernel says
where their stack is (proc_pid_syscall(5)).
"""

import os
import struct

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.child import confine
from tidscope_collector.goruntime.elf import ElfError, read_elf
from tidscope_collector.inspection.answering import (
    MEMORY_BYTES,
    PROGRAM_S,
    Arguments,
    open_named_folder,
    say,
)
from tidscope_collector.inspection.loaded import relocate
from tidscope_collector.inspection.process_files import open_file, read_beginning, thread_ids

STARTED_BY = {"runtime.sysmon": "sysmon", "runtime.templateThread": "template thread"}
"""Functions, and what a thread that runs one is called."""

_STACK_BYTES = 1024
_AUXV_BYTES = 4096
_SYSCALL_BYTES = 256


def go_threads(arguments: Arguments, answer: int) -> None:
    """Threads that the Go runtime keeps for itself, of those that wait at this instant.

    Arguments: pid, start_ticks.
    Answers: {"damaged": reason}, or {"tid", "name"} for each of them, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROGRAM_S))
    folder = open_named_folder(arguments)
    file, auxv, memory = (open_file(folder, name) for name in ("exe", "auxv", "mem"))
    # What the kernel itself says, and says to a process with rights only.
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
    """The stack pointer of a thread that waits in a system call; 0 of others."""
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
