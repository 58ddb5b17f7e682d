"""CPU time of threads that ended, where nothing but their exit records tells of it. Pure.

The kernel writes a record while the thread still runs. It counts time on a CPU at ticks and
switches, so of a thread that lived for a moment the record may have none. Its time in ticks, user
and system, is right on average instead.
"""

from collections.abc import Sequence
from dataclasses import replace

from tidscope_collector.sampling.readings import invalid_mask
from tidscope_collector.threads.reading import Reading

CPU = "cpu_run_ns"
_TICKS = ("user_cpu_us", "system_cpu_us")
_LEDGER = "state_on_cpu_ns"


def with_tick_time(reading: Reading, fields: Sequence[str]) -> Reading:
    """Give the larger of time on a CPU and time in ticks where a thread has no ledger.

    Args:
        reading: of exit records.
        fields: its columns.

    Returns:
        A reading whose values are marked as invalid where they are the time in ticks.
    """
    if CPU not in fields or not set(_TICKS) <= set(fields):
        return reading
    cpu, counters = fields.index(CPU), reading.counters
    ticks_ns = 1000 * counters[:, [fields.index(name) for name in _TICKS]].sum(axis=1)
    more = ticks_ns > counters[:, cpu]
    if _LEDGER in fields:
        ledger = fields.index(_LEDGER)
        more &= False if reading.absent is None else reading.absent[:, ledger]
    if not more.any():
        return reading
    counters, invalid = counters.copy(), invalid_mask(reading).copy()
    counters[more, cpu] = ticks_ns[more]
    invalid[more, cpu] = True
    return replace(reading, counters=counters, invalid=invalid)
