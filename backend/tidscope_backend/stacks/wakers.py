"""Stacks of threads that ended waits: where they did, and what they did meanwhile. Pure."""

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import Table

from tidscope_backend.stacks.estimate import Strata, Units, calibrated
from tidscope_backend.stacks.intervals import Floats
from tidscope_backend.stacks.selection import ON_CPU
from tidscope_backend.stacks.units import Account


def releasers(samples: Table, waits: Account) -> Account:
    """Return the same waits with the stacks of the threads that ended them."""
    node = samples["waker_node"][waits.row].astype(np.int64)
    return waits._replace(units=waits.units._replace(node=node))


def holders(samples: Table, waits: Account, everything: Account) -> Account:
    """Return what the threads that ended waits did while these lasted.

    A sample of such a thread stands for its time that overlaps the waits. Each wait stands for
    others like it, so a sample counts as often as waits overlap it.

    Args:
        samples: rows of `stack_samples`.
        waits: the waits, of one state or lock.
        everything: all samples of all threads.
    """
    time = calibrated(waits.units, waits.strata)
    length = waits.end_ns - waits.begin_ns
    waker = samples["waker_tid"][waits.row].astype(np.int64)
    known = (waker > 0) & (length > 0) & (time > 0)
    stands_for = np.divide(time, length, out=np.zeros_like(time), where=known)
    tid = samples["tid"][everything.row].astype(np.int64)
    value = np.zeros(len(tid))
    for one in np.unique(waker[known]).tolist():
        of, own = known & (waker == one), tid == one
        value[own] = _overlap(
            waits.begin_ns[of], waits.end_ns[of], stands_for[of], _part(everything, own), samples
        )
    value *= calibrated(everything.units, everything.strata)
    exact = min(float(time[known].sum()), float(value.sum()))
    units = Units(
        everything.units.node, value, everything.units.factor, np.zeros(len(value), np.int64)
    )
    spread = float((waits.units.factor * time**2)[known].sum())
    return Account(
        units,
        Strata(np.array([exact]), np.zeros(1, np.int64)),
        waits.exact_ns,
        everything.row,
        everything.begin_ns,
        everything.end_ns,
        float(time[known].sum()) ** 2 / spread if spread > 0 else np.inf,
    )


def _part(account: Account, chosen: npt.NDArray[np.bool_]) -> Account:
    return account._replace(
        row=account.row[chosen], begin_ns=account.begin_ns[chosen], end_ns=account.end_ns[chosen]
    )


def _overlap(
    begin: Floats, end: Floats, stands_for: Floats, own: Account, samples: Table
) -> Floats:
    """Return how many waits overlap each sample of one thread, on average over its length.

    Args:
        begin: [w], begins of waits.
        end: [w], ends of waits.
        stands_for: [w], number of waits like it that each stands for.
        own: samples of the thread.
        samples: rows of `stack_samples`.
    """
    edge = np.concatenate([begin, end])
    step = np.concatenate([stands_for, -stands_for])
    order = np.argsort(edge, kind="stable")
    edge, number = edge[order], np.cumsum(step[order])
    # Number of waits at a time, and its integral from the first edge on.
    area = np.concatenate([[0.0], np.cumsum(number[:-1] * np.diff(edge))])

    def waits_until(time: Floats) -> Floats:
        place = np.clip(np.searchsorted(edge, time, side="right") - 1, 0, len(edge) - 1)
        beyond = np.where(time >= edge[0], time - edge[place], 0)
        waits: Floats = area[place] + number[place] * beyond
        return waits

    length = own.end_ns - own.begin_ns
    mean = np.divide(
        waits_until(own.end_ns) - waits_until(own.begin_ns),
        length,
        out=np.zeros_like(length),
        where=length > 0,
    )
    place = np.searchsorted(edge, own.begin_ns, side="right") - 1
    at_once = np.where(place >= 0, number[np.maximum(place, 0)], 0)
    on_cpu = (samples["state"][own.row] == ON_CPU) & (length <= 0)
    return np.maximum(np.where(on_cpu, at_once, mean), 0)
