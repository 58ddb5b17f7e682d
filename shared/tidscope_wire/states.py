"""States of threads in frames, and the time a thread spent in each up to an instant.

Rows say how long finished parts took, in which state the thread is, and since when. So the row of
a thread that sleeps does not change, and whoever reads it adds the stay under way. The page has the
same in TypeScript; tests/contract/states.json holds both to the same numbers.
"""

import numpy as np
import numpy.typing as npt

from tidscope_wire.generated.catalogue import CATALOGUE

STATE_FIELDS: tuple[str, ...] = tuple(
    field.name for field in CATALOGUE.fields if field.group == "state" and field.kind == "counter"
)
"""Fields of nanoseconds in each state; state number s is at index s - 1."""
STATE, SINCE = "state", "state_since_ns"
"""Gauges: number of a thread's current state (0 if it has ended), and its beginning."""


def states_at(
    finished_ns: npt.NDArray[np.uint64],
    state: npt.NDArray[np.uint64],
    since_ns: npt.NDArray[np.uint64],
    time_ns: int | npt.NDArray[np.uint64],
) -> npt.NDArray[np.uint64]:
    """Time that threads spent in each state up to an instant, the current stay included.

    Args:
        finished_ns: [n, states], the fields STATE_FIELDS.
        state: [n], the field STATE.
        since_ns: [n], the field SINCE.
        time_ns: the instant, since attach; that of a frame for its rows, or a later one. uint64[n]:
            of each thread its own.

    Returns:
        [n, states], nanoseconds. A row adds up to the time since the thread's ledger began.
    """
    result = finished_ns.copy()
    times = np.broadcast_to(np.asarray(time_ns, np.uint64), since_ns.shape)
    rows = np.flatnonzero((state > 0) & (state <= len(STATE_FIELDS)) & (since_ns < times))
    if len(rows):
        result[rows, state[rows].astype(np.intp) - 1] += times[rows] - since_ns[rows]
    return result
