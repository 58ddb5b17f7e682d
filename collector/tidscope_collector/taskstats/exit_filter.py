"""Lets the kernel leave out exit records of processes that nobody asked about.

The kernel sends the records of all threads of the machine. A classic BPF program on the socket
looks at the process of each and keeps only those that are wanted; whatever is not such a record, or
is of another form, comes through and is judged by who decodes it.
"""

import ctypes
import socket
import struct
from collections.abc import Collection

from tidscope_collector.taskstats.link import Kernel
from tidscope_collector.taskstats.messages import ATTR_HEADER, TYPE_STATS

MAX_PROCESSES = 256
"""Each costs whoever exits two steps of the program; with more of them all records come."""

_SO_ATTACH_FILTER, _SO_DETACH_FILTER = 26, 27
# Source: include/uapi/linux/{bpf_common,filter}.h
_LOAD_WORD, _LOAD_HALF, _LOAD_LENGTH = 0x20, 0x28, 0x80
_EQUAL, _AT_LEAST, _RETURN = 0x15, 0x35, 0x06
_ALL, _NONE = 0xFFFFFFFF, 0
_TYPE_AT = 4
_INSTRUCTION = struct.Struct("=HBBI")
_PROGRAM = struct.Struct("@HP")

Instruction = tuple[int, int, int, int]
"""What to do, how many to skip if so, and if not, and a number."""


def exit_filter(kernel: Kernel, processes: Collection[int]) -> bytes | None:
    """The program that keeps the records of some processes.

    Args:
        kernel: what the probe found.
        processes: their ids, in the initial PID namespace.

    Returns:
        Instructions; None if the kernel does not say of which process a thread is, or there are too
        many processes.
    """
    layout = kernel.layout
    if "ac_tgid" not in layout.offsets or len(processes) > MAX_PROCESSES:
        return None
    process_at = kernel.payload + layout.offsets["ac_tgid"]
    header = ATTR_HEADER.pack(ATTR_HEADER.size + layout.length, TYPE_STATS)
    keep: Instruction = (_RETURN, 0, 0, _ALL)
    steps: list[Instruction] = [
        *((_LOAD_LENGTH, 0, 0, 0), (_AT_LEAST, 1, 0, process_at + 4), keep),
        *((_LOAD_HALF, 0, 0, _TYPE_AT), (_EQUAL, 1, 0, _half(kernel.family)), keep),
        *((_LOAD_WORD, 0, 0, kernel.payload - len(header)), (_EQUAL, 1, 0, _word(header)), keep),
        *((_LOAD_HALF, 0, 0, kernel.payload), (_EQUAL, 1, 0, _half(layout.version)), keep),
        (_LOAD_WORD, 0, 0, process_at),
    ]
    for process in sorted(processes):
        steps += [(_EQUAL, 0, 1, _word(struct.pack("=I", process))), keep]
    steps.append((_RETURN, 0, 0, _NONE))
    return b"".join(_INSTRUCTION.pack(*step) for step in steps)


def attach_filter(link: socket.socket, program: bytes | None) -> None:
    """Let a socket receive only what a program keeps, from now on; None: everything.

    One program takes the place of another at once: nothing is lost meanwhile.

    Raises:
        OSError: the kernel refused.
    """
    if program is None:
        link.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
        return
    steps = ctypes.create_string_buffer(program, len(program))
    described = _PROGRAM.pack(len(program) // _INSTRUCTION.size, ctypes.addressof(steps))
    link.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, described)


def _half(number: int) -> int:
    """A number of this machine as the program loads it: in the order of networks."""
    return int.from_bytes(struct.pack("=H", number), "big")


def _word(data: bytes) -> int:
    return int.from_bytes(data, "big")
