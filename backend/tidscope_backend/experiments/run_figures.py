"""Figures of a recorded run by name, and its waits for locks."""

from collections.abc import Mapping
from pathlib import Path

from tidscope_backend.comparison.figures import (
    figures_of_pool,
    figures_of_process,
    totals_by_role,
    whole,
)
from tidscope_backend.comparison.from_folders import tables_of
from tidscope_backend.comparison.sides import Side
from tidscope_backend.experiments.variants import LOCK, POOL
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.run_locks import run_locks

NO_LOCKS = ("park", "call")
"""Kinds of waits in the table of locks that are for no lock."""


def figure_of_run(folder: Path, name: str) -> float | None:
    """Return a figure of a run over its whole length; None if the run does not know it.

    Args:
        folder: folder of the run.
        name: figure of a comparison of totals, `pool:NAME:FIGURE`, or `lock:NAME` for the time
            that all threads waited for a lock, in seconds.

    Raises:
        OSError: the run cannot be read.
        ValueError: the run is damaged.
    """
    if name.startswith(LOCK):
        waits = lock_waits_s(folder)
        return None if waits is None else wait_of_s(waits, name[len(LOCK) :])
    run = tables_of(Side(folder))
    if name.startswith(POOL):
        pool = name[len(POOL) :].rpartition(":")[0]
        found = figures_of_pool(pool, run.pools.get(pool), run.duration_ns, "totals")
    else:
        found = figures_of_process(run, whole(totals_by_role(run.threads)), "totals")
    return found[name].value if name in found else None


def wait_of_s(waits: Mapping[str, float], lock: str) -> float:
    """Return the wait for a lock; 0 if nothing waited for it.

    Args:
        waits: as of `lock_waits_s`.
        lock: name, with or without the process: `mu in app` or `mu`.
    """
    return sum(s for name, s in waits.items() if name == lock or name.startswith(f"{lock} in "))


def lock_waits_s(folder: Path) -> dict[str, float] | None:
    """Return the time that all threads of a run waited for each lock, by the lock's name.

    None if the run has no ledger of states. Locks without a name are summed as "".

    Raises:
        OSError: the run cannot be read.
        ValueError: the run is damaged.
    """
    reader = RunReader(folder)
    if not reader.manifest.target.source.ledger:
        return None
    waits: dict[str, float] = {}
    for lock in run_locks(reader):
        if lock.kind not in NO_LOCKS:
            waits[lock.name] = waits.get(lock.name, 0.0) + lock.wait_ns / 1e9
    return waits
