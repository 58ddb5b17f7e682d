"""CPU time of a process as a whole, read from outside."""

import time

_SCHED_CLOCK = 2
"""CPUCLOCK_SCHED of include/linux/posix-timers_types.h: what the scheduler counts, not ticks."""


def process_cpu_ns(pid: int) -> int | None:
    """CPU time that a process has used since its start, nanoseconds, ended threads included.

    It is the sum of the counters that taskstats gives as cpu_run_virtual_total, taken by the kernel
    itself (kernel/time/posix-cpu-timers.c, thread_group_cputime), so what threads add up to can be
    compared with it.

    Args:
        pid: of the process.

    Returns:
        None if there is no such process any more.
    """
    try:
        # The clock id that clock_getcpuclockid(3) makes of a process id.
        return time.clock_gettime_ns(~pid << 3 | _SCHED_CLOCK)
    except OSError:
        return None
