"""Natures of thread states: whether a thread works, waits for something, or has nothing to do.

The page has the same: frontend/src/stream/states.ts. Totals do not tell threads at a lock from
threads parked at a condition, so the time of both is unknown.
"""

from tidscope_wire.states import STATE_FIELDS

NATURES = ("running", "runnable", "blocked", "idle", "unknown")
"""In the order of a bar."""
_OF_STATES = {
    "running": ("on_cpu",),
    "runnable": ("preempted", "woken", "throttled"),
    "idle": ("poll", "sleep", "socket_accept", "child"),
    "unknown": ("futex",),
}
_NAMED = {f"state_{state}_ns" for states in _OF_STATES.values() for state in states}
FIELDS: dict[str, tuple[str, ...]] = {
    **{
        nature: tuple(f"state_{state}_ns" for state in states)
        for nature, states in _OF_STATES.items()
    },
    "blocked": tuple(field for field in STATE_FIELDS if field not in _NAMED),
}
"""State fields by nature; each state has exactly one."""
WITHOUT_LEDGER: dict[str, tuple[str, ...]] = {
    "running": ("cpu_run_ns",),
    "runnable": ("cpu_delay_ns",),
    "blocked": ("blkio_delay_ns", "swapin_delay_ns", "reclaim_delay_ns", "thrashing_delay_ns"),
}
"""Fields that stand for a nature where there are no times in states."""
