"""The states of a thread, as the eBPF program numbers them, and which system calls mean which.

`enum state` of ledgers.bpf.h is repeated here; a test compares them. Sources: the kernel's
syscall_64.tbl (x86-64) and include/uapi/asm-generic/unistd.h (arm64).
"""

from enum import IntEnum


class State(IntEnum):
    """State of a thread; a thread is in one state at a time."""

    ENDED = 0
    ON_CPU = 1
    PREEMPTED = 2
    WOKEN = 3
    FUTEX = 4
    POLL = 5
    SLEEP = 6
    SOCKET_RECEIVE = 7
    SOCKET_SEND = 8
    SOCKET_ACCEPT = 9
    SOCKET_CONNECT = 10
    PIPE = 11
    FILE_READ = 12
    FILE_READ_DISK = 13
    FILE_WRITE = 14
    FILE_WRITE_DISK = 15
    FILE_SYNC = 16
    FILE_SYNC_DISK = 17
    PAGE_FAULT = 18
    PAGE_FAULT_DISK = 19
    CHILD = 20
    IO_URING = 21
    STOPPED = 22
    OTHER_CALL = 23
    OTHER = 24
    THROTTLED = 25


READS, WRITES, SYNCS = 64, 65, 66
"""Kinds of calls whose state depends on the file of their first argument."""
RESTARTS = 67
"""Kind of the call that continues one which a signal interrupted."""
SPLICES = 68
"""Kind of a call that waits for a pipe or for another file, by the fill of the pipe."""
FUTEXES = 69
"""Kind of a call that waits for any of several futexes; the call names the wait."""

# fmt: off
_CALLS: dict[str, dict[int, tuple[int, ...]]] = {
    "x86_64": {
        State.FUTEX: (202, 455),
        State.POLL: (7, 23, 34, 128, 130, 232, 270, 271, 281, 441),
        State.SLEEP: (35, 230),
        State.SOCKET_RECEIVE: (45, 47, 299),
        State.SOCKET_SEND: (44, 46, 307),
        State.SOCKET_ACCEPT: (43, 288),
        State.SOCKET_CONNECT: (42,),
        State.CHILD: (56, 57, 58, 61, 247, 435),
        State.IO_URING: (426,),
        READS: (0, 17, 19, 78, 89, 217, 276, 295, 326, 327),
        WRITES: (1, 18, 20, 40, 278, 285, 296, 328),
        SYNCS: (26, 74, 75, 162, 277, 306),
        RESTARTS: (219,),
        SPLICES: (275,),
        FUTEXES: (449,),
    },
    "aarch64": {
        State.FUTEX: (98, 455),
        State.POLL: (22, 72, 73, 133, 137, 441),
        State.SLEEP: (101, 115),
        State.SOCKET_RECEIVE: (207, 212, 243),
        State.SOCKET_SEND: (206, 211, 269),
        State.SOCKET_ACCEPT: (202, 242),
        State.SOCKET_CONNECT: (203,),
        State.CHILD: (95, 220, 260, 435),
        State.IO_URING: (426,),
        READS: (61, 63, 65, 67, 69, 77, 285, 286),
        WRITES: (47, 64, 66, 68, 70, 71, 75, 287),
        SYNCS: (81, 82, 83, 84, 227, 267),
        RESTARTS: (128,),
        SPLICES: (76,),
        FUTEXES: (449,),
    },
}
# fmt: on


def kinds_of_calls(machine: str) -> dict[int, int]:
    """Return the kind of wait of each system call.

    Args:
        machine: as uname(2) names it.

    Returns:
        Number of a call to a State, or to one of READS to FUTEXES. Others are State.OTHER_CALL.
        Empty for a machine whose calls are not known here.
    """
    found = _CALLS.get(machine, {})
    return {number: int(kind) for kind, numbers in found.items() for number in numbers}
