"""Events of a target that the native sampler reports between two calls of `take_notices`."""

from typing import TypedDict

Execution = tuple[int, int, str, int, int, int, int]
"""Process, real user, name, CLOCK_MONOTONIC of the execution, start on CLOCK_MONOTONIC and on
CLOCK_BOOTTIME in nanoseconds, bits of the groups it belongs to."""


class Notice(TypedDict):
    """Events of one target since the last call of `take_notices`.

    Attributes:
        named: processes in which threads began or have other names.
        program: True if the process runs another program, or its main thread has another name.
        gomaxprocs: GOMAXPROCS of the process if it has changed, otherwise None.
        executions: executions of members; of a matching group those of all processes.
        executions_missed: executions that were not kept.
        events_lost: events of processes that the kernel had no room for.
        sampled: True if a sample was taken after `tell_sample`.
        empty: True if no process is left, but some may come.
        ending: True if the target has ended; its last frame waits for tables.
        over: exit status of the process as wait(2) gives it or None, and number of the last frame;
            None while it is sampled.
    """

    named: list[int]
    program: bool
    gomaxprocs: int | None
    executions: list[Execution]
    executions_missed: int
    events_lost: int
    sampled: bool
    empty: bool
    ending: bool
    over: tuple[int | None, int] | None
